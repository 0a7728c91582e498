"""What a frame of the caller gives to segments: thresholds, or prevalences where these are used."""

from __future__ import annotations

import polars as pl

from frame_prc._formulas import unsigned_zero
from frame_prc._lazy import left_join, named
from frame_prc._rows.checks import Check, with_checks
from frame_prc._rows.rows import Rows
from frame_prc.exceptions import ColumnError, DataError, nearest

TEXTS = (pl.String, pl.Categorical, pl.Enum)
PREVALENCE = "prevalence"


def joined(
    segments: pl.LazyFrame, frame: pl.LazyFrame, rows: Rows, role: str, **values: pl.Expr
) -> pl.LazyFrame:
    """Return segments, which have the keys of rows, with what a frame says of them by its keys."""
    ours, theirs = segments.collect_schema(), frame.collect_schema()
    names = zip(rows.keys, rows.columns.result_keys, strict=True)
    left, right = [], []
    for key, name in names:
        if name in theirs:
            dtype, alias = _common(name, ours[key], theirs[name], role), f"\0given_{key}"
            left.append(pl.col(key).cast(dtype).alias(alias))
            right.append(unsigned_zero(named(name), theirs[name]).cast(dtype).alias(alias))
    shared = [one.meta.output_name() for one in left]
    found = left_join(segments.with_columns(left), frame.select(*right, **values), shared)
    return found.drop(shared)


def prevalences(segments: pl.LazyFrame, frame: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
    """Return segments with the prevalence that a frame gives each of them."""
    schema, keys = frame.collect_schema(), rows.columns.result_keys
    allowed = f"a column {PREVALENCE!r} and keys: {', '.join(map(repr, keys)) or 'none here'}"
    if PREVALENCE not in schema or not schema[PREVALENCE].is_numeric():
        what = f"whose column {PREVALENCE!r} has dtype {schema.get(PREVALENCE)}"
        hint = f"cast it, for example pl.col({PREVALENCE!r}).cast(float)"
        if PREVALENCE not in schema:
            what, hint = f"without a column {PREVALENCE!r}", nearest(PREVALENCE, schema)
        raise ColumnError(f"calibrate= is a frame {what}", allowed, hint)
    if others := [name for name in schema if name not in (*keys, PREVALENCE)]:
        raise ColumnError(
            f"calibrate= is a frame with a column {others[0]!r}, which is no key here",
            allowed,
            f"name {others[0]!r} in by=, or drop it from the frame",
        )
    given = named(PREVALENCE).cast(pl.Float64)
    found = joined(segments.with_row_index("\0of"), frame, rows, "calibrate", prevalence=given)
    value, own = pl.col(PREVALENCE), rows.keys[len(rows.model_keys) :]
    first = pl.col(own[0]) if own else pl.lit("all rows")
    wrong = value.is_null() | ~value.is_between(0, 1, closed="none")
    repeated = pl.col("\0of").is_duplicated()
    checks = [
        Check(wrong.sum(), _wrong, [first.filter(wrong).first(), value.filter(wrong).first()]),
        Check(repeated.sum(), _repeated, [first.filter(repeated).first()]),
    ]
    return with_checks(found, found, checks, in_memory=rows.in_memory).drop("\0of")


def _wrong(count: int, segment: object, value: float | None) -> DataError:
    of_all = f"{count} segments, such as" if count > 1 else "segment"
    what = "no prevalence" if value is None else f"the prevalence {value}"
    return DataError(
        f"calibrate= has {what} for {of_all} {segment!r}",
        "a number between 0 and 1 for each segment",
    )


def _repeated(_: int, segment: object) -> DataError:
    return DataError(
        f"calibrate= has several prevalences for segment {segment!r}", "one for each segment"
    )


def _common(name: str, ours: pl.DataType, theirs: pl.DataType, role: str) -> pl.DataType:
    """Return the dtype in which a key of both frames is compared."""
    if ours == theirs:
        return ours
    if ours.is_integer() and theirs.is_integer():
        return pl.Int128()
    # In pandas integers become floats as soon as one of them is missing.
    if {ours.is_integer(), theirs.is_integer()} == {True, False} and pl.Float64 in (ours, theirs):
        return pl.Float64()
    if isinstance(ours, TEXTS) and isinstance(theirs, TEXTS):
        return pl.String()
    raise ColumnError(
        f"key {name!r} has dtype {ours} among the rows, and {theirs} in the frame of {role}=",
        "one dtype",
        f"cast one of them, for example pl.col({name!r}).cast(...)",
    )
