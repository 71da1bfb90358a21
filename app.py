"""Blindspot's entry point: ``streamlit run app.py``."""

import streamlit as st

from core import ui

ui.set_up()
page = st.navigation(ui.pages(), expanded=True)
ui.shared_pickers(page.url_path)
page.run()
