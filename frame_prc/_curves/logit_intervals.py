"""Limits of shares, and what clustered or weighted rows tell of one, in Polars or Narwhals.

With TP_c true positives among Q_c retrieved rows of cluster c, the variance of p = TP / Q is

    V = m / (m - 1) * sum((TP_c - p Q_c)^2) / Q^2,    m = Q^2 / sum(Q_c^2)

For exact limits the rows tell as much as n independent ones, where n / Q is the ratio of p (1 - p)
/ (Q - 1) to V, divided by the square of the ratio of Student's t with m - 1 degrees of freedom to
that with Q - 1 (Korn & Graubard 1998, Survey Methodology 24:193). If p is 0 or 1, or there is one
cluster, n is m, as if rows were copies. With weights these are sums, and where Q counts rows the
number of rows takes its place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from frame_prc._formulas import Col, effective_number, library, normal_quantile, wallace
from frame_prc._lazy import in_order
from frame_prc._ranking.running_sums import CLUSTER_SUMS

# With fewer, a 95 % interval visibly covers less: see tests/benchmarks/simulations.md.
FEW_POSITIVES = 20
# Statuses that say so: of positives, or of clusters that hold some; and those of either class.
FEW_OF_POSITIVES = ("few_positives", "few_clusters")
FEW = (*FEW_OF_POSITIVES, "few_negatives", "few_rows")
# Of a model whose scores have at most two values, as predictions have.
FEW_SCORES = "few_scores"
# Statuses of intervals and tests that can be believed.
BELIEVED = ("ok", FEW_SCORES)
INTERVAL = ("std_error", "ci_low", "ci_high")
RANDOM = "random_average_precision"
RANDOM_SHORTFALL = "random_shortfall"

# Of a variance, relative to the square of area times shortfall: of 10^12 rows it is above 10^-13.
ROUNDING_OF_VARIANCE = 1e-24
# An area whose rows all have one score is at chance, but for rounding errors up to this fraction.
_ROUNDING = 1e-12


def limits_of(estimate: Any, shortfall: Any, factor: Any) -> dict[str, Any]:
    """Return the limits where the odds are the estimate's times and over ``factor``, at most 1."""
    low, high = estimate * factor, shortfall * factor
    return {"ci_low": low / (shortfall + low), "ci_high": estimate / (estimate + high)}


def limits_of_skewed(estimate: Any, shortfall: Any, half: Any) -> dict[str, Any]:
    """Return limits ``half`` away on the logit scale, and farther where few rows decide.

    The square root of a count is symmetric, not its logarithm: so the limit towards the nearer of 0
    and 1 is ``(1 - 2 share) half^2 / 4`` farther, at most twice as far.
    """
    skew, beyond = shortfall - estimate, half * (half / 4).clip(upper_bound=1.0)
    to_low, to_high = (half + beyond * one.clip(lower_bound=0.0) for one in (skew, -skew))
    low, high = estimate * (-to_low).exp(), shortfall * (-to_high).exp()
    return {"ci_low": low / (shortfall + low), "ci_high": estimate / (estimate + high)}


def limits_of_share(
    hits: Any, misses: Any, level: float, moments: Sequence[Any] | None = None
) -> dict[str, Any]:
    """Return the limits ``low, high`` of a share of hits: those of a measure that is one.

    ``moments`` are its variance and the effective numbers of units and trials, if rows are not
    alike.
    """
    n, lib = hits + misses, library(hits)
    share, rest = hits / n, misses / n
    variance, units, trials = moments or (share * rest / n, n, n)
    half = student_quantile(units, level) * variance.sqrt() / (share * rest)
    inside = lib.when((units.round() > 1) & shows_spread(variance, share, rest))
    low, high = map(inside.then, limits_of_skewed(share, rest, half).values())
    is_known, tail = n > 0, (1 - level) / 2
    best, worst = (is_known & (one == 0) for one in (misses, hits))
    low, high = exact_limits(low, high, best, worst, units, trials, tail)
    return {"low": low, "high": as_of_none(high, trials, tail)}


def student_quantile(number: Any, level: float) -> Any:
    """Return the quantile of Student's t with m - 1 degrees of freedom, times sqrt(m / (m - 1)).

    By Wallace (1959, doi 10.1214/aoms/1177706095): at 95 % within 0.1 % from 8 degrees on; with
    fewer it is too wide, by 4 % with 2 and by 38 % with 1.
    """
    degrees = number - 1
    normal = normal_quantile(level) / wallace(degrees)
    return (number * ((normal**2 / degrees).exp() - 1)).sqrt()


