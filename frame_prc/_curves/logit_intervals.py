"""The interval of a measure, symmetric on the logit scale, and what it says of it.

Columns are expressions of Polars or of Narwhals; ``col`` is that of the library. Tables have
``n_pos, status, estimate, shortfall, n_effective`` and ``random_average_precision``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from frame_prc._formulas import library, normal_quantile, wallace
from frame_prc._request.specs import Interval

# With fewer, a 95 % interval visibly covers less: see tests/benchmarks/simulations.md.
FEW_POSITIVES = 20
# Other segments, of whose positives a larger share has few negatives, have few themselves.
MOST_FLAGGED = 0.1
# Statuses that say so: of positives, or of clusters that hold some; and those of either class.
FEW_OF_POSITIVES = ("few_positives", "few_clusters")
FEW = (*FEW_OF_POSITIVES, "few_negatives", "few_rows")
# Of a model whose scores have at most two values, as predictions have.
FEW_SCORES = "few_scores"
# Statuses of intervals and tests that can be believed.
BELIEVED = ("ok", FEW_SCORES)
# A measure of each segment, and 1 minus it.
ESTIMATE, SHORTFALL = "estimate", "shortfall"
INTERVAL = ("std_error", "ci_low", "ci_high")
N_EFFECTIVE = "n_effective"  # positives, or clusters that have some
RANDOM = "random_average_precision"
RANDOM_SHORTFALL = "random_shortfall"

Col: TypeAlias = Callable[[str], Any]

# Of a variance, relative to the square of area times shortfall: of 10^12 rows it is above 10^-13.
ROUNDING_OF_VARIANCE = 1e-24
# An area whose rows all have one score is at chance, but for rounding errors up to this fraction.
_ROUNDING = 1e-12


def interval_columns(
    col: Col,
    interval: Interval,
    *,
    few_negatives: Any = None,
    clustered: bool = False,
    few: str | None = None,
    of_both_classes: bool = False,
    is_share: bool = False,
) -> Iterator[dict[str, Any]]:
    """Yield the columns of an interval, and the status, to be added one after the other."""
    area, shortfall = col(ESTIMATE), col("shortfall")
    when = library(area).when
    if interval.method == "boyd":
        # As published: with the normal quantile, and without an interval at 0 and 1.
        variance = area * shortfall / col("n_pos")
        quantile = library(area).lit(normal_quantile(interval.level))
    else:
        # A sample whose replicates or clusters are all alike does not tell how its area varies.
        varies = has_variance(col) & shows_spread(col("variance"), area, shortfall)
        variance = when(varies).then(col("variance"))
        quantile = student_quantile(col, interval.level)
    inside = (area > 0) & (shortfall > 0)
    # Each step is a column, as engines repeat an operand of a division, and so of all within it.
    yield {
        "std_error": when(inside).then(variance.sqrt().fill_nan(None)),
        "quantile_of_interval": quantile,
    }
    # exp of half the width on the logit scale: this way no logit is taken and nothing overflows.
    half = -col("quantile_of_interval") * col("std_error") / (area * shortfall)
    yield {"factor_of_interval": half.exp()}
    yield limits_of(area, shortfall, col("factor_of_interval"))
    if interval.method != "boyd":
        yield from _lower_without_bias(col)
        yield _at_edges(col, interval)
    if is_share:
        yield {"ci_high": _as_of_none(col("ci_high"), col("n_trials"), interval.tail)}
    found = status(
        col, few_negatives, clustered=clustered, few=few, of_both_classes=of_both_classes
    )
    yield {"status": found}
    yield {"status": status_of_limits(col)}
    below = col("ci_high") < col(RANDOM) * (1 - _ROUNDING)
    yield {"status": when(below).then(_text(col, "below_chance")).otherwise(col("status"))}


def limits_of(estimate: Any, shortfall: Any, factor: Any) -> dict[str, Any]:
    """Return the limits where the odds are the estimate's times and over ``factor``, at most 1."""
    low, high = estimate * factor, shortfall * factor
    return {"ci_low": low / (shortfall + low), "ci_high": estimate / (estimate + high)}


