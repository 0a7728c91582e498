"""Counts: positives and negatives at each distinct score, or in each bin; they can be added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._lazy import cached, concat, join, named
from frame_prc._ranking.bins import count_bins
from frame_prc._ranking.ranking import rank
from frame_prc._ranking.running_sums import counts_at_ties
from frame_prc._request.roles import THRESHOLD
from frame_prc._request.values import ABOVE, BELOW, Bins
from frame_prc._rows import checks as value_checks
from frame_prc._rows.columns import Column, Columns
from frame_prc._rows.rows import Rows
from frame_prc._rows.rules import SQUARES, SUMS, required_rule
from frame_prc._rows.table import Table
from frame_prc.exceptions import ColumnError, OptionError

ADDABLE = (*SUMS, *SQUARES)
BOUNDS = (THRESHOLD, BELOW, ABOVE)  # a bin has two of them, an exact count the threshold alone


@dataclass(frozen=True)
class Counts(Table):
    """One row per segment and distinct score, or bin that is not empty, in ranking order."""

    bins: Bins | None = None
    squares: bool = False
    counts_dropped = False

    @property
    def outputs(self) -> Sequence[str]:
        """The columns after the keys."""
        bounds = (THRESHOLD,) if self.bins is None else (THRESHOLD, self.bins.other_end)
        return (*bounds, *SUMS, *(SQUARES if self.squares else ()))

    @property
    def reserved(self) -> Sequence[str]:
        """Names that no key may have, as merge() would not read them as keys."""
        return (*BOUNDS, *ADDABLE)

    def check(self, columns: Columns) -> None:
        """Refuse squares of what has none."""
        if self.squares and columns.lacks_squares:
            raise OptionError(
                "squares=True cannot be computed from sums of weights in pos= and neg=",
                "rows with weight=, or pos_squares= and neg_squares= beside the sums",
                columns.count_hint,
                shell_hint=None,
            )

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the counts of rows."""
        self.check(rows.columns)
        squares = self.squares and rows.columns.needs_squares
        if self.bins is None:
            counts = _exact(rows, squares=squares)
        else:
            counts = _binned(rows, self.bins, squares=squares)
        if self.squares and not squares:
            # Each row counts as one, so the counts are also the sums of squares.
            counts = counts.with_columns(pos_squares="pos", neg_squares="neg")
        return counts


def _exact(rows: Rows, *, squares: bool) -> pl.LazyFrame:
    ranking = rank(rows, squares=squares)
    counts = counts_at_ties(ranking)
    return ranking.segments.with_keys(counts.with_columns(threshold="score"))


def _binned(rows: Rows, bins: Bins, *, squares: bool) -> pl.LazyFrame:
    """Return only the bins that are not empty."""
    counted = count_bins(rows, bins, squares=squares).frame
    filled = counted.filter(pl.col("pos") + pl.col("neg") > 0)
    bounds = bins.table(rows.score_dtype).rename({"score": "threshold", "level": "score"})
    return join(filled, bounds, on="score", how="left", maintain_order="left")


def merge(
    frames: Sequence[pl.LazyFrame], *, ascending: bool = False, in_memory: bool
) -> pl.LazyFrame:
    """Add up frames of counts, in ranking order."""
    schemas = [frame.collect_schema() for frame in frames]
    check_frames(schemas)
    names = schemas[0].names()
    amounts = [name for name in names if name in ADDABLE]
    # A sum of Float32 would lose counts of one beside millions.
    exact = [pl.col(name).cast(pl.Float64) for name in amounts if schemas[0][name] == pl.Float32]
    groups = [name for name in names if name not in ADDABLE]
    columns = list(map(named, names))
    rows = cached(concat([frame.select(columns) for frame in frames]).with_columns(exact))
    added = rows.group_by(map(named, groups)).agg(pl.col(amounts).sum())
    keys = [name for name in groups if name not in BOUNDS]
    added = value_checks.with_checks(added, rows, _checks(schemas[0], amounts), in_memory=in_memory)
    for ends in ((THRESHOLD, BELOW), (ABOVE, THRESHOLD)):
        if {*ends} <= {*names}:
            added = value_checks.with_bin_checks(added, rows, ends, [], in_memory=in_memory)
    return _ordered(added, list(map(named, keys)), ascending=ascending).select(columns)


def _ordered(table: pl.LazyFrame, keys: Sequence[pl.Expr], *, ascending: bool) -> pl.LazyFrame:
    """Return counts by key, then threshold; those never retrieved, without one, are last."""
    is_key = [*(True for _ in keys), False]
    descends = [not (key or ascending) for key in is_key]
    nulls_last = [not key for key in is_key]
    return table.sort(*keys, "threshold", descending=descends, nulls_last=nulls_last)


def _checks(schema: pl.Schema, amounts: Sequence[str]) -> list[value_checks.Check]:
    columns = {name: Column(pl.col(name), name, schema[name]) for name in amounts}
    checks = [
        check
        for name, column in columns.items()
        for check in value_checks.amount_checks(name, column)
    ]
    hint = "counts(...) never leaves them null"
    known = [required_rule(name, c, pl.col(name), hint) for name, c in columns.items()]
    checks.append(value_checks.missing_check(known))
    return [*checks, *([value_checks.threshold_check()] if schema["threshold"].is_float() else [])]


def check_frames(schemas: Sequence[pl.Schema]) -> None:
    """Raise an error unless these are schemas of counts that can be added up."""
    for number, schema in enumerate(schemas, start=1):
        _check_counts(schema, number)
        _check_alike(schema, schemas[0], number)


def _check_counts(schema: pl.Schema, number: int) -> None:
    counts = Counts().outputs
    lacking = [name for name in counts if name not in schema]
    if lacking:
        raise ColumnError(
            f"frame {number} has no column {lacking[0]!r}",
            f"counts, with columns {', '.join(map(repr, counts))} after the keys",
            "counts(...) makes such a frame from rows",
        )
    for name in (*BOUNDS, *ADDABLE):
        if name in schema and not schema[name].is_numeric():
            raise ColumnError(
                f"column {name!r} of frame {number} has dtype {schema[name]}",
                "a numeric column",
                f"cast it, for example with pl.col({name!r}).cast(...)",
            )


def _check_alike(schema: pl.Schema, first: pl.Schema, number: int) -> None:
    """Raise if counts have other keys, other bins or other dtypes than the first ones."""
    if set(schema) != set(first):
        other = sorted(set(schema) ^ set(first))
        raise ColumnError(
            f"frame {number} and frame 1 differ in columns {', '.join(map(repr, other))}",
            "counts by the same keys, all of them binned or none",
        )
    for name, dtype in first.items():
        if schema[name] != dtype:
            cast = "..." if pl.Enum not in (dtype, schema[name]) else "pl.String"
            in_pandas = "" if cast == "..." else ", or in pandas with .astype(str)"
            raise ColumnError(
                f"column {name!r} has dtype {schema[name]} in frame {number} "
                f"and {dtype} in frame 1",
                "one dtype",
                f"cast it, for example with pl.col({name!r}).cast({cast}){in_pandas}",
                shell_hint=None,
            )
