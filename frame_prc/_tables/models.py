"""Models beside each other: their areas on the same rows, and the variance of the difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

import polars as pl
import polars.selectors as cs

from frame_prc._formulas import FEWEST_TOLD, told_by
from frame_prc._inference.comparisons import rests_on_unseen, sums_of_decisions
from frame_prc._inference.estimates import (
    NEGATIVE_CLUSTERS,
    OF_CLASSES,
    Estimates,
    effective_clusters,
    measure_of,
    of_classes,
    on_negatives,
)
from frame_prc._inference.measure import Measure
from frame_prc._inference.row_influence import (
    RowInfluence,
    cluster_sums,
    cluster_totals,
    numbered,
    with_influences,
)
from frame_prc._lazy import in_order, segment_join
from frame_prc._ranking.ranking import rank
from frame_prc._request.specs import Comparison
from frame_prc._rows.rows import Rows, of_model, side_by_side

# The variance of a difference is a rounding error up to this fraction of the sum of both variances,
_ROUNDING = 1e-24
# and a difference of variances up to this fraction of either.
CANCELLED = 1e-12

# What models have of their own, and the names for it, which end with the place of the model.
_SIDES = {
    "estimate": "value",
    "variance": "alone",
    "of_squares": "of_squares",
    "shortfall": "shortfall",
    "few_negatives": "few_negatives",
    "n_effective": "n_effective",
}
# What the two models of a pair have of these.
_OF_PAIRS = {"variance" if name == "alone" else name: name for name in _SIDES.values()}

# Of tests of one segment: which one, what each of them shares with the others, and its place there.
BLOCK, SHARED, PLACE = "\0block", "\0shared", "\0place"

_VARIANCE, _VARIANCE_A, _VARIANCE_B = (pl.col(n) for n in ("variance", "variance_a", "variance_b"))


def beside_models(rows: Rows, comparison: Comparison) -> pl.LazyFrame:
    names, measure = list(rows.columns.request.models), measure_of(comparison.measured)
    rows = side_by_side(rows)
    if rows.elsewhere is None:
        models, sums = _in_polars(rows, comparison, [measure.of_model(name) for name in names])
    else:
        models, sums = rows.elsewhere.paired(rows, measure)
    if measure.of_decisions:
        sums = sums.with_columns(_unseen(rows, pair) for pair in _pairs_of(comparison))
    first, *others = (_areas(model, sums, i) for i, model in enumerate(models))
    of_pairs = cs.matches(r"^(variance|covariance|fourth|unseen)_\d+_\d+$")
    table = segment_join(first, sums.select("segment", of_pairs))
    for i, other in enumerate(others, 1):
        table = segment_join(table, other.select("segment", cs.ends_with(f"_{i}")))
    keyed = models[0].ranking.segments.with_keys(table)
    return _by_pair(keyed, names, comparison, measure)


def _pairs_of(comparison: Comparison) -> list[tuple[int, int]]:
    found = {(min(pair), max(pair)) for pair in comparison.pairs}
    if comparison.adjust == "max":  # tests of one segment share models
        found = {*combinations(sorted({i for pair in found for i in pair}), 2)}
    return sorted(found)


def _name(name: str, pair: tuple[int, int]) -> str:
    return f"{name}_{min(pair)}_{max(pair)}"


def _in_polars(
    rows: Rows, comparison: Comparison, measures: Sequence[Measure]
) -> tuple[list[Estimates], pl.LazyFrame]:
    rows = numbered(rows)
    places = range(len(rows.columns.scores))
    own = partial(rank, squares=True, numbered=True)
    ranked = [partial(own, of_model(rows, place)) for place in places]
    models = RowInfluence.of_models(rows.together(ranked), measures)
    estimates = [Estimates(model.ranking, model.measure, model) for model in models]
    return estimates, rows.once(_sums(rows, models, comparison))


def _product(pair: tuple[int, int], other: tuple[int, int]) -> pl.Expr:
    """Return the sum of products of two differences, from those of the influences on two models."""

    def both(a: int, b: int) -> pl.Expr:
        return pl.col(f"alone_{a}" if a == b else _name("covariance", (a, b)))

    if pair == other:
        return pl.col(_name("variance", pair))
    (a, b), (c, d) = pair, other
    return both(a, c) - both(a, d) - both(b, c) + both(b, d)


def _sums(rows: Rows, models: Sequence[RowInfluence], comparison: Comparison) -> pl.LazyFrame:
    names = [f"influence_{i}" for i in range(len(models))]
    influences, sums = [pl.col(name) for name in names], {}
    pairs = _pairs_of(comparison)
    for a, b in pairs:
        difference, product = influences[a] - influences[b], influences[a] * influences[b]
        sums[f"variance_{a}_{b}"] = in_order(difference**2)
        sums[f"covariance_{a}_{b}"] = in_order(product)
        if models[0].measure.counted:
            sums[f"fourth_{a}_{b}"] = in_order(difference**4)
    of_decisions = models[0].measure.of_decisions
    frame = with_influences(rows, models, plain=of_decisions)
    if not rows.clustered:
        if of_decisions:
            # Less the mean of a stratum, rows that are decided alike would move both.
            plain = [f"plain_{name}" for name in names] if rows.stratified else names
            frame = frame.with_columns(map(on_negatives, plain))
            moved, negatives = ([pl.col(f"{n}{of}") for n in plain] for of in ("", "_on_negatives"))
            sums |= sums_of_decisions(moved, negatives, [pl.col("pos"), pl.col("neg")], pairs)
        return frame.group_by(segment="segment_0").agg(**sums)
    sums |= {f"alone_{i}": in_order(influence**2) for i, influence in enumerate(influences)}
    for i, name in enumerate(names):
        numbers = effective_clusters(models[i].measure, f"below_{i}")
        sums |= {NEGATIVE_CLUSTERS: numbers.pop(NEGATIVE_CLUSTERS)}
        sums |= {f"{part}_{i}": total for part, total in (numbers | of_classes(name)).items()}
    named, ranking = frame.rename({"segment_0": "segment"}), models[0].ranking
    named = named.with_columns(map(on_negatives, names))
    below = [f"below_{i}" for i, model in enumerate(models) if model.measure.below]
    summed = [*names, *below, *(f"{name}_on_negatives" for name in names)]
    cells = partial(cluster_sums, named, ["segment"], summed, ranking)
    return cluster_totals(named, summed, ranking, sums, cells)


def _unseen(rows: Rows, pair: tuple[int, int]) -> pl.Expr:
    """Return whether a variance rests on rows that are hardly seen; clusters are not told apart."""
    # They differ from each other by far more than by the decisions that two models share.
    never = pl.lit(value=False)
    found = never if rows.clustered else rests_on_unseen(*pair, _name("variance", pair))
    return found.alias(_name("unseen", pair))


def _areas(model: Estimates, sums: pl.LazyFrame, place: int) -> pl.LazyFrame:
    if model.ranking.rows.clustered:
        parts = {part: f"{part}_{place}" for part in ("n_effective", *OF_CLASSES)}
        own = sums.select("segment", NEGATIVE_CLUSTERS, variance=f"alone_{place}", **parts)
        model = replace(model, of_clusters=own)
    renamed = {name: f"{side}_{place}" for name, side in _SIDES.items()}
    return model.computed().rename(renamed, strict=False)


def _by_pair(
    table: pl.LazyFrame, names: Sequence[str | None], comparison: Comparison, measure: Measure
) -> pl.LazyFrame:
    pairs, counted = comparison.pairs, measure.counted
    beside = {"fourth": counted, "unseen": measure.of_decisions}
    shown = ("variance", "covariance", *(name for name, has in beside.items() if has))
    lists = {name: pl.concat_list([_name(name, pair) for pair in pairs]) for name in shown}
    for side, column, places in zip(
        "ab", ("model", "baseline"), zip(*pairs, strict=True), strict=True
    ):
        lists[column] = pl.lit([names[i] for i in places], pl.List(pl.String))
        lists |= {
            f"{name}_{side}": pl.concat_list([f"{of}_{i}" for i in places])
            for name, of in _OF_PAIRS.items()
        }
    if comparison.adjust == "max":
        each = range(len(pairs))
        of_pairs = [
            pl.struct(_product(pair, pairs[i]).alias(str(i)) for i in each) for pair in pairs
        ]
        lists |= {SHARED: pl.concat_list(of_pairs), PLACE: pl.lit([*each], pl.List(pl.Int64))}
        table = table.with_columns(pl.int_range(pl.len()).alias(BLOCK))
    long = table.with_columns(**lists).explode(*lists, empty_as_null=False)
    variance = above_rounding(_VARIANCE, _VARIANCE_A + _VARIANCE_B)
    fewer = pl.min_horizontal("n_effective_a", "n_effective_b")
    if counted:
        # Of models that are nearly alike, a few rows that they rank differently decide.
        told = told_by(_VARIANCE, pl.col("fourth"), fewer)
        fewer = pl.when(variance.is_not_null()).then(told).otherwise(fewer)
    if measure.of_decisions:
        unseen = variance.is_not_null() & pl.col("unseen")
        fewer = pl.when(unseen).then(pl.min_horizontal(fewer, FEWEST_TOLD)).otherwise(fewer)
    few_negatives = pl.any_horizontal("few_negatives_a", "few_negatives_b")
    return long.with_columns(variance=variance, few_negatives=few_negatives, n_effective=fewer)


def above_rounding(variance: pl.Expr, alone: pl.Expr) -> pl.Expr:
    """Return the variance of a difference; null if it is a rounding error."""
    return pl.when(variance > _ROUNDING * alone).then(variance)
