const ANSWERS = '[class*="st-key-answers"]';
const KEEP_FOCUS_MS = 3000;  // the next item's cards may come this much later than its number
const typing = (e) => e.target.closest?.('input:not([type=radio]):not([type=checkbox]), textarea, [contenteditable]');
export default function ({ data, parentElement }) {
  const state = (parentElement.blindspotCards ??= { item: null, shown: 0, amongCards: false });
  if (state.item !== data.item) {
    const next = state.item !== null;
    state.item = data.item;
    state.shown = performance.now();
    parentElement.querySelector('.blindspot-said').textContent = data.said;
    const keepFocus = () => {
      if (!state.amongCards || performance.now() - state.shown > KEEP_FOCUS_MS) return;
      if (document.activeElement === document.body) {
        document.querySelector(`${ANSWERS} button`)?.focus({ preventScroll: true });
      }
      requestAnimationFrame(keepFocus);  // the card with the focus may still be that of the item before
    };
    if (next) keepFocus();
  }
  const early = () => performance.now() - state.shown < data.settle * 1000;
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
  const focus = (e) => { state.amongCards = Boolean(e.target.closest?.(ANSWERS)); };
  window.addEventListener('keydown', key, true);
  window.addEventListener('click', click, true);
  window.addEventListener('focusin', focus, true);
  return () => {
    window.removeEventListener('keydown', key, true);
    window.removeEventListener('click', click, true);
    window.removeEventListener('focusin', focus, true);
  };
}
