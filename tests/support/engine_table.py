"""What runs inside engines: a table in the guide, made by calling each verb on a DuckDB relation.

``python tests/support/engine_table.py`` writes it between its markers.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

import frame_prc
from frame_prc import FrameError, OptionError

PAGE = Path(__file__).parents[2] / "examples" / "guide" / "engines.md"
BEGIN, END = "<!-- verbs -->\n", "<!-- end of verbs -->\n"
LAZY, POLARS = "a frame of the engine", "a Polars frame"
ROWS, COUNTS = "its rows first", "its counts first"
MODELS, BY = {"score": ["score", "other"]}, {"by": "segment"}
AT = {"recall": 0.5}
# Each verb with the options that it needs, and with those that have another cell.
CALLS: dict[str, tuple[dict[str, Any], dict[str, dict[str, Any]]]] = {
    "counts": ({}, {}),
    "curve": ({}, {"recalls=": {"recalls": 11}, "ci=": {"ci": 0.9}}),
    "average_precision": (
        {},
        {"ci=": {"ci": 0.9}, "top=": {"top": 3}, "bootstrap=": {"ci": 0.9, "bootstrap": 99}},
    ),
    "average": ({**BY, "over": "segment"}, {"top=": {"top": 3}}),
    "auc": ({}, {"ci=": {"ci": 0.9}, "method='gain'": {"method": "gain"}}),
    "operating_points": (AT, {"guarantee=": {"guarantee": 0.6}, "ci=": {"ci": 0.9}}),
    "threshold_table": ({}, {}),
    "reliability": ({}, {}),
    "summary": ({}, {"details=True": {"details": True}, "measures='gain'": {"measures": "gain"}}),
    "compare_models": (MODELS, {"model=": {"score": "score", "model": "week", "row": "day"}}),
    "compare_segments": (
        BY,
        {f"against={name!r}": {"against": name} for name in ("rest", "overall", "random")},
    ),
    "heterogeneity": ({**BY, "test": "q"}, {"test='permutation'": {"test": "permutation"}}),
    "shrunk": (BY, {}),
    "sample_size": ({"width": 0.1}, {}),
    "band": ({}, {}),
    "find_segments": ({"columns": ["segment"]}, {}),
    "influence": ({}, {}),
    "monitor": ({"by": "week", "over": "week", "plan": 4}, {}),
}


def rows() -> pl.DataFrame:
    """Return rows for all verbs."""
    row = pl.int_range(240)
    return pl.select(
        segment=row % 2,
        week=row // 60,
        day=row % 40,
        truth=row * 7919 % 11 < 4,
        score=(row * 104_729 % 97) / 97,
        other=(row * 31 % 89) / 89,
    )


def cell(frame: Any, verb: str, options: dict[str, Any]) -> str:
    """Return what a call on an engine's frame gives, or asks to be collected."""
    named = {"truth": "truth", "score": "score"} | options
    try:
        result = getattr(frame_prc, verb)(frame, **named)
    except (FrameError, OptionError) as error:
        if "does not run inside" not in str(error):
            raise
        return COUNTS if "counts, score=" in str(error) else ROWS
    return POLARS if isinstance(result, pl.DataFrame) else LAZY


def lines(of: Callable[[str, dict[str, Any]], str]) -> list[str]:
    """Return the lines of the table, from a function of a verb and its options."""
    alike: dict[tuple[str, str], list[str]] = {}
    for verb, (needed, others) in CALLS.items():
        plain = of(verb, needed)
        each: dict[str, list[str]] = {}
        for option, asked in others.items():
            each.setdefault(of(verb, needed | asked), []).append(f"`{option}`")
        others_said = "; ".join(f"{', '.join(names)}: {said}" for said, names in each.items())
        alike.setdefault((plain, others_said), []).append(f"`{verb}`")
    rows = [f"| {', '.join(names)} | {' | '.join(said)} |\n" for said, names in alike.items()]
    return ["| verb | result | with options |\n", "| --- | --- | --- |\n", *rows]


def table() -> str:
    """Return the table, of DuckDB."""
    relation = duckdb.connect().from_arrow(rows().to_arrow())
    return "".join(lines(lambda verb, options: cell(relation, verb, options)))


def written(page: str) -> str:
    """Return the page with the table between its markers."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
