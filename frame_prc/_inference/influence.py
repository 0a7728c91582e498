"""The influence of each row on the average precision: the derivative by the row's weight.

With P the weight of the positives, Q_n = TP_n + FP_n, and m running over the scores at or below
that of the row, one more unit of weight at the n-th highest score changes the average precision
(AP) by

- on a positive row ``(TP_n / Q_n - AP + sum((TP_m - TP_(m-1)) * FP_m / Q_m^2)) / P``,
- on a negative row ``-sum((TP_m - TP_(m-1)) * TP_m / Q_m^2) / P``.

This is the influence function of ``E[truth * precision(score)] / prevalence``, divided by the
total weight. Multiplied by the rows' weights it adds up to 0, and the squares of these products add
up to the variance of AP (the infinitesimal jackknife: Efron 1981, doi 10.2307/2335442). Rows of the
same score and class have the same influence, so counts and sums of squared weights are enough.

A calibrated AP is that of scaled false positives, and so is its influence; a negative row has the
influence of what it counts as. At a given prevalence the sizes of the classes carry no information,
so the influences of each class are centred by themselves.

AP is too high on average where few rows decide the top of the ranking. By the delete-one jackknife,
which takes P - 1 times the mean change without a positive and N - 1 times that without a negative,

    bias = sum((TP_m - TP_(m-1)) / P * FP_m / Q_m * (1 - TP_m / N) / (Q_m - 1))

exactly, with ties as without them, because rows of one score and class leave the same behind. Rows
of a class that have different weights count as effectively as many rows of equal weight.
"""

from __future__ import annotations

import polars as pl

from frame_prc._curves.calibration import REFERENCE, calibrated, with_reference
from frame_prc._formulas import above_average, effective_number, exact_parts
from frame_prc._lazy import cached
from frame_prc._ranking.ranking import Ranking
from frame_prc._ranking.running_sums import HITS, running
from frame_prc._request.specs import Calibration

_TP, _FP, _OPENS = pl.col("tp"), pl.col("fp"), pl.col("opens")
_POSITIVES, _NEGATIVES = pl.col("positives"), pl.col("negatives")
_RETRIEVED = _TP + _FP
_GAIN, _LOSSES, _ERROR = pl.col("gain"), pl.col("losses"), pl.col("error")


def influences(ranking: Ranking, calibration: Calibration | None = None) -> pl.LazyFrame:
    """Return the scores that have positives, with the influence of their rows.

    Each segment begins with a row that opens it. The influence changes at these scores only: rows
    have that of the next one, and rows below all of them that of the row that opens the segment.

    Returns
    -------
    LazyFrame
        Running sums (see :func:`frame_prc._ranking.running_sums.running`), ``on_positive,
        on_negative``, and the same for all rows of a segment: ``step``, the average precision, and
        ``shortfall``, which is 1 minus it, and exactly 0 if no negative ranks above a positive. If
        calibrated, also ``reference_prevalence, reference_odds``.
    """
    hits = running(ranking, HITS)
    retrieved = hits.filter(ranking.key.retrieved() & (_OPENS | (_RETRIEVED > 0)))
    if calibration is None:
        return influences_of(retrieved)
    return influences_of(with_reference(cached(retrieved), ranking, calibration), calibrates=True)


def influences_of(hits: pl.LazyFrame, *, calibrates: bool = False) -> pl.LazyFrame:
    """Return the same from scores that have positives, and the rows that open segments.

    To be calibrated they have their reference (see
    :func:`frame_prc._curves.calibration.with_reference`).
    """
    return _centred(_with_influence(calibrated(hits))) if calibrates else _with_influence(hits)


