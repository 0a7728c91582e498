"""The average precision and the area under the ROC curve, with the influence of each row."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from frame_prc import _formulas as formulas
from frame_prc._curves.areas import (
    AVERAGE_PRECISION,
    AreaSpec,
    area_of,
    chance_in_range,
    shortfall_of,
    step_shortfall,
)
from frame_prc._curves.calibration import CALIBRATED, REFERENCE, calibrated, with_reference
from frame_prc._curves.logit_intervals import RANDOM, RANDOM_SHORTFALL, random_areas
from frame_prc._formulas import above_average
from frame_prc._inference import measure
from frame_prc._lazy import cached, left_join, segment_join
from frame_prc._ranking.ranking import Ranking
from frame_prc._ranking.running_sums import (
    CORNERS,
    HITS,
    TIES,
    may_have_ties,
    retrieved_at_ties,
    running,
)
from frame_prc._request.specs import PARTIAL_ROC_AUC

# --- average precision -------------------------------------------------------------------------


@dataclass(frozen=True)
class AveragePrecision(measure.Measure):
    """The average precision, maybe calibrated; only scores with positives change its influence."""

    points, of_precisions = HITS, True

    @property
    def name(self) -> str:
        return AVERAGE_PRECISION if self.calibration is None else CALIBRATED

    @property
    def is_defined(self) -> pl.Expr:
        has_positives = measure.POSITIVES > 0
        return (
            has_positives if self.calibration is None else has_positives & (measure.NEGATIVES > 0)
        )

    @property
    def chance(self) -> pl.Expr:
        return pl.col(RANDOM if self.calibration is None else REFERENCE)

    @property
    def is_of_rows(self) -> bool:
        at = self.calibration
        return at is None or (at.table is None and at.given is None)

    @property
    def kept(self) -> Sequence[str]:
        return [] if self.calibration is None else [REFERENCE, "reference_odds"]

    def influences(self, ranking: Ranking) -> pl.LazyFrame:
        found: pl.LazyFrame = self.influences_of(self._hits(ranking), measure.Dialect(ranking))
        return found

    def parts(self, ranking: Ranking) -> list[pl.LazyFrame]:
        return [ranking.rows.windowed(self._hits(ranking))]

    def _hits(self, ranking: Ranking) -> pl.LazyFrame:
        hits = running(ranking, HITS)
        has_rows = pl.col(measure.OPENS) | (pl.col("tp") + pl.col("fp") > 0)
        retrieved = hits.filter(ranking.retrieved() & has_rows)
        if self.calibration is None:
            return retrieved
        return with_reference(cached(retrieved), ranking, self.calibration)

    def influences_of(self, points: Any, of: measure.Dialect) -> Any:
        if self.calibration is None:
            return _with_influence(points, of)
        return _centred(_with_influence(calibrated(points, of.lib), of), of)

    def bias(self, of: measure.Dialect) -> tuple[Any, Any]:
        return _bias(of, calibrates=self.calibration is not None)

    @property
    def most_bias(self) -> pl.Expr:
        """The bias, where clusters multiply the part of each class as they do its variance.

        In simulations leaving out one cluster after the other finds about as much, or less. The
        mean of what the rows of a class move is no bias, as that of the other class is its
        opposite.
        """
        means = (-pl.col("moved"), pl.col("moved"))
        numbers = map(pl.col, ("n_by_rows", "n_negative"))
        added = [
            (pl.col(part) + mean * (1 - 1 / n)).clip(lower_bound=0.0) * (pl.col(times) - 1)
            for part, mean, n, times in zip(
                measure.BIAS, means, numbers, measure.TIMES_OF_CLUSTERS, strict=True
            )
        ]
        return pl.col("bias") + pl.sum_horizontal(added)

    def valued(self, ranking: Ranking) -> pl.LazyFrame:
        short = shortfall_of(step_shortfall)
        found = area_of(ranking, "step", self.calibration, shortfall=short)
        return found.rename({"step": "estimate"})


def _bias(of: measure.Dialect, *, calibrates: bool) -> tuple[Any, Any]:
    """Return what each step adds to the bias, by class: AP is too high where few rows decide.

    By the delete-one jackknife, exactly, with ties as without them:
    ``sum((TP_m - TP_(m-1)) / P * FP_m / Q_m * (1 - TP_m / N) / (Q_m - 1))``. Rows of different
    weights count as effectively as many of equal weight. A step changes if the row that is left
    out ranks at or above it; at a given prevalence also if it ranks below.
    """
    of_positive, of_negative = of.weights_of_rows()
    tp, fp, retrieved = of.cols("tp", "unscaled_fp" if calibrates else "fp", "retrieved")
    positives, negatives = of.cols("positives", "negatives")
    one, fewer, more = _scales(of, of_positive, of_negative, calibrates=calibrates)
    left, when = tp - of_positive, of.lib.when
    # No quotient is divided again, which would double what engines that check for zero have to do.
    above = (left / of_positive) * (fp / (left + fewer * fp)) * (one * left - fewer * tp)
    of_positives = when(left > 0).then(above).otherwise(0.0)
    # A row may weigh more than all that ranks at or above a step.
    out = of.lib.min_horizontal(fp, of_negative)
    rest = tp + more * (fp - out)
    of_negatives = (fp / of_negative) * (tp / rest) * (one * fp - more * (fp - out))
    if calibrates:
        both = tp * fp * one
        of_positives += (1 - tp / positives) * both / (tp + fewer * fp)
        of_negatives -= (
            (1 - fp / negatives) * both / (1 - of_negative / negatives) / (tp + more * fp)
        )
    of_negatives = when(of_negative < negatives).then(of_negatives * (1 - of_negative / negatives))
    changes = when((fp > 0) & (tp > 0)).then(of.lib.col("share") / retrieved)
    return changes * of_positives, changes * of_negatives.fill_null(0.0)


def _scales(
    of: measure.Dialect, of_positive: Any, of_negative: Any, *, calibrates: bool
) -> tuple[Any, Any, Any]:
    """Return what a negative counts as: now, without a positive, and without a negative."""
    if not calibrates:
        return of.lib.lit(1.0), of.lib.lit(1.0), of.lib.lit(1.0)
    one, positives, negatives = of.cols("scale", "positives", "negatives")
    return one, one * (1 - of_positive / positives), one / (1 - of_negative / negatives)


def _centred(steps: Any, of: measure.Dialect) -> Any:
    """Return the influences in classes of given sizes, where those of each class add up to 0.

    Negatives below all positives are among the losses of the row that opens a segment.
    """
    area, error, lost, scale = of.cols("area", "error", "lost", "scale")
    on_positive, on_negative, positives, negatives = of.cols(
        "on_positive", "on_negative", "positives", "negatives"
    )
    summed = of.with_sums(steps.with_columns(lost=area * error), plain={"lost": "lost"})
    return of.with_amounts(summed, "unscaled_fp").with_columns(
        on_positive=on_positive - lost / positives,
        on_negative=on_negative * scale + lost / negatives,
    )


def _with_influence(steps: Any, of: measure.Dialect) -> Any:
    """Add the area of each step, and the influence of its rows: ``on_positive, on_negative``.

    With P the weight of the positives, Q_n = TP_n + FP_n, and m running over the scores at or below
    the n-th, that is ``(TP_n / Q_n - AP + sum((TP_m - TP_(m-1)) * FP_m / Q_m^2)) / P`` of a
    positive, and ``-sum((TP_m - TP_(m-1)) * TP_m / Q_m^2) / P`` of a negative: the influence
    function of ``E[truth * precision(score)] / prevalence``. The row that opens a segment stands
    for its rows that are never retrieved.
    """
    tp, fp, gain, retrieved, positives = of.cols("tp", "fp", "gain", "retrieved", "positives")
    precision, error, rate, share = of.cols("precision", "error", "rate", "share")
    raised, lowered = of.cols("raised", "lowered")
    # Each is a column, since Polars computes windows of columns much faster than of expressions.
    # What is null where a segment opens is so in all that follows.
    ready = (
        of.with_amounts(steps, whole=False)
        .with_columns(retrieved=of.when_retrieved((tp + fp).cast(of.lib.Float64)))
        .with_columns(precision=tp / retrieved, error=(fp / retrieved).fill_null(1.0))
        .with_columns(rate=gain / retrieved, share=gain / positives)
        .with_columns(
            raised=rate * error,
            lowered=rate * precision,
            area=share * precision,
            lost=share * error,
        )
    )
    summed = of.with_sums(
        ready, exact={"estimate": "area", "shortfall": "lost"}, onward=("raised", "lowered")
    )
    above = above_average(precision.fill_null(0.0), error, *of.cols("estimate", "shortfall"))
    return summed.with_columns(
        on_positive=(above + raised.fill_null(0.0)) / positives,
        on_negative=-lowered.fill_null(0.0) / positives,
    )


# --- the area under the ROC curve --------------------------------------------------------------

ROC_AUC = "roc_auc"


@dataclass(frozen=True)
class RocAuc(measure.TiedMeasure):
    """The area under the ROC curve: its influence is ``(placement - area) / size of the class``.

    The placement of a row is the share of the other class that it ranks right, where ties count
    half. The variance is that of DeLong et al. (1988, doi 10.2307/2531595), from running sums (Sun
    & Xu 2014, doi 10.1109/LSP.2014.2337313).
    """

    name = ROC_AUC
    of_both_classes = True
    summed_points = CORNERS

    is_defined = (measure.POSITIVES > 0) & (measure.NEGATIVES > 0)

    @property
    def chance(self) -> pl.Expr:
        return pl.lit(0.5)

    def valued(self, ranking: Ranking) -> pl.LazyFrame:
        return area_of(ranking, "roc").rename({"roc": "estimate"})

    def influences_of(self, points: Any, of: measure.Dialect) -> Any:
        gain, positives, negatives = of.cols("gain", "positives", "negatives")
        missed, passed, behind = of.cols("missed", "passed", "behind")
        shared = self.placed(of.with_amounts(points), of).with_columns(
            area=gain / positives * (1 - missed), lost=gain / positives * missed
        )
        areas = of.with_sums(shared, exact={"estimate": "area", "shortfall": "lost"})
        measured = of.cols("estimate", "shortfall")
        of_positive, of_negative = of.weights_of_rows()
        return areas.with_columns(
            on_positive=above_average(1 - missed, missed, *measured)
            * _per_row(of, positives, of_positive),
            on_negative=above_average(passed, behind, *measured)
            * _per_row(of, negatives, of_negative),
        )

    def placed(self, points: Any, of: measure.Dialect) -> Any:
        """Add ``passed``, the placements of negatives, ``behind``, 1 less them, and ``missed``.

        ``missed`` is 1 less the placements of positives.
        """
        gain, losses, tp, fp = of.cols("gain", "losses", "tp", "fp")
        positives, negatives = of.cols("positives", "negatives")
        # Rows that are never retrieved are tied below all others.
        opens, when = of.lib.col(measure.OPENS), of.lib.when
        of_negatives = when(opens).then(negatives).otherwise(fp) - losses / 2
        of_positives = when(opens).then(positives).otherwise(tp) - gain / 2
        # Each is a column, since Polars computes windows of columns much faster.
        return points.with_columns(
            missed=of_negatives / negatives,
            passed=of_positives / positives,
            behind=(positives - of_positives) / positives,
        )


def _per_row(of: measure.Dialect, weight: Any, of_row: Any) -> Any:
    """Return the weight of a row in the mean of its class, for an unbiased variance."""
    # Written as one quotient: Narwhals writes a division within another several times.
    unbiased = of.lib.when(weight > of_row).then((weight / (weight - of_row)).sqrt())
    return unbiased.otherwise(1.0) / weight


# --- up to a false positive rate ---------------------------------------------------------------


@dataclass(frozen=True)
class PartialRocAuc(RocAuc):
    """The area under the ROC curve up to a false positive rate f, scaled as by McClish (1989).

    A random order has .5 and a perfect one 1 (doi 10.1177/0272989X8900900307):
    ``(1 + (area - f^2 / 2) / (f - f^2 / 2)) / 2``. The placement of a positive is the share of the
    f highest negatives that rank below it. With q the recall at f, one more negative at recall y
    moves the area by ``(min(y, q) - mean of it) / N``: it also moves another one out.
    """

    fpr: float = 0.1
    name = PARTIAL_ROC_AUC
    valued = measure.Measure.valued

    @property
    def lowest(self) -> float:
        return (1 - self.fpr) / (2 - self.fpr)

    @property
    def share_of_negatives(self) -> float:
        return self.fpr

    @property
    def chance(self) -> pl.Expr:
        return pl.lit(self.fpr / 2)

    def placed(self, points: Any, of: measure.Dialect) -> Any:
        lib, f = of.lib, self.fpr
        gain, losses, tp, fp, positives, negatives = of.cols(
            "gain", "losses", "tp", "fp", "positives", "negatives"
        )
        lost, gained, before, after, found, inside, end = of.cols(
            "lost", "gained", "before", "after", "found", "inside", "end"
        )
        opens = lib.col(measure.OPENS)
        shares = points.with_columns(
            lost=losses / negatives,
            gained=gain / positives,
            after=lib.when(opens).then(1.0).otherwise(fp / negatives),
            recall=lib.when(opens).then(1.0).otherwise(tp / positives),
        ).with_columns(before=after - lost, found=lib.col("recall") - gained)
        # Positives exactly at the end of the range: the influence is the mean of both sides.
        at_end = lib.when(before < f).then(1.0).when(before == f).then(0.5).otherwise(0.0)
        ranged = shares.with_columns(
            inside=lib.when(lost > 0).then(((f - before) / lost).clip(0.0, 1.0)).otherwise(at_end)
        ).with_columns(end=gained * inside)
        summed = of.with_sums(ranged, plain={"end": "end"})
        in_range = found + gained * inside / 2
        return summed.with_columns(
            missed=1 - inside + inside * (before + lib.min_horizontal(after, lib.lit(f))) / (2 * f),
            passed=inside * in_range + (1 - inside) * end,
            behind=inside * (1 - in_range) + (1 - inside) * (1 - end),
        ).with_columns(
            passed=(lib.col("passed") - (1 - f) * end) / f,
            behind=(lib.col("behind") - (1 - f) * (1 - end)) / f,
        )


# --- what a random order of the labels has -----------------------------------------------------

_POSITIVES, _NEGATIVES = pl.col("positives"), pl.col("negatives")
_SHARES, _RETRIEVED = pl.col("tie_shares"), pl.col("retrieved")


def with_random(table: pl.LazyFrame, ranking: Ranking, on: Sequence[str]) -> pl.LazyFrame:
    n = _POSITIVES + _NEGATIVES
    if ranking.rows.columns.weighted:
        return table.with_columns(_defined(_POSITIVES / n, _NEGATIVES / n))
    areas = random_areas(_POSITIVES, _NEGATIVES, _SHARES, _RETRIEVED)
    if ranking.tie_shares is None and not (ranking.carried or may_have_ties(ranking)):
        joined = table.with_columns(retrieved=n, tie_shares=formulas.harmonic(n))
    else:
        shares = ranking.tie_shares
        if shares is None:
            make = partial(_shares_of_ties, ranking)
            shares = ranking.rows.keep_table(("ties", ranking.key), make)
        keyed = shares if "segment" in on else ranking.segments.with_keys(shares)
        joined = left_join(table, keyed, on)
    return joined.with_columns(_defined(*areas.values())).drop("tie_shares", "retrieved")


def _defined(area: pl.Expr, shortfall: pl.Expr) -> list[pl.Expr]:
    named = {RANDOM: area, RANDOM_SHORTFALL: shortfall}
    return [pl.when(_POSITIVES > 0).then(value).alias(name) for name, value in named.items()]


def _shares_of_ties(ranking: Ranking) -> pl.LazyFrame:
    # No row is retrieved yet where a segment opens, or at the highest bins if they are empty.
    share = pl.when(_RETRIEVED > 0).then(_RETRIEVED.diff() / _RETRIEVED)
    parts = dict(zip(("coarse", "fine"), formulas.exact_parts(pl.col("share")), strict=True))
    shares = retrieved_at_ties(ranking).with_columns(share=share).with_columns(**parts)
    found = shares.group_by("segment").agg(pl.col(*parts).sum(), _RETRIEVED.max())
    summed = ranking.rows.windowed(found)
    return summed.select("segment", "retrieved", tie_shares=pl.sum_horizontal(*parts))


# --- of a part of the area ---------------------------------------------------------------------

_END, _BEFORE = pl.col("end"), pl.col("before")


def with_partial_chance(
    table: pl.LazyFrame, ranking: Ranking, spec: AreaSpec, on: Sequence[str]
) -> pl.LazyFrame:
    """Add the expected step area of a random order to a table of areas.

    For a range of recalls, weighted rows and calibrated areas it is the prevalence at every recall.
    """
    is_calibrated = REFERENCE in table.collect_schema()
    n, n_pos, reach = pl.col("n"), pl.col("n_pos"), pl.col("reach")
    low, high = spec.recall_range or (0.0, 1.0)
    if ranking.rows.columns.weighted or is_calibrated or (low, high) != (0.0, 1.0):
        area = chance_in_range(pl.col, (low, high), calibrated=is_calibrated)
    else:
        area = random_areas(n_pos, n - n_pos, _SHARES, reach)[RANDOM]
    most = pl.lit(high - low if spec.standardised else 1.0)
    if spec.top is not None and spec.top.normaliser == "attainable":
        most = most * (pl.min_horizontal(n_pos, pl.lit(spec.top.count)) / n_pos)
    share = formulas.exact_sum((_END - _BEFORE) / _END).alias("tie_shares")
    found = _ties(ranking, spec).group_by("segment").agg(share, reach=_END.max())
    # Of a segment without an end of a tie in reach, nothing is retrieved.
    found = segment_join(ranking.segments.table.select("segment"), found)
    keyed = found if "segment" in on else ranking.segments.with_keys(found)
    is_known = n_pos > 0 if not is_calibrated else (n_pos > 0) & (n_pos < n)
    if "method" in table.collect_schema():
        is_known &= pl.col("method") == "step"
    value = pl.when(is_known).then((area.fill_null(0.0) / most).clip(upper_bound=1.0))
    return left_join(table, keyed, on).with_columns(value.alias(RANDOM)).drop("tie_shares", "reach")


def _ties(ranking: Ranking, spec: AreaSpec) -> pl.LazyFrame:
    ties = running(ranking, TIES).with_columns(end=pl.col("tp") + pl.col("fp"))
    ties = ties.with_columns(before=_END.shift(1))  # at the row that opens a segment, it is 0
    ties, top = ties.filter(ranking.retrieved() & ~pl.col("opens")), spec.top
    if top is not None and top.ties == "expected":
        most = math.floor(top.count)
        ties = ties.filter(most > _BEFORE).with_columns(_END.clip(upper_bound=most))
    elif top is not None:
        most_rows = top.count * (1 + formulas.rounding(weighted=ranking.rows.columns.weighted))
        ties = ties.filter(most_rows >= _END)
    return ties.select("segment", "before", "end").filter(_END > 0)


# --- areas on scales where 1 is perfect --------------------------------------------------------

_POSITIVES, _NEGATIVES = pl.col("positives"), pl.col("negatives")


def with_lift(table: pl.LazyFrame) -> pl.LazyFrame:
    corrected = _rescaled(AVERAGE_PRECISION, "shortfall", RANDOM, RANDOM_SHORTFALL)
    return table.with_columns(
        lift=pl.when(pl.col(RANDOM) > 0).then(pl.col(AVERAGE_PRECISION) / pl.col(RANDOM)),
        chance_corrected_average_precision=pl.when(pl.col(RANDOM_SHORTFALL) > 0).then(corrected),
    )


def with_normalised(table: pl.LazyFrame, *, of: Collection[str], weighted: bool) -> pl.LazyFrame:
    # The worst order of weighted rows has no closed form, but none is below the worst curve.
    by_order = AVERAGE_PRECISION in of and not weighted
    worst = _with_worst_order(table) if by_order else table
    if "interpolated" in of or not by_order:
        worst = _with_worst_curve(worst, _NEGATIVES, "curve")
    found = {
        AVERAGE_PRECISION: ("shortfall", "order" if by_order else "curve"),
        "interpolated": ("interpolated_shortfall", "curve"),
    }
    return worst.with_columns(_normalised(area, *found[area]) for area in of)


def _normalised(area: str, shortfall: str, worst: str) -> pl.Expr:
    value = _rescaled(area, shortfall, f"{worst}_area", f"{worst}_shortfall")
    return pl.when((_POSITIVES > 0) & (_NEGATIVES > 0)).then(value).alias(f"normalised_{area}")


def _rescaled(area: str, shortfall: str, zero: str, zero_shortfall: str) -> pl.Expr:
    """Return an area on the scale where ``zero`` is 0 and 1 is 1, in all digits."""
    from_area = (pl.col(area) - pl.col(zero)) / pl.col(zero_shortfall)
    from_shortfall = 1 - pl.col(shortfall) / pl.col(zero_shortfall)
    return pl.when(pl.col(area) < 0.5).then(from_area).otherwise(from_shortfall)  # noqa: PLR2004


def _with_worst_curve(table: pl.LazyFrame, negatives: pl.Expr, name: str) -> pl.LazyFrame:
    """Add the least area under a curve, ``1 + (1 - pi) / pi * log(1 - pi)``, and its shortfall.

    Boyd et al. 2012, arXiv 1206.4667; with odds, so that nothing cancels if positives are rare.
    """
    odds = pl.col(f"{name}_odds")
    area, shortfall = formulas.minus_log1p(odds) / odds, odds.log1p() / odds
    return table.with_columns((_POSITIVES / negatives).alias(f"{name}_odds")).with_columns(
        area.alias(f"{name}_area"), shortfall.alias(f"{name}_shortfall")
    )


def _with_worst_order(table: pl.LazyFrame) -> pl.LazyFrame:
    """Add ``sum(i / (i + N) for i in 1..P) / P``, with all negatives above all positives.

    With 16 or more negatives the asymptotic series of both harmonic numbers gives it to 1e-14; with
    fewer it is the result for 16 more, minus the terms that these add.
    """
    p, n, many = _POSITIVES.cast(pl.Float64), _NEGATIVES.cast(pl.Float64), pl.col("many")
    total, is_many = many + p, n >= formulas.ASYMPTOTIC
    terms = (
        coefficient * (total ** (-2 * k) - many ** (-2 * k))
        for k, coefficient in enumerate(formulas.BERNOULLI, start=1)
    )
    steps = 0.5 / total + many / p * sum(terms, pl.lit(0.0))
    added = sum(
        (1 / ((n + j) * (n + p + j)) for j in range(1, formulas.ASYMPTOTIC + 1)), pl.lit(0.0)
    )
    area, shortfall = pl.col("order_area"), pl.col("order_shortfall")
    counted = table.with_columns(many=pl.when(is_many).then(n).otherwise(n + formulas.ASYMPTOTIC))
    return (
        _with_worst_curve(counted, many, "order")
        .with_columns(steps=steps)
        .with_columns(
            order_area=area + pl.col("steps"), order_shortfall=shortfall - pl.col("steps")
        )
        .with_columns(
            order_shortfall=pl.when(is_many)
            .then(shortfall)
            .otherwise(n / many * shortfall + n * added)
        )
        .with_columns(order_area=pl.when(is_many).then(area).otherwise(1 - shortfall))
    )
