"""The verbs inside an engine: counts and their running sums, then the formulas of Polars.

A table in Polars sees its rows as elsewhere, and asks here for the estimates of segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import polars as pl

from frame_prc._curves.areas import TIE_BOUNDS
from frame_prc._curves.curve import CURVE
from frame_prc._curves.given_thresholds import ASCENDING, RATES
from frame_prc._curves.logit_intervals import FEW_SCORES
from frame_prc._engines import curves, estimates
from frame_prc._engines.engine import Engine, check_types
from frame_prc._engines.rows import ORDER, Counted, count, schema_of
from frame_prc._formulas import effective_number
from frame_prc._inference.estimates import NEGATIVE_CLUSTERS, OF_CLASSES, Estimates
from frame_prc._inference.measure import Measure, constants, spreads_of, sums_over_scores
from frame_prc._inference.probabilities import MeanLoss
from frame_prc._inference.row_influence import sums_of_weights
from frame_prc._lazy import aggregated, left_join
from frame_prc._ranking.keys import RankKey, Scale, Segments
from frame_prc._ranking.ranking import Ranking
from frame_prc._request.roles import Request
from frame_prc._request.specs import OF_PROBABILITIES, Target
from frame_prc._request.values import Bins
from frame_prc._rows.columns import Columns
from frame_prc._rows.rows import DROPPED, Rows, read


def empty(engine: Engine, native: Any, request: Request) -> pl.DataFrame:
    engine.refuse(native)
    dtypes = schema_of(nw.from_native(native))
    check_types(engine, native, dtypes, request)
    return pl.DataFrame(schema=dtypes)


def rows_elsewhere(engine: Engine, native: Any, columns: Columns, nothing: pl.DataFrame) -> Rows:
    rows = read(nothing.lazy(), columns, in_memory=True)
    return replace(rows, elsewhere=Elsewhere(engine, native, columns.request))


@dataclass(frozen=True, eq=False)
class Elsewhere:
    """Where rows are that are not in Polars; it remembers what it collected for one table."""

    engine: Engine
    native: Any
    request: Request
    _scores: dict[str, pl.DataFrame] = field(default_factory=dict, repr=False)

    def estimates(
        self, rows: Rows, measures: Sequence[Measure], bins: Bins | None = None
    ) -> list[Estimates]:
        counted = self._counted(rows, measures, bins)
        known = [_at_reference(one, counted) for one in measures]
        found = estimates.segment_sums(counted, known)
        if bins is None:
            self._scores.setdefault("scores", found)
        ranking = _ranking(rows, counted, found)
        return [
            self._estimates(ranking, found, counted, measure, place)
            for place, measure in enumerate(known)
        ]

    def _estimates(
        self, ranking: Ranking, found: pl.DataFrame, counted: Counted, measure: Measure, place: int
    ) -> Estimates:
        keys = ranking.rows.keys
        sums = _of_measure(found, measure, place)
        spread = spreads_of(_numbered(sums, ranking), ranking, measure)
        if counted.columns.cluster is None:
            return Estimates(ranking, measure, spread=spread)
        of_clusters = found.select(*keys, *_of_clusters(measure, place))
        return Estimates(
            ranking,
            measure,
            spread=spread,
            of_clusters=_numbered(of_clusters, ranking),
            cells=lambda: _numbered(estimates.cluster_cells(counted, measure), ranking),
        )

    def paired(self, rows: Rows, measure: Measure) -> tuple[list[Estimates], pl.LazyFrame]:
        """Return the estimates of models side by side, and sums of products of their influences.

        The sums are ``variance_a_b, covariance_a_b, fourth_a_b`` by the places of two models.
        """
        counted = self._counted_models(rows, [measure])
        known = _at_reference(measure, counted[0])
        tables, shared = estimates.paired_sums(counted, known)
        of_models = self._of_models(rows, known, counted, tables)
        if rows.clustered:
            for place in range(len(counted)):
                numbers = _effective_clusters(known, place)
                numbers[f"n_effective_{place}"] = numbers.pop("n_effective")
                shared = shared.with_columns(**numbers)
        return of_models, _numbered(shared, of_models[0].ranking)

    def side_by_side(self, rows: Rows, measure: Measure) -> list[Estimates]:
        counted = self._counted_models(rows, [measure])
        known = _at_reference(measure, counted[0])
        return self._of_models(rows, known, counted, estimates.sums_side_by_side(counted, known))

    def _of_models(
        self,
        rows: Rows,
        measure: Measure,
        counted: Sequence[Counted],
        tables: Sequence[pl.DataFrame],
    ) -> list[Estimates]:
        self._scores.update({f"score_{i}": table for i, table in enumerate(tables)})
        ranking = _ranking(rows, counted[0], tables[0])
        spreads = [
            spreads_of(_numbered(_of_measure(table, measure, 0), ranking), ranking, measure)
            for table in tables
        ]
        return [Estimates(ranking, measure, spread=spread) for spread in spreads]

    def few_scores(self, rows: Rows) -> pl.LazyFrame:
        """Return the key of each model, if rows have one, and whether it has ``few_scores``."""
        if "scores" not in self._scores:
            [counted] = count(self.engine, self.native, self._request_of(rows), [], None)
            ends = estimates.scores_of_segments()
            self._scores["scores"] = estimates.totals(counted.frame, counted, ends)
        return _few_scores(self._scores["scores"].lazy(), rows.model_keys)

    def few_scores_of_pairs(self, rows: Rows) -> pl.LazyFrame:
        """Return one row with ``few_0, few_1, ...`` of models side by side."""
        return pl.concat(
            [
                _few_scores(self._scores[f"score_{i}"].lazy(), []).rename({FEW_SCORES: f"few_{i}"})
                for i in range(len(rows.columns.scores))
            ],
            how="horizontal",
        )

    def points(self, rows: Rows, targets: Sequence[Target]) -> pl.LazyFrame:
        asked = self._request_of(rows)
        [counted] = count(self.engine, self.native, asked, [], None, by_threshold=True)
        table = curves.table_of_targets(counted, targets)
        shown = ("criterion", "target_value", *CURVE, *RATES, *DROPPED, "status", ORDER)
        found = estimates.collected(counted, table.select(*rows.keys, *shown))
        turned = pl.lit(value=rows.ascending).alias(ASCENDING)
        return found.sort(*rows.keys, ORDER).lazy().with_columns(turned)

    def bins(self, rows: Rows, edges: Sequence[float]) -> pl.LazyFrame:
        counted = self._counted(rows, [MeanLoss(of="mean_score")], None)
        return estimates.collected(counted, estimates.bins_of_rows(counted, edges)).lazy()

    def dropped(self, rows: Rows) -> pl.LazyFrame:
        counted = self._counted(rows, [], None)
        number = nw.col("dropped").sum().fill_null(0).cast(nw.Int64)
        return estimates.totals(counted.single, counted, {DROPPED[0]: number}).lazy()

    def row_counts(self, rows: Rows) -> pl.LazyFrame:
        counted = self._counted(rows, [], None)
        used = counted.single.filter((nw.col("pos") > 0) | (nw.col("neg") > 0))
        return estimates.totals(used, counted, {"rows": nw.len()}).lazy()

    def sums_of_weights(self, rows: Rows) -> pl.LazyFrame:
        counted, *_ = self._counted_models(rows, [])
        return estimates.totals(counted.single, counted, sums_of_weights(nw.col)).lazy()

    def tie_bounds(self, rows: Rows, bins: Bins | None) -> pl.LazyFrame:
        counted = self._counted(rows, [], bins)
        table = curves.areas_of_segments(counted, bounds=True)
        return estimates.collected(counted, table.select(*rows.keys, *TIE_BOUNDS)).lazy()

    # --- what is asked for ---------------------------------------------------------------------

    def _request_of(self, rows: Rows) -> Request:
        return replace(self.request, keys=[*rows.columns.key_dtypes], groupings=None)

    def _counted(self, rows: Rows, measures: Sequence[Measure], bins: Bins | None) -> Counted:
        [counted] = self._counted_models(rows, measures, bins)
        return counted

    def _counted_models(
        self, rows: Rows, measures: Sequence[Measure], bins: Bins | None = None
    ) -> list[Counted]:
        side_by_side = rows.columns.request.side_by_side
        asked = replace(self._request_of(rows), side_by_side=side_by_side)
        names = [one.name for one in measures if one.name in OF_PROBABILITIES]
        return count(self.engine, self.native, asked, [], bins, squares=True, measures=names)


def _at_reference(measure: Measure, counted: Counted) -> Measure:
    return replace(measure, calibration=estimates.looked_up(measure.calibration, counted))


def _ranking(rows: Rows, counted: Counted, table: pl.DataFrame) -> Ranking:
    """Return a ranking of no rows, with the segments that a table has, and what their ties tell."""
    keys = rows.keys
    ordered = table.sort(keys) if keys else table
    numbers = ordered.with_columns(segment=pl.int_range(pl.len(), dtype=pl.Int64))
    segments = Segments(numbers.select("segment", *keys, *DROPPED).lazy(), table.height, keys)
    key = RankKey(Scale.of(pl.Float64()), table.height)
    shares = numbers.select("segment", "tie_shares", "retrieved").lazy()
    return Ranking(
        pl.LazyFrame(), segments, key, rows, None, squares=counted.squares, tie_shares=shares
    )


def _numbered(table: pl.DataFrame, ranking: Ranking) -> pl.LazyFrame:
    segments = ranking.segments
    if not segments.keys:
        return table.lazy().with_columns(segment=pl.lit(0, pl.Int64))
    numbers = segments.table.select("segment", *segments.keys)
    return left_join(table.lazy(), numbers, segments.keys).drop(segments.keys).sort("segment")


def _of_measure(table: pl.DataFrame, measure: Measure, place: int) -> pl.DataFrame:
    own = [*constants(measure), *sums_over_scores(measure)]
    shared = ("positives", "negatives")
    named = [pl.col(n if n in shared else f"{n}_{place}").alias(n) for n in own]
    keys = [name for name in table.columns if name.startswith("key_")]
    flags = [pl.col(name) > 0 for name in own if name in ("is_few", "has_measure")]
    return table.select(*keys, *named).with_columns(flags)


def _of_clusters(measure: Measure, place: int) -> list[pl.Expr]:
    numbers = [value.alias(name) for name, value in _effective_clusters(measure, place).items()]
    parts = [pl.col(f"{name}_{place}").alias(name) for name in OF_CLASSES]
    return [pl.col(f"alone_{place}").alias("variance"), *numbers, *parts]


def _effective_clusters(measure: Measure, place: int) -> dict[str, pl.Expr]:
    rests_on = "both" if measure.counted else "pos"
    rests_on = f"below_{place}" if measure.below else rests_on
    names = {"n_effective": rests_on, NEGATIVE_CLUSTERS: "neg"}
    return {
        name: effective_number(pl.col(f"{of}_total"), pl.col(f"{of}_squares"))
        for name, of in names.items()
    }


def _few_scores(table: pl.LazyFrame, models: list[str]) -> pl.LazyFrame:
    """Return whether all scores of a model are its lowest or its highest, from its segments.

    No segment has a third score then, and those that it has are the lowest or the highest of all.
    """
    lowest, highest = pl.col("lowest"), pl.col("highest")

    def at_end(score: pl.Expr) -> pl.Expr:
        return (score == lowest.min()) | (score == highest.max())

    few = (pl.col("n_scores").round() <= 2) & at_end(lowest) & at_end(highest)  # noqa: PLR2004
    flag = few.fill_null(value=True).all().alias(FEW_SCORES)
    return aggregated(table, models, flag)
