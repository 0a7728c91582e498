"""Comparisons: models on the same rows, or segments with others or with chance; with tests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.calibration import REFERENCE
from frame_prc._curves.logit_intervals import BELIEVED, INTERVAL, RANDOM, shows_spread, status_where
from frame_prc._inference.comparisons import Area, Difference, LogArea
from frame_prc._inference.estimates import measure_of, with_few_scores, with_few_scores_of_pairs
from frame_prc._inference.intervals import status_of, status_of_limits
from frame_prc._inference.measure import Measure
from frame_prc._lazy import concat, left_join, over
from frame_prc._ranking.ranking import rank
from frame_prc._request.specs import Adjust, Comparison, Draws, Measured
from frame_prc._rows.rows import Rows, side_by_side
from frame_prc._rows.table import Table, details
from frame_prc._tables.areas import AveragePrecision
from frame_prc._tables.models import BLOCK, PLACE, SHARED, beside_models
from frame_prc._tables.others import beside_others

_RATIO = "ratio"

_VALUE_A, _VALUE_B, _SHORTFALL_A, _SHORTFALL_B = (
    pl.col(n) for n in ("value_a", "value_b", "shortfall_a", "shortfall_b")
)
_SIDE_A, _SIDE_B = (_VALUE_A, _SHORTFALL_A), (_VALUE_B, _SHORTFALL_B)
_VARIANCE, _VARIANCE_A, _VARIANCE_B = (pl.col(n) for n in ("variance", "variance_a", "variance_b"))
_DIFFERENCE, _EFFECTIVE = pl.col("difference"), ("n_effective_a", "n_effective_b")
_OF_A, _OF_B = (
    (f"value_{side}", f"shortfall_{side}", f"error_{side}", f"n_effective_{side}") for side in "ab"
)
_TESTED = dict.fromkeys(("ci_low", "ci_high", "p_value", "p_margin"), pl.Float64())
_ADJUSTED_LIMITS = ("ci_low_adjusted", "ci_high_adjusted")
# A column of what limits are computed from; no key has this name.
_BOTH_AREAS = "\0areas"
_SHARE_OF_TEST = "\0share_of_test"


@dataclass(frozen=True)
class Differences(Table):
    """One row per segment and pair of models, or per segment, adjusted ``within`` models."""

    comparison: Comparison
    within: str | None = None
    runs_inside = True

    def only_in_polars(self) -> Mapping[str, bool]:
        against = self.comparison.against
        return {f"against={name!r}": against == name for name in ("rest", "overall")}

    @property
    def outputs(self) -> Sequence[str]:
        asked = self.comparison
        judges, several = asked.margin is not None, bool(asked.beside)
        between, reference = asked.against is None, (REFERENCE,) if self._calibrated else ()
        pair = ("model", "baseline") if between else ("reference",)
        measure = details("measure", when=asked.measured.is_usual and not several)
        # In a table with a key, Polars leaves out the middle one of nine columns.
        first, middle = (measure, ()) if several or not between else ((), measure)
        if between and asked.measured == Measured() and not several:
            middle = ()
        prevalences = () if between else ("prevalence_a", "prevalence_b")
        values = details("n", "n_pos", *prevalences, *reference, "value_a", "value_b")
        # A conclusion from adjusted p-values stands beside the limits that agree with it.
        adjusts = asked.adjust is not None
        limits = details(*INTERVAL[1:], when=judges and adjusts)
        test = (asked.scale, *middle, *details("std_error"), *limits)
        p_values = details(*p_values_of(asked.adjust), when=judges)
        adjusted = details(*_ADJUSTED_LIMITS, when=not judges) if adjusts else ()
        judged = (*details("p_margin"), "conclusion") if judges else ()
        return (*pair, *first, *values, *test, *p_values, *adjusted, *judged, "status")

    @property
    def of_all_rows(self) -> dict[str, pl.Expr]:
        comparison = self.comparison
        is_max = comparison.adjust == "max"
        found = {"p_adjusted": _simultaneous()}
        if not is_max:
            found = adjusted(comparison.adjust, share=pl.col(_SHARE_OF_TEST))
        if found:
            limits = _adjusted_limits(found["p_adjusted"], comparison)
            ends = {name: limits.struct.field(name) for name in _ADJUSTED_LIMITS}
            found |= {name: self._shown(end) for name, end in ends.items()}
        if comparison.margin is None:
            return found
        return found | {"conclusion": self._conclusion(found.get("p_adjusted", pl.col("p_value")))}

    def _shown(self, difference: pl.Expr) -> pl.Expr:
        if self._is_ratio:
            return difference.exp()
        measures = [measure_of(one.measured) for one in self.comparison.each]
        spans = {measure.name: measure.span for measure in measures}
        return pl.col("measure").replace_strict(spans, return_dtype=pl.Float64) * difference

    def _conclusion(self, p_value: pl.Expr) -> pl.Expr:
        alpha, adjust = 1 - self.comparison.level, self.comparison.adjust
        # A loss beyond a margin is another test than those whose deviates are drawn.
        of_margin = adjusted("holm" if adjust == "max" else adjust, "p_margin")
        p_margin = of_margin.get("p_adjusted", pl.col("p_margin"))
        is_higher = _DIFFERENCE > 0
        gains = is_higher if measure_of(self.comparison.measured).higher_is_better else ~is_higher
        differs, believed = p_value < alpha, pl.col("status").is_in(BELIEVED)
        return (
            pl.when(~believed)
            .then(pl.lit("undecided"))
            .when(differs & gains)
            .then(pl.lit("better"))
            .when((p_margin < alpha / 2).fill_null(value=False))
            .then(pl.lit("not worse"))
            .when(differs)
            .then(pl.lit("worse"))
            .otherwise(pl.lit("undecided"))
        )

    @property
    def measure_names(self) -> Sequence[str]:
        return [one.measured.name for one in self.comparison.each]

    @property
    def _is_ratio(self) -> bool:
        return self.comparison.scale == _RATIO

    def _errors(self, *variances: str) -> dict[str, pl.Expr]:
        found = {}
        for side, value in (("a", _VALUE_A), ("b", _VALUE_B)):
            total = pl.sum_horizontal(f"{name}_{side}" for name in variances)
            found[f"error_{side}"] = total.sqrt() / (value if self._is_ratio else 1.0)
        return found

    def _std_error(self) -> pl.Expr:
        if not self._is_ratio:
            return _VARIANCE.sqrt()
        a, b = self._errors("variance").values()
        return ((a - b) ** 2 + 2 * pl.col("apart") * a * b).sqrt()

    @property
    def _calibrated(self) -> bool:
        return any(one.measured.calibration is not None for one in self.comparison.each)

    def keyed(self, rows: Rows) -> Rows:
        return side_by_side(rows) if self.comparison.against is None else rows

    def of(self, rows: Rows) -> pl.LazyFrame:
        tables = [self._by_measure(rows, comparison) for comparison in self.comparison.each]
        if len(tables) == 1:
            return tables[0]
        names = [*self.keyed(rows).keys, *self.computed(self.columns(rows.columns.request.missing))]
        stacked = [_with(table, names) for table in tables]
        return concat(stacked).sort("order", maintain_order=True)

    def _by_measure(self, rows: Rows, comparison: Comparison) -> pl.LazyFrame:
        both_areas = beside_models if comparison.against is None else beside_others
        measure = measure_of(comparison.measured)
        estimated = (
            both_areas(rows, comparison)
            .with_columns(
                difference=_log_ratio() if self._is_ratio else _difference(),
                measure=pl.lit(measure.name),
            )
            .with_columns(status=status_where(_DIFFERENCE.is_null(), "undefined"))
            .with_columns(
                is_tested=_can_be_tested(),
                apart=_apart(),
                status=status_of(measure, clustered=rows.clustered),
                **self._errors("variance", "of_squares"),
            )
            .with_columns(std_error=pl.when("is_tested").then(self._std_error()))
        )
        tested = _with_test(estimated, comparison, measure, rows)
        if self._is_ratio:
            tested = tested.with_columns(pl.col("difference", "ci_low", "ci_high").exp())
            tested = tested.rename({"difference": _RATIO})
        else:
            lengths = measure.lengths("difference", "std_error", "ci_low", "ci_high")
            tested = tested.with_columns(lengths)
        tested = tested.with_columns(measure.values("value_a", "value_b"))
        of_pairs = comparison.against is None
        if comparison.adjust == "max" and not of_pairs:
            place = pl.int_range(pl.len())
            block = pl.when(_is_mirrored(rows, comparison)).then(over(place.min(), rows.model_keys))
            alone = {PLACE: pl.lit(0), SHARED: pl.struct("variance")}
            tested = tested.with_columns(block.otherwise(place).alias(BLOCK), **alone)
        share = pl.when(_is_mirrored(rows, comparison)).then(0.5).otherwise(1.0)
        tested = tested.with_columns(share.alias(_SHARE_OF_TEST))
        judged = (with_few_scores_of_pairs if of_pairs else with_few_scores)(tested, rows)
        return judged.with_columns(status=status_of_limits())


def _with(table: pl.LazyFrame, names: Sequence[str]) -> pl.LazyFrame:
    """Return the places of the rows of a table, and columns; only calibrated areas have all."""
    if REFERENCE in names and REFERENCE not in table.collect_schema():
        table = table.with_columns(pl.lit(None, pl.Float64).alias(REFERENCE))
    return table.select(pl.int_range(pl.len()).alias("order"), *names)


def _is_mirrored(rows: Rows, comparison: Comparison) -> pl.Expr:
    """Return whether a segment is one of two, each compared with the other: that is one test."""
    counted = {"others": _VALUE_A.is_not_null().sum(), "rest": pl.len()}
    against = comparison.against
    if not isinstance(against, str) or against not in counted:
        return pl.lit(value=False)
    return over(counted[against], rows.model_keys) == 2  # noqa: PLR2004


def p_values_of(adjust: Adjust | None) -> Sequence[str]:
    return ("p_value",) if adjust is None else (*details("p_value"), "p_adjusted")


# --- tests ---------------------------------------------------------------------------------


def _can_be_tested() -> pl.Expr:
    """Return whether both sides have a variance, or are 0 or 1 in segments with both classes."""
    enough = pl.all_horizontal(pl.col(name).round() > 1 for name in _EFFECTIVE)
    spread = [shows_spread(_VARIANCE, *side) for side in (_SIDE_A, _SIDE_B)]
    has_classes = pl.col("status") == "ok"
    at_ends = [
        pl.max_horizontal(*both) == 0
        for both in ((_SHORTFALL_A, _SHORTFALL_B), (_VALUE_A, _VALUE_B))
    ]
    at_end = has_classes & pl.any_horizontal(*at_ends)
    tested: pl.Expr = _DIFFERENCE.is_not_null() & enough & (pl.all_horizontal(*spread) | at_end)
    return tested


def _difference() -> pl.Expr:
    """Return the difference of two areas; near 1 it is that of their distances from 1."""
    near_one = pl.min_horizontal(_VALUE_A, _VALUE_B) > 0.5  # noqa: PLR2004
    return pl.when(near_one).then(_SHORTFALL_B - _SHORTFALL_A).otherwise(_VALUE_A - _VALUE_B)


def _log_ratio() -> pl.Expr:
    logs = [
        pl.when(value > 0.5).then((-shortfall).log1p()).otherwise(value.log())  # noqa: PLR2004
        for value, shortfall in (_SIDE_A, _SIDE_B)
    ]
    return pl.when(pl.min_horizontal(_VALUE_A, _VALUE_B) > 0).then(logs[0] - logs[1])


def _apart() -> pl.Expr:
    """Return 1 minus the correlation, so that nothing cancels; 1 without a variance."""
    error_a, error_b = _VARIANCE_A.sqrt(), _VARIANCE_B.sqrt()
    product = error_a * error_b
    is_near = (error_a / error_b).is_between(0.5, 2)
    from_difference = (_VARIANCE - (error_a - error_b) ** 2) / (2 * product)
    from_both = 1 - pl.col("covariance") / product
    found = pl.when(is_near).then(from_difference).otherwise(from_both).clip(0, 2)
    # Of two variances that are rounding errors, that of the difference is not known.
    return pl.when(product > 0).then(found).otherwise(1.0).fill_null(1.0)


def _with_test(
    table: pl.LazyFrame, comparison: Comparison, measure: Measure, of: Rows
) -> pl.LazyFrame:
    columns, level = (*_OF_A, *_OF_B, "difference", "apart", "n_effective"), comparison.level
    gains = measure.higher_is_better
    margin = comparison.margin
    largest_loss = None if margin is None else (-margin if gains else margin) / measure.span

    def tested(values: Sequence[float] | None) -> tuple[float | None, ...]:
        if values is None:
            return (None,) * len(_TESTED)
        difference, p_margin = _difference_of(values, comparison), None
        if largest_loss is not None:
            p_margin = difference.p_beyond(largest_loss, level, above=gains)
        return (*difference.limits(level), difference.p_value(level), p_margin)

    def with_test(rows: pl.DataFrame) -> pl.DataFrame:
        found = list(map(tested, rows[_BOTH_AREAS].to_list()))
        return rows.hstack(pl.DataFrame(found, _TESTED, orient="row"))

    areas = pl.when("is_tested").then(pl.concat_list(columns)).alias(_BOTH_AREAS)
    return of.in_python(table.with_columns(areas), with_test, _TESTED, adds=True)


def _difference_of(values: Sequence[float], comparison: Comparison) -> Difference:
    if comparison.scale == _RATIO:
        found = Difference(LogArea(*values[:4]), LogArea(*values[4:8]), *values[8:])
        return found._replace(widest=math.inf)
    return Difference(Area(*values[:4]), Area(*values[4:8]), *values[8:])


def _adjusted_limits(p_adjusted: pl.Expr, comparison: Comparison) -> pl.Expr:
    """Return limits that exclude 0 where the adjusted p-value is below ``1 - level``.

    Their level is ``1 - alpha * p / p_adjusted``: p rejects there where the other does at alpha.
    """
    p = pl.col("p_value")
    share = pl.when(p > 0).then(p / p_adjusted).otherwise(1 / p.count())
    schema = pl.Struct(dict.fromkeys(_ADJUSTED_LIMITS, pl.Float64()))

    def limits(table: pl.Series) -> pl.Series:
        found: list[dict[str, float | None]] = []
        for row in table:
            ends: tuple[float | None, float | None] = (None, None)
            if row["areas"] is not None:
                level = 1 - (1 - comparison.level) * row["share"]
                ends = _difference_of(row["areas"], comparison).limits(level)
            found.append(dict(zip(_ADJUSTED_LIMITS, ends, strict=True)))
        return pl.Series(found, dtype=schema)

    both = pl.struct(pl.col(_BOTH_AREAS).alias("areas"), share.alias("share"))
    return both.map_batches(limits, return_dtype=schema)


def _simultaneous() -> pl.Expr:
    """Return the p-values of a step-down test of the largest deviate."""

    def found(tests: pl.Series) -> pl.Series:
        from frame_prc._inference import permutations as simultaneous  # noqa: PLC0415 - needs NumPy

        table = tests.struct.unnest().with_row_index("row")
        used = table.drop_nulls("p_value")
        shared = [[v or 0.0 for v in one.values()] for one in used[SHARED].to_list()]
        blocks = used.select("measure", BLOCK).rows()
        p = used["p_value"].to_numpy()
        shares = used[_SHARE_OF_TEST].to_numpy()
        values = simultaneous.adjusted(p, shares, blocks, shared, used[PLACE].to_list())
        by_row = used.select("row", found=pl.Series(values, dtype=pl.Float64))
        return table.select("row").join(by_row, on="row", how="left").sort("row")["found"]

    both = pl.struct("p_value", "measure", BLOCK, PLACE, SHARED, _SHARE_OF_TEST)
    return both.map_batches(found, return_dtype=pl.Float64)


def adjusted(
    adjust: Adjust | None, name: str = "p_value", share: pl.Expr | None = None
) -> dict[str, pl.Expr]:
    """Return p-values adjusted for the number of tests in the result.

    By Holm (1979, Scand. J. Statist. 6:65), or Benjamini & Hochberg (1995, JRSS B 57:289).
    ``share`` is how much of a test a row is: two that are one test have the same p-value.
    """
    if adjust is None:
        return {}
    p, place = pl.col(name), pl.col(name).rank("ordinal").cast(pl.Int64)
    of_test = pl.when(p.is_not_null()).then(1.0 if share is None else share)
    ordered, reached = p.sort(nulls_last=True), of_test.sort_by(p, nulls_last=True).cum_sum()
    if adjust == "holm":
        before = of_test.sort_by(p, nulls_last=True) - reached
        found = (ordered * (of_test.sum() + before)).cum_max()
    else:
        found = (ordered * of_test.sum() / reached).cum_min(reverse=True)
    return {"p_adjusted": found.gather(place - 1).clip(upper_bound=1.0)}


# --- each segment and random orders of its labels ----------------------------------------------


@dataclass(frozen=True)
class ChanceTests(Table):
    resampling: Draws
    adjust: Adjust | None

    @property
    def outputs(self) -> Sequence[str]:
        values = details("n", "n_pos", "value_a", "value_b")
        return ("reference", *values, "difference", *p_values_of(self.adjust), "status")

    @property
    def of_all_rows(self) -> dict[str, pl.Expr]:
        return adjusted(self.adjust)

    def of(self, rows: Rows) -> pl.LazyFrame:
        areas = AveragePrecision(chance=True).of(rows)
        table = areas.rename({AVERAGE_PRECISION: "value_a", RANDOM: "value_b"}).with_columns(
            reference=pl.lit("random"), difference=pl.col("value_a") - pl.col("value_b")
        )
        from frame_prc._inference.permutations import p_values  # noqa: PLC0415 - needs NumPy

        return left_join(table, p_values(rank(rows), self.resampling), rows.keys)
