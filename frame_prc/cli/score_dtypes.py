"""Scores of several models in one dtype: a shell has no cast."""

from __future__ import annotations

import polars as pl

from frame_prc._lazy import named
from frame_prc.cli.reading import first_value
from frame_prc.exceptions import ColumnError

Scores = str | list[str] | dict[str, str]
# Any mix of these and of floats ranks exactly as Float64.
_SHORT = (pl.Int8, pl.Int16, pl.Int32, pl.UInt8, pl.UInt16, pl.UInt32)


def in_one_dtype(
    score: Scores | None, rows: pl.LazyFrame
) -> Scores | dict[str, str | pl.Expr] | None:
    """Return scores as they are, or with those that have no common dtype cast to Float64.

    A score that Float64 would round is refused.
    """
    if score is None or isinstance(score, str):
        return score
    models = score if isinstance(score, dict) else {name: name for name in score}
    schema = rows.collect_schema()
    dtypes = {name: schema[name] for name in models.values() if name in schema}
    is_one = len({*dtypes.values()}) == 1
    if is_one or not all(dtype.is_numeric() for dtype in dtypes.values()):
        return score
    long = [name for name, dtype in dtypes.items() if not (dtype.is_float() or dtype in _SHORT)]
    for name in long:
        _check_exact(name, dtypes, rows)
    return {
        model: named(name).cast(pl.Float64) if name in long else name
        for model, name in models.items()
    }


def _check_exact(name: str, dtypes: dict[str, pl.DataType], rows: pl.LazyFrame) -> None:
    column = named(name)
    back = column.cast(pl.Float64).cast(dtypes[name], strict=False)
    changed = first_value(rows, name, back.ne_missing(column))
    if changed is not None:
        others = {other: dtype for other, dtype in dtypes.items() if other != name}
        raise ColumnError(
            f"score= column {name!r} holds {changed}, which Float64 would round; "
            + ", ".join(f"{other!r} is {dtype}" for other, dtype in others.items()),
            "scores of one dtype, or numbers that Float64 holds exactly",
            "run the command once for each score",
        )
