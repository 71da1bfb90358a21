"""Blindspot's entry point: ``streamlit run app.py``.

Streamlit reads this file twice: once as the server, which finds ``app`` in it, and again for every run of a page.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from blindspot.jobs.queue import Task
    from blindspot.settings import Settings

SOURCES = str(Path(__file__).resolve().parent / "core")
if SOURCES not in sys.path and Path(SOURCES).is_dir():  # a checkout: its package need not be installed
    sys.path.insert(0, SOURCES)

from blindspot.jobs import demo  # noqa: E402


def demo_tasks(settings: Settings) -> list[Task]:
    from blindspot.workspace.demo import tasks

    return tasks(settings)


demo.consists_of(demo_tasks)

if __name__ == "__main__":  # a page
    from blindspot import ui

    ui.set_up()
    page = ui.navigate()
    with ui.errors_shown():
        ui.use_names()
        ui.shared_pickers(page.url_path)
        page.run()
        ui.note_dropped()
else:  # the server
    from streamlit.starlette import App

    from blindspot.server import headers as hosting
    from blindspot.server import routes as serving

    def failed(error: Exception) -> bool:
        """What no page could catch itself, a callback's error say; imported late, as pages are."""
        from blindspot import ui

        return ui.failed_before_page(error)

    app = App(
        __file__,
        lifespan=serving.lifespan,
        routes=serving.routes(),
        middleware=hosting.middleware(kept=serving.kept),
        on_script_error=failed,
    )
