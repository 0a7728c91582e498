"""Estimates of segments inside an engine: what intervals, tests and means rest on, collected.

The influences of points are added up. With clusters, and for models beside each other, each row is
a point: Spark distributes rows once, sorts them once for each model, and joins nothing. Where rows
stream past, they are read a second time, and their points joined to them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations
from operator import add
from typing import Any, cast

import narwhals as nw
import polars as pl

from frame_prc._curves.calibration import REFERENCE, effective_numbers, reference_of_models
from frame_prc._engines import points as engine_points
from frame_prc._engines.engine import Frame, errors_of_ours, project
from frame_prc._engines.rows import Counted, amount_names, by_segment
from frame_prc._engines.spark_ranges import kept_ranges
from frame_prc._formulas import exact_sum, harmonic
from frame_prc._inference.comparisons import sums_of_decisions
from frame_prc._inference.estimates import OF_CLASSES
from frame_prc._inference.measure import BIAS, Measure, constants, sums_over_scores, with_terms
from frame_prc._request.specs import Calibration
from frame_prc._rows.rows import DROPPED
from frame_prc._rows.rules import SUMS
from frame_prc.exceptions import ColumnError, DataError


def segment_sums(counted: Counted, measures: Sequence[Measure]) -> pl.DataFrame:
    """Return the sums of each segment over its points, and clusters, by each measure's place."""
    models = [Model(counted, measures)]
    with kept_ranges() as cut:
        if counted.columns.cluster is None:
            found = collected(counted, _over_points(cut(counted), measures))
        else:
            sums = _over_cells(models) | _over_clusters(measures)
            found = totals(_cells(models, cut), counted, sums)
    _check_scales(found, counted)
    return _with_all_ties(found, models)


def _check_scales(found: pl.DataFrame, counted: Counted) -> None:
    """Refuse weights so far apart that a stream through all segments loses their digits."""
    if not (counted.engine.streams and counted.columns.weighted):
        return
    for name in {"pos_0", "neg_0"}.intersection(found.columns):
        sums = found[name].filter(found[name] > 0).to_list()
        if sums and max(sums) > _MOST_APART * min(sums):
            raise DataError(
                f"the squares of weights add up to {min(sums):g} in one segment and to "
                f"{max(sums):g} in another, for which {counted.engine.kind} has too few digits",
                f"sums of squares at most {_MOST_APART:g} times as large",
                "divide the weights of each segment by their mean: no result of it changes",
            )


def cluster_cells(counted: Counted, measure: Measure) -> pl.DataFrame:
    """Return ``cluster, influence, influence_on_negatives, pos, neg`` of clusters in segments."""
    names = {"influence_0": "influence", "influence_on_negatives_0": "influence_on_negatives"}
    amounts = nw.col("pos", "neg").cast(nw.Float64)
    names |= {"below_0": "below"} if measure.below else {}
    with kept_ranges() as cut:
        cells = _cells([Model(counted, [measure])], cut).rename(names)
        used = cells.filter((nw.col("pos") > 0) | (nw.col("neg") > 0))
        return collected(
            counted, used.select(*counted.segment, "cluster", *names.values(), amounts)
        )


def sums_side_by_side(models: Sequence[Counted], measure: Measure) -> list[pl.DataFrame]:
    return [segment_sums(one, [measure]) for one in models]


def paired_sums(
    counted: Sequence[Counted], measure: Measure
) -> tuple[list[pl.DataFrame], pl.DataFrame]:
    """Return the same, and sums of products over the rows, or clusters, that models share."""
    first, number = counted[0], len(counted)
    models = [Model(one, [measure], f"score_{i}", f"_{i}") for i, one in enumerate(counted)]
    with kept_ranges() as cut:
        of_clusters = _over_clusters([measure] * number)
        if first.columns.cluster is None:
            of_clusters = {f"alone_{i}": of_clusters[f"alone_{i}"] for i in range(number)}
        sums = _over_cells(models) | of_clusters | _products(number)
        if measure.of_decisions and first.columns.cluster is None:
            moved = [nw.col(f"influence_{i}") for i in range(number)]
            negatives = [nw.col(f"influence_on_negatives_{i}") for i in range(number)]
            pairs = [*combinations(range(number), 2)]
            sums |= sums_of_decisions(moved, negatives, [_POS, _NEG], pairs)
        found = _with_all_ties(totals(_cells(models, cut), first, sums), models)
    return [_of_model(found, first, measure, i) for i in range(number)], found


