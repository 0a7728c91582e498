"""Tables of the points of curves inside an engine: counts, curves, areas, operating points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import narwhals as nw
import polars as pl

from frame_prc import _formulas as formulas
from frame_prc._curves import areas
from frame_prc._curves import operating_points as decisions
from frame_prc._curves.calibration import CALIBRATED
from frame_prc._curves.curve import ADDABLE, BOUNDS, CURVE, check_frames
from frame_prc._curves.given_thresholds import ASCENDING, LIMITS, NOT_MET
from frame_prc._curves.logit_intervals import (
    FEW_POSITIVES,
    RANDOM,
    limits_of_share,
    status,
    status_where,
)
from frame_prc._engines import rows
from frame_prc._engines.engine import Engine, Frame, Order
from frame_prc._engines.estimates import looked_up, referred
from frame_prc._engines.points import RETRIEVED, of_rows, running_sums, within_range
from frame_prc._engines.spark_ranges import beside_ranges, cut
from frame_prc._ranking.running_sums import TERMS_OF_COUNTS
from frame_prc._request.roles import THRESHOLD, Request, request
from frame_prc._request.specs import Calibration, Interval, Start, Target
from frame_prc._request.values import ABOVE
from frame_prc._rows.checks import overlap
from frame_prc._rows.table import Table


def computed(
    engine: Engine, frame: Any, request: Request, table: Table, outputs: Sequence[str]
) -> Any:
    """Return a table as a frame of the engine."""
    return _MADE[type(table).__name__](engine, frame, request, table, outputs)


def _counts(engine: Engine, frame: Any, request: Request, table: Any, _: Sequence[str]) -> Any:
    bins, squares = table.bins, table.squares
    [counted] = rows.count(
        engine, frame, request, table.reserved, bins, every_bin=False, squares=squares
    )
    table.check(counted.columns)
    held = counted.frame.filter((nw.col("pos") > 0) | (nw.col("neg") > 0))
    tidy = held.with_columns(threshold=counted.score)
    if squares and not counted.squares:
        tidy = tidy.with_columns(pos_squares=nw.col("pos"), neg_squares=nw.col("neg"))
    if bins is not None:
        tidy = tidy.with_columns(rows.bin_end(tidy, bins).alias(bins.other_end))
    return counted.finish(tidy, table.outputs, [in_ranking_order(counted)])


def in_ranking_order(counted: rows.Counted) -> Order:
    return Order("threshold", descending=not counted.ascending)


def merge_counts(engine: Engine, natives: Sequence[Any], *, ascending: bool) -> Any:
    frames: list[Frame] = [nw.from_native(native) for native in natives]
    schemas = [pl.Schema(rows.schema_of(frame)) for frame in frames]
    check_frames(schemas)
    names = schemas[0].names()
    amounts = [name for name in names if name in ADDABLE]
    others = [name for name in names if name in BOUNDS and name != THRESHOLD]
    keys = [name for name in names if name not in (*ADDABLE, *BOUNDS)]
    rows.check_case(engine, keys, [THRESHOLD, *amounts, *others])
    parts = nw.concat([frame.select(names) for frame in frames]).to_native()
    asked = request(
        score=THRESHOLD,
        by=[*keys, *others] or None,
        missing="unretrieved",
        ascending=ascending,
        **{name: name for name in amounts},
    )
    [counted] = rows.count(engine, parts, asked, amounts, None, squares=True)
    typed = [nw.col(name).cast(counted.amount) for name in amounts]
    tidy = counted.frame.with_columns(*typed, threshold=counted.score)
    if others:
        tidy = tidy.with_columns(nw.col(counted.keys[-1]).alias(others[0]))
        counted = _of_bins(counted, tidy, others[0])
    outputs = [name for name in names if name not in keys]
    merged = counted.finish(tidy, outputs, [in_ranking_order(counted)])
    return nw.from_native(merged).select(names).to_native()


def _of_bins(counted: rows.Counted, tidy: Frame, end: str) -> rows.Counted:
    """Return counts whose bins are not among their keys, and that fail if bins overlap."""
    low, high = (end, THRESHOLD) if end == ABOVE else (THRESHOLD, end)
    bins = tidy.select(low=nw.col(low), high=nw.col(high)).unique()
    known = bins.filter(~nw.any_horizontal(nw.col("low", "high").is_null(), ignore_nulls=True))
    following = known.with_columns(after=nw.col("low").shift(-1).over(order_by=["low", "high"]))
    first, *texts = map(nw.lit, str(overlap("\0", "\0", "\0")).split("\0"))
    values = [nw.col(name).cast(nw.String) for name in ("low", "high", "after")]
    said = [part for pair in zip(values, texts, strict=True) for part in pair]
    text = nw.concat_str([first, *said])
    overlapping = nw.when(nw.col("high") > nw.col("after")).then(text)
    problem = following.with_columns(problem=overlapping).select(nw.col("problem").min())
    dtypes = {n: dtype for n, dtype in counted.columns.key_dtypes.items() if n != end}
    columns = replace(counted.columns, key_dtypes=dtypes)
    return replace(counted, keys=counted.keys[:-1], columns=columns, problem=problem)


def _curve(engine: Engine, frame: Any, request: Request, table: Any, _: Sequence[str]) -> Any:
    start, bins, envelope = table.start, table.bins, table.extras.envelope
    outputs = [*CURVE, *(["envelope"] if envelope else [])]
    counted = cut(*rows.count(engine, frame, request, outputs, bins, by_threshold=True))
    points = with_openings(counted).filter(nw.col("is_point"))
    if start == "first" and bins is not None:
        points = _opened(points, counted)  # no row may reach the highest threshold
    if table.keep == "corners":
        points = points.filter(_is_corner())
    points = _with_rates(points, start)
    if envelope:
        points = _with_envelope(points, counted)
    dtype = rows.level_dtype(counted.columns)
    infinity = nw.lit(float("-inf" if counted.ascending else "inf")).cast(dtype)
    threshold = nw.when(nw.col("opens")).then(infinity).otherwise(counted.score.cast(dtype))
    tidy = points.with_columns(threshold=threshold)
    if start is None:
        tidy = tidy.filter(~nw.col("opens"))
    return counted.finish(tidy, outputs, [in_ranking_order(counted), Order("tp"), Order("fp")])


# --- points ------------------------------------------------------------------------------------


def with_openings(counted: rows.Counted) -> Frame:
    """Return rows, before the first of each segment one that ``opens`` it; some are a ``point``."""
    held = nw.col("positives") + nw.col("negatives") > 0
    sums = running_sums(counted, monotone=True, places=True)
    twice = counted.engine.repeat(sums, "copy", 2, where="first")
    opens = nw.col("copy") == 1
    marked = twice.with_columns(opens=opens, is_point=held & (opens | RETRIEVED))
    zero = nw.lit(0, counted.amount)
    nothing = {
        name: nw.when(nw.col("opens")).then(zero).otherwise(nw.col(name)) for name in ("tp", "fp")
    }
    some = nw.when(RETRIEVED & (nw.col("tp") + nw.col("fp") > 0))
    rated = marked.with_columns(rate=some.then(formulas.precision(nw.col("tp"), nw.col("fp"))))
    return rated.with_columns(**nothing)


def _opened(points: Frame, counted: rows.Counted) -> Frame:
    """Give the opening point the rate of the first point that retrieves a row."""
    rate, place = nw.col("rate"), nw.col("place")
    reached = nw.when(~rate.is_null()).then(place).min().over(*counted.keys)
    marked = points.with_columns(reached=reached)
    first_rate = nw.when(place == nw.col("reached")).then(rate).max().over(*counted.keys)
    opening = marked.with_columns(first_rate=first_rate)
    return opening.with_columns(
        rate=nw.when(nw.col("opens")).then(nw.col("first_rate")).otherwise(rate)
    )


def _is_corner() -> nw.Expr:
    """Return whether a point is the first or the last with its number of true positives."""
    begins = nw.col("opens") | nw.col("first") | (nw.col("pos") > 0)
    return begins | nw.coalesce("next_hits", nw.lit(True))


def _with_rates(points: Frame, start: Start) -> Frame:
    tp, fp, rate, positives = (nw.col(name) for name in ("tp", "fp", "rate", "positives"))
    at_start = nw.lit(1.0) if start == "one" else rate
    return points.with_columns(
        fn=positives - tp,
        tn=nw.col("negatives") - fp,
        precision=nw.when(nw.col("opens")).then(at_start).otherwise(rate),
        recall=formulas.recall(tp, positives),
    )


def _with_envelope(points: Frame, counted: rows.Counted) -> Frame:
    # An undefined precision is below any other, also in engines whose windows skip nulls.
    ordered = points.with_columns(
        height=nw.col("precision").fill_null(-1.0),
        order=nw.when(nw.col("opens")).then(nw.lit(0, nw.Int64)).otherwise(nw.col("place")),
    )
    highest = with_highest(ordered, counted)
    return highest.with_columns(envelope=nw.when(nw.col("highest") >= 0).then(nw.col("highest")))


def with_highest(points: Frame, counted: rows.Counted) -> Frame:
    """Add ``highest``: the largest ``height`` of a segment at or after each point, by ``order``."""
    largest = nw.col("height").cum_max(reverse=True)
    here = points.with_columns(here=largest.over(*within_range(counted), order_by="order"))
    if counted.ranges is None:
        return here.with_columns(highest=nw.col("here"))
    joined = beside_ranges(here, _highest_below(points, counted), counted.keys)
    return joined.with_columns(highest=nw.max_horizontal("here", "below"))


def _highest_below(points: Frame, counted: rows.Counted) -> Frame:
    keys, within = counted.keys, within_range(counted)
    best = points.group_by(*within).agg(best=nw.col("height").max())
    upward = best.with_columns(upward=nw.col("best").cum_max().over(*keys, order_by="range"))
    below = nw.col("upward").shift(1).over(*keys, order_by="range")
    return upward.select(*within, below=below)


# --- areas -------------------------------------------------------------------------------------


def calibrated(sums: Frame, counted: rows.Counted, calibration: Calibration) -> Frame:
    """Return running sums with false positives times ``scale``, and the reference prevalence."""
    with_odds = referred(sums, counted, calibration)
    both = (nw.col("positives") > 0) & (nw.col("negatives") > 0)
    odds = formulas.odds_ratio(nw.col("positives"), nw.col("negatives"), nw.col("reference_odds"))
    scaled = [name for name in ("fp", "fp_a") if name in sums.columns]
    return with_odds.with_columns(scale=nw.when(both).then(odds)).with_columns(
        nw.col(*scaled) * nw.col("scale")
    )


_TP, _FP, _TP_A = nw.col("tp"), nw.col("fp"), nw.col("tp_a")
_POSITIVES, _NEGATIVES = nw.col("positives"), nw.col("negatives")


def _auc(engine: Engine, frame: Any, request: Request, given: Any, outputs: Sequence[str]) -> Any:
    spec = given.spec
    [whole] = rows.count(engine, frame, request, [*outputs, rows.ORDER], given.bins)
    counted, calibration = cut(whole), looked_up(given.calibration, whole)
    added = {
        method: nw.when(nw.col("grows")).then(areas.STEP_AREAS[method](nw.col)).fill_null(0.0)
        for method in spec.methods
    }
    sums: dict[str, nw.Expr] = {method: formulas.total(nw.col(method)) for method in spec.methods}
    steps = _steps(counted, spec, calibration).with_columns(**added)
    if given.chance:
        sums["reach"] = nw.when(RETRIEVED).then(nw.col("seen")).max().fill_null(0)
    totals = rows.by_segment(steps, counted, sums)
    low, high = spec.recall_range or (0.0, 1.0)
    width = high - low if spec.standardised else 1.0
    defined = {
        m: areas.has_area(nw.col, m, calibrated=calibration is not None) for m in spec.methods
    }
    of_methods = [
        {
            "method": nw.lit(method),
            "auc": nw.when(is_defined).then((nw.col(method) / width).clip(upper_bound=1.0)),
        }
        for method, is_defined in defined.items()
    ]
    table = rows.several_rows(totals, counted, of_methods).with_columns(
        *formulas.sizes(_POSITIVES, _NEGATIVES)
    )
    if calibration is not None:
        table = referred(table, counted, calibration)
    if given.chance:
        has_step = areas.has_area(nw.col, "step", calibrated=calibration is not None)
        share = areas.chance_in_range(nw.col, (low, high), calibrated=calibration is not None)
        is_known = has_step & (nw.col("method") == "step")
        value = nw.when(is_known).then((share / width).clip(upper_bound=1.0))
        table = table.with_columns(value.alias(RANDOM))
    return rows.finish_in_order(table, counted, outputs)


def _steps(counted: rows.Counted, spec: areas.AreaSpec, calibration: Calibration | None) -> Frame:
    """Return a row per score with its step, which ``grows`` if the score has positives."""
    sums = running_sums(counted, monotone=True, places="envelope" in spec.methods)
    steps = beside_previous(sums, counted).with_columns(seen=_TP + _FP)
    if calibration is not None:
        steps = calibrated(steps, counted, calibration)
    grows = RETRIEVED & (_TP > _TP_A)
    # Where it does not grow, nulls keep engines from dividing by zero.
    marked = steps.with_columns(grows=grows, tp_a=nw.when(grows).then(_TP_A))
    bounded = marked.with_columns(**areas.ends(nw.col, spec.recall_range))
    return _with_heights(bounded, counted, spec)


def beside_previous(sums: Frame, counted: rows.Counted) -> Frame:
    """Add the running sums at the score before, ``tp_a`` and ``fp_a``."""
    if not counted.columns.weighted:
        return sums.with_columns(tp_a=_TP - nw.col("pos"), fp_a=_FP - nw.col("neg"))
    # In the difference of two floats the digits of a small sum before a large weight would vanish.
    within = within_range(counted)
    above = {n: nw.col(f"{n}_above") if counted.ranges else nw.lit(0.0) for n in ("tp", "fp")}
    before = {n: nw.col(n).shift(-1).over(*within, order_by="score") for n in above}
    return sums.with_columns(nw.coalesce(before[n], above[n]).alias(f"{n}_a") for n in above)


def _with_heights(steps: Frame, counted: rows.Counted, spec: areas.AreaSpec) -> Frame:
    grows = nw.when(nw.col("grows"))
    if "trapezoid" in spec.methods:
        steps = steps.with_columns(
            precision_a=grows.then(areas.precision_before(nw.col, spec.start))
        )
    if "interpolated" in spec.methods:
        for columns in areas.growth(nw.col, spec.recall_range):
            steps = steps.with_columns(**columns)
    if "envelope" in spec.methods:
        at_step = grows.then(formulas.precision(_TP, _FP)).otherwise(-1.0)
        ordered = steps.with_columns(height=at_step, order=nw.col("place"))
        steps = with_highest(ordered, counted).with_columns(envelope=nw.col("highest"))
    return steps


_COUNTED = ("n_segments", areas.UNDEFINED)
_N, _N_POS, _AREA = nw.col("n"), nw.col("n_pos"), nw.col(areas.AVERAGE_PRECISION)


def _average_precision(
    engine: Engine, frame: Any, request: Request, table: Any, outputs: Sequence[str]
) -> Any:
    [counted] = rows.count(engine, frame, request, outputs, table.bins)
    areas_found = areas_of_segments(counted, table.calibration, bounds=table.bounds)
    return counted.finish(areas_found, outputs, [])


def areas_of_segments(
    counted: rows.Counted,
    calibration: Calibration | None = None,
    *,
    bounds: bool = False,
) -> Frame:
    counted, calibration = cut(counted, may_be_rows=not bounds), looked_up(calibration, counted)
    # For bounds, sums that never fall: the log of a negative growth would be undefined.
    hits = not bounds and of_rows(counted)
    sums = running_sums(counted, monotone=bounds, places=False, hits=hits)
    if calibration is not None:
        sums = calibrated(sums, counted, calibration)
    hit = (nw.col("pos") > 0) & RETRIEVED
    terms = {"area": formulas.step_area(nw.col("pos"), nw.col("tp"), nw.col("fp"), _POSITIVES)}
    if bounds:
        sums = beside_previous(sums, counted)
        for columns in areas.bounds_of_tie(nw.col, weighted=counted.columns.weighted):
            sums = sums.with_columns(**columns)
        terms |= {name: nw.col(name) for name in areas.TIE_BOUNDS}
    added_up = {name: nw.when(hit).then(term).otherwise(0.0) for name, term in terms.items()}
    steps = sums.with_columns(**added_up)
    added = {name: formulas.total(nw.col(name)) for name in terms}
    totals = rows.by_segment(steps, counted, added)
    is_defined = _POSITIVES > 0
    if calibration is not None:
        is_defined = is_defined & (_NEGATIVES > 0)
    names = {"area": areas.AVERAGE_PRECISION if calibration is None else CALIBRATED}
    table = totals.with_columns(
        *formulas.sizes(_POSITIVES, _NEGATIVES),
        *(nw.when(is_defined).then(nw.col(name)).alias(names.get(name, name)) for name in terms),
    )
    return table if calibration is None else referred(table, counted, calibration)


# --- operating points --------------------------------------------------------------------------

# The best point of a segment is that of one of its ranges, so that no task sorts it whole.

# Better points come first: each of these is compared in turn, and then their place.
_COMPARED = ("merit", "ranked", "tp")
# What is kept of the best point.
_POINT = (*_COMPARED, "fp", "starts", "shown")

# The columns with what is kept, for each target by its place.
_Names: TypeAlias = Mapping[int, Mapping[str, str]]


def _operating_points(
    engine: Engine, frame: Any, request: Request, table: Any, outputs: Sequence[str]
) -> Any:
    targets, interval = table.targets, table.interval
    [counted] = rows.count(engine, frame, request, [*outputs, rows.ORDER], None, by_threshold=True)
    if interval is not None:
        decisions.check_counts(counted.columns)
    tidy = table_of_targets(counted, targets, interval)
    if decisions.has_cost(targets):
        costs = decisions.costs_per_row(targets, nw.col(rows.ORDER), nw.col)
        tidy = tidy.with_columns(expected_cost=nw.coalesce(*costs))
    if ASCENDING in outputs:
        tidy = tidy.with_columns(nw.lit(True, nw.Boolean).alias(ASCENDING))
    return rows.finish_in_order(tidy, counted, outputs)


def table_of_targets(
    counted: rows.Counted, targets: Sequence[Target], interval: Interval | None = None
) -> Frame:
    decisions.check_row_numbers(targets, counted.columns)
    counted = cut(counted)
    points = _with_merits(with_openings(counted), counted, targets)
    at_held = [
        f"{name}_{place}"
        for place, target in enumerate(targets)
        for name in ("tp", "fp")
        if target.criterion == "threshold"
    ]
    names: _Names = {
        place: {name: name for name in _POINT} | {"merit": f"merit_{place}"}
        for place, target in enumerate(targets)
        if target.criterion != "threshold"
    }
    last = "order"
    if counted.ranges:
        points = _best_of_ranges(points, within_range(counted), names, at_held)
        names, last = {place: _kept(place) for place in names}, "upward"
    numbered = _numbered(points, counted.keys, names, last)
    table = rows.by_segment(numbered, counted, _of_best(names) | _largest(at_held))
    of_targets = [_row(counted, place, target) for place, target in enumerate(targets)]
    tidy = rows.several_rows(table, counted, of_targets)
    is_f_beta = nw.col("criterion") == "f_beta"
    beta = nw.when(is_f_beta).then(nw.col("target_value")).otherwise(1.0)
    tidy = tidy.with_columns(**decisions.rates(nw.col, beta), status=_status())
    if interval is not None:
        few_negatives = nw.col("negatives") < FEW_POSITIVES
        tidy = tidy.with_columns(
            **_limits(interval.level), n_effective=nw.col("positives")
        ).with_columns(status=status(nw.col, few_negatives))
        retrieved = nw.col("tp") + nw.col("fp")
        tidy = tidy.with_columns(status=status_where(retrieved < FEW_POSITIVES, "few_rows"))
    return tidy


def _with_merits(points: Frame, counted: rows.Counted, targets: Sequence[Target]) -> Frame:
    weighted, opens, is_point = counted.columns.weighted, nw.col("opens"), nw.col("is_point")
    slack = formulas.rounding_of(TERMS_OF_COUNTS) if weighted else 0.0
    compared: dict[str, nw.Expr] = {"ranked": decisions.ranked_precision(nw.col)}
    reached: dict[str, nw.Expr] = {}
    for place, target in enumerate(targets):
        if target.criterion == "threshold":
            retrieved = nw.when(is_point & (opens | _is_retrieved(target, counted)))
            reached |= {f"{name}_{place}": retrieved.then(nw.col(name)) for name in ("tp", "fp")}
        else:
            compared[f"merit_{place}"] = nw.when(is_point).then(
                decisions.merit(target, nw.col, slack)
            )
    if weighted:
        # Merits that only rounding tells apart are equal.
        compared = {
            name: formulas.rounded_to_digits(value, decisions.DIGITS)
            for name, value in compared.items()
        }
    one, zero = nw.lit(1, nw.Int64), nw.lit(0, nw.Int64)
    return points.with_columns(
        **compared,
        **reached,
        order=nw.when(opens).then(zero).otherwise(nw.col("place")),
        starts=nw.when(opens).then(one).otherwise(zero),
        shown=counted.score.cast(rows.level_dtype(counted.columns)),
        # The row that opens a segment is a copy.
        dropped=nw.when(opens).then(zero).otherwise(nw.col("dropped")),
    )


def _is_retrieved(target: Target, counted: rows.Counted) -> nw.Expr:
    score, threshold = counted.score.cast(nw.Float64), _held(target, counted)
    return score <= threshold if counted.ascending else score >= threshold


def _held(target: Target, counted: rows.Counted) -> float:
    dtype = pl.Float32 if rows.level_dtype(counted.columns) == nw.Float32 else pl.Float64
    held: float = pl.Series([target.value], dtype=pl.Float64).cast(dtype).item()
    return held + 0.0  # not -0.0


def _numbered(points: Frame, within: Sequence[str], names: _Names, last: str) -> Frame:
    """Return points with ``rank_0, ...`` for each target: 1 is the best; misses come last."""
    lesser = {
        f"lesser_{name}_{place}": -nw.col(columns[name])
        for place, columns in names.items()
        for name in _COMPARED
    }
    misses = {
        f"misses_{place}": nw.col(columns["merit"]).is_null().cast(nw.Int64)
        for place, columns in names.items()
    }
    ready = points.with_columns(**lesser, **misses, one=nw.lit(1, nw.Int64))

    def rank(place: int) -> nw.Expr:
        compared = [f"lesser_{name}_{place}" for name in _COMPARED]
        order = [f"misses_{place}", *compared, last]
        return nw.col("one").cum_sum().over(*within, order_by=order)

    ranks = {f"rank_{place}": rank(place) for place in names}
    return ready.with_columns(**ranks) if ranks else ready


def _of_best(names: _Names) -> dict[str, nw.Expr]:
    return {
        name: nw.when((nw.col(f"rank_{place}") == 1) & (nw.col(f"misses_{place}") == 0))
        .then(nw.col(columns[kept]))
        .max()
        for place, columns in names.items()
        for kept, name in _kept(place).items()
    }


def _kept(place: int) -> dict[str, str]:
    return {name: f"best_{name}_{place}" for name in _POINT}


def _largest(names: Sequence[str]) -> dict[str, nw.Expr]:
    """Return aggregates; sums never fall, so the largest is that of the last point retrieved."""
    return {name: nw.col(name).max() for name in names}


def _best_of_ranges(
    points: Frame, within: Sequence[str], names: _Names, at_held: Sequence[str]
) -> Frame:
    aggregates = _of_best(names) | _largest([*at_held, "positives", "negatives"])
    aggregates["dropped"] = nw.col("dropped").sum()
    best = _numbered(points, within, names, "order").group_by(*within).agg(**aggregates)
    return best.with_columns(upward=-nw.col("range"))


def _row(counted: rows.Counted, place: int, target: Target) -> dict[str, nw.Expr]:
    dtype = rows.level_dtype(counted.columns)
    row = {
        "target": nw.lit(target.text),
        "criterion": nw.lit(target.criterion),
        "target_value": nw.lit(target.own_value).cast(nw.Float64),
    }
    if target.criterion == "threshold":
        threshold = nw.lit(_held(target, counted)).cast(dtype)
        return row | {"threshold": threshold} | {n: nw.col(f"{n}_{place}") for n in ("tp", "fp")}
    best = {name: nw.col(column) for name, column in _kept(place).items()}
    infinity = nw.lit(float("-inf" if counted.ascending else "inf")).cast(dtype)
    threshold = nw.when(best["starts"] == 1).then(infinity).otherwise(best["shown"])
    return row | {"threshold": threshold, "tp": best["tp"], "fp": best["fp"]}


def _status() -> nw.Expr:
    *_, status = formulas.sizes(nw.col("positives"), nw.col("negatives"))
    is_ok, retrieved = status == "ok", nw.col("tp") + nw.col("fp")
    found = nw.when(is_ok & (retrieved == 0)).then(nw.lit("undefined")).otherwise(status)
    return nw.when(is_ok & retrieved.is_null()).then(nw.lit(NOT_MET)).otherwise(found)


def _limits(level: float) -> dict[str, nw.Expr]:
    sides = [limits_of_share(nw.col("tp"), nw.col(misses), level) for misses in ("fp", "fn")]
    return dict(zip(LIMITS, (end for side in sides for end in side.values()), strict=True))


# By the names of tables, of which most are above this room.
_MADE: dict[str, Callable[[Engine, Any, Request, Any, Sequence[str]], Any]] = {
    "Counts": _counts,
    "Curve": _curve,
    "Areas": _auc,
    "AveragePrecision": _average_precision,
    "OperatingPoints": _operating_points,
}
