"""Engines besides Polars: how to recognise their frames, and what does not run inside them.

Nothing is imported for the user: whoever has a DuckDB relation, a PySpark DataFrame or an Ibis
table has imported its package already. :mod:`frame_prc._engines.plans` plans what happens inside an
engine.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import polars as pl

from frame_prc._engines.operations import DUCKDB, IBIS, SPARK, Engine
from frame_prc._request.roles import OF_COUNTS, Request
from frame_prc.exceptions import ColumnError, FrameError, OptionError, PrcError

_UNKNOWN = (pl.Object, pl.Unknown, pl.Null)

RUN_INSIDE = (
    "counts", "curve", "average_precision", "average", "auc", "operating_points", "summary",
    "threshold_table", "reliability", "compare_models", "compare_segments", "heterogeneity",
    "shrunk", "sample_size",
)  # fmt: skip
VERBS = f"{', '.join(RUN_INSIDE[:-1])} and {RUN_INSIDE[-1]}"


_CLASSES = (
    ("duckdb", "DuckDBPyRelation", DUCKDB),
    ("pyspark.sql", "DataFrame", SPARK),  # of Spark Connect too
    ("ibis.expr.types", "Table", IBIS),
)


def engine_of(frame: object) -> Engine | None:
    """Return the engine that a frame belongs to, if any."""
    if isinstance(frame, (pl.DataFrame, pl.LazyFrame)):
        return None
    for module, name, engine in _CLASSES:
        if isinstance(frame, class_of(module, name)):
            return engine
    return None


def class_of(module: str, name: str) -> Any:
    """Return a class of a package, or an empty tuple of classes if the package is not imported.

    While another thread imports the package, the class may not be there yet.
    """
    return getattr(sys.modules.get(module), name, ())


# What a hint says in Polars of a column that the caller has to make.
_IN_POLARS = re.compile(r"\bpl\.(col|lit)\b|\.alias\(")


@contextmanager
def in_words_of(frame: object) -> Iterator[None]:
    """Raise errors about an engine's frame without expressions of Polars, which it does not take.

    Not those that say how to continue in Polars: there they are taken.
    """
    try:
        yield
    except PrcError as error:
        engine = engine_of(frame)
        if engine is None:
            raise
        hint = error.hint
        if hint is not None and _IN_POLARS.search(hint):
            start, example, _ = hint.partition(", as in ")
            column = re.search(r"column '(\w+)'", error.what)
            hint = start if example else compute_first(engine, column[1] if column else "score")
        allowed = error.allowed and error.allowed.replace(" or a Polars expression", "")
        if (allowed, hint) == (error.allowed, error.hint):
            raise
        raise type(error)(error.what, allowed, hint) from None


def compute_first(engine: Engine, column: str) -> str:
    """Return how a number is computed in an engine."""
    return f"compute the column in the engine first, such as {engine.cast.format(column)}"


def check_types(
    engine: Engine, native: Any, dtypes: Mapping[str, pl.DataType], request: Request
) -> None:
    """Refuse columns of types that Polars does not have, or with several numbers in a row."""
    for role, name in _items(request):
        dtype = dtypes.get(name) if isinstance(name, str) else None
        is_list = isinstance(dtype, (pl.List, pl.Array)) and role != "truth"
        if role in ("by", "model") or not (is_list or dtype in _UNKNOWN):
            continue
        kind = engine.type_name(native, name)
        hint = engine.second.format(name) if is_list else compute_first(engine, name)
        if kind == "vector":  # of Spark's ML
            hint = f"frame.withColumn('number', pyspark.ml.functions.vector_to_array({name!r})[1])"
        raise ColumnError(
            f"{role}= column {name!r} has type {kind}",
            "Boolean, or 0/1 numbers" if role == "truth" else "a numeric column",
            f"{hint} takes the second of its values, that of the positive class"
            if is_list or kind == "vector"
            else hint,
        )


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
    for name, given in {**refused, "strata": request.strata is not None}.items():
        if given:
            option = name if "=" in name else f"{name}="
            of_rows = name.startswith(("ci", "guarantee")) and _is_of_rows(request)
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
                compute_first(engine, "score"),
            )


# What counts do not suffice for.
HELD_BY_COLUMN = "threshold= as a column"
OF_LONG_DATA = "a comparison by model="
_OF_ROWS = ("strata", HELD_BY_COLUMN, OF_LONG_DATA, "against='rest'", "against='overall'")


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


def _items(request: Request) -> Iterator[tuple[str, Any]]:
    yield from request.classes.items()
    yield from (("score", item) for item in request.models.values())
    yield from (("by", item) for item in request.keys)
    if request.cluster is not None:
        yield "cluster", request.cluster
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