def spreads(
    influences: pl.LazyFrame, ranking: Ranking, calibration: Calibration | None = None
) -> pl.LazyFrame:
    """Return the average precision of each segment, and its variance if rows are independent.

    The ranking must be one with squares.

    Returns
    -------
    LazyFrame
        ``segment, positives, negatives, step, shortfall, variance``; ``n_effective`` and
        ``n_negative``, the effective numbers of positives and of negatives: the square of the sum
        of their weights over the sum of the squares; ``row_odds``, negatives over positives by
        these numbers; ``bias``, null below two positives. If calibrated, also
        ``reference_prevalence, reference_odds``.
    """
    squares = (
        pl.col("pos") * pl.col("on_positive") ** 2 + pl.col("neg") * pl.col("on_negative") ** 2
    )
    first = ["positives", "negatives", "step", "shortfall"]
    added = ["variance", "pos", "neg", "bias"]
    numbers = {
        "n_effective": effective_number(_POSITIVES, pl.col("pos")),
        # Of rows the sum lacks the negatives below the last positive, which move nothing.
        "n_negative": effective_number(_NEGATIVES, pl.col("neg"))
        if ranking.squares
        else _NEGATIVES.cast(pl.Float64),
    }
    has_classes = _POSITIVES > 0
    if calibration is not None:
        first += [REFERENCE, "reference_odds"]
        has_classes &= _NEGATIVES > 0
    defined = pl.when(has_classes).then(pl.col("step", "shortfall", "variance", "n_effective"))
    return (
        influences.with_columns(_squares(ranking))
        .with_columns(variance=squares, bias=_bias(ranking, calibrates=calibration is not None))
        .group_by("segment")
        .agg(pl.col(first).first(), pl.col(added).sum())
        # Always true. Where no aggregate is used, Polars 1.41 streams a group more than once.
        .filter(_POSITIVES.is_not_null())
        .sort("segment")
        .with_columns(**numbers)
        .with_columns(
            defined,
            row_odds=pl.col("n_negative") / pl.col("n_effective"),
            bias=pl.when(_is_jackknifed(ranking)).then("bias"),
        )
        .drop("pos", "neg")
    )


def _bias(ranking: Ranking, *, calibrates: bool) -> pl.Expr:
    """Return what each step adds to the bias of the area: what it changes by without a row.

    At a given prevalence the weight of all negatives changes with the sizes of the classes too. A
    step changes if the row that is left out ranks at or above it, and at a given prevalence also if
    it ranks below.
    """
    of_positive, of_negative = _weights_of_rows(ranking)
    tp, fp, retrieved = _TP, pl.col("unscaled_fp") if calibrates else _FP, pl.col("retrieved")
    one, fewer, more = _scales(of_positive, of_negative, calibrates=calibrates)
    left = tp - of_positive
    above = left / of_positive * fp * (one * left - fewer * tp) / (left + fewer * fp)
    of_positives = pl.when(left > 0).then(above).otherwise(0.0)
    # A row may weigh more than all that ranks at or above a step.
    out = pl.min_horizontal(fp, of_negative)
    rest = tp + more * (fp - out)
    of_negatives = fp / of_negative * tp * (one * fp - more * (fp - out)) / rest
    if calibrates:
        both = tp * fp * one
        of_positives += (1 - tp / _POSITIVES) * both / (tp + fewer * fp)
        of_negatives -= (
            (1 - fp / _NEGATIVES) * both / (1 - of_negative / _NEGATIVES) / (tp + more * fp)
        )
    of_negatives = pl.when(of_negative < _NEGATIVES).then(
        of_negatives * (1 - of_negative / _NEGATIVES)
    )
    changes = of_positives + of_negatives.fill_null(0.0)
    return pl.when(fp > 0).then(pl.col("share") / retrieved * changes)


def _weights_of_rows(ranking: Ranking) -> tuple[pl.Expr, pl.Expr]:
    """Return the weight of a positive and of a negative if all of a class had the same.

    There are as many of them as effective rows.
    """
    if not ranking.squares:
        return pl.lit(1.0), pl.lit(1.0)
    pos, neg = pl.col("positives_squares"), pl.col("negatives_squares")
    return pos / _POSITIVES, neg / _NEGATIVES


def _scales(
    of_positive: pl.Expr, of_negative: pl.Expr, *, calibrates: bool
) -> tuple[pl.Expr, pl.Expr, pl.Expr]:
    """Return what a negative counts as: now, without a positive, and without a negative."""
    if not calibrates:
        return pl.lit(1.0), pl.lit(1.0), pl.lit(1.0)
    one = pl.col("scale")
    return one, one * (1 - of_positive / _POSITIVES), one / (1 - of_negative / _NEGATIVES)


def _is_jackknifed(ranking: Ranking) -> pl.Expr:
    """Return whether a row of each class can be left out, and what a row weighs is known."""
    is_known = ranking.squares or not ranking.rows.columns.weighted
    return (pl.col("n_effective") > 1) & (_NEGATIVES > 0) & pl.lit(is_known)


