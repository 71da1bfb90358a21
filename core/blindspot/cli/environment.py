"""Settings and the store of results, as the environment names them."""

from __future__ import annotations

from blindspot.settings import Settings
from blindspot.store.repository import Repository


def settings_and_store() -> tuple[Settings, Repository]:
    """What nearly every command begins with; ``InputError`` if a setting is wrong."""
    settings = Settings.from_environment()
    return settings, Repository.at(settings.store)
