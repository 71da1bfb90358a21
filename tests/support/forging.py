"""Widget states that no browser sends: every field of the protocol, with values that a page has no use for."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetState

from benchmarks.rerun_client import Widget

HUGE = 2**63 - 1
TEXTS = (
    *("", "\x00", "x" * 2_000, "-1", "nan", "1e999", str(10**40), "None", "\u202e<img src=x>"),
    *("file:/etc/passwd", "dir:/etc", "hf:a/b", "vectors:/dev/zero", "../../etc/passwd", "minilm~nothing", "~"),
    *("demo-pairs", "session", "all", "evalrank@demo-pairs:mrr", "synonym>antonym", "0", "3", "1.5"),
)
SELECTIONS = (
    *("", "null", "[]", "5", "NaN", '"x"', "{", "{}", '{"selection": null}', '{"selection": 3}', '{"selection": []}'),
    *('{"selection": {}}', '{"selection": {"points": null, "box": null, "lasso": null}}'),
    '{"selection": {"rows": [-1, 99999999999999999999, 1.5, null, "a", [], true]}}',
    '{"selection": {"rows": [99999]}}',
    '{"selection": {"rows": null, "columns": null, "cells": [3]}}',
    '{"selection": {"rows": {"a": 1}, "cells": null}}',
    '{"selection": {"points": [], "point_indices": []}}',
    '{"selection": {"points": [{}], "box": [], "lasso": []}}',
    '{"selection": {"points": [{"customdata": []}], "box": [], "lasso": [{}]}}',
    '{"selection": {"points": [{"customdata": [99999999]}], "box": [{}], "lasso": []}}',
    '{"selection": {"points": [{"customdata": "x"}, 3, null], "box": [{"x": ["a"], "y": [null]}], "lasso": []}}',
    '{"selection": {"points": [{"customdata": [NaN]}], "box": [{"x": [NaN, 1], "y": [1e999, 2]}], "lasso": 5}}',
    '{"selection": {"points": {"a": 1}, "box": [{"x": [0, 9], "y": [0, 9]}], "lasso": [{"x": [], "y": []}]}}',
    '{"selection": {"points": [{"customdata": {"0": -1}, "curve_number": -1}], "box": [[]], "lasso": [[]]}}',
)
NUMBERS = (math.nan, math.inf, -math.inf, 1e308, -1e308, -1.0, 0.0, 0.5, 1e19, 5e-324)
WHOLE = (0, -1, 1, 7, 2**31, HUGE, -HUGE - 1)
# Per field that some widget of ours has, the values that are tried.
VALUES: Mapping[str, Sequence[Any]] = {
    "trigger_value": (True, False),
    "bool_value": (True, False),
    "double_value": NUMBERS,
    "int_value": WHOLE,
    "string_value": (*TEXTS, *SELECTIONS),
    "double_array_value": ([], [math.nan], [math.inf, -math.inf], [1e308] * 2, [0.0], [2.0, 1.0]),
    "string_array_value": ([], [""], ["x"] * 300, *([text] for text in TEXTS), ["demo-pairs", "demo-pairs"]),
    "json_value": SELECTIONS,
    "json_trigger_value": SELECTIONS,
    "file_uploader_state_value": ("", "no-such-file", "../../x"),
}
# What a browser sends for each kind of widget; forged half of the time with these, else with any field.
FIELDS: Mapping[str, str] = {
    "checkbox": "bool_value",
    "number_input": "double_value",
    "pagination": "int_value",
    "slider": "double_array_value",
    "text_input": "string_value",
    "text_area": "string_value",
    "selectbox": "string_value",
    "multiselect": "string_array_value",
    "button_group": "string_array_value",
    "plotly_chart": "string_value",
    "dataframe": "string_value",
    "file_uploader": "file_uploader_state_value",
    "bidi_component": "json_value",
}


def _put(state: WidgetState, field: str, value: Any) -> None:
    match field:
        case "double_array_value" | "string_array_value":
            getattr(state, field).SetInParent()
            getattr(state, field).data.extend(value)
        case "file_uploader_state_value":
            info = state.file_uploader_state_value.uploaded_file_info.add()
            info.file_id = info.name = value
            info.size = 2**63 - 1
        case _:
            setattr(state, field, value)


def state(widget: Widget, field: str, value: Any) -> WidgetState:
    """A widget's state with a value in a field."""
    made = WidgetState(id=widget.widget_id)
    _put(made, field, value)
    return made


def odd(widget: Widget, chance: random.Random) -> WidgetState:
    """A state that the page's own front end could send, if hardly ever: the last option, none, all, a row that the
    table does not have."""
    element, kind = widget.element, widget.kind
    match kind:
        case "selectbox":
            return state(widget, "string_value", chance.choice(list(element.options) or [""]))
        case "multiselect":
            wanted = list(element.options)
            return state(widget, "string_array_value", chance.choice([[], wanted[:300], wanted[-1:], wanted[:1] * 2]))
        case "button_group":
            wanted = [option.content for option in element.options]
            return state(widget, "string_array_value", chance.choice([wanted[-1:], wanted[:1], wanted, ["no option"]]))
        case "number_input":
            return state(widget, "double_value", chance.choice([element.min, element.max, 0.0, 1.0, 2.0**53, 12.5]))
        case "slider" if not element.options:
            return state(widget, "double_array_value", [element.max] * len(element.default))
        case "pagination":
            return state(widget, "int_value", element.num_pages)
        case "text_input" | "text_area":
            return state(widget, "string_value", chance.choice(TEXTS))
        case "dataframe":
            rows = chance.choice(["[]", "[0]", "[99999]", "[0, 1, 2]", "[3, 3]"])
            return state(widget, "string_value", f'{{"selection": {{"rows": {rows}, "columns": ["no column"]}}}}')
        case "plotly_chart":
            dots = chance.choice(["[]", '[{"customdata": [0]}]', '[{"customdata": 99999999}]', "[{}]"])
            areas = chance.choice(["[]", '[{"x": [9, 1], "y": [0, 1e300]}]', '[{"x": [1], "y": [1]}]'])
            return state(
                widget,
                "string_value",
                f'{{"selection": {{"points": {dots}, "box": {areas}, "lasso": {chance.choice(["[]", areas])}}}}}',
            )
        case "checkbox":
            return state(widget, "bool_value", chance.choice([True, False]))
        case _:
            return WidgetState(id=widget.widget_id)


def forged(widget: Widget, chance: random.Random) -> WidgetState:
    """A state that no reader would bring about: an odd one, or an odd value in the widget's own field or in any."""
    if chance.random() < 0.4:
        return odd(widget, chance)
    usual = FIELDS.get(widget.kind)
    field = usual if usual and chance.random() < 0.6 else chance.choice(sorted(VALUES))
    values = VALUES[field]
    if widget.kind in {"plotly_chart", "dataframe"} and field == "string_value":
        values = SELECTIONS
    return state(widget, field, chance.choice(values))