def _squares(ranking: Ranking) -> list[pl.Expr]:
    """Return the sums of squared weights at each step, of positives and of negatives."""
    if not ranking.squares:
        return [_GAIN.alias("pos"), _LOSSES.alias("neg")]
    pos, neg = pl.col("positives_squares"), pl.col("negatives_squares")
    return [_added("tp_squares", pos).alias("pos"), _added("fp_squares", neg).alias("neg")]


def _centred(steps: pl.LazyFrame) -> pl.LazyFrame:
    """Return the influences of rows in classes of given sizes, where negatives are scaled.

    The influences of the positives add up to the sum of what each step adds to the area times its
    share of false positives, and those of the negatives to minus that. Negatives below all
    positives are among the losses of the row that opens a segment.
    """
    lost = pl.col("lost")
    return steps.with_columns(
        lost=(pl.col("area") * _ERROR).sum().over("segment"),
        losses=_added("unscaled_fp", _NEGATIVES),
    ).with_columns(
        on_positive=pl.col("on_positive") - lost / _POSITIVES,
        on_negative=pl.col("on_negative") * pl.col("scale") + lost / _NEGATIVES,
    )


def _with_influence(steps: pl.LazyFrame) -> pl.LazyFrame:
    """Add the area of each step, and the influence of its rows: ``on_positive, on_negative``.

    The row that opens a segment stands for its rows that are never retrieved. A positive among them
    has no precision to add, and a negative does not lower the precision of any step.
    """
    precision, rate, share = pl.col("precision"), pl.col("rate"), pl.col("share")
    retrieved = pl.col("retrieved")
    step, shortfall = pl.col("step"), pl.col("shortfall")
    sums = {name: _from_here_on(pl.col(name)) for name in ("raised", "lowered")}
    above = above_average(precision.fill_null(0.0), _ERROR, step, shortfall)
    # Each is a column, since Polars computes windows of columns much faster than of expressions.
    # What is null where a segment opens is so in all that follows.
    # Steps come in ranking order, and windows over a sorted column are faster.
    return (
        steps.with_columns(pl.col("segment").set_sorted())
        .with_columns(
            gain=_added("tp", _POSITIVES),
            losses=_added("fp"),
            retrieved=pl.when(~_OPENS).then(_RETRIEVED.cast(pl.Float64)),
        )
        .with_columns(precision=_TP / retrieved, error=(_FP / retrieved).fill_null(1.0))
        .with_columns(rate=_GAIN / retrieved, share=_GAIN / _POSITIVES)
        .with_columns(
            raised=rate * _ERROR,
            lowered=rate * precision,
            area=share * precision,
            lost=share * _ERROR,
        )
        .with_columns(*_parts("area"), *_parts("lost"))
        .with_columns(step=_total("area"), shortfall=_total("lost"), **sums)
        .with_columns(
            on_positive=(above + pl.col("raised").fill_null(0.0)) / _POSITIVES,
            on_negative=-pl.col("lowered").fill_null(0.0) / _POSITIVES,
        )
    )


def _parts(name: str) -> list[pl.Expr]:
    """Return the parts of a term that add up exactly."""
    return [part.alias(f"{name}_{i}") for i, part in enumerate(exact_parts(pl.col(name)))]


def _total(name: str) -> pl.Expr:
    """Return the exact sum of the terms of a segment, at most 1, from their parts."""
    coarse, fine = (pl.col(f"{name}_{i}").sum() for i in range(2))
    # One window, so that rows get a single column, which needs no more work on each of them.
    return (coarse + fine).clip(upper_bound=1.0).over("segment")


def _from_here_on(amount: pl.Expr) -> pl.Expr:
    """Return the sum of an amount over a step and all later ones of its segment."""
    # Steps are sorted by segment, so "explode", which stacks the groups, keeps them in place.
    return amount.cum_sum(reverse=True).over("segment", mapping_strategy="explode")


def _added(running_sum: str, total: pl.Expr | None = None) -> pl.Expr:
    """Return what each step adds to a running sum; the opening row has the rest of the total."""
    unretrieved = 0 if total is None else total - pl.col(running_sum).max().over("segment")
    return pl.when(_OPENS).then(unretrieved).otherwise(pl.col(running_sum).diff())
