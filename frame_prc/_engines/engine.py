"""Engines besides Polars: how to recognise their frames, and what does not run inside them.

Nothing is imported for the user: whoever has a DuckDB relation, a PySpark DataFrame or an Ibis
table has imported its package already. :mod:`frame_prc._engines.plans` plans what happens inside an
engine.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from frame_prc._engines.ibis_tables import IBIS
from frame_prc._engines.operations import Engine
from frame_prc._engines.sql_text import DUCKDB, SPARK
from frame_prc._request.roles import OF_COUNTS, Request
from frame_prc.exceptions import FrameError, OptionError

VERBS = "counts, curve, average_precision, auc and operating_points"


_CLASSES = (
    ("duckdb", "DuckDBPyRelation", DUCKDB),
    ("pyspark.sql", "DataFrame", SPARK),  # of Spark Connect too
    ("ibis.expr.types", "Table", IBIS),
)


def engine_of(frame: object) -> Engine | None:
    """Return the engine that a frame belongs to, if any."""
    for module, name, engine in _CLASSES:
        if isinstance(frame, class_of(module, name)):
            return engine
    return None


def class_of(module: str, name: str) -> Any:
    """Return a class of a package, or an empty tuple of classes if the package is not imported.

    While another thread imports the package, the class may not be there yet.
    """
    return getattr(sys.modules.get(module), name, ())


def check_request(engine: Engine, request: Request, refused: Mapping[str, bool]) -> None:
    """Refuse a request that cannot run inside an engine.

    Parameters
    ----------
    engine
        The engine.
    request
        The parameters that every verb shares.
    refused
        Parameters that only Polars frames support, and whether they are given.
    """
    for name, given in refused.items():
        if given:
            option = name if "=" in name else f"{name}="
            of_rows = name.startswith("ci") and _is_of_rows(request)
            raise OptionError(
                f"{option} does not run inside {engine.kind}",
                "calls without it",
                rows_first(engine) if of_rows or name in _OF_ROWS else _counts_first(engine),
            )
    if request.groupings is not None:
        raise OptionError(
            f"by= is a list of groupings, which do not run inside {engine.kind}",
            "the keys of one grouping",
            _counts_first(engine),
        )
    for role, item in _items(request):
        if isinstance(item, pl.Expr):
            raise OptionError(
                f"{role}= is a Polars expression, but the frame is {engine.kind}",
                "column names",
                "compute the column in the engine first",
            )


# What counts do not suffice for.
HELD_BY_COLUMN = "threshold= as a column"
MEAN_OF_SAMPLES = "average='samples' with weights"
_OF_ROWS = ("squares", HELD_BY_COLUMN, MEAN_OF_SAMPLES)


def _is_of_rows(request: Request) -> bool:
    """Return whether an interval needs the rows: the counts of an engine do not suffice."""
    return request.cluster is not None or not {"weight", "pos_squares"}.isdisjoint(request.classes)


def _counts_first(engine: Engine) -> str:
    """Return the two lines that do in Polars what the engine does not, from its counts."""
    counts = collected(engine, "frame_prc.counts(frame, ...)")
    return (
        f"collect its counts with your columns and keys, `counts = {counts}`; then call the verb "
        f"with `counts, {OF_COUNTS}, ...`, the keys (of several models also model='model') and the "
        "other options"
    )


def rows_first(engine: Engine) -> str:
    """Return the two lines that do in Polars what needs the rows themselves."""
    return (
        "select the columns that it needs, and collect them: "
        f"`rows = {collected(engine, 'frame')}`; then call the verb with `rows, ...`"
    )


def collected(engine: Engine, frame: str) -> str:
    """Return the expression that turns a frame of the engine into one of Polars."""
    return re.sub(r"\b(relation|frame|table)\b", frame, engine.collected, count=1)


def _items(request: Request) -> Iterator[tuple[str, object]]:
    yield from request.classes.items()
    yield from (("score", item) for item in request.models.values())
    yield from (("by", item) for item in request.keys)
    if request.model is not None:
        yield "model", request.model


def refuse_engine(frame: object, *, takes_counts: bool) -> None:
    """Refuse an engine's frame for a verb that only takes Polars and pandas frames."""
    if engine := engine_of(frame):
        raise FrameError(
            f"this verb does not run inside {engine.kind}",
            f"a Polars or pandas frame; {VERBS} also run inside {engine.kind}",
            _counts_first(engine) if takes_counts else rows_first(engine),
        )