def _of_model(found: pl.DataFrame, counted: Counted, measure: Measure, place: int) -> pl.DataFrame:
    of_measure = [*_own(measure), *sums_over_scores(measure)]
    names = {f"{name}_{place}": f"{name}_0" for name in of_measure}
    names |= {f"{name}_{place}": name for name in _OF_SCORES}
    return found.select(*counted.segment, *_SIZES, *names, *DROPPED).rename(names)


# --- points ------------------------------------------------------------------------------------


def _influenced(counted: Counted, measures: Sequence[Measure]) -> Frame:
    """Return points with what each measure, by whose place names end, adds up of them."""
    of, thinned = engine_points.InEngine(counted), _is_thinned(counted, measures)
    found = _with_ties(engine_points.points_of(counted, hits=thinned), counted, thinned=thinned)
    # Sums of a measure leave points in another order.
    kept = [name for name in found.columns if name != "closes"]
    names: list[str] = []
    for place, measure in enumerate(measures):
        of_measure = engine_points.fresh(found)
        if measure.calibration is not None:
            of_measure = referred(of_measure, counted, measure.calibration)
        own = with_terms(measure.influences_of(of_measure, of), of, measure)
        made = [*_own(measure), *sums_over_scores(measure), *_ON, *measure.below]
        shown = (_plain(n).alias(f"{n}_{place}") for n in made)
        alike = {n: nw.col(f"at_{n}") for n in ("score", "retrieved")}
        found = own.select(*kept, *names, *shown, **alike)
        names += [f"{name}_{place}" for name in made]
    return found


def _with_ties(points: Frame, counted: Counted, *, thinned: bool) -> Frame:
    """Add the scores that rows have, and what their ties tell of chance."""
    seen, here = nw.col("at_tp") + nw.col("at_fp"), nw.col("at_pos") + nw.col("at_neg")
    is_retrieved = ~nw.col("at_score").is_null()
    scores = nw.col("own_scores") if thinned else nw.lit(1)
    if counted.columns.weighted:
        shares = nw.lit(0.0)  # chance is the prevalence
    elif thinned:
        # What a tie adds to the shares that its rows would have with a score each, below 0.
        tied = here - scores + 1
        added = tied / seen - (harmonic(seen) - harmonic(seen - tied))
        shares = nw.when(is_retrieved & (tied > 1)).then(added).otherwise(0.0)
    else:
        shares = nw.when(is_retrieved & (seen > 0)).then(here / seen).otherwise(0.0)
    return points.with_columns(
        tie_shares=shares,
        at_retrieved=nw.when(is_retrieved).then(seen).otherwise(seen - here),
        n_scores=nw.when(is_retrieved).then(scores).otherwise(0),
    )


def _with_all_ties(found: pl.DataFrame, models: Sequence[Model]) -> pl.DataFrame:
    """Add what rows with a score each have, which points that are left out do not tell."""
    one = models[0]
    if one.counted.columns.weighted or not _is_thinned(one.counted, one.measures):
        return found
    return found.with_columns(
        pl.col(f"tie_shares{one.suffix}")
        + harmonic(pl.col(f"retrieved{one.suffix}").cast(pl.Int64))
        for one in models
    )


def _is_thinned(counted: Counted, measures: Sequence[Measure]) -> bool:
    """Return whether scores of single negatives, which no measure needs, are left out."""
    return engine_points.of_rows(counted) and all(one.points.only_hits for one in measures)


