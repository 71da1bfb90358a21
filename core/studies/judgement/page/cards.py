"""What the browser does for the cards: their look, and answers that nobody meant.

A key that is held down fires again and again, and the second click of a double click falls on the next item. The
browser alone can tell: events that repeat, and those in the first moment of an item, do not reach the buttons. (The
server refuses such early answers as well, by its own clock: ``judgement_answer``.)
"""

from __future__ import annotations

import streamlit as st

SETTLE_SECONDS = 0.25  # of an item during which no answer is taken: nobody reads four words in that time

_CSS = """
[class*="st-key-cards_"] { display: grid; gap: 0.75rem; grid-template-columns: repeat(2, minmax(0, 1fr)); }
@media (min-width: 1000px) { .st-key-cards_short { grid-template-columns: repeat(4, minmax(0, 1fr)); } }
@media (max-width: 640px) {
  [class*="st-key-cards_"] { gap: 0.5rem; }
  .st-key-cards_long { grid-template-columns: minmax(0, 1fr); }
}
[class*="st-key-cards_"] button { min-height: 4.5rem; height: 100%; width: 100%; padding: 0.6rem 0.9rem; }
[class*="st-key-cards_"] > div, [class*="st-key-cards_"] .stButton { width: 100% !important; height: 100%; }
[class*="st-key-cards_"] button p { font-size: 1.2rem; overflow-wrap: anywhere; white-space: normal; }
.st-key-cards_long button p { font-size: 1.05rem; text-align: left; }
.st-key-asked h3, .st-key-asked h4 { overflow-wrap: anywhere; padding: 0.2rem 0; }
.blindspot-said { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
"""

_JS = """
const ANSWERS = '[class*="st-key-answers"]';
const typing = (e) => e.target.closest?.('input:not([type=radio]):not([type=checkbox]), textarea, [contenteditable]');
export default function ({ data, parentElement }) {
  const desk = (parentElement.blindspotDesk ??= { item: null, shown: 0, amongCards: false });
  if (desk.item !== data.item) {
    const next = desk.item !== null;
    desk.item = data.item;
    desk.shown = performance.now();
    parentElement.querySelector('.blindspot-said').textContent = data.said;
    if (next && desk.amongCards && document.activeElement === document.body) {
      document.querySelector(`${ANSWERS} button`)?.focus({ preventScroll: true });
    }
  }
  const early = () => performance.now() - desk.shown < data.settle * 1000;
  const stop = (e) => { e.preventDefault(); e.stopImmediatePropagation(); };
  const key = (e) => {
    if (typing(e) || e.ctrlKey || e.metaKey || e.altKey) return;
    const answers = /^[0-9]$/.test(e.key);
    const presses = (e.key === 'Enter' || e.key === ' ') && e.target.closest?.(ANSWERS);
    const others = /^[up]$/i.test(e.key);
    if ((answers || presses) && (e.repeat || early())) stop(e);
    else if (others && e.repeat) stop(e);
  };
  const click = (e) => { if (e.target.closest?.(ANSWERS) && early()) stop(e); };
  const focus = (e) => { desk.amongCards = Boolean(e.target.closest?.(ANSWERS)); };
  window.addEventListener('keydown', key, true);
  window.addEventListener('click', click, true);
  window.addEventListener('focusin', focus, true);
  return () => {
    window.removeEventListener('keydown', key, true);
    window.removeEventListener('click', click, true);
    window.removeEventListener('focusin', focus, true);
  };
}
"""

_desk = st.components.v2.component(
    "blindspot_cards",
    html='<div class="blindspot-said" role="status" aria-live="polite"></div>',
    css=_CSS,
    js=_JS,
    isolate_styles=False,
)


def guard(showing: str, said: str) -> None:
    """Keep answers away that nobody meant, and tell those who listen where they are; to be called after the cards.

    Args:
        showing: changes with every item that is shown.
        said: read aloud when it does.
    """
    _desk(key="guard", data={"item": showing, "said": said, "settle": SETTLE_SECONDS})