def limits_of_share(
    hits: Any, misses: Any, level: float, moments: Sequence[Any] | None = None
) -> dict[str, Any]:
    """Return the limits ``low, high`` of a share of hits: those of a measure that is one.

    ``moments`` are its variance, and the effective numbers of what is independent and of trials
    (see :func:`_at_edges`); of rows that count as one they follow from the share. Null without
    rows, and where a single one is in effect all there is, or all are alike.
    """
    n, lib = hits + misses, library(hits)
    share, rest = hits / n, misses / n
    variance, units, trials = moments or (share * rest / n, n, n)
    half = -_student_quantile(units, level) * variance.sqrt() / (share * rest)
    inside = lib.when((units.round() > 1) & shows_spread(variance, share, rest))
    low, high = map(inside.then, limits_of(share, rest, half.exp()).values())
    is_known, tail = n > 0, (1 - level) / 2
    best, worst = (is_known & (one == 0) for one in (misses, hits))
    low, high = _exact(low, high, best, worst, units, trials, tail)
    return {"low": low, "high": _as_of_none(high, trials, tail)}


def status_of_limits(col: Col, low: str = "ci_low") -> Any:
    """Return the status, which says so if nothing else tells why there are no limits."""
    lacks = (col("status") == "ok") & col(low).is_null()
    when = library(col("status")).when
    return when(lacks).then(_text(col, "no_std_error")).otherwise(col("status"))


def _lower_without_bias(col: Col) -> Iterator[dict[str, Any]]:
    """Yield the lower limit of an area that is too high on average: from the area less its bias.

    The bias is null where it is not known. The upper limit stays, so the interval covers more, not
    less, where the bias is badly estimated.
    """
    bias, low, less = col("bias"), col("ci_low"), col("area_less_bias")
    when, least = library(low).when, col(ESTIMATE) / 10
    # With clusters, or at another prevalence, a few rows may have a bias of more than the area.
    unbiased = col(ESTIMATE) - bias
    yield {"area_less_bias": when(unbiased < least).then(least).otherwise(unbiased)}
    half = -col("quantile_of_interval") * col("std_error") / (less * (1 - less))
    yield {"factor_less_bias": half.exp()}
    yield {"low_less_bias": limits_of(less, 1 - less, col("factor_less_bias"))["ci_low"]}
    lower = col("low_less_bias")
    yield {"ci_low": when((bias > 0) & (lower < low)).then(lower).otherwise(low)}


def has_variance(col: Col) -> Any:
    """Return whether there are 2 or more positives (or clusters of them), as a variance needs."""
    return col("n_effective").round() > 1


def student_quantile(col: Col, level: float) -> Any:
    """Return the quantile of Student's t, since the standard error is itself an estimate.

    With m effective positives it has m - 1 degrees of freedom. t uses m - 1 and our variance m; the
    quantile is inflated by sqrt(m / (m - 1)). It is computed from the normal quantile by the
    approximation of Wallace (1959, doi 10.1214/aoms/1177706095). With 8 or more degrees of freedom
    this is within 0.1 % of Student's t at levels up to 95 %, and within 0.25 % at 99 %; with fewer
    it is too wide, at 95 % by 4 % with 2 degrees and by 38 % with 1.
    """
    return _student_quantile(col("n_effective"), level)


def _student_quantile(number: Any, level: float) -> Any:
    degrees = number - 1
    normal = normal_quantile(level) / wallace(degrees)
    return (number * ((normal**2 / degrees).exp() - 1)).sqrt()


