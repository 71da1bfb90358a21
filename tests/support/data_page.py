"""The page *Data* by AppTest."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def listed(app: AppTest) -> dict[str, str]:
    """State by id, of a file by its name."""
    frame = next(f.value for f in app.dataframe if {"state", "dataset", "id"} <= set(f.value))
    return dict(zip(frame["id"].where(frame["id"] != "", frame["dataset"]), frame["state"], strict=True))


def rows(app: AppTest, column: str) -> list[str]:
    """A column of the last table that has it."""
    return list(next(f.value[column] for f in reversed(app.dataframe) if column in f.value))


def upload(app: AppTest, content: bytes, name: str = "my pairs.csv") -> AppTest:
    return app.file_uploader[0].set_value((name, content, "text/plain")).run()


def picker(app: AppTest, which: str):
    return next(box for box in app.selectbox if box.label == f"{which} column")


def keep(app: AppTest) -> AppTest:
    app.button(key="upload_keep").click().run()
    assert not app.error, [e.value for e in app.error]
    return app
