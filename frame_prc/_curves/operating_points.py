"""Operating points: one threshold per segment and target, from the exact curve.

How well points meet targets is written for Polars and Narwhals: ``col`` is that of the library.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_
from typing import Any

import polars as pl

from frame_prc._curves import given_thresholds
from frame_prc._curves.curve import points
from frame_prc._formulas import (
    Col,
    f_score,
    library,
    precision,
    recall,
    rounded_to_digits,
    rounding,
    sizes,
    unsigned_zero,
)
from frame_prc._lazy import concat, join, remembered, segment_join
from frame_prc._ranking.ranking import Ranking
from frame_prc._ranking.running_sums import CORNERS, HITS, TIES, Points
from frame_prc._ranking.sorted_rows import OrderedRows
from frame_prc._request.options import check_row_number
from frame_prc._request.points import check_unweighted_ties, cuts_ties
from frame_prc._request.specs import Target
from frame_prc._rows.columns import Columns
from frame_prc.exceptions import OptionError

# --- how well points meet targets, in Polars or Narwhals ---------------------------------------

# Merits and precisions of sums of weights are compared to so many digits.
DIGITS = 12


def merit(target: Target, col: Col, slack: Any) -> Any:
    tp, fp, positives, negatives = (col(n) for n in ("tp", "fp", "positives", "negatives"))
    if target.all_of:
        met = reduce(and_, (~merit(one, col, slack).is_null() for one in target.all_of))
        return library(tp).when(met).then(precision(tp, fp))
    real, fn, predicted = ~col("opens"), positives - tp, tp + fp
    value, lib = target.value, library(tp)
    at_least, at_most = value * (1 - slack), value * (1 + slack)
    # What a point must keep to, and by what those that do are compared.
    rules = {
        "recall": (real & (recall(tp, positives) >= at_least), precision(tp, fp)),
        "precision": (real & (precision(tp, fp) >= at_least), tp),
        "f_beta": (real & (positives > 0), f_score(tp, fp, fn, value)),
        "predicted_rate": (real & (at_most >= predicted / (positives + negatives)), predicted),
        "predicted_count": (real & (at_most >= predicted), predicted),
        "fpr": (real & (negatives > 0) & (at_most >= fp / negatives), tp),
        # To predict no row positive may cost the least: the start point is one of the choices.
        "cost": (lib.lit(value=True), -cost(target, col)),
    }
    meets, height = rules[target.criterion]
    return lib.when(meets).then(height)


def guaranteed_merit(target: Target, col: Col, bound: Any, slack: Any) -> Any:
    """Return how well a point meets a target that new rows meet too; null if it does not."""
    tp, fp, real = col("tp"), col("fp"), ~col("opens")
    at_least, at_most = bound * (1 - slack), bound * (1 + slack)
    rules = {
        "recall": (tp >= at_least, precision(tp, fp)),
        "precision": (at_most >= tp + fp, tp),
        "fpr": (at_most >= fp, tp),
    }
    meets, height = rules[target.criterion]
    return library(tp).when(real & meets).then(height)


def ranked_precision(col: Col) -> Any:
    """Return the precision by which equally good points are compared; the start point is last."""
    return (
        library(col("tp")).when(col("opens")).then(-1.0).otherwise(precision(col("tp"), col("fp")))
    )


def cost(target: Target, col: Col) -> Any:
    fp, fn = target.costs or (0.0, 0.0)
    return col("fp") * fp + (col("positives") - col("tp")) * fn


def costs_per_row(targets: Sequence[Target], order: Any, col: Col) -> list[Any]:
    n, when = col("positives") + col("negatives"), library(order).when
    return [
        when(order == place).then(cost(target, col) / n)
        for place, target in enumerate(targets)
        if target.criterion == "cost"
    ]


def rates(col: Col, beta: Any) -> dict[str, Any]:
    tp, fp, positives, negatives = (col(n) for n in ("tp", "fp", "positives", "negatives"))
    when, fn = library(tp).when, positives - tp
    return {
        "fn": fn,
        "tn": negatives - fp,
        "precision": when(tp + fp > 0).then(precision(tp, fp)),
        "recall": recall(tp, positives),
        "fpr": when(negatives > 0).then(fp / negatives),
        "f_score": when(positives > 0).then(f_score(tp, fp, fn, beta)),
        "predicted_rate": (tp + fp) / (positives + negatives),
        "predicted_count": tp + fp,
    }


def has_cost(targets: Sequence[Target]) -> bool:
    return any(target.criterion == "cost" for target in targets)


# --- points ------------------------------------------------------------------------------------

_TP, _SCORE = pl.col("tp"), pl.col("score")
_POSITIVES, _NEGATIVES = pl.col("positives"), pl.col("negatives")
_HELD, _OPENS = pl.col("held"), pl.col("opens")
_WANTED = ("segment", "order", "target", "criterion", "target_value", "held")
_COUNTS = ("opens", "tp", "fp", "positives", "negatives", "precision")
_POINT = ("score", *_COUNTS)
_FOUND = ("tp", "fp")
_SLACK = 1e-9  # of a rate of weighted rows, or of a target that is read from its text
_MOST_ROWS = 2**62  # more than any table has
# Any score may be the last one within these. A point after the first of its number of true
# positives only adds false positives, and is no better by any other criterion.
_COUNTED = ("predicted_rate", "predicted_count")
_OF_ANY_SCORE = ("threshold", *_COUNTED)
# A score without positives is never the best by these; by others it may be all that is allowed.
_OF_HITS = ("recall", "precision", "f_beta", "joint")


def operating_points(
    ranking: Ranking,
    targets: Sequence[Target],
    given: given_thresholds.GivenThresholds | None = None,
    bounds: pl.LazyFrame | None = None,
) -> pl.LazyFrame:
    """Return ``segment, order, held`` and the columns of operating points."""
    check_row_numbers(targets, ranking.rows.columns)
    to_choose = {i: t for i, t in enumerate(targets) if not _is_given(t)}
    # A segment whose rows are all dropped has no points, but gets its rows, with nulls.
    every = ranking.segments.table.select("segment")
    wanted = join(every, _goals(targets), how="cross", maintain_order="left_right")
    held = []
    if len(to_choose) < len(targets):
        held.append(wanted.filter(criterion="threshold"))
    if given is not None:
        held.append(given.of(ranking, first=len(targets)))
    # Their points are looked for, and then joined to them.
    at_held = ranking.rows.once(concat(held)) if held else None
    found = None
    if at_held is None or not to_choose:
        found = _few_points(targets, at_held, ranking)
    if found is None:
        any_score = given is not None or any(map(is_of_any_score, targets))
        of_hits = all(t.criterion in _OF_HITS and t.guarantee is None for t in targets)
        found = points(ranking, TIES if any_score else HITS if of_hits else CORNERS)
    found = found.with_columns(pl.col("segment").set_sorted())
    if bounds is not None:
        found = segment_join(found, bounds)
    if ranking.rows.many_in_memory or (to_choose and at_held is not None):
        found = ranking.rows.once(found)
    parts = []
    if to_choose:
        best_points = _best_points(found, to_choose, ranking)
        if cuts_ties(targets):
            best_points = _with_expected(best_points, found, targets, ranking)
        on = ["segment", "order"]
        asked = wanted.filter(pl.col("criterion") != "threshold")
        parts.append(join(asked, best_points, on=on, how="left", maintain_order="left"))
    if at_held is not None:
        parts.append(_at_thresholds(found, at_held, ranking))
    point = _as_means(_POINT) if cuts_ties(targets) else _POINT
    table = concat([part.select(*_WANTED, *point) for part in parts]).sort("segment", "order")
    # A target that no point meets leaves null totals.
    totals = {"all_positives": _POSITIVES, "all_negatives": _NEGATIVES}
    sized = segment_join(table, found.filter(_OPENS).select("segment", **totals))
    return sized.with_columns(_rates(ranking, targets))


def _best_points(
    points: pl.LazyFrame, targets: Mapping[int, Target], ranking: Ranking
) -> pl.LazyFrame:
    rated = points.with_columns(**merits_of(targets, ranking))
    # Thresholds are only read from the points that are chosen.
    return ranking.with_score(ranking.rows.windowed(chosen(rated, [*targets], ranking)))


def _with_expected(
    best: pl.LazyFrame, points: pl.LazyFrame, targets: Sequence[Target], ranking: Ranking
) -> pl.LazyFrame:
    """Replace the points of numbers of rows by their means over random orders within a tie.

    These are between the points beside the cut, in proportion (McSherry & Najork 2008).
    """
    check_unweighted_ties(weighted=ranking.rows.columns.weighted)
    wanted = {i: t.value for i, t in enumerate(targets) if t.ties == "expected"}
    retrieved, before = pl.col("tp") + pl.col("fp"), pl.col("tp_a") + pl.col("fp_a")
    ends = points.with_columns(
        *(pl.col(name).shift(1).alias(f"{name}_a") for name in _FOUND),
        reached=retrieved.max().over("segment"),
    )
    parts = []
    for order, number in wanted.items():
        whole = pl.lit(math.floor(min(number, _MOST_ROWS)))
        most = pl.min_horizontal(whole, pl.col("reached"))
        share = (most - before) / (retrieved - before)
        means = [
            (pl.col(f"{name}_a") + share * (pl.col(name) - pl.col(f"{name}_a"))).alias(name)
            for name in _FOUND
        ]
        last = ends.filter(~_OPENS & (before < most) & (retrieved >= most))
        parts.append(last.with_columns(*means, order=pl.lit(order, pl.Int64)))
    scored = ranking.with_score(concat(parts).with_columns(_precision(ranking)))
    others = best.filter(~pl.col("order").is_in([*wanted]))
    columns = ["segment", "order", *_as_means(_POINT)]
    return concat([part.select(columns) for part in (others, scored)])


def _as_means(columns: Sequence[str]) -> list[str | pl.Expr]:
    """Return columns of which the counts that are found are floats."""
    return [pl.col(n).cast(pl.Float64) if n in _FOUND else n for n in columns]


def _goals(targets: Sequence[Target]) -> pl.LazyFrame:
    columns = {
        "order": pl.Int64,
        "target": pl.String,
        "criterion": pl.String,
        "target_value": pl.Float64,
        "held": pl.Float64,
    }
    rows = [
        (place, one.text, one.criterion, one.own_value, one.value if _is_given(one) else None)
        for place, one in enumerate(targets)
    ]
    return pl.LazyFrame(rows, schema=columns, orient="row")


def _is_given(target: Target) -> bool:
    return target.criterion == "threshold"


def is_of_any_score(target: Target) -> bool:
    return any(one.criterion in _OF_ANY_SCORE for one in (target, *target.all_of))


def check_row_numbers(targets: Sequence[Target], columns: Columns) -> None:
    for target in targets:
        if target.criterion == "predicted_count":
            check_row_number(target.criterion, target.value, weighted=columns.weighted)


def check_counts(columns: Columns, what: str = "ci= at a given threshold") -> None:
    if columns.weighted:
        raise OptionError(
            f"{what} needs counts of rows, and these are sums of weights",
            "single rows, or integer counts",
            columns.count_hint or "collect the frame first: ci= takes weighted rows in memory",
            shell_hint=None,
        )


# --- choosing ------------------------------------------------------------------------------------


def merits_of(targets: Mapping[int, Target], ranking: Ranking) -> dict[str, pl.Expr]:
    # Merits become columns: in an aggregation Polars divides by a scalar inexactly, and a recall of
    # 49/49 would be below 1.
    merits = {f"merit_{i}": _merit(i, target, ranking) for i, target in targets.items()}
    # Named, as Polars 1.41 cannot pickle "when" without "otherwise".
    return {name: compared(value, ranking).alias(name) for name, value in merits.items()}


def chosen(rated: pl.LazyFrame, orders: Sequence[int], ranking: Ranking) -> pl.LazyFrame:
    columns = ["slot", *(name for name in _COUNTS if name not in ("precision", "tp"))]
    merits = [f"merit_{i}" for i in orders]
    best_of = {str(i): best(merit, *columns) for i, merit in enumerate(merits)}
    # Structs are slow, and few points have the most merit. Their places in the ranking are 0, then
    # -1, and so on, since grouping may lose the order.
    most = (pl.col(merit) == pl.col(merit).max().over("segment") for merit in merits)
    top = rated.filter(pl.any_horizontal(most)).drop("place", strict=False)
    top = top.with_row_index("place").with_columns(place=-pl.col("place").cast(pl.Int64))
    found = top.with_columns(_precision(ranking)).group_by("segment").agg(**best_of)
    long = found.select(
        "segment",
        order=pl.lit([*orders], dtype=pl.List(pl.Int64)),
        point=pl.concat_list(list(best_of)),
    )
    points = long.explode("order", "point", empty_as_null=False).unnest("point")
    return points.select("segment", "order", "slot", *_COUNTS)


def _precision(ranking: Ranking) -> pl.Expr:
    return compared(ranked_precision(pl.col), ranking).alias("precision")


def compared(value: pl.Expr, ranking: Ranking) -> pl.Expr:
    """Return what points are compared by: values that only rounded weights tell apart are equal."""
    return rounded_to_digits(value, DIGITS) if ranking.rows.columns.weighted else value


@remembered
def best(merit: str, *columns: str) -> pl.Expr:
    """Return columns of the point with the most of a merit, then of precision, recall, and rank."""
    point, value = pl.struct("precision", "tp", "place", *columns), pl.col(merit)
    return point.filter(value == value.max()).sort(descending=True).first()


def bound_name(order: int) -> str:
    return f"bound_{order}"


def _merit(order: int, target: Target, ranking: Ranking) -> pl.Expr:
    slack = rounding(weighted=ranking.rows.columns.weighted)
    if target.guarantee is not None:
        met: pl.Expr = guaranteed_merit(target, pl.col, pl.col(bound_name(order)), slack)
        return met
    found: pl.Expr = merit(target, pl.col, slack)
    return found


def _few_points(
    targets: Sequence[Target], held: pl.LazyFrame | None, ranking: Ranking
) -> pl.LazyFrame | None:
    """Return only points that may be chosen; of rows sorted at once these are known by place."""
    is_counted = all(t.criterion in _COUNTED and not t.all_of for t in targets)
    if (held is None and not is_counted) or ranking.carried or ranking.clusters:
        return None
    ordered = ranking.ordered
    if ordered is None:
        return None
    if held is not None:
        return points(ranking, Points(at=_places_reached(held, ranking, ordered)))
    if ranking.may_lack_scores or cuts_ties(targets):
        return None
    return points(ranking, Points(at=_places_within(targets, ordered)))


def _places_within(targets: Sequence[Target], ordered: OrderedRows) -> pl.Series:
    """Return the places around the last points within numbers, or shares, of rows."""
    opening = ordered.opening.cast(pl.Int64)
    ends = pl.DataFrame({"first": opening[:-1], "last": opening[1:] - 1})
    first, last = pl.col("first"), pl.col("last")
    whole = {"predicted_rate": last - first, "predicted_count": pl.lit(1)}
    # Polars 1.41 clips a number by the first of many ends.
    numbers = (pl.min_horizontal(whole[one.criterion] * one.value, last - first) for one in targets)
    # A share of rows is rounded, so that one row more or less may be the last.
    around = [first + number.floor().cast(pl.Int64) + by for number in numbers for by in (-1, 0, 1)]
    within = [pl.max_horizontal(first, pl.min_horizontal(one, last)) for one in around]
    wanted = pl.concat(ends.select(one).to_series() for one in within)
    # Where the next row is tied, the last point within is the one before the tie.
    next_tie = ordered.keys.gather(wanted + 1).to_frame().select(ordered.key.tie()).to_series()
    before = ordered.keys.search_sorted(next_tie, side="left").cast(pl.Int64) - 1
    places = pl.select(pl.min_horizontal(wanted, before)).to_series()
    return pl.concat([opening, places]).unique().sort()


def _places_reached(wanted: pl.LazyFrame, ranking: Ranking, ordered: OrderedRows) -> pl.Series:
    """Return the place of the last point that each threshold retrieves, by bisection."""
    asked = wanted.filter(_HELD.is_not_null()).collect()
    at = asked.select(
        given_thresholds.along_ranking(given_thresholds.rounded(_HELD, ranking), ranking)
    ).to_series()
    low, after = (
        ordered.keys.search_sorted(
            asked.select(pl.col("segment") + step).select(ordered.key.opening()).to_series()
        )
        for step in (0, 1)
    )
    low, high = low.cast(pl.Int64), after.cast(pl.Int64) - 1
    while (low < high).any():
        middle = (low + high + 1) // 2
        slots = ordered.keys.gather(middle).to_frame().lazy().select(ranking.slot())
        score = ranking.with_score(slots).collect()["score"].to_frame()
        number = score.select(given_thresholds.along_ranking(pl.col("score"), ranking)).to_series()
        is_reached = (number <= at).fill_null(value=False)
        low, high = middle.zip_with(is_reached, low), high.zip_with(is_reached, middle - 1)
    return pl.concat([low, ordered.opening.cast(pl.Int64)]).unique().sort()


def _at_thresholds(points: pl.LazyFrame, wanted: pl.LazyFrame, ranking: Ranking) -> pl.LazyFrame:
    reached = (
        pl.when(_OPENS).then(-math.inf).otherwise(given_thresholds.along_ranking(_SCORE, ranking))
    )
    # Such a join does not cast the numbers of segments, of which sorted rows may have smaller ones.
    number = pl.col("segment").cast(pl.Int64)
    scored = ranking.with_score(points).select(*_POINT[:-1], at=reached, number=number)
    last = given_thresholds.along_ranking(
        given_thresholds.rounded(_HELD, ranking), ranking
    ).fill_null(-math.inf)
    by_place = wanted.with_columns(at=last, number=number).sort("at")
    found = by_place.join_asof(scored, on="at", by="number", check_sortedness=False)
    known = pl.when(_HELD.is_not_null())
    return found.with_columns(_precision(ranking)).with_columns(
        known.then(name).alias(name) for name in ("tp", "fp", "precision")
    )


# --- columns -------------------------------------------------------------------------------------


def _rates(ranking: Ranking, targets: Sequence[Target]) -> list[pl.Expr]:
    threshold_dtype = ranking.threshold_dtype
    infinity = pl.lit(ranking.no_threshold).cast(threshold_dtype)
    found = pl.when("opens").then(infinity).otherwise(_SCORE.cast(threshold_dtype))
    is_held = _HELD.is_not_null() | (pl.col("order") >= len(targets))
    threshold = pl.when(is_held).then(_HELD.cast(threshold_dtype)).otherwise(found)
    beta = pl.when(pl.col("criterion") == "f_beta").then(pl.col("target_value")).otherwise(1.0)
    return [
        unsigned_zero(threshold, threshold_dtype).alias("threshold"),
        *(value.alias(name) for name, value in rates(pl.col, beta).items()),
        _expected_cost(targets).alias("expected_cost"),
        _status(is_held, targets).alias("status"),
        pl.lit(ranking.rows.ascending).alias(given_thresholds.ASCENDING),
    ]


def _status(is_held: pl.Expr, targets: Sequence[Target]) -> pl.Expr:
    guarantees = any(target.guarantee is not None for target in targets)
    totals = (pl.col(name).fill_null(0) for name in ("all_positives", "all_negatives"))
    *_, status = sizes(*totals)
    return (
        pl.when(is_held & _HELD.is_null())
        .then(pl.lit(given_thresholds.NO_THRESHOLD))
        .when(_TP.is_null() & (status == "ok"))
        .then(pl.lit(given_thresholds.NO_GUARANTEE if guarantees else given_thresholds.NOT_MET))
        .when((_TP + pl.col("fp") == 0) & (status == "ok"))
        .then(pl.lit("undefined"))
        .otherwise(status)
    )


def misses() -> pl.Expr:
    """Return whether a point misses its target, as one that was chosen on other rows may."""
    asked = pl.col("target_value")
    beyond = {name: pl.col(name) < asked * (1 - _SLACK) for name in ("recall", "precision")}
    at_most = ("fpr", "predicted_rate", "predicted_count")
    beyond |= {name: pl.col(name) > asked * (1 + _SLACK) for name in at_most}
    return pl.any_horizontal(
        (pl.col("criterion") == name) & is_beyond for name, is_beyond in beyond.items()
    ).fill_null(value=False)


def _expected_cost(targets: Sequence[Target]) -> pl.Expr:
    # Of thresholds that were chosen on other rows, the target is known as text.
    fp_cost, fn_cost = given_thresholds.costs_of(pl.col("target"))
    held = (pl.col("fp") * fp_cost + (_POSITIVES - _TP) * fn_cost) / (_POSITIVES + _NEGATIVES)
    is_given = pl.col("order") >= len(targets)
    costs = costs_per_row(targets, pl.col("order"), pl.col)
    return pl.coalesce(*costs, pl.when(is_given).then(held))


def iso_lines(f_scores: Sequence[float], steps: int) -> pl.DataFrame:
    """Return lines of equal F1 score, each from precision 1 to recall 1."""
    lines = pl.LazyFrame({"f_score": f_scores}, schema={"f_score": pl.Float64})
    places = pl.LazyFrame({"place": range(steps + 1)})
    grid = lines.join(places, how="cross", maintain_order="left_right")
    f, place, recall = pl.col("f_score"), pl.col("place"), pl.col("recall")
    first = f / (2 - f)
    points = grid.with_columns(recall=first + (1 - first) * (place / steps))
    precision = f * recall / (2 * recall - f)
    # Rounding would put the first point beside 1, and the next may be above 1.
    within = pl.when(place == 0).then(1.0).otherwise(precision.clip(upper_bound=1))
    return points.select("f_score", "recall", precision=within).collect()
