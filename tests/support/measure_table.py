"""What each measure has: a table in the reference, made by asking for each cell of it.

``python tests/support/measure_table.py`` writes it between its markers. A cell that is refused has
the number of the reason, which is the error's own sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, get_args

import duckdb
import numpy as np
import polars as pl

import frame_prc
from frame_prc import OptionError, PrcError
from frame_prc._request.specs import HELD, MeasureName
from frame_prc._tables.summary import MEASURES

PAGE = Path(__file__).parents[2] / "examples" / "guide" / "reference.md"
BEGIN, END = "<!-- measures -->\n", "<!-- end of measures -->\n"
NAMES = [*dict.fromkeys([*get_args(MeasureName), *MEASURES])]
YES, AT = "yes", {"threshold": 0.3, "fpr": 0.1}
NO_INTERVAL = "The summary has no interval of it."


@cache
def _rows() -> pl.DataFrame:
    random, n = np.random.default_rng(0), 600
    truth = random.random(n) < 0.4
    score, old = 1 / (1 + np.exp(-random.normal(size=(2, n)) - 1.5 * truth + 0.75))
    keys = {"region": np.arange(n) % 4, "day": np.arange(n) % 50, "weight": np.arange(n) % 3 + 1}
    return pl.DataFrame({"truth": truth, "score": score.round(2), "old": old.round(2), **keys})


@cache
def _summary(kind: str) -> pl.DataFrame:
    """Return all measures of all rows."""
    asked, df = {"measures": NAMES[1:], "at": AT}, _rows()
    counts = df.prc.counts("truth", "score") if kind == "counts" else None
    if counts is not None:
        return counts.prc.summary(score="threshold", pos="pos", neg="neg", **asked)
    roles = {"weights": {"weight": "weight"}, "clusters": {"cluster": "day"}}.get(kind, {})
    frame = df.lazy() if kind == "lazy" else df
    return frame_prc.summary(frame, "truth", "score", **roles, **asked).lazy().collect()


def _value(kind: str) -> Callable[[str], Any]:
    return lambda name: _summary(kind)[name].item()


def _interval(name: str) -> Any:
    low = "ci_low" if name == "average_precision" else f"{name}_low"
    if low not in _summary("eager").columns:
        raise OptionError(NO_INTERVAL)
    return _summary("eager")[low].item()


def _asked(name: str) -> dict[str, Any]:
    return {"measure": name, "at": {key: AT[key] for key in HELD.get(name, ())[:1]} or None}


def _of_verb(verb: str, column: str, score: Any = "score", **options: Any) -> Callable[[str], Any]:
    def cell(name: str) -> Any:
        call = getattr(frame_prc, verb)
        return call(_rows(), "truth", score, **_asked(name), **options)[column or name][0]

    return cell


def _by_table(name: str) -> Any:
    if "threshold" not in HELD.get(name, ()):
        raise OptionError("It is not measured at a threshold.")
    chosen = _rows().prc.operating_points("truth", "score", by="region", recall=0.7)
    return _rows().prc.summary("truth", "score", by="region", measures=name, at=chosen)[name][0]


def _in_duckdb(name: str) -> Any:
    relation = duckdb.from_arrow(_rows().to_arrow())
    named = {} if name == "average_precision" else {"measures": name}
    held = {key: AT[key] for key in HELD.get(name, ())[:1]} or None
    return frame_prc.summary(relation, "truth", "score", at=held, **named)[name].item()


_BY, _BOTH = {"by": "region"}, ["old", "score"]
CELLS: dict[str, Callable[[str], Any]] = {
    "value": _value("eager"),
    "interval": _interval,
    "models": _of_verb("compare_models", "p_value", _BOTH),
    "segments": _of_verb("compare_segments", "p_value", **_BY),
    "ratio": _of_verb("compare_models", "ratio", _BOTH, scale="ratio"),
    "heterogeneity": _of_verb("heterogeneity", "p_value", **_BY),
    "average": _of_verb("average", "", over="region", **_BY),
    "shrunk": _of_verb("shrunk", "shrunk", **_BY),
    **{kind: _value(kind) for kind in ("weights", "clusters", "lazy", "counts")},
    "thresholds of segments": _by_table,
    "DuckDB": _in_duckdb,
}


def reason(cell: str, name: str) -> str | None:
    """Return the sentence that refuses a cell, of any measure, or ``None``."""
    try:
        CELLS[cell](name)
    except PrcError as error:
        return str(error).split(". Allowed:")[0].rstrip(".").replace(repr(name), "...")
    return None


def table() -> str:
    """Return what all measures have, a table of what some have, and the reasons below it."""
    why = {cell: [reason(cell, name) for name in NAMES] for cell in CELLS}
    partly = {cell: found for cell, found in why.items() if any(found)}
    alike: dict[tuple[str | None, ...], list[str]] = {}
    for name, *found in zip(NAMES, *partly.values(), strict=True):
        alike.setdefault(tuple(found), []).append(f"`{name}`")
    reasons = [*dict.fromkeys(one for found in alike for one in found if one)]
    every = f"All: {', '.join(cell for cell in CELLS if cell not in partly)}."
    lines = [every, "", f"| measures | {' | '.join(partly)} |", "| --- |" + " --- |" * len(partly)]
    for found, names in alike.items():
        shown = [YES if one is None else f"({reasons.index(one) + 1})" for one in found]
        lines.append(f"| {', '.join(names)} | {' | '.join(shown)} |")
    said = "; ".join(f"({i}) {one}" for i, one in enumerate(reasons, 1))
    return "\n".join([*lines, "", f"Why not: {said}.", ""])


if __name__ == "__main__":
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(before + BEGIN + "\n" + table() + "\n" + END + rest.partition(END)[2])