def exact_limits(
    low: Any, high: Any, best: Any, worst: Any, units: Any, trials: Any, tail: float
) -> tuple[Any, Any]:
    """Return limits with exact ones at 0 and 1, where the logit interval has no width.

    They are those of ``units`` that all fail or all succeed (Clopper & Pearson 1934, doi
    10.2307/2331986). The lower limit is at most that of ``trials`` without errors: of 200 positives
    with an area of .999 the logit interval covered 90 %, with this limit 98 %.
    """
    when = library(low).when
    alike, most = tail ** (1 / units), tail ** (1 / trials)
    low = when(~trials.is_null() & (low > most)).then(most).otherwise(low)
    low = when(best).then(alike).otherwise(when(worst).then(0.0).otherwise(low))
    high = when(worst).then(1 - alike).otherwise(high)
    return low, when(best).then(1.0).otherwise(high)


def as_of_none(high: Any, trials: Any, tail: float) -> Any:
    """Return the upper limit, at least that of trials that all fail: it covered 96, not 89 %."""
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
    fewest: float = FEW_POSITIVES,
) -> Any:
    is_ok, when = col("status") == "ok", library(col("status")).when
    found = col("status")
    if few_negatives is not None:
        text = _text(col, few or "few_negatives")
        found = when(is_ok & few_negatives).then(text).otherwise(found)
    is_few = is_ok & (col("n_effective") < fewest)
    if of_both_classes:
        is_few &= ~few_negatives
    found = when(is_few).then(_text(col, few or FEW_OF_POSITIVES[clustered])).otherwise(found)
    # Sums of weights without those of their squares have no variance.
    unknown = is_ok & col("n_effective").is_null()
    return when(unknown).then(_text(col, "no_std_error")).otherwise(found)


def status_where(is_so: Any, reason: Any) -> Any:
    """Return the status, with a reason in place of ``"ok"`` where something is so."""
    lib = library(is_so)
    text = lib.lit(reason) if isinstance(reason, str) else reason
    return lib.when((lib.col("status") == "ok") & is_so).then(text).otherwise(lib.col("status"))


def shows_spread(variance: Any, area: Any, shortfall: Any) -> Any:
    """Return whether a variance is more than rounding errors, as of rows of one score."""
    return variance > ROUNDING_OF_VARIANCE * (area * shortfall) ** 2


def _text(col: Col, text: str) -> Any:
    return library(col("status")).lit(text)


def random_areas(positives: Any, negatives: Any, shares: Any, retrieved: Any) -> dict[str, Any]:
    n, when = positives + negatives, library(positives).when
    # Without negatives there is only one order of the labels.
    mixed = negatives > 0
    of_negatives = when(mixed).then(negatives / (n - 1)).otherwise(0.0)
    of_positives = when(mixed).then((positives - 1) / (n - 1)).otherwise(1.0)
    area = shares / n * of_negatives + retrieved / n * of_positives
    shortfall = (retrieved - shares) / n * of_negatives + (n - retrieved) / n
    return {RANDOM: area, RANDOM_SHORTFALL: shortfall}


# --- what clustered or weighted rows tell of a precision ---------------------------------------

# With so few effective rows an interval reaches from 0 to 1, and no number underflows.
_LEAST_SHARE = 1e-100
# Of all units of a point, where the prevalence is given; and what of these is retrieved.
SHARES_OF_CLASSES = ("of_positives", "of_negatives")
RATES_OF_CLASSES = ("recall_of_rows", "fpr_of_rows")
# Of a share of hits: its variance, the effective number of what is independent, and of trials.
MOMENTS = ("variance", "units", "trials")
# What a hit weighs, and a miss, if weights are what is usual.
USUAL = ("of_hit", "of_miss")

CELLS = ("tp", "fp", "fn", "tn")
_TP, _FP, _RETRIEVED = pl.col("tp"), pl.col("fp"), pl.col("tp") + pl.col("fp")
_TP_SQUARED, _TP_TIMES_FP, _FP_SQUARED = map(pl.col, CLUSTER_SUMS)


