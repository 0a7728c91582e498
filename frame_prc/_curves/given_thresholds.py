"""Thresholds that segments are given: by a frame, or by a column that is constant in a segment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import polars as pl

from frame_prc._curves.calibration import TEXTS, joined
from frame_prc._curves.curve import CURVE
from frame_prc._formulas import without_nan
from frame_prc._lazy import aggregated, named
from frame_prc._ranking.ranking import Ranking
from frame_prc._request.roles import THRESHOLD
from frame_prc._request.specs import GROUPING, MODEL
from frame_prc._rows.checks import Check, with_checks
from frame_prc._rows.rows import DROPPED, Rows
from frame_prc.exceptions import ColumnError, DataError, OptionError, PrcError, nearest

# The statuses of rows whose segment is given no threshold, whose target no point meets, and whose
# threshold was chosen on other rows and misses its target on these.
NO_THRESHOLD, NOT_MET, MISSED = "no_threshold", "not_met", "missed"
NO_GUARANTEE = "no_guarantee"
# How many rows a guarantee has, and takes at least.
COUNTED, NEEDED = "n_counted", "n_needed"

# Which scores a threshold retrieves, where it is the lower ones.
ASCENDING = "ascending"
# A column of results where a target is a cost.
EXPECTED_COST = "expected_cost"

RATES = ("fpr", "f_score", "predicted_rate", "predicted_count")
LIMITS = ("precision_low", "precision_high", "recall_low", "recall_high")
# Columns of operating points, which are not keys.
_TARGET = ("target", "criterion", "target_value")
_KEPT = ("target", "target_value")  # of a frame that holds thresholds; they tell the criterion
RESULTS = {
    *_TARGET, *CURVE, *RATES, EXPECTED_COST, COUNTED, NEEDED, ASCENDING, "status", *LIMITS,
    *DROPPED,
}  # fmt: skip


ErrorT = TypeVar("ErrorT", bound=PrcError)


@dataclass(frozen=True)
class GivenThresholds:
    """A frame of thresholds given in a parameter, or none: then rows have a column ``held``."""

    frame: pl.LazyFrame | None = None
    role: str = THRESHOLD

    @property
    def has_costs(self) -> bool:
        """Whether some thresholds were chosen for a cost, which new rows have too."""
        return self.frame is not None and EXPECTED_COST in self.frame.collect_schema()

    def of(self, ranking: Ranking, first: int) -> pl.LazyFrame:
        """Return ``segment, order``, the columns of the target, and ``held``."""
        if self.frame is None:
            given = _of_rows(ranking)
        else:
            given = _of_frame(self.frame, ranking, self.role)
        held = pl.col("held").cast(pl.Float64).fill_nan(None)
        return given.select(
            "segment",
            pl.col("order").fill_null(0).cast(pl.Int64) + first,
            *_targets(held),
            rounded(held, ranking).alias("held"),
        )

    def one_each(self, ranking: Ranking) -> pl.LazyFrame:
        given = self.of(ranking, first=0)
        repeated = pl.col("segment").is_duplicated()
        details = [pl.col("target").filter(repeated).min(), pl.col("target").filter(repeated).max()]
        several = Check(repeated.sum(), self._several, details)
        in_memory = ranking.rows.in_memory
        return with_checks(given, given, [several], in_memory=in_memory).select("segment", "held")

    def _several(self, _: int, lowest: str, highest: str) -> DataError:
        return DataError(
            f"{self.role}= has several thresholds for a segment, such as those of {lowest!r} and "
            f"{highest!r}",
            "one for each segment (and model)",
            f"keep those of one target: chosen.filter(pl.col('target') == {lowest!r})"
            if lowest != highest and not lowest.startswith(THRESHOLD)
            else "chosen.unique(keys) keeps one of them",
        )


def _targets(held: pl.Expr) -> list[pl.Expr]:
    own = pl.format("threshold={}", held.cast(pl.String).str.strip_suffix(".0"))
    text = pl.coalesce(pl.col("target").cast(pl.String), own, pl.lit("threshold"))
    number = text.str.extract(r"^[a-z_]+=(?:Top\()?([^(,=]*)(?:, ties='expected'\))?$")
    number = number.cast(pl.Float64, strict=False)
    is_joint = text.str.contains(r"^[a-z_]+=[^(]*, [a-z_]+=")
    fp, fn = costs_of(text)
    value = pl.coalesce(number, fp / (fp + fn))
    return [
        text.alias("target"),
        pl.when(is_joint)
        .then(pl.lit("joint"))
        .otherwise(text.str.extract("^([a-z_]+)"))
        .alias("criterion"),
        pl.coalesce(pl.col("target_value").cast(pl.Float64), value).alias("target_value"),
    ]


def costs_of(target: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
    costs = target.str.extract_groups(r"^cost=\(([^,]+), ([^,]+)\)$")
    fp, fn = (costs.struct[place].cast(pl.Float64, strict=False) for place in (0, 1))
    return fp, fn


def rounded(threshold: pl.Expr, ranking: Ranking) -> pl.Expr:
    """Round a threshold to the dtype of scores: 0.7 as a Float32 is slightly below 0.7."""
    return threshold.cast(ranking.threshold_dtype).cast(pl.Float64)


def along_ranking(value: pl.Expr, ranking: Ranking) -> pl.Expr:
    """Return scores, or thresholds, which retrieve those up to it, as numbers in ranking order."""
    number = value.cast(pl.Float64)
    return number if ranking.rows.ascending else -number


# --- a column of the rows --------------------------------------------------------------------


def _of_rows(ranking: Ranking) -> pl.LazyFrame:
    rows = ranking.rows
    held = without_nan(pl.col("held").cast(pl.Float64), pl.Float64())
    table = aggregated(
        rows.frame,
        rows.keys,
        held=held.first(),
        values=held.n_unique(),
        lowest=held.min(),
        highest=held.max(),
    )
    checked = with_checks(table, table, [_constant_check(rows)], in_memory=rows.in_memory)
    numbered = ranking.segments.numbered(checked)
    return numbered.with_columns(order=pl.lit(0), **dict.fromkeys(_KEPT, pl.lit(None)))


def _constant_check(rows: Rows) -> Check:
    column = rows.columns.threshold
    name = "" if column is None else column.name
    several = pl.col("values") > 1
    details = [pl.col("lowest").filter(several).min(), pl.col("highest").filter(several).max()]

    def error(count: int, lowest: float | None, highest: float | None) -> DataError:
        segments = "1 segment" if count == 1 else f"{count} segments"
        return DataError(
            f"threshold= column {name!r} has several values, or missing ones beside others, in "
            f"{segments}: from {lowest} to {highest}",
            "one threshold for each segment in by=",
            "add what it depends on to by=, or aggregate it, for example "
            f"pl.col({name!r}).max().over(...)",
        )

    return Check(several.sum(), error, details)


# --- a frame ---------------------------------------------------------------------------------


def _of_frame(frame: pl.LazyFrame, ranking: Ranking, role: str) -> pl.LazyFrame:
    rows, schema = ranking.rows, frame.collect_schema()
    _check_frame(rows, schema, role)
    targets = {
        name: named(name) if name in schema else pl.lit(None, dtype)
        for name, dtype in zip(_KEPT, (pl.String(), pl.Float64()), strict=True)
    }
    frame = _with_direction(frame, rows, role).with_row_index("\0order")
    given = targets | {"order": pl.col("\0order"), "held": named(THRESHOLD)}
    segments = ranking.segments.table.select("segment", *rows.keys)
    return joined(segments, frame, rows, role, **given).sort("segment", "order")


def _check_frame(rows: Rows, schema: pl.Schema, role: str) -> None:
    if THRESHOLD not in schema:
        raise ColumnError(
            f"{role}= is a frame without a column 'threshold'",
            "a result of operating_points(), or keys and a column 'threshold'",
            nearest(THRESHOLD, schema),
        )
    for name in (THRESHOLD, "target_value"):
        if name in schema and not (schema[name].is_numeric() or schema[name] == pl.Null):
            raise ColumnError(
                f"{role}= is a frame whose column {name!r} has dtype {schema[name]}",
                "a numeric column",
            )
    if schema.get("target", pl.String()) not in (*TEXTS, pl.Null):
        raise ColumnError(
            f"{role}= is a frame whose column 'target' has dtype {schema['target']}",
            "a column of texts, such as 'recall=0.9'",
        )
    keys = rows.columns.result_keys
    for name in schema:
        if name in RESULTS or name in keys:
            continue
        if name in rows.columns.request.key_names:
            raise ColumnError(
                f"{role}= has thresholds by {name!r}, and segments are put together here",
                "one threshold for what is put together",
                "join the thresholds to the rows: with at={'threshold': 1}, "
                "score=(pl.col('score') >= pl.col('threshold')).cast(int) holds each to its own",
            )
        raise ColumnError(
            f"{role}= is a frame with a column {name!r}, which is not a key here",
            f"the keys {', '.join(map(repr, keys))}, and columns of operating_points()"
            if keys
            else "columns of operating_points(), as there are no keys here",
            "keep the rows of one grouping, and drop the column"
            if name == GROUPING
            else f"name {name!r} in by=, or drop it from the frame"
            if name != MODEL
            else "keep the rows of one model, and drop the column",
        )


def _with_direction(frame: pl.LazyFrame, rows: Rows, role: str) -> pl.LazyFrame:
    schema, keys = frame.collect_schema(), rows.columns.result_keys
    if ASCENDING in schema and ASCENDING not in keys:
        if schema[ASCENDING] not in (pl.Boolean, pl.Null):
            raise ColumnError(
                f"{role}= is a frame whose column {ASCENDING!r} has dtype {schema[ASCENDING]}",
                "a Boolean column",
            )
        other = pl.col(ASCENDING).cast(pl.Boolean) != rows.ascending
        turned = Check(other.sum(), lambda _: _other_direction(DataError, rows, role))
        return with_checks(frame, frame, [turned], in_memory=rows.in_memory)
    if rows.ascending and {"target", "status"} <= {*schema.names()} - {*keys}:
        raise _other_direction(OptionError, rows, role)
    return frame


def _other_direction(kind: type[ErrorT], rows: Rows, role: str) -> ErrorT:
    return kind(
        f"{role}= has thresholds that were chosen with ascending={not rows.ascending}, and this "
        f"call has ascending={rows.ascending}",
        "thresholds for scores in the same direction",
        f"ascending={not rows.ascending} here too, or choose them again",
    )