def _own(measure: Measure) -> list[str]:
    """Return the columns of points that are the same in a segment, but for its sizes."""
    return [name for name in constants(measure) if name not in ("positives", "negatives")]


def _plain(name: str) -> nw.Expr:
    """Return a column as a number: some engines add up and compare no Booleans."""
    if name in _FLAGS:
        return nw.when(nw.col(name)).then(1.0).otherwise(0.0)
    return nw.col(name).cast(nw.Float64)


# A running sum has 32 digits, of which a segment's own have to be enough.
_MOST_APART = 1e22
_FLAGS = ("is_few", "has_measure")
_SIZES = ("positives", "negatives")
_OF_SCORES = ("lowest", "highest", "n_scores", "tie_shares", "retrieved")
_SHARED = ("n_scores", "tie_shares")
_ENDS = ("lowest", "highest")
_ON = ("on_positive", "on_negative")


def _over_points(counted: Counted, measures: Sequence[Measure]) -> Frame:
    points = _influenced(counted, measures)
    sums = scores_of_segments() | {"n_scores": engine_points.in_parts("n_scores", counted).sum()}
    shares = exact_sum(engine_points.in_parts("tie_shares", counted))
    ties = {"tie_shares": shares, "retrieved": nw.col("retrieved").max()}
    for place, measure in enumerate(measures):
        sums |= {f"{name}_{place}": nw.col(f"{name}_{place}").max() for name in _own(measure)}
        sums |= {
            f"{name}_{place}": engine_points.in_parts(f"{name}_{place}", counted).sum()
            for name in sums_over_scores(measure)
        }
    return by_segment(points, counted, sums | ties)


def scores_of_segments() -> dict[str, nw.Expr]:
    score = nw.when(engine_points.RETRIEVED).then(nw.col("score"))
    one = nw.when(engine_points.RETRIEVED).then(1).otherwise(0)
    return {"lowest": score.min(), "highest": score.max(), "n_scores": one.sum()}


def looked_up(calibration: Calibration | None, counted: Counted) -> Calibration | None:
    if calibration is None or calibration.odds is not None or calibration.table is not None:
        return calibration
    classes = [*zip(_SIZES, SUMS, strict=True)]
    sums = {of: nw.col(name) for of, name in classes}
    if counted.squares:
        sums |= {f"{c}_squares": nw.col(f"{name}_squares") for c, name in classes}
    sums = {name: amount.sum().cast(nw.Float64) for name, amount in sums.items()}
    table = totals(counted.rows, counted, sums).lazy()
    numbers = effective_numbers(squares=counted.squares)
    model = counted.keys[:1] if counted.columns.several_models else []
    found = reference_of_models(table.with_columns(**numbers), calibration, model)
    return replace(calibration, table=found.collect().lazy())


def referred(points: Frame, counted: Counted, calibration: Calibration) -> Frame:
    names = ("reference_odds", REFERENCE)
    if calibration.table is None:
        values = (calibration.odds, calibration.prevalence)
        known = [nw.lit(value, nw.Float64) for value in values]
        return points.with_columns(**dict(zip(names, known, strict=True)))
    table = calibration.table.collect()
    if not counted.columns.several_models:
        return points.with_columns(nw.lit(table[n][0], nw.Float64).alias(n) for n in names)
    key, found = counted.keys[0], dict.fromkeys(names, nw.lit(None, nw.Float64))
    for row in table.iter_rows(named=True):
        is_model = nw.col(key).is_null() if row[key] is None else nw.col(key) == row[key]
        for name in names:
            known_one = nw.when(is_model).then(nw.lit(row[name], nw.Float64))
            found[name] = known_one.otherwise(found[name])
    return points.with_columns(**found)


