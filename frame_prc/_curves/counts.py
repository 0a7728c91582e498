"""Counts: positives and negatives at each distinct score, or in each bin, which add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._lazy import cached, concat, join, named
from frame_prc._ranking.bins import count_bins
from frame_prc._ranking.ranking import rank
from frame_prc._ranking.running_sums import class_totals
from frame_prc._request.roles import BIN_END, THRESHOLD
from frame_prc._request.thresholds import Bins
from frame_prc._rows.checks import (
    Check,
    amount_checks,
    missing_check,
    threshold_check,
    with_bin_checks,
    with_checks,
)
from frame_prc._rows.columns import Column, Columns
from frame_prc._rows.rows import SQUARES, Rows
from frame_prc._rows.rules import SUMS, required_rule
from frame_prc._rows.table import Table
from frame_prc.exceptions import ColumnError, OptionError

ADDABLE = (*SUMS, *SQUARES)
BOUNDS = (THRESHOLD, BIN_END)  # of a bin; an exact count has a threshold alone


@dataclass(frozen=True)
class Counts(Table):
    """One row per segment and distinct score, or bin that holds rows; scores descend."""

    bins: Bins | None = None
    squares: bool = False
    counts_dropped = False

    @property
    def outputs(self) -> Sequence[str]:
        """The columns after the keys."""
        bounds = (THRESHOLD,) if self.bins is None else BOUNDS
        return (*bounds, *SUMS, *(SQUARES if self.squares else ()))

    @property
    def reserved(self) -> Sequence[str]:
        """Names that no key may have, or merge() would not know it as a key."""
        return (*BOUNDS, *ADDABLE)

    def of(self, rows: Rows) -> pl.LazyFrame:
        """Return the counts of rows."""
        if self.squares:
            _check_squares(rows.columns)
        if self.bins is None:
            return _exact(rows, squares=self.squares)
        return _binned(rows, self.bins, squares=self.squares)


def _exact(rows: Rows, *, squares: bool) -> pl.LazyFrame:
    ranking = rank(rows, squares=squares)
    ties = ranking.frame.group_by(ranking.key.tie()).agg(class_totals(ranking)).sort("rank_key")
    ties = _with_squares(ties, rows) if squares else ties
    amounts = [*SUMS, *(SQUARES if squares else ())]
    scored = ranking.with_score(ties.select(ranking.key.segment(), ranking.key.slot(), *amounts))
    return ranking.segments.with_keys(scored.with_columns(threshold="score"))


def _binned(rows: Rows, bins: Bins, *, squares: bool) -> pl.LazyFrame:
    """Return only the bins that hold any rows."""
    apart = squares and rows.columns.needs_squares
    counted = count_bins(rows, bins, squares=apart, covering=True).frame
    counted = _with_squares(counted, rows) if squares else counted
    held = counted.filter(pl.col("pos") + pl.col("neg") > 0)
    bounds = bins.table(rows.score_dtype).rename({"score": "threshold", "level": "score"})
    return join(held, bounds, on="score", how="left", maintain_order="left")


def _with_squares(counts: pl.LazyFrame, rows: Rows) -> pl.LazyFrame:
    """Add the sums of squared weights where they are not there: counts are their own squares."""
    if rows.columns.needs_squares:
        return counts
    return counts.with_columns(pos_squares="pos", neg_squares="neg")


def _check_squares(columns: Columns) -> None:
    if columns.lacks_squares:
        raise OptionError(
            "squares=True cannot be told from sums of weights in pos= and neg=",
            "rows with weight=, or pos_squares= and neg_squares= beside the sums",
        )


def merge(frames: Sequence[pl.LazyFrame], *, in_memory: bool) -> pl.LazyFrame:
    """Add up frames of counts."""
    schemas = [frame.collect_schema() for frame in frames]
    for place, schema in enumerate(schemas):
        _check_counts(schema, place)
        _check_alike(schema, schemas[0], place)
    names = schemas[0].names()
    amounts = [name for name in names if name in ADDABLE]
    # Sums of Float32 would lose ones among millions.
    exact = [pl.col(name).cast(pl.Float64) for name in amounts if schemas[0][name] == pl.Float32]
    groups = [name for name in names if name not in ADDABLE]
    columns = list(map(named, names))
    rows = cached(concat([frame.select(columns) for frame in frames]).with_columns(exact))
    added = rows.group_by(map(named, groups)).agg(pl.col(amounts).sum())
    keys = [name for name in groups if name not in BOUNDS]
    added = with_checks(added, rows, _checks(schemas[0], amounts), in_memory=in_memory)
    if "below" in names:
        added = with_bin_checks(added, rows, [], in_memory=in_memory)
    return _ordered(added, list(map(named, keys))).select(columns)


def _ordered(table: pl.LazyFrame, keys: Sequence[pl.Expr]) -> pl.LazyFrame:
    """Return counts by key, thresholds descending; rows never retrieved, of none, come last."""
    descends = [*(False for _ in keys), True]
    return table.sort(*keys, "threshold", descending=descends, nulls_last=descends)


def _checks(schema: pl.Schema, amounts: Sequence[str]) -> list[Check]:
    columns = {name: Column(pl.col(name), name, schema[name]) for name in amounts}
    checks = [check for name, column in columns.items() for check in amount_checks(name, column)]
    hint = "counts(...) never leaves them null"
    known = [required_rule(name, c, pl.col(name), hint) for name, c in columns.items()]
    checks.append(missing_check(known))
    return [*checks, *([threshold_check()] if schema["threshold"].is_float() else [])]


def _check_counts(schema: pl.Schema, place: int) -> None:
    counts = Counts().outputs
    lacking = [name for name in counts if name not in schema]
    if lacking:
        raise ColumnError(
            f"frame {place + 1} has no column {lacking[0]!r}",
            f"counts, with columns {', '.join(map(repr, counts))} after the keys",
            "counts(...) makes such a frame from rows",
        )
    for name in (*BOUNDS, *ADDABLE):
        if name in schema and not schema[name].is_numeric():
            raise ColumnError(
                f"column {name!r} of frame {place + 1} has dtype {schema[name]}",
                "a numeric column",
                f"cast it, for example with pl.col({name!r}).cast(...)",
            )


def _check_alike(schema: pl.Schema, first: pl.Schema, place: int) -> None:
    """Refuse to add up what was counted by other keys, in other bins, or in another dtype."""
    if set(schema) != set(first):
        other = sorted(set(schema) ^ set(first))
        raise ColumnError(
            f"frame {place + 1} and frame 1 differ in columns {', '.join(map(repr, other))}",
            "counts by the same keys, all of them binned or none",
        )
    for name, dtype in first.items():
        if schema[name] != dtype:
            cast = "..." if pl.Enum not in (dtype, schema[name]) else "pl.String"
            in_pandas = "" if cast == "..." else ", or in pandas with .astype(str)"
            raise ColumnError(
                f"column {name!r} has dtype {schema[name]} in frame {place + 1} "
                f"and {dtype} in frame 1",
                "one dtype",
                f"cast it, for example with pl.col({name!r}).cast({cast}){in_pandas}",
                shell_hint=None,
            )
