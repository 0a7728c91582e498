"""Segments together: how far they differ, what is likely of each, and how many rows would tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, get_args

import polars as pl

from frame_prc._curves.calibration import CALIBRATED
from frame_prc._frames.border import FrameT
from frame_prc._request import comparisons, points
from frame_prc._request.comparisons import check_rows
from frame_prc._request.hints import check_numpy
from frame_prc._request.options import check_level_of_draws, is_list, number
from frame_prc._request.points import models_measured
from frame_prc._request.roles import Request, check_column, check_one_grouping, check_option
from frame_prc._request.specs import Interval, IntoColumn, MeasureName, SegmentsTest
from frame_prc._rows.table import Table
from frame_prc.evaluation.base import OF_EVALUATION_OR_95, Evaluated, given_at, verb
from frame_prc.exceptions import OptionError, said_as

if TYPE_CHECKING:
    from frame_prc._frames.border import AnyFrame


_LEAST_POWER = 0.5  # below it, chance decides


class SegmentVerbs(Evaluated[FrameT]):
    """The verbs about how sure one may be of segments."""

    @verb
    def heterogeneity(
        self,
        *,
        ci: float | None = OF_EVALUATION_OR_95,
        measure: MeasureName = "calibrated_average_precision",
        calibrate: float | Literal["highest", "pooled"] | None = None,
        at: Mapping[str, float] | AnyFrame | None = None,
        test: SegmentsTest | None = None,
        details: bool = False,
    ) -> FrameT:
        """How far segments differ, and how much of it is sampling.

        The more segments there are and the smaller they are, the further their average precisions
        are apart by chance alone. Compare ``gap`` with ``gap_if_equal`` before you explain it.

        Parameters
        ----------
        ci
            The level of the interval of ``tau``.
        measure
            By default the average precision at one prevalence. Others are as in
            :func:`compare_models`.
        test
            How to test whether all segments are equal. ``"permutation"``: assign the rows to the
            segments at random, up to 999 times, with a seed from the rows. It holds for segments of
            any size, needs NumPy, and takes single rows or integer counts, up to 20 million. Rows
            are exchanged within each class if areas are calibrated, and with their class otherwise.
            ``"q"``: Cochran's Q, which rejects too often with many or small segments; the only test
            of measures other than areas.

            The default, ``None``, is the permutation test from 20 segments on, near 1, or with
            fewer than 50 rows of the scarcer class per segment on average (for ``"roc_auc"`` 200),
            and otherwise Q. Above 500,000 rows (of all segments of a model), for
            sums of weights, with ``cluster``, or without NumPy it is Q too. 100,000 rows in 200
            segments take about one second, and four where they differ slightly.

        Returns
        -------
        Same kind as ``frame``
            One row, or one per model: ``n_segments``, for each key ``best_KEY, worst_KEY``, then
            ``gap, gap_if_equal, p_value`` (of whether all segments have the same value) and
            ``status``. With ``details`` also ``n_left_out, n_few, best_value, worst_value,
            gap_p_value, q, i_squared, tau, tau_low, tau_high, test``. The best and the worst, and
            so the gap, are among the segments that are not in ``n_few``, if there are two.

            ``status`` is ``"few_segments"`` if fewer than two can be compared; ``"few_clusters"``
            if clusters have rows in several segments, and their effective number is below 6 times
            that of the segments; ``"few_positives"`` if the test is Q, which rejects too often
            then, and ``n_few`` is more than a fifth of the segments; else ``"ok"``. With fewer than
            two segments, all numbers from ``gap_if_equal`` on are null, as they are if clusters
            have rows in several segments and are effectively fewer than the segments.

        Notes
        -----
        With ``cluster``, clusters are the independent units. Formulas and simulated error rates:
        ``examples/guide/statistics.md``.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame({"row": range(300)}).with_columns(
        ...     region=pl.col("row") % 3,
        ...     late=pl.col("row") * 7 % 11 < 4,
        ...     noise=pl.col("row") * 7919 % 601,
        ... )
        >>> score = pl.col("noise") + 100 * pl.col("late")
        >>> df.prc.heterogeneity("late", score, by="region")
        shape: (1, 7)
        ┌────────────┬─────────────┬──────────────┬──────────┬──────────────┬──────────┬────────┐
        │ n_segments ┆ best_region ┆ worst_region ┆ gap      ┆ gap_if_equal ┆ p_value  ┆ status │
        │ ---        ┆ ---         ┆ ---          ┆ ---      ┆ ---          ┆ ---      ┆ ---    │
        │ i64        ┆ i64         ┆ i64          ┆ f64      ┆ f64          ┆ f64      ┆ str    │
        ╞════════════╪═════════════╪══════════════╪══════════╪══════════════╪══════════╪════════╡
        │ 3          ┆ 2           ┆ 0            ┆ 0.058215 ┆ 0.122044     ┆ 0.869565 ┆ ok     │
        └────────────┴─────────────┴──────────────┴──────────┴──────────────┴──────────┴────────┘
        """
        from frame_prc._tables.heterogeneity import Heterogeneity

        check_one_grouping(self._request)
        comparisons.check_segments(self._request)
        asked, level = self._request, self._level_beside(ci)
        found = points.measured(asked, measure, calibrate, given_at(at))
        table = Heterogeneity(
            found, level, comparisons.segments_test(test, asked.cluster, found.name)
        )
        return self._table(table, details=details, limits=ci is not None)

    @verb
    def shrunk(
        self,
        *,
        ci: float | None = OF_EVALUATION_OR_95,
        measure: MeasureName = "calibrated_average_precision",
        calibrate: float | Literal["highest", "pooled"] | None = None,
        at: Mapping[str, float] | AnyFrame | None = None,
        below: float | None = None,
        details: bool = False,
    ) -> FrameT:
        """How good each segment probably is, small ones included.

        Each is moved towards the mean of all, the further the less its own rows tell (empirical
        Bayes).

        Parameters
        ----------
        ci
            The level of the intervals, up to 0.99. They are quantiles of up to 4,000 draws.
        measure
            By default the average precision at one prevalence. Not ``"mean_score"`` and
            ``"calibration_gap"``, of which no value is the worst.
        below
            Show how likely each segment is to be below this value of the measure.

        Returns
        -------
        Same kind as ``frame``
            The keys, then ``n_pos`` (of another ``measure`` its name), ``value, shrunk, ci_low,
            ci_high, probability_worst, status``, with ``below=`` ``probability_below`` in place of
            ``probability_worst``, and with ``missing="drop"`` ``n_dropped``. With ``details`` also
            ``measure, n, n_pos, reference_prevalence, share_of_mean, rank_low, rank_high``. Sorted
            by the keys. The value is by default calibrated, so not that of
            :func:`average_precision`.

            ``status`` is ``"few_segments"`` if fewer than three have the measure, and
            ``"no_std_error"`` if none has a standard error: the numbers are then null. All segments
            are ``"few_positives"`` (of some measures ``"few_rows"`` or ``"few_negatives"``) where
            they are so near 0 or 1 that intervals cover too little: on average fewer than 2 of the
            rows that the measure rests on differ from the rest.

        Notes
        -----
        Segments are taken as independent and of one kind: their true values are normal on the logit
        scale, whatever their size (Gelman et al., Bayesian Data Analysis, 5.4). If large segments
        are better, small ones are moved too far up. If no segment is likely to be the worst, none
        should be named. ``examples/guide/statistics.md`` has a simulation.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame({"row": range(300)}).with_columns(
        ...     region=pl.col("row") % 3,
        ...     late=pl.col("row") * 7 % 11 < 4,
        ...     noise=pl.col("row") * 7919 % 601,
        ... )
        >>> score = pl.col("noise") + 100 * pl.col("late")
        >>> found = df.prc.shrunk("late", score, by="region")
        >>> found.select("region", "value", "shrunk", "probability_worst", "status")
        shape: (3, 5)
        ┌────────┬──────────┬──────────┬───────────────────┬────────┐
        │ region ┆ value    ┆ shrunk   ┆ probability_worst ┆ status │
        │ ---    ┆ ---      ┆ ---      ┆ ---               ┆ ---    │
        │ i64    ┆ f64      ┆ f64      ┆ f64               ┆ str    │
        ╞════════╪══════════╪══════════╪═══════════════════╪════════╡
        │ 0      ┆ 0.569865 ┆ 0.579628 ┆ 0.48375           ┆ ok     │
        │ 1      ┆ 0.613835 ┆ 0.602067 ┆ 0.28925           ┆ ok     │
        │ 2      ┆ 0.62808  ┆ 0.611083 ┆ 0.227             ┆ ok     │
        └────────┴──────────┴──────────┴───────────────────┴────────┘
        """
        from frame_prc._tables.heterogeneity import Shrunken

        check_one_grouping(self._request)
        comparisons.check_segments(self._request)
        check_numpy("shrunk()")
        level, held = self._level_beside(ci), given_at(at)
        check_level_of_draws(level)
        found = points.measured(self._request, measure, calibrate, held)
        points.check_has_better(found.name, "shrunk() ranks segments, and is asked for")
        allowed = "a number, such as below=0.3"
        least = (
            None if below is None else number("below", below, "a value", allowed, lambda _: True)
        )
        table = Shrunken(found, level, least)
        return self._table(table, details=details, limits=ci is not None)

    @verb
    def sample_size(
        self,
        *,
        width: float | None = None,
        difference: float | None = None,
        power: float = 0.8,
        ci: float = OF_EVALUATION_OR_95,
        baseline: str | None = None,
        measure: MeasureName | None = None,
        calibrate: float | Literal["highest", "pooled"] | None = None,
        at: Mapping[str, float] | AnyFrame | None = None,
    ) -> FrameT:
        """How many rows an interval so narrow, or so small a difference, needs.

        Computed from the standard errors of the rows there are: those of a first sample, or of last
        month. Give one of ``width`` and ``difference``.

        Parameters
        ----------
        width
            How wide the interval of each segment (and model) may be, from end to end.
        difference
            The difference between two models on the same rows that is to be shown. Takes several
            models.
        power
            The probability of showing that difference if there is one, from 0.5 to below 1.
        ci
            The level of the intervals. A test of 0.95 is at 5 %.
        measure
            The average precision by default, or another one of :func:`compare_models`.

        Returns
        -------
        Same kind as ``frame``
            The keys, then ``n_pos, value, std_error, n_needed, n_pos_needed, status``, for
            ``difference=`` ``model, baseline`` in place of ``value``, and with ``missing="drop"``
            ``n_dropped``. ``status`` says where the standard error is not to be relied on, or is
            null. Sorted by the keys.

        Notes
        -----
        A standard error falls with the square root of the number of rows: half the width takes four
        times as many. It is that of :func:`average_precision` times ``sqrt(m / (m - 1))``, m being
        ``n_effective``, and more where weights differ: that interval allows for it in its quantile.
        The rows to come are taken to be like these, with as many rows per cluster.
        Where a value is near 0 or 1 the interval is wider than ``width`` by its skewness.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame({"row": range(300)}).with_columns(
        ...     late=pl.col("row") * 7 % 11 < 4,
        ...     old=pl.col("row") * 7919 % 601,
        ... )
        >>> df.prc.sample_size("late", "old", width=0.05)
        shape: (1, 6)
        ┌───────┬──────────┬───────────┬──────────┬──────────────┬────────┐
        │ n_pos ┆ value    ┆ std_error ┆ n_needed ┆ n_pos_needed ┆ status │
        │ ---   ┆ ---      ┆ ---       ┆ ---      ┆ ---          ┆ ---    │
        │ i64   ┆ f64      ┆ f64       ┆ i64      ┆ i64          ┆ str    │
        ╞═══════╪══════════╪═══════════╪══════════╪══════════════╪════════╡
        │ 110   ┆ 0.381058 ┆ 0.039963  ┆ 2945     ┆ 1080         ┆ ok     │
        └───────┴──────────┴───────────┴──────────┴──────────────┴────────┘
        """
        from frame_prc._tables.labels import SizeForDifference, SizeForWidth

        asked, level, held = self._request, self._level(ci), given_at(at)
        if (width is None) == (difference is None):
            both = "neither of width= and difference= is given"
            raise OptionError(
                both if width is None else "width= and difference= are given",
                "one of them",
                "width=0.1 for an interval that wide, difference=0.05 for one that a test finds",
            )
        allowed = f"a number from {_LEAST_POWER} to below 1"
        probability = number(
            "power", power, "a power", allowed, lambda one: _LEAST_POWER <= one < 1
        )
        if difference is None:
            if baseline is not None:
                raise OptionError("baseline= is given without difference=", "both")
            found = points.models_measured(asked, measure, calibrate, held)
            return self._table(SizeForWidth(found, level, comparisons.length("width", width)))
        gap = comparisons.length("difference", difference)
        comparisons.check_rows(asked)
        comparisons.check_long(asked)

        def table(models: Request, base: str | None) -> Table:
            """Return what is needed to tell the models of a request apart."""
            compared = comparisons.models_compared(
                models, level, base, measure=measure, calibrate=calibrate, at=held
            )
            return SizeForDifference(compared, gap, probability)

        return self._table_of_models(table, baseline)

    @verb
    def influence(
        self,
        *,
        measures: MeasureName | Sequence[MeasureName] | None = None,
        at: Mapping[str, float] | AnyFrame | None = None,
    ) -> FrameT:
        """How far each row moves a measure of its segment.

        The rows that decide a number come first when it is sorted: late cases that the model
        missed, or false alarms at the top of the ranking.

        Parameters
        ----------
        measures
            The average precision by default, or one or several other measures of
            :func:`compare_models`, but for the calibrated area.

        Returns
        -------
        Same kind as ``frame``
            A row for each row that counts, in the order given (of several columns of scores, by
            model): the keys, ``row``, and under the name of each measure its influence: by how much
            the measure of its segment would rise, to first order, if the row weighed twice as much,
            less what all rows would raise it by. Null where the measure is not defined.

        Notes
        -----
        The influences of a segment add up to 0. The sum of their squares, with ``cluster`` that of
        the squared sums of clusters, is the square of ``std_error`` (Efron 1981). That is smaller
        in ``strata``, and may be larger at a threshold of weighted rows: heavy ones may be missing.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame({"late": [1, 0, 1, 0], "score": [0.9, 0.8, 0.7, 0.1]})
        >>> df.prc.influence("late", "score")
        shape: (4, 2)
        ┌─────┬───────────────────┐
        │ row ┆ average_precision │
        │ --- ┆ ---               │
        │ i64 ┆ f64               │
        ╞═════╪═══════════════════╡
        │ 0   ┆ 0.138889          │
        │ 1   ┆ -0.111111         │
        │ 2   ┆ -0.027778         │
        │ 3   ┆ -0.0              │
        └─────┴───────────────────┘
        """
        from frame_prc._tables.labels import Influences

        self._check_frame(takes_counts=False)
        asked = self._request
        comparisons.check_rows(asked)
        check_one_grouping(asked)
        given = "average_precision" if measures is None else measures
        known = [one for one in get_args(MeasureName) if one != CALIBRATED]
        listed = (list(given) if is_list(given) else []) or [given]
        named = [check_option("measures", one, known) for one in listed]
        held = points.measured_of(asked, [*dict.fromkeys(named)], f"measures={named}", given_at(at))
        columns, place = self._columns, pl.int_range(pl.len()).alias("row")
        places = self._source.lf.select(place)
        if "weight" in columns.classes:
            weight = columns.classes["weight"].expression.alias("weight")
            weighted = self._source.lf.select(place, weight)
            places = weighted.filter(pl.col("weight").ne_missing(0)).select("row")
        return self._table(Influences(held, places))

    @verb
    def prediction_powered(
        self,
        *,
        proxy: IntoColumn,
        ci: float = OF_EVALUATION_OR_95,
        measure: MeasureName = "average_precision",
        at: Mapping[str, float] | AnyFrame | None = None,
        details: bool = False,
    ) -> FrameT:
        """Measure from few labels, narrowed by a judge's label of all rows.

        ``truth`` is null in the rows that have no label. A judge, such as a language model or last
        year's rule, has labelled all rows in ``proxy``. The measure stays that of the labels,
        however wrong the judge is; where it is often right, and most rows have no label, the
        interval is narrower.

        Parameters
        ----------
        proxy
            Column of the judge's labels, in the values of ``truth``, of rows with and without one.
        measure
            ``"average_precision"``, or another one of :func:`compare_models`, but for the
            calibrated area.

        Returns
        -------
        Same kind as ``frame``
            The keys, then ``n, n_pos`` of the labelled rows, the measure under its name, ``ci_low,
            ci_high``, ``effective_labels``, how many labels would tell as much without the judge,
            and ``status``, as in :func:`average_precision`. With ``details`` also ``n_unlabelled``,
            ``proxy_weight``, the part that the judge has, from 0 to 1, and ``std_error``.

        Notes
        -----
        The labelled rows must be drawn at random from all. The measure is ``h + λ (u - p)``: by the
        labels, and by the judge in the rows without and with one (Angelopoulos, Duchi & Zrnic
        2023). ``cluster`` takes clusters as the independent units, those too that have rows of both
        kinds.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame({"row": range(5000)}).with_columns(
        ...     late=pl.col("row") * 7 % 11 < 3, score=pl.col("row") * 7919 % 601
        ... )
        >>> judge = pl.col("late") & (pl.col("row") % 9 > 0)  # misses one of nine
        >>> df = df.with_columns(pl.col("score") + 300 * pl.col("late"), judge=judge)
        >>> few = df.with_columns(late=pl.when(pl.col("row") < 250).then("late"))
        >>> few.prc.prediction_powered("late", "score", proxy="judge")
        shape: (1, 7)
        ┌─────┬───────┬───────────────────┬──────────┬──────────┬──────────────────┬────────┐
        │ n   ┆ n_pos ┆ average_precision ┆ ci_low   ┆ ci_high  ┆ effective_labels ┆ status │
        │ --- ┆ ---   ┆ ---               ┆ ---      ┆ ---      ┆ ---              ┆ ---    │
        │ i64 ┆ i64   ┆ f64               ┆ f64      ┆ f64      ┆ f64              ┆ str    │
        ╞═════╪═══════╪═══════════════════╪══════════╪══════════╪══════════════════╪════════╡
        │ 250 ┆ 68    ┆ 0.786852          ┆ 0.714039 ┆ 0.844283 ┆ 393.163563       ┆ ok     │
        └─────┴───────┴───────────────────┴──────────┴──────────┴──────────────────┴────────┘
        """
        from frame_prc._tables.labels import PredictionPowered

        self._check_frame(takes_counts=False)
        asked, level = self._request, self._level(ci)
        check_rows(asked)
        check_column("truth", self.roles["truth"])
        check_column("proxy", proxy)
        self._check()
        found = models_measured(asked, measure, None, given_at(at))
        if found.at is not None and found.at.criterion == "predicted_count":
            raise OptionError(
                "at={'predicted_count': ...} is given, and the rows with and without a label are "
                "of different numbers",
                "at={'predicted_rate': 0.1}, their share",
            )
        truth = self.roles["truth"]
        is_labelled = (pl.col(truth) if isinstance(truth, str) else truth).is_not_null()
        with_label, without = ((*self.conditions, one) for one in (is_labelled, ~is_labelled))
        of_judge = {**self.roles, "truth": proxy}
        labelled: SegmentVerbs[FrameT] = self._changed(conditions=with_label)
        with said_as("truth=", "proxy="):
            judged: SegmentVerbs[FrameT] = self._changed(conditions=with_label, roles=of_judge)
            others: SegmentVerbs[FrameT] = self._changed(conditions=without, roles=of_judge)
        table = PredictionPowered(found, Interval(level), judged._rows(), others._rows())
        name = proxy if isinstance(proxy, str) else proxy.meta.output_name()
        column, computed = f"= column {name!r}", f"=pl.col({name!r})"
        with (
            said_as(f"truth{column}", f"proxy{column}"),
            said_as(f"truth{computed}", f"proxy{computed}"),
        ):
            return labelled._table(table, details=details)
