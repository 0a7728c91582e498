"""The pictures of a report, as specifications that the page draws, once for each colour scheme.

The data of the curves are in the page: what is chosen there decides which are drawn. A colour is
that of a model in all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from frame_prc._charts.theme import MOST_COLOURS
from frame_prc._report.encodings import DARK_LOOK, LOOK
from frame_prc._report.evaluation import Evaluation
from frame_prc._report.pictures import pictures

MOST_CHOSEN = 5  # segments, beside all rows

DARK = dict(
    zip(
        *(
            [look.background, look.text, look.muted, look.faint, *look.colours(MOST_COLOURS)]
            for look in (LOOK, DARK_LOOK)
        ),
        strict=True,
    )
)
# What may hold names from the data, one of which may read like a colour.
_NO_COLOURS = frozenset({"data", "domain", "sort", "text", "subtitle", "name"})
Spec = dict[str, Any]


def specifications(found: Evaluation) -> dict[str, dict[str, Spec]]:
    """Return the specification of each picture, by its name and the colour scheme."""
    # They differ by their data only from charts that tests validate, which takes its time.
    made = {name: chart.to_dict(validate=False) for name, chart in pictures(found).items()}
    light = {name: _with_plain_names(spec) for name, spec in made.items()}
    return {name: {"light": spec, "dark": _darkened(spec)} for name, spec in light.items()}


def _with_plain_names(spec: Spec) -> Spec:
    """Return a specification with numbered data sets: Altair names them by all of their digits."""
    sets = spec.get("datasets", {})
    names = {name: f"rows {number}" for number, name in enumerate(sets) if name.startswith("data-")}
    renamed = {names.get(name, name): rows for name, rows in sets.items()}
    named: Spec = _replaced(spec, names, {"datasets"})
    return named | {"datasets": renamed} if sets else named


def _darkened(spec: Spec) -> Spec:
    """Return a specification with the colours for a dark background, and without its data."""
    drawn = {key: part for key, part in spec.items() if key != "datasets"}
    dark: Spec = _replaced(drawn, DARK, _NO_COLOURS)
    return dark


def _replaced(part: Any, words: Mapping[str, str], kept: Collection[str]) -> Any:
    """Return a part of a specification with other words, but not in what is under these keys."""
    if isinstance(part, dict):
        return {k: v if k in kept else _replaced(v, words, kept) for k, v in part.items()}
    if isinstance(part, list):
        return [_replaced(inner, words, kept) for inner in part]
    return words.get(part, part) if isinstance(part, str) else part