# --- rows --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Model:
    """Counts, and the ``score`` of their rows; with several models ``suffix`` ends their names."""

    counted: Counted
    measures: Sequence[Measure]
    score: str = "score"
    suffix: str = ""

    @property
    def score_if_used(self) -> nw.Expr:
        """The score of a row; one of models side by side that is dropped may have some."""
        score = nw.col(self.score)
        return nw.when(nw.col("dropped") == 0).then(score) if self.suffix else score

    @property
    def places(self) -> range:
        first = int(self.suffix[1:] or 0)
        return range(first, first + len(self.measures))

    def _names(
        self, of_all: Sequence[str], own: Callable[[Measure], Sequence[str]]
    ) -> dict[str, str]:
        names = {name: f"{name}{self.suffix}" for name in of_all}
        for i, place in enumerate(self.places):
            names |= {f"{name}_{i}": f"{name}_{place}" for name in own(self.measures[i])}
        return names

    @property
    def alike(self) -> dict[str, str]:
        """What all points of a segment have alike."""
        return self._names(["retrieved"], _own)

    @property
    def shared(self) -> dict[str, str]:
        """What is added up over points."""
        of_measure = ("variance", "of_negatives", *BIAS)
        return self._names(_SHARED, lambda measure: [*of_measure, *measure.term_names])

    @property
    def of_segments(self) -> dict[str, str]:
        return self.alike | self.shared | self._names(_ENDS, lambda _: ())

    @property
    def packed(self) -> str:
        return f"of_segment{self.suffix}"

    @property
    def told(self) -> dict[str, str]:
        """What a point tells of each of its rows."""
        return self._names([], lambda measure: [*_ON, *measure.below])


def _cells(models: Sequence[Model], cut: Callable[[Counted], Counted]) -> Frame:
    """Return the sums of each segment and cluster; without clusters the same of each row.

    Where rows stream past, those of a segment's last point have all that its points add up to.
    """
    counted, amounts = models[0].counted, amount_names(squares=models[0].counted.squares)
    streams = engine_points.of_rows(counted)
    rows, sums = (_numbered(models) if streams else counted.single), [*amounts, "dropped"]
    for one in models:
        rows = _joined(rows, one) if streams else _beside_points(rows, one, cut)
        added = _of_rows(one)
        rows = rows.with_columns(**added)
        sums += [*added, *([] if streams else one.shared.values())]
    if counted.columns.cluster is not None:
        if streams:  # one row has a list: DuckDB takes twice as long to find the largest
            own = [nw.col(one.packed).any_value(ignore_nulls=True) for one in models]
        else:
            own = [nw.col(name).max() for one in models for name in one.alike.values()]
        ends = {} if streams else _ends(models)
        rows = rows.group_by(*counted.keys, "cluster").agg(nw.col(*sums).sum(), *own, **ends)
    return reduce(_unpacked, models, rows) if streams else rows


def _numbered(models: Sequence[Model]) -> Frame:
    rows = models[0].counted.single
    rows = rows.with_columns(**{one.score: one.score_if_used for one in models})
    for one in models:
        hits = _is_thinned(one.counted, one.measures)
        ordered = engine_points.in_order(one.counted, rows, hits=hits, score=one.score)
        point = f"point{one.suffix}"
        rows = engine_points.with_point(ordered, point).select(*rows.columns, point)
    return rows


def _joined(rows: Frame, model: Model) -> Frame:
    """Add what its points tell to rows that have their number.

    What a segment has alike is in a list of its last rows: DuckDB takes long to add up columns.
    """
    number, keys = nw.col("point"), model.counted.keys
    points = _influenced(model.counted, model.measures)
    sums = {name: nw.col(name).sum().over(*keys) for name in model.shared}
    score = nw.col("score")
    ends = {"lowest": score.min().over(*keys), "highest": score.max().over(*keys)}
    whole = points.with_columns(is_last=number == number.max().over(*keys), **sums, **ends)
    told = [f"{of} AS {name}" for of, name in model.told.items()]
    values = ", ".join(f"CAST({name} AS DOUBLE)" for name in model.of_segments)
    packed = f"CASE WHEN is_last THEN [{values}] END AS {model.packed}"
    found = project(whole, f"point AS point{model.suffix}", *told, packed)
    return rows.join(found, on=f"point{model.suffix}", how="left")


