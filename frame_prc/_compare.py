"""Comparisons: models on the same rows, or a segment with the rest or the whole, and how sure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, TypeAlias

import polars as pl

from frame_prc._areas import AVERAGE_PRECISION
from frame_prc._influence import with_moves
from frame_prc._intervals import (
    cluster_sums,
    estimates,
    of_independent_rows,
    per_segment,
    positive_weight,
    status,
    student_as_normal,
    student_quantile,
    tells_spread,
)
from frame_prc._plan import matched
from frame_prc._ranking import rank
from frame_prc._rows import Rows, dropped, side_by_side

Adjust: TypeAlias = Literal["holm", "bh"]
Against: TypeAlias = Literal["rest", "overall"]

MODELS = ("model_a", "model_b")
AGAINST = ("against",)
_TEST = ("ap_a", "ap_b", "difference", "std_error", "ci_low", "ci_high", "p_value")
_ADJUSTED = ("p_adjusted",)
_STATSMODELS = {"holm": "holm", "bh": "fdr_bh"}

# The squares of what rounding leaves of a difference between two rankings that are one.
_ROUNDING = 1e-24
_CANCELLED = 1e-12

_AP_A, _AP_B, _LACK_A, _LACK_B = (pl.col(n) for n in ("ap_a", "ap_b", "lack_a", "lack_b"))
_VARIANCES = ("variance_a", "variance_b")
_VARIANCE, _DIFFERENCE, _STD_ERROR = (pl.col(n) for n in ("variance", "difference", "std_error"))


@dataclass(frozen=True)
class Comparison:
    """What is compared: pairs of models by their places, or each segment ``against`` others."""

    level: float
    pairs: tuple[tuple[int, int], ...]
    against: Against | None
    adjust: Adjust | None

    def outputs(self) -> list[str]:
        """Return the columns after the keys."""
        compared = MODELS if self.against is None else AGAINST
        adjusted = _ADJUSTED if self.adjust else ()
        return [*compared, "n", "n_pos", *_TEST, *adjusted, "status"]


def pairs_of(models: Sequence[str], baseline: str | None) -> tuple[tuple[int, int], ...]:
    """Return which models to compare, by their places: each with each, or with the baseline."""
    if baseline is None:
        return tuple(combinations(range(len(models)), 2))
    base = models.index(baseline)
    return tuple((place, base) for place in range(len(models)) if place != base)


def compare(rows: Rows, asked: Comparison) -> pl.LazyFrame:
    """Return one row per segment and pair of models, or per segment (and model)."""
    if asked.against is None:
        compared = side_by_side(rows)
        table = _models(compared, list(rows.columns.request.models), asked.pairs)
    else:
        compared = rows
        table = _rest(rows) if asked.against == "rest" else _overall(rows)
        table = table.with_columns(against=pl.lit(asked.against))
    tested = (
        table.with_columns(difference=_difference())
        .with_columns(
            std_error=pl.when(_VARIANCE > 0, _DIFFERENCE.is_not_null(), tells_spread()).then(
                _VARIANCE.sqrt()
            )
        )
        .with_columns(*_limits(asked.level), _p_value(), status())
        .with_columns(_adjusted(asked.adjust))
    )
    return compared.finish(tested, [*asked.outputs(), *dropped(rows.columns.request.missing)])


# --- models on the same rows ---------------------------------------------------------------


def _models(
    rows: Rows, names: Sequence[str | None], pairs: Sequence[tuple[int, int]]
) -> pl.LazyFrame:
    """Return segments by pairs, with both areas and the variance of their difference."""
    models = [
        replace(rows, frame=rows.frame.with_columns(score=f"score_{i}")) for i in range(len(names))
    ]
    frame = rows.used().with_columns(positive_weight(rows))
    for i, model in enumerate(models):
        frame = with_moves(frame, model, f"score_{i}", f"move_{i}")
    moves = [pl.col(f"move_{i}") for i in range(len(names))]
    if rows.columns.cluster is not None:
        frame = cluster_sums(frame, rows, moves)
    table = of_independent_rows(rank(models[0])).drop("variance", "effective")
    table = table.rename({AVERAGE_PRECISION: "ap_0", "lack": "lack_0"})
    for i, model in enumerate(models[1:], 1):
        area = of_independent_rows(rank(model)).select(
            *rows.keys,
            pl.col(AVERAGE_PRECISION).alias(f"ap_{i}"),
            pl.col("lack").alias(f"lack_{i}"),
        )
        table = matched(table, area, rows.keys)
    spread = per_segment(frame, rows, **_variances(moves, pairs))
    return _by_pair(matched(table, spread, rows.keys), names, pairs)


def _variances(moves: Sequence[pl.Expr], pairs: Sequence[tuple[int, int]]) -> dict[str, pl.Expr]:
    """Return the variance of each area; of each pair that of the difference, and the covariance."""
    sums = {f"alone_{i}": (move**2).sum() for i, move in enumerate(moves)}
    for k, (a, b) in enumerate(pairs):
        sums[f"variance_{k}"] = ((moves[a] - moves[b]) ** 2).sum()
        sums[f"covariance_{k}"] = (moves[a] * moves[b]).sum()
    return sums


def _by_pair(
    table: pl.LazyFrame, names: Sequence[str | None], pairs: Sequence[tuple[int, int]]
) -> pl.LazyFrame:
    text = pl.List(pl.String)
    lists = {
        "model_a": pl.lit([names[a] for a, _ in pairs], dtype=text),
        "model_b": pl.lit([names[b] for _, b in pairs], dtype=text),
        "ap_a": pl.concat_list([f"ap_{a}" for a, _ in pairs]),
        "ap_b": pl.concat_list([f"ap_{b}" for _, b in pairs]),
        "lack_a": pl.concat_list([f"lack_{a}" for a, _ in pairs]),
        "lack_b": pl.concat_list([f"lack_{b}" for _, b in pairs]),
        "variance_a": pl.concat_list([f"alone_{a}" for a, _ in pairs]),
        "variance_b": pl.concat_list([f"alone_{b}" for _, b in pairs]),
        "variance": pl.concat_list([f"variance_{k}" for k in range(len(pairs))]),
        "covariance": pl.concat_list([f"covariance_{k}" for k in range(len(pairs))]),
    }
    long = table.select(pl.exclude(r"^(co)?variance_\d+$"), **lists).explode(*lists)
    least = _ROUNDING * (pl.col("variance_a") + pl.col("variance_b"))
    return long.with_columns(variance=pl.when(pl.col("variance") > least).then("variance"))


# --- a segment and others ------------------------------------------------------------------


def _overall(rows: Rows) -> pl.LazyFrame:
    """Return each segment beside all rows, of which it is a part.

    Its rows move both areas and all others only that of the whole.
    """
    whole = rows.pooled()
    frame = with_moves(rows.used(), rows, "score", "move_a").with_columns(positive_weight(rows))
    frame = with_moves(frame, whole, "score", "move_b")
    move_a, move_b = pl.col("move_a"), pl.col("move_b")
    if rows.columns.cluster is not None:
        frame = cluster_sums(frame, rows, [move_a, move_b]).with_columns(
            move_b.sum().over(*whole.keys, "cluster")
        )
    sums = per_segment(
        frame,
        rows,
        near=((move_a - move_b) ** 2).sum(),
        inside=(move_b**2).sum(),
        covariance=(move_a * move_b).sum(),
        len=pl.len(),
    )
    own = _side(estimates(rank(rows, squares=True), rows), "a")
    table = matched(own, sums.drop("effective"), rows.keys)
    pooled = _side(estimates(rank(whole, squares=True), whole), "b")
    table = matched(table, pooled.select(*whole.keys, *_OTHER), whole.keys)
    total = pl.col("len").sum()
    is_part = pl.col("len") < (total.over(whole.keys) if whole.keys else total)
    outside = (pl.col("variance_b") - pl.col("inside")).clip(lower_bound=0)
    variance = pl.when(is_part).then(pl.col("near") + outside)
    return table.with_columns(_of_both_sides(), variance=variance)


def _rest(rows: Rows) -> pl.LazyFrame:
    """Return each segment beside all other rows: independent, but for clusters in both."""
    rest = _others(rows)
    other = _side(estimates(rank(rest, squares=True), rest), "b").select(*rows.keys, *_OTHER)
    own = _side(estimates(rank(rows, squares=True), rows), "a")
    table = matched(own, other, rows.keys)
    covariance = pl.lit(0.0)
    if rows.columns.cluster is not None:
        table = matched(table, _shared(rows, rest), rows.keys)
        covariance = pl.col("covariance").fill_null(0)
    variance = pl.col("variance_a") + pl.col("variance_b") - 2 * covariance
    return table.with_columns(_of_both_sides(), variance=variance, covariance=covariance)


_OTHER = ("ap_b", "lack_b", "variance_b", "status_b", "effective_b")


def _side(table: pl.LazyFrame, side: str) -> pl.LazyFrame:
    """Name what is estimated for one side of a difference; the first keeps its sizes."""
    names = {AVERAGE_PRECISION: f"ap_{side}"}
    names |= {name: f"{name}_{side}" for name in ("lack", "variance")}
    if side == "b":
        names |= {"status": "status_b", "effective": "effective_b"}
    return table.rename(names)


def _of_both_sides() -> list[pl.Expr]:
    """Return the status and the effective positives of the side that is worse off."""
    other = pl.col("status_b").fill_null("empty")
    return [
        pl.when(pl.col("status") == "ok").then(other).otherwise("status").alias("status"),
        pl.min_horizontal("effective", "effective_b").alias("effective"),
    ]


def _others(rows: Rows) -> Rows:
    """Return, for each segment, the rows of all others under its keys."""
    models = rows.pooled().keys
    by = [key for key in rows.keys if key not in models]
    segments = rows.used().select(rows.keys).unique()
    others = rows.used().rename({key: f"other_{key}" for key in by})
    paired = segments.join(others, on=models) if models else segments.join(others, how="cross")
    differs = pl.any_horizontal(pl.col(key).ne_missing(pl.col(f"other_{key}")) for key in by)
    return replace(rows, frame=paired.filter(differs), usable=None, n_dropped=None, values=None)


def _shared(rows: Rows, rest: Rows) -> pl.LazyFrame:
    """Return the covariance of each segment with the rest, by clusters that are in both."""
    inside, outside = (
        cluster_sums(
            with_moves(side.used(), side, "score", "move").with_columns(positive_weight(side)),
            side,
            [pl.col("move")],
        )
        for side in (rows, rest)
    )
    both = inside.join(outside, on=[*rows.keys, "cluster"], nulls_equal=True)
    return both.group_by(rows.keys).agg(covariance=(pl.col("move") * pl.col("move_right")).sum())


# --- tests ---------------------------------------------------------------------------------


def _difference() -> pl.Expr:
    """Return the difference of two areas, of areas next to 1 by what they lack of it."""
    near_one = pl.min_horizontal(_AP_A, _AP_B) > 0.5  # noqa: PLR2004
    return pl.when(near_one).then(_LACK_B - _LACK_A).otherwise(_AP_A - _AP_B)


def _limits(level: float) -> list[pl.Expr]:
    half = student_quantile(level) * _STD_ERROR
    return [
        (_DIFFERENCE - half).clip(lower_bound=-1).alias("ci_low"),
        (_DIFFERENCE + half).clip(upper_bound=1).alias("ci_high"),
    ]


def _statistic() -> pl.Expr:
    """Return how many standard errors of it the difference of the two logits is.

    A test between logits holds its level where the standard error of a plain difference grows with
    the areas, and hides it. An area of 1 or 0 has no logit: then the plain difference is left.
    """
    slope_a, slope_b = _AP_A * _LACK_A, _AP_B * _LACK_B
    variance_a, variance_b = pl.col("variance_a"), pl.col("variance_b")
    # Both are the sum of (move_a / slope_a - move_b / slope_b)^2; this one from the difference of
    # moves, so that nothing cancels where slopes are equal,
    alike = _VARIANCE / (slope_a * slope_b)
    from_difference = alike + (1 / slope_a - 1 / slope_b) * (
        variance_a / slope_a - variance_b / slope_b
    )
    # and this one from both alone, for slopes that are far from each other.
    alone = variance_a / slope_a**2 + variance_b / slope_b**2
    from_both = alone - 2 * pl.col("covariance") / (slope_a * slope_b)
    is_near = (slope_a / slope_b).is_between(0.5, 2)
    variance, scale = (
        pl.when(is_near).then(near).otherwise(far)
        for near, far in ((from_difference, from_both), (alike, alone))
    )
    # The log of the odds ratio, from what it differs from 1 by unless little is left of it.
    odds_a, odds_b = _AP_A * _LACK_B, _AP_B * _LACK_A
    is_small = odds_a < 0.5 * odds_b
    odds_ratio = odds_a / odds_b
    logits = pl.when(is_small).then(odds_ratio.log()).otherwise((_DIFFERENCE / odds_b).log1p())
    # Where clusters cancel, as two can, rounding is all that is left.
    has_spread = (variance > _CANCELLED * scale) & (pl.min_horizontal(*_VARIANCES) > 0)
    return pl.when(has_spread).then(logits / variance.sqrt()).otherwise(_DIFFERENCE / _STD_ERROR)


def _p_value() -> pl.Expr:
    """Return the two-sided p-value."""

    def two_sided(z: pl.Series) -> pl.Series:
        values = [None if x is None else math.erfc(x / math.sqrt(2)) for x in z]
        return pl.Series(z.name, values, dtype=pl.Float64)

    z = student_as_normal(pl.when(_STD_ERROR.is_not_null()).then(_statistic()))
    return z.map_batches(two_sided, return_dtype=pl.Float64).alias("p_value")


def _adjusted(adjust: Adjust | None) -> list[pl.Expr]:
    """Return p-values adjusted for as many tests as the result has."""
    if adjust is None:
        return []

    def adjusted(p: pl.Series) -> pl.Series:
        from statsmodels.stats.multitest import multipletests  # noqa: PLC0415 - an extra

        known = p.drop_nulls()
        if known.is_empty():
            return p
        values = iter(multipletests(known.to_numpy(), method=_STATSMODELS[adjust])[1])
        filled = [None if x is None else float(next(values)) for x in p]
        return pl.Series(p.name, filled, dtype=pl.Float64)

    return [pl.col("p_value").map_batches(adjusted, return_dtype=pl.Float64).alias("p_adjusted")]