def _at_edges(col: Col, interval: Interval) -> dict[str, Any]:
    """Return the limits, with exact ones at 0 and 1, where the logit interval has no width.

    They are the binomial limits for ``n_effective`` trials of which all fail or all succeed
    (Clopper & Pearson 1934, doi 10.2307/2331986). Rows with a few errors cannot show a higher area
    than as many rows without any: the lower limit is at most that of an area of 1. Near 1 the logit
    interval alone is too narrow, as a positive that ranks far down may be missing by chance: of
    200 positives with an area of .999, it covered 90 %, and with this limit 98 %. Positives
    of a cluster need not fail together: ``n_trials`` is their number over what clusters multiply
    the variance by. A mean of segments has no such number.
    """
    known = ~col("n_effective").is_null()
    best = known & (col("status") == "ok") & (col("shortfall") == 0)
    worst = known & (col("status") != "no_positives") & (col(ESTIMATE) == 0)
    numbers = (col("n_effective"), col("n_trials"), interval.tail)
    low, high = _exact(col("ci_low"), col("ci_high"), best, worst, *numbers)
    return {"ci_low": low, "ci_high": high}


def _exact(
    low: Any, high: Any, best: Any, worst: Any, units: Any, trials: Any, tail: float
) -> tuple[Any, Any]:
    """Return limits with those of as many units that all succeed or fail, and of as many trials."""
    when = library(low).when
    alike, most = tail ** (1 / units), tail ** (1 / trials)
    low = when(~trials.is_null() & (low > most)).then(most).otherwise(low)
    low = when(best).then(alike).otherwise(when(worst).then(0.0).otherwise(low))
    high = when(worst).then(1 - alike).otherwise(high)
    return low, when(best).then(1.0).otherwise(high)


def _as_of_none(high: Any, trials: Any, tail: float) -> Any:
    """Return the upper limit of a share, which is at least that of as many trials that all fail.

    Of 60 positives with weights, a recall of .05 was covered in 89 %, and with this limit in 96 %.
    """
    # As an exponential: Polars 1.41 fails where a plan shares the power with the other limits.
    lacks = 1 - (math.log(tail) / trials).exp() - high
    return high + lacks.clip(lower_bound=0.0).fill_null(0.0)


def status(
    col: Col,
    few_negatives: Any = None,
    *,
    clustered: bool = False,
    few: str | None = None,
    of_both_classes: bool = False,
) -> Any:
    """Return the status, which says so if there are too few rows to trust the estimates."""
    is_ok, when = col("status") == "ok", library(col("status")).when
    found = col("status")
    if few_negatives is not None:
        text = _text(col, few or "few_negatives")
        found = when(is_ok & few_negatives).then(text).otherwise(found)
    is_few = is_ok & (col("n_effective") < FEW_POSITIVES)
    if of_both_classes:
        is_few &= ~few_negatives
    found = when(is_few).then(_text(col, few or FEW_OF_POSITIVES[clustered])).otherwise(found)
    # Sums of weights without those of their squares have no variance.
    unknown = is_ok & col("n_effective").is_null()
    return when(unknown).then(_text(col, "no_std_error")).otherwise(found)


def shows_spread(variance: Any, area: Any, shortfall: Any) -> Any:
    """Return whether a variance is more than rounding errors.

    Rows of one score, for instance, do not move a calibrated area, but for such errors.
    """
    return variance > ROUNDING_OF_VARIANCE * (area * shortfall) ** 2


def _text(col: Col, text: str) -> Any:
    return library(col("status")).lit(text)


def random_areas(positives: Any, negatives: Any, shares: Any, retrieved: Any) -> dict[str, Any]:
    """Return the average precision of a random order of the labels, and 1 minus it."""
    n, when = positives + negatives, library(positives).when
    # Without negatives there is only one order of the labels.
    mixed = negatives > 0
    of_negatives = when(mixed).then(negatives / (n - 1)).otherwise(0.0)
    of_positives = when(mixed).then((positives - 1) / (n - 1)).otherwise(1.0)
    area = shares / n * of_negatives + retrieved / n * of_positives
    shortfall = (retrieved - shares) / n * of_negatives + (n - retrieved) / n
    return {RANDOM: area, RANDOM_SHORTFALL: shortfall}