def _unpacked(rows: Frame, model: Model) -> Frame:
    names = enumerate(model.of_segments.values(), 1)
    return project(rows, "*", *(f"{model.packed}[{place}] AS {name}" for place, name in names))


def _beside_points(rows: Frame, model: Model, cut: Callable[[Counted], Counted]) -> Frame:
    single = rows.with_columns(score=model.score_if_used)
    counted = cut(replace(model.counted, single=single, each_row=True))
    points = _influenced(counted, model.measures)
    own = {name: nw.col(f"row_{name}") for name in engine_points.columns_of_rows(counted)}
    used = nw.when(own["pos"] + own["neg"] > 0).then(own["score"])
    own |= {f"{end}{model.suffix}": used for end in _ENDS}
    own |= {name: nw.col(of) for of, name in (model.alike | model.told).items()}
    own |= {name: nw.col(of) * nw.col("part") for of, name in model.shared.items()}
    return points.select(*counted.keys, "dropped", **own)


def _of_rows(one: Model) -> dict[str, nw.Expr]:
    pos, neg = nw.col("pos"), nw.col("neg")
    found: dict[str, nw.Expr] = {}
    for place, measure in zip(one.places, one.measures, strict=True):
        on = [nw.col(f"{name}_{place}") for name in _ON]
        of_positive, of_negative = _of_amounts((pos, neg), on)
        found |= {
            f"influence_{place}": of_positive + of_negative,
            f"influence_on_negatives_{place}": of_negative,
        }
        if measure.below:
            below = [nw.col(f"{name}_{place}") for name in measure.below]
            found[f"below_{place}"] = add(*_of_amounts((pos, neg), below))
    return found


def _of_amounts(amounts: Sequence[nw.Expr], factors: Sequence[nw.Expr]) -> list[nw.Expr]:
    """Return the product of the amount of each class; where there is none, factors are null."""
    return [
        nw.when(amount > 0).then(amount * factor).otherwise(0.0)
        for amount, factor in zip(amounts, factors, strict=True)
    ]


def _over_cells(models: Sequence[Model]) -> dict[str, nw.Expr]:
    counted = models[0].counted
    amounts = {"positives": "pos", "negatives": "neg"}
    sums = {n: nw.col(of).sum().fill_null(0).cast(counted.amount) for n, of in amounts.items()}
    sums["n_dropped"] = nw.col("dropped").sum().fill_null(0).cast(nw.Int64)
    whole = engine_points.of_rows(counted)  # each has the sums of its segment, or none
    squares = [nw.col(n).cast(nw.Float64) for n in amount_names(squares=counted.squares)[-2:]]
    for one in models:
        for place in one.places:
            sums |= {f"{n}_{place}": of.sum() for n, of in zip(SUMS, squares, strict=True)}
        sums |= {name: nw.col(name).max() for name in one.alike.values()}
        sums |= {
            name: nw.col(name).max() if whole else nw.col(name).sum()
            for name in one.shared.values()
        }
    return sums | _ends(models)


def _ends(models: Sequence[Model]) -> dict[str, nw.Expr]:
    lowest = {f"lowest{one.suffix}": nw.col(f"lowest{one.suffix}").min() for one in models}
    highest = {f"highest{one.suffix}": nw.col(f"highest{one.suffix}").max() for one in models}
    return lowest | highest


def _over_clusters(measures: Sequence[Measure]) -> dict[str, nw.Expr]:
    pos, neg = (nw.col(name).cast(nw.Float64) for name in ("pos", "neg"))
    amounts = {"pos": pos, "neg": neg, "both": pos + neg}
    amounts |= {f"below_{i}": nw.col(f"below_{i}") for i, one in enumerate(measures) if one.below}
    sums = {f"{name}_total": amount.sum() for name, amount in amounts.items()}
    sums |= {f"{name}_squares": (amount * amount).sum() for name, amount in amounts.items()}
    for i in range(len(measures)):
        influence, moved = nw.col(f"influence_{i}"), nw.col(f"influence_on_negatives_{i}")
        of_positives = influence - moved
        sums[f"alone_{i}"] = (influence * influence).sum()
        added = (of_positives * of_positives, moved * moved, moved)
        sums |= {f"{name}_{i}": one.sum() for name, one in zip(OF_CLASSES, added, strict=True)}
    return sums