def sums_of_clusters(points: pl.LazyFrame) -> pl.LazyFrame:
    """Add what moments are made of to points with ``CLUSTER_SUMS``, which are integers."""
    total = _RETRIEVED.cast(pl.Float64)
    sizes = _TP_SQUARED + 2 * _TP_TIMES_FP + _FP_SQUARED  # the sum of Q_c^2
    of_rows = {"rows": _RETRIEVED, "tp_squares": _TP, "fp_squares": _FP, "unseen": pl.lit(1.0)}
    return points.with_columns(**of_rows, sizes=sizes / total**2, spread=_spread() / total**4)


def sums_of_units(units: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return what moments of points are made of, from sums of clusters.

    ``units`` have the ``keys`` of a point, ``tp, fp, rows``, their squares, and ``unseen``: how
    much a miss weighs, for points without one. Where the prevalence is given these are all
    clusters, with their shares of both classes, and rows may tell more than by themselves, as do
    unweighted ones.
    """
    columns = units.collect_schema()
    is_given = SHARES_OF_CLASSES[0] in columns
    of_points = [name for name in ("unseen", *USUAL) if name in columns]
    # Sorted, so that no sum depends on the order of the rows.
    total = in_order(_RETRIEVED.sort()).over(keys)
    used = units if is_given else units.filter(_RETRIEVED > 0)
    scaled = used.with_columns(hit=_TP / total, size=_RETRIEVED / total)
    precision = in_order(pl.col("hit").sort()).over(keys)
    off = pl.col("hit") - precision * pl.col("size")
    shares = [pl.col(name) for name in SHARES_OF_CLASSES] if is_given else []
    if is_given:
        off -= precision * (1 - precision) * (shares[0] - shares[1])
    points = (
        scaled.with_columns(off=off)
        .group_by(keys)
        .agg(
            *(in_order((share**2).sort()) ** 2 for share in shares),
            *(in_order(pl.col(name).sort()) for name in (RATES_OF_CLASSES if is_given else ())),
            tp=in_order(_TP.sort()),
            fp=in_order(_FP.sort()),
            rows=pl.col("rows").sum(),
            **{name: in_order(pl.col(name).sort()) for name in ("tp_squares", "fp_squares")},
            sizes=in_order((pl.col("size") ** 2).sort()),
            spread=in_order((pl.col("off") ** 2).sort()),
            **{name: pl.col(name).first() for name in of_points},
        )
    )
    return _at_prevalence(points, shares) if is_given else points


def _at_prevalence(points: pl.LazyFrame, shares: Sequence[pl.Expr]) -> pl.LazyFrame:
    """Return points with how much their rows tell at most, and a spread that is not too small."""
    # Where all rows of a class are retrieved, they tell as little of others as if one were not.
    least = (_TP * _FP / _RETRIEVED**2) ** 2 * pl.sum_horizontal(shares)
    recall, fpr = map(pl.col, RATES_OF_CLASSES)
    most = _RETRIEVED / ((1 - recall) * _FP + (1 - fpr) * _TP)
    spread = pl.max_horizontal("spread", least)
    return points.with_columns(spread, most=most)


def of_rows_at_prevalence(points: pl.LazyFrame, level: float) -> pl.LazyFrame:
    """Add ``MOMENTS`` to points of rows that count as one, of which the prevalence is given."""
    squares = {f"{cell}_squares": pl.col(cell) for cell in CELLS}
    counted = points.with_columns(rows=_RETRIEVED, unseen=pl.lit(1.0), **squares)
    return with_moments(sums_of_rows(counted, is_given=True), normal_quantile(level))


def sums_of_rows(points: pl.LazyFrame, *, is_given: bool) -> pl.LazyFrame:
    """Add the same for rows in no clusters; a given prevalence needs all four cells."""
    spread = _by_rows(pl.col("tp_squares"), pl.col("fp_squares"))
    squares = pl.col("tp_squares") + pl.col("fp_squares")
    sums = points.with_columns(sizes=squares / _RETRIEVED**2, spread=spread)
    if not is_given:
        return sums
    positives, negatives = _TP + pl.col("fn"), _FP + pl.col("tn")
    p, q = _TP / _RETRIEVED, _FP / _RETRIEVED
    moved = {
        "tp": q / _RETRIEVED - p * q / positives,
        "fp": p / _RETRIEVED - p * q / negatives,
        "fn": p * q / positives,
        "tn": p * q / negatives,
    }
    squares_of = {cell: pl.col(f"{cell}_squares") for cell in CELLS}
    shares = [
        (squares_of["tp"] + squares_of["fn"]) / positives**2,
        (squares_of["fp"] + squares_of["tn"]) / negatives**2,
    ]
    sums = sums.with_columns(
        spread=pl.sum_horizontal(squares_of[cell] * moved[cell] ** 2 for cell in CELLS),
        **dict(zip(RATES_OF_CLASSES, (_TP / positives, _FP / negatives), strict=True)),
    )
    return _at_prevalence(sums, shares)


def with_moments(points: pl.LazyFrame, z: float) -> pl.LazyFrame:
    is_given = "most" in points.collect_schema()
    most = pl.col("most") if is_given else 1.0
    variance = pl.col("spread")
    if is_given:
        variance = pl.max_horizontal("spread", _independent() / most)
    elif USUAL[0] in points.collect_schema():
        points = points.with_columns(spread=pl.col("spread") * _by_usual_weights())
    clusters = 1 / pl.col("sizes")
    found = points.with_columns(share=share_of_sums(z, most=most))
    return found.with_columns(
        variance=variance, units=pl.min_horizontal(clusters, _of_misses())
    ).with_columns(trials=_trials())


def _independent() -> pl.Expr:
    return _TP * _FP / _RETRIEVED**2 * (1 - pl.col("sizes")) / (pl.col("rows") - 1)


def _of_misses() -> pl.Expr:
    """Return how many misses of usual weight weigh as much as all hits, of points without one."""
    # Without a negative nothing says what a miss weighs; Polars 1.41 takes NaN for the lowest.
    return pl.when(_FP == 0).then((_TP / pl.col("unseen")).fill_nan(None))


def _trials() -> pl.Expr:
    """Return the effective number of rows over what clusters multiply the variance by."""
    hits, misses = pl.col("tp_squares"), pl.col("fp_squares")
    rows = effective_number(_RETRIEVED, hits + misses)
    as_rows = rows * _by_rows(hits, misses) / pl.col("variance")
    return pl.max_horizontal(pl.min_horizontal(as_rows, rows), "units")


def _by_usual_weights() -> pl.Expr:
    """Return what the variance is times if rows weigh what is usual: heavy ones may be missing."""
    own = _by_rows(pl.col("tp_squares"), pl.col("fp_squares"))
    pairs = zip((_TP, _FP), USUAL, strict=True)
    usual = _by_rows(*(one * pl.min_horizontal(one, pl.col(name)) for one, name in pairs))
    return times_of_usual(usual, own)


def times_of_usual(usual: pl.Expr, own: pl.Expr) -> pl.Expr:
    return pl.when(own > 0).then((usual / own).clip(lower_bound=1.0)).otherwise(1.0)


def _by_rows(hits: pl.Expr, misses: pl.Expr) -> pl.Expr:
    return (hits * _FP**2 + misses * _TP**2) / _RETRIEVED**4


def share_of_sums(z: float, *, most: pl.Expr | float = 1.0) -> pl.Expr:
    """Return the effective number of rows over the sum of their weights.

    ``sizes`` is the sum of squared weights of clusters, as shares of all retrieved, ``spread`` that
    of how far hits are from those expected; rows tell up to ``most`` times as much as independent.
    """
    rows, sizes, clusters = pl.col("rows"), pl.col("sizes"), 1 / pl.col("sizes")
    deflation = pl.min_horizontal(_independent() / pl.col("spread"), most)
    quantiles = _student_square(rows - 1, z) / _student_square(clusters - 1, z)
    told = rows * (deflation * quantiles.fill_nan(1.0)).clip(_LEAST_SHARE, most)
    untold = (_TP == 0) | (_FP == 0) | (1 - sizes < _ROUNDING)
    least = pl.min_horizontal(clusters, _of_misses())
    number = pl.when(untold).then(least).otherwise(told)
    return number / _RETRIEVED


def _spread() -> pl.Expr:
    """Return the sum of ``(Q TP_c - TP Q_c)^2``, in integers, so that nothing is lost."""
    tp, fp = _TP.cast(pl.Int128), _FP.cast(pl.Int128)
    crossed = fp * fp * _TP_SQUARED - 2 * (tp * fp * _TP_TIMES_FP) + tp * tp * _FP_SQUARED
    return crossed.cast(pl.Float64)


def _student_square(degrees: pl.Expr, z: float) -> pl.Expr:
    """Return the squared quantile of Student's t (Wallace 1959), where nothing cancels."""
    half = (z / wallace(degrees)) ** 2 / degrees / 2
    square: pl.Expr = degrees * (2 * half.exp() * half.sinh())
    return square
