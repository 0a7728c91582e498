"""Tooltips of curves: what they say of a point, and in which words."""

from __future__ import annotations

import json
from collections.abc import Sequence

import altair as alt

TITLES = {
    "area": "average precision",
    "f_score": "F score",
    "fpr": "false-positive rate",
    "threshold_text": "threshold",
    "predicted": "alerts",
    "predicted_rate": "share of rows",
    "ci_low": "interval from",
    "ci_high": "interval to",
    "random_average_precision": "chance level",
    "n": "rows",
    "n_pos": "positives",
    "p_value": "p, not adjusted",
    "status_text": "status",
    **{name: name.upper() for name in ("tp", "fp", "fn", "tn")},
}
# Above the point and to its right, where a curve that falls has been: below, it would be hidden.
BESIDE_POINT = {"anchor": "mark", "position": ["top-right", "top-left", "bottom-left"]}
_RATES = (
    *("precision", "recall", "F1", "f_score", "fpr", "prevalence", "predicted_rate"),
    *("ci_low", "ci_high", "random_average_precision", "difference", "p_value"),
)
_COUNTS = ("tp", "fp", "fn", "tn", "predicted", "n", "n_pos")
_FORMATS = dict.fromkeys(_RATES, ".4f") | dict.fromkeys(_COUNTS, ",.12~g")


def tooltip_of(columns: Sequence[str], keys: dict[str, str]) -> alt.ExprRef:
    """Return the tooltip of the point nearest the mouse, with some of its columns.

    The mouse is over the Voronoi cell of that point, whose datum is the point. Vega-Lite 6.1
    looks for the fields in the cell, hence this expression (vega-lite pull request 9707).
    """
    row = "(datum.datum || datum)"
    titles, fields = TITLES | keys, {}
    for name in columns:
        value = f"{row}.{name}"
        text = f"format({value}, '{_FORMATS[name]}')" if name in _FORMATS else value
        fields[titles.get(name, name)] = text
    pairs = ", ".join(f"{json.dumps(title)}: {text}" for title, text in fields.items())
    return alt.ExprRef(f"{{{pairs}}}")


def tooltips(columns: Sequence[str], keys: dict[str, str]) -> list[alt.Tooltip]:
    """Return the tooltips of some columns, after those of keys with these titles."""
    of_keys = [alt.Tooltip(f"{name}:N", title=title) for name, title in keys.items()]
    return [*of_keys, *map(tooltip, columns)]


def tooltip(column: str) -> alt.Tooltip:
    """Return the tooltip of a column."""
    title = TITLES.get(column, column)
    if column in _FORMATS:
        return alt.Tooltip(f"{column}:Q", title=title, format=_FORMATS[column])
    return alt.Tooltip(f"{column}:N", title=title)
