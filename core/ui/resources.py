"""What all sessions of a server share: settings, the store, the worker. And the look of variants."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.figures import theme
from core.figures.theme import Scheme, Style
from core.jobs import JobQueue
from core.settings import Settings
from core.store.repository import Repository
from core.types import Variant


@st.cache_resource(show_spinner=False)
def settings() -> Settings:
    return Settings.from_environment()


@st.cache_resource(show_spinner=False)
def repository() -> Repository:
    return Repository.at(settings().store)


@st.cache_resource(show_spinner=False)
def jobs() -> JobQueue:
    return JobQueue(settings(), repository())


def scheme() -> Scheme:
    """The theme that the reader sees."""
    return Scheme.DARK if st.context.theme.type == "dark" else Scheme.LIGHT


def variant_styles() -> Mapping[Variant, Style]:
    """The look of every variant in the store: by first appearance, so that it never changes."""
    return theme.styles(repository().variants(), scheme())