def _products(number: int) -> dict[str, nw.Expr]:
    sums = {}
    for a, b in combinations(range(number), 2):
        one, other = nw.col(f"influence_{a}"), nw.col(f"influence_{b}")
        squared = (one - other) * (one - other)
        sums[f"variance_{a}_{b}"] = squared.sum()
        sums[f"covariance_{a}_{b}"] = (one * other).sum()
        sums[f"fourth_{a}_{b}"] = (squared * squared).sum()
    return sums


def totals(frame: Frame, counted: Counted, sums: Mapping[str, nw.Expr]) -> pl.DataFrame:
    """Collect sums over rows of each segment, or over all of them."""
    named = [value.alias(name) for name, value in sums.items()]
    keys = counted.segment
    return collected(counted, frame.group_by(*keys).agg(*named) if keys else frame.select(*named))


# --- collecting --------------------------------------------------------------------------------


def collected(counted: Counted, table: Frame) -> pl.DataFrame:
    for name, dtype in counted.columns.key_dtypes.items():
        if isinstance(dtype, pl.Duration):  # months, days and microseconds beside each other
            raise ColumnError(
                f"key {name!r} is an INTERVAL, which Polars does not have",
                "for a verb that reads segments here, a key of another type",
                "cast it in the engine first, to text or to a number of days",
            )
    return in_polars(counted.engine.finished(table, [], [], counted.problem))


def in_polars(frame: Any, names: Collection[str] | None = None) -> pl.DataFrame:
    lf = nw.from_native(frame).lazy()
    chosen = lf if names is None else lf.select(sorted(names))
    with errors_of_ours():
        return cast("pl.DataFrame", chosen.collect("polars").to_native())


_POS, _NEG = (nw.col(name).cast(nw.Float64) for name in ("pos", "neg"))
_SUMS = ("weighted", "spread", "tp", "fp", "rows", "squared_hits", "squared_misses")


def bins_of_rows(counted: Counted, edges: Sequence[float]) -> Frame:
    """Return sums over the rows of each segment and bin.

    ``hits_squared, hits_sized, sized`` are products of the hits and the sizes of clusters, or rows.
    """
    number = [nw.when(nw.col("p") >= edge).then(1).otherwise(0) for edge in [*edges][1:-1]]
    used = (nw.col("pos") > 0) | (nw.col("neg") > 0)
    placed = (
        counted.single.filter(used & ~nw.col("score").is_null())
        .with_columns(p=counted.score.cast(nw.Float64))
        .with_columns(bin=reduce(add, number, nw.lit(0)))
    )
    p = nw.col("p")
    each = placed.with_columns(
        weighted=(_POS + _NEG) * p,
        spread=(_POS + _NEG) * (p * (1 - p)).clip(0.0, 1.0),
        tp=_POS,
        fp=_NEG,
        rows=nw.lit(1),
        squared_hits=_POS * _POS,
        squared_misses=_NEG * _NEG,
    )
    keys = [*counted.segment, "bin"]
    if counted.columns.cluster is not None:
        each = each.group_by(*keys, "cluster").agg(nw.col(*_SUMS).sum())
    size = nw.col("tp") + nw.col("fp")
    return (
        each.with_columns(
            hits_squared=nw.col("tp") * nw.col("tp"),
            hits_sized=nw.col("tp") * size,
            sized=size * size,
        )
        .group_by(*keys)
        .agg(
            nw.col("rows").sum().cast(nw.Int64),
            nw.col(*(name for name in _SUMS if name != "rows")).sum(),
            nw.col("hits_squared", "hits_sized", "sized").sum(),
        )
    )
