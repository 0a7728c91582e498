"""Areas: the average precision of segments, its averages, and areas by any method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, get_args

from frame_prc._curves.areas import STEP_AREAS, AreaSpec
from frame_prc._frames.border import FrameT
from frame_prc._request import comparisons, options, points
from frame_prc._request.hints import check_numpy
from frame_prc._request.options import check_level_of_draws, compared_at
from frame_prc._request.roles import check_option, check_pooled, refuse
from frame_prc._request.specs import (
    AT_THRESHOLD,
    OF_PROBABILITIES,
    PARTIAL_ROC_AUC,
    STARTS,
    CiMethod,
    Draws,
    How,
    Interval,
    MeasureName,
    Method,
    SegmentsAre,
    Start,
    Top,
)
from frame_prc._tables.areas import AveragePrecision
from frame_prc.evaluation.base import (
    OF_EVALUATION,
    OF_EVALUATION_OR_95,
    Evaluated,
    given_at,
    given_reference,
    verb,
)
from frame_prc.exceptions import OptionError

if TYPE_CHECKING:
    from frame_prc._frames.border import AnyFrame


class AreaVerbs(Evaluated[FrameT]):
    """The verbs that compute areas."""

    @verb
    def average_precision(
        self,
        *,
        thresholds: int | Sequence[float] | None = None,
        bounds: bool = False,
        ci: float | None = OF_EVALUATION,
        ci_method: CiMethod = "influence",
        bootstrap: int | Draws | None = None,
        calibrate: float | Literal["highest", "pooled"] | AnyFrame | None = None,
        top: float | Top | None = None,
        details: bool = False,
    ) -> FrameT:
        """Average precision of each segment, with its interval.

        The average precision is the step area under the precision-recall curve,
        ``sum((R_n - R_(n-1)) * P_n)`` over the distinct scores in descending order, as in
        scikit-learn's ``average_precision_score``.

        Parameters
        ----------
        thresholds
            Bin the scores: ascending thresholds, or how many to space equally from 0 to 1, for
            probabilities: scores below 0 or above 1.001 are then an error. A score counts at the
            highest threshold that it reaches; thresholds that its dtype cannot tell apart are one.
            Rows below the lowest of a list are never retrieved, unless it begins with
            ``float("-inf")``.
        bounds
            Add ``ap_lowest, ap_highest``: between them lies the average precision for any order of
            the rows within each tie or bin, and that of the exact scores if no rows are below the
            lowest of the ``thresholds``. Always included with ``thresholds``.
        ci
            Add an interval of this level. Rows, or clusters, are a sample of a population.
        ci_method
            ``"influence"``: from the influence of each row. ``"boyd"``: as if the area were a
            proportion of the positives (Boyd, Eng & Page 2013, doi 10.1007/978-3-642-40994-3_29);
            without weights and clusters.
        bootstrap
            Take the interval from so many resampled data sets, or as :class:`Draws` says; needs
            NumPy.
        calibrate
            Return the calibrated average precision instead, that of the same ranking at this
            prevalence, as in :func:`summary`. Its interval is that of the influences; not with
            ``bounds``.
        top
            Compute only the area over the points that retrieve at most this many rows. :class:`Top`
            says what it is divided by, and what becomes of a tie that does not fit.

        Returns
        -------
        Same kind as ``frame``
            The keys, then ``n, n_pos, average_precision, status``, with ``ci`` also ``ci_low,
            ci_high``, with ``bounds`` ``ap_lowest, ap_highest``. With ``calibrate``,
            ``reference_prevalence, calibrated_average_precision`` take the place of the area. With
            ``details`` also ``prevalence``, with ``ci`` ``n_effective, std_error``, and with
            ``top`` ``random_average_precision``, in the same rows. Sorted by the keys. Without
            ``by``, a single model has one row even if there are no rows at all.

            The area is null without positives; the calibrated one also without negatives. At an
            area of 1 or 0, ``std_error`` is null and the interval exact (Clopper-Pearson). With a
            single positive and any other area, all three are null.

            Without ``ci``, ``status`` says only whether the area is defined; with it, also where
            the interval is not to be relied on. ``examples/guide/reference.md`` lists what it says.

        Notes
        -----
        The influence of a row (with ``cluster``, of a cluster) is how much it changes the area, to
        first order (Efron 1981, doi 10.2307/2335442). Formulas and coverage of the interval:
        ``examples/guide/statistics.md``.

        Inside DuckDB, Spark and Ibis (see :func:`evaluate`) there is no ``top`` and no
        ``bootstrap``; with ``ci`` the result is a Polars frame.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame(
        ...     {
        ...         "region": ["north", "north", "north", "south", "south"],
        ...         "late": [True, False, True, False, True],
        ...         "score": [0.9, 0.8, 0.3, 0.6, 0.2],
        ...     }
        ... )
        >>> df.prc.average_precision("late", "score", by="region")
        shape: (2, 5)
        ┌────────┬─────┬───────┬───────────────────┬────────┐
        │ region ┆ n   ┆ n_pos ┆ average_precision ┆ status │
        │ ---    ┆ --- ┆ ---   ┆ ---               ┆ ---    │
        │ str    ┆ i64 ┆ i64   ┆ f64               ┆ str    │
        ╞════════╪═════╪═══════╪═══════════════════╪════════╡
        │ north  ┆ 3   ┆ 2     ┆ 0.833333          ┆ ok     │
        │ south  ┆ 2   ┆ 1     ┆ 0.5               ┆ ok     │
        └────────┴─────┴───────┴───────────────────┴────────┘
        """
        asked = self._request
        level = self._level_or_none(ci, has_interval=top is None)
        cluster, bins = asked.cluster, options.bins_of(thresholds, ascending=asked.ascending)
        bounds = check_option("bounds", bounds, (True, False))
        interval = options.interval_of(
            level, ci_method, options.draws("bootstrap", bootstrap, cluster)
        )
        reference, within = given_reference(calibrate), options.top_rows(top)
        if within is not None:
            options.check_top(level, thresholds, bounds=bounds)
            if within.ties == "expected":
                points.check_expected_area(None, calibrate)
        if reference is not None:
            options.check_calibrated(ci_method, bootstrap, bounds=bounds)
        table = AveragePrecision(
            bins,
            interval,
            reference is None and (bounds or bins is not None),
            chance=within is not None and details is True,
            calibration=reference,
            top=within,
        )
        engine = self._engine
        highest = reference is not None and reference.highest
        if engine is None or interval is not None or highest:
            return self._table(table, details=details)
        return self._inside(engine, table, table.only_in_polars(), details=details)

    @verb
    def average(
        self,
        *,
        over: str,
        measure: MeasureName = "average_precision",
        how: How = "mean",
        ci: float | None = OF_EVALUATION,
        calibrate: float | Literal["highest", "pooled"] | None = None,
        at: Mapping[str, float] | AnyFrame | None = None,
        thresholds: int | Sequence[float] | None = None,
        top: float | Top | None = None,
        details: bool = False,
    ) -> FrameT:
        """Mean of a measure over a key: over queries, users, folds or labels.

        Parameters
        ----------
        over
            The key in ``by`` to average over, within each combination of the other keys.
        measure
            ``"average_precision"``, whose mean over queries is MAP, or another one of
            :func:`compare_models`.
        how
            ``"mean"``: every segment counts the same (scikit-learn's ``"macro"``). ``"weighted"``:
            by its positives. ``"rows"``: by its rows, or their weight (``"samples"``). ``"micro"``:
            not a mean, but the measure of all rows pooled.
        ci
            Add an interval of this level. It comes from the spread between the segments, which are
            a sample of others like them. Not for ``how="micro"``. For segments that are all there
            are (regions, devices), see ``overall`` of :func:`summary`.
        top
            Compute only the area over the points that retrieve at most this many rows. Of the plain
            average precision.

        Returns
        -------
        Same kind as ``frame``
            The keys other than ``over``, then ``n_segments``, the mean under the name of the
            measure, and ``status``; with ``ci`` also ``ci_low, ci_high``, null if fewer than two
            segments have the measure, or if all are equal and neither 0 nor 1. With ``details``
            also ``n_undefined, n, n_pos, prevalence`` of all their rows and, with ``ci``,
            ``std_error``. ``status`` is ``"few_segments"`` if no segment has the measure, with
            ``ci`` if fewer than 6 have. ``how="micro"`` has ``n, n_pos`` in place of
            ``n_segments``, and the ``status`` of a segment.

        Notes
        -----
        The interval uses Student's t on the logit scale, with the effective number of segments less
        1 as its degrees of freedom (Cochran 1977, Sampling Techniques, 6.13), and reaches at least
        to the binomial limit if most segments have a measure of 1, or of 0. Inside DuckDB, Spark
        and Ibis (see :func:`evaluate`) there is no ``top``; with ``ci``, or of another measure, the
        result is a Polars frame.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame(
        ...     {
        ...         "query": ["a", "a", "a", "b", "b", "c", "c"],
        ...         "relevant": [True, False, True, False, True, True, False],
        ...         "score": [0.9, 0.8, 0.3, 0.6, 0.2, 0.7, 0.1],
        ...     }
        ... )
        >>> df.prc.average("relevant", "score", by="query", over="query", ci=0.95)
        shape: (1, 5)
        ┌────────────┬───────────────────┬──────────┬──────────┬──────────────┐
        │ n_segments ┆ average_precision ┆ ci_low   ┆ ci_high  ┆ status       │
        │ ---        ┆ ---               ┆ ---      ┆ ---      ┆ ---          │
        │ i64        ┆ f64               ┆ f64      ┆ f64      ┆ str          │
        ╞════════════╪═══════════════════╪══════════╪══════════╪══════════════╡
        │ 3          ┆ 0.777778          ┆ 0.082694 ┆ 0.992695 ┆ few_segments │
        └────────────┴───────────────────┴──────────┴──────────┴──────────────┘
        """
        from frame_prc._tables.averages import Averages

        asked = self._request
        found = points.measured(asked, measure, calibrate, given_at(at))
        level = self._level_or_none(ci, has_interval=not options.is_word(how, "micro"))
        key, kind = options.mean_over(over, how, level, asked.cluster)
        within = options.top_rows(top)
        bins = options.bins_of(thresholds, ascending=asked.ascending)
        if within is not None:
            if found.name != "average_precision":
                only = "top= with measure='average_precision'"
                raise OptionError(f"top= is given with measure={found.name!r}", only)
            options.check_top(None, thresholds, bounds=False)
        interval = None if level is None else Interval(level)
        table = Averages(key, kind, found, interval, bins, within)
        return self._table(table, details=details)

    @verb
    def auc(
        self,
        *,
        method: Method | Sequence[Method] = "step",
        start: Start = "one",
        recall_range: tuple[float, float] | None = None,
        standardised: bool = False,
        thresholds: int | Sequence[float] | None = None,
        calibrate: float | Literal["highest", "pooled"] | AnyFrame | None = None,
        top: float | Top | None = None,
        ci: float | None = OF_EVALUATION,
        bootstrap: int | Draws | None = None,
        details: bool = False,
    ) -> FrameT:
        """Area under the curve of each segment, by one or several methods.

        Different tools report different areas as PR-AUC; here each of them has a name.

        Parameters
        ----------
        method
            One method, or a list for one row per segment and method, in this order. See the notes.
        start
            The point at recall 0 where the trapezoid begins: ``"one"`` (precision 1), ``"first"``
            (the precision of the first real point, as in Spark) or ``None`` (at the first real
            point).
        recall_range
            Compute only the area between these two recalls, cut exactly. For ``step``,
            ``trapezoid``, ``interpolated`` and ``envelope``.
        standardised
            Divide by the width of ``recall_range``, so that a perfect curve has area 1.
        calibrate
            Calibrate the areas to this prevalence, as in :func:`average_precision`. Not for
            ``gain``.
        top
            Compute only the area over the points that retrieve at most this many rows. Only for
            ``step``.
        ci
            Add an interval of this level. That of the whole ``step`` area is that of
            :func:`average_precision`; others come from a bootstrap, which needs NumPy. Not with
            ``calibrate``.
        bootstrap
            How many data sets are resampled, 1,000 by default, or :class:`Draws`.

        Returns
        -------
        Same kind as ``frame``
            The keys, then ``n, n_pos, method, auc, status``, with ``ci`` also ``ci_low, ci_high``,
            with ``calibrate`` ``reference_prevalence`` before ``method``. With ``details`` also
            ``prevalence`` and, with ``ci``, ``n_effective, std_error``; with ``recall_range`` or
            ``top`` also ``random_average_precision`` of the same part of the ``step`` area, over
            a range that of the prevalence. Sorted by the keys, then in the order of ``method``.

            Areas are null without positives; ``"gain"``, ``"roc"`` and calibrated areas also
            without negatives. ``status`` is as in :func:`average_precision`; positives beyond
            ``recall_range`` or ``top`` do not count there. The largest area gets the exact
            (Clopper-Pearson) lower limit.

        Notes
        -----
        With P_n and R_n the precision and recall at the n-th highest distinct score:

        - ``step``: ``sum((R_n - R_(n-1)) * P_n)``, the average precision.
        - ``trapezoid``: ``sum((R_n - R_(n-1)) * (P_n + P_(n-1)) / 2)``; with ties it may be far too
          high (yardstick ``pr_auc``; with ``start="first"``, Spark).
        - ``interpolated``: true and false positives grow linearly between two points (Davis &
          Goadrich 2006, doi 10.1145/1143844.1143874; PRROC ``auc.integral``, xgboost).
        - ``envelope``: ``sum((R_n - R_(n-1)) * max(P_m for m >= n))`` (PASCAL VOC 2010, Detectron).
        - ``11-point``, ``101-point``: mean over the recalls 0, 0.1, ..., 1 (VOC 2007) or 0, 0.01,
          ..., 1 (COCO) of the largest precision at that recall or a higher one.
        - ``gain``: trapezoid of the precision-recall-gain curve (Flach & Kull 2015, NIPS).
        - ``roc``: that of the ROC curve, of which :meth:`summary` has an interval.

        Inside DuckDB, Spark and Ibis (see :func:`evaluate`) there are the first four methods and
        ``roc``, without ``top`` and ``ci``.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame(
        ...     {"late": [True, False, False, True, True], "score": [0.9, 0.8, 0.7, 0.6, 0.5]}
        ... )
        >>> df.prc.auc("late", "score", method=["step", "trapezoid", "interpolated", "envelope"])
        shape: (4, 5)
        ┌─────┬───────┬──────────────┬──────────┬────────┐
        │ n   ┆ n_pos ┆ method       ┆ auc      ┆ status │
        │ --- ┆ ---   ┆ ---          ┆ ---      ┆ ---    │
        │ i64 ┆ i64   ┆ str          ┆ f64      ┆ str    │
        ╞═════╪═══════╪══════════════╪══════════╪════════╡
        │ 5   ┆ 3     ┆ step         ┆ 0.7      ┆ ok     │
        │ 5   ┆ 3     ┆ trapezoid    ┆ 0.655556 ┆ ok     │
        │ 5   ┆ 3     ┆ interpolated ┆ 0.65945  ┆ ok     │
        │ 5   ┆ 3     ┆ envelope     ┆ 0.733333 ┆ ok     │
        └─────┴───────┴──────────────┴──────────┴────────┘
        """
        from frame_prc._tables.areas import Areas

        asked, methods = self._request, options.method_list(method)
        level = self._level_or_none(ci, has_interval=calibrate is None and "roc" not in methods)
        start = check_option("start", start, STARTS)
        standardised = check_option("standardised", standardised, (True, False))
        limits = options.recall_bounds(recall_range, methods)
        bins = options.bins_of(thresholds, ascending=asked.ascending)
        reference = given_reference(calibrate)
        if "roc" in methods:
            options.check_roc(asked, level, calibrate)
        drawn = options.draws("bootstrap", bootstrap, asked.cluster)
        if reference is not None:
            what, gain = "{} is given with calibrate=", "gain" in methods or None
            step = "average_precision(..., calibrate=, ci=) has an interval for method='step'"
            refuse(what, {"ci=": level}, hint=step)
            alone = "ask for it in a call of its own, without calibrate="
            refuse(what, {"method='gain'": gain}, "the other methods", alone)
        within = options.top_rows(top, methods)
        if within is not None and within.ties == "expected":
            points.check_expected_area(recall_range, calibrate)
        spec = AreaSpec(methods, start, limits, standardised, within)
        interval = options.area_interval(level, drawn, is_drawn=bool(spec.drawn.methods))
        is_part = spec.recall_range is not None or spec.top is not None
        table = Areas(spec, bins, reference, interval, chance=is_part and details is True)
        if (engine := self._engine) is None:
            return self._table(table, details=details)
        is_highest = reference is not None and reference.highest
        refused = {"top": spec.top is not None, "ci": interval is not None}
        refused["calibrate='highest'"] = is_highest
        refused["calibrate= as a frame"] = reference is not None and reference.given is not None
        refused |= {f"method={name!r}": name not in STEP_AREAS for name in methods}
        return self._inside(engine, table, refused, details=details)

    @verb
    def summary(
        self,
        *,
        ci: float | None = OF_EVALUATION_OR_95,
        calibrate: float | Literal["highest", "pooled"] | AnyFrame | None = None,
        overall: bool = False,
        segments: SegmentsAre = "fixed",
        measures: str | Sequence[str] | None = None,
        at: Mapping[str, float] | AnyFrame | None = None,
        shrink: bool = False,
        details: bool = False,
    ) -> FrameT:
        """Scorecard of each segment: area, interval, lift and measures by name.

        Only ``calibrated_average_precision`` is meant to be equal for classifiers that are equally
        good in segments of different prevalence; the others change with it.

        Parameters
        ----------
        calibrate
            The prevalence for ``calibrated_average_precision``, which is then shown: a number
            between 0 and 1, or, here and for areas, a frame of keys and ``prevalence``.
            ``"highest"``, the default: the highest of the model's segments with 20 rows of each
            class, at most 0.5. ``"pooled"``: the share of positives of all rows of the model.
        overall
            For each model, add a row for all rows pooled and one for the mean of the segments.
        segments
            What the interval of that mean is for. ``"fixed"``: these segments are all there are
            (regions, devices). ``"sampled"``: they stand for others like them (queries, users,
            folds); ``level`` is ``"macro_sampled"``.
        measures
            Measures to add by name, or ``"all"`` that suit any scores. Some need probabilities, or
            a point, ``at``.
        shrink
            Show ``shrunk, shrunk_low, shrunk_high``, as of :func:`shrunk`, in place of ``ci_low,
            ci_high`` and ``lift``. All rows, and the mean of segments, lean on no others: these are
            their ``average_precision, ci_low, ci_high``. Needs NumPy.
        details
            Add the columns that are named so below. All measures are.

        Returns
        -------
        Same kind as ``frame``
            The keys, then ``n, n_pos``, ``lift`` unless ``overall`` is given, ``average_precision,
            ci_low, ci_high``, the ``measures``, and ``status``. With ``details`` also
            ``prevalence, n_effective, std_error``, ``random_average_precision,
            chance_corrected_average_precision, normalised_average_precision``,
            ``reference_prevalence``, ``calibrated_average_precision`` and ``roc_auc`` (both also
            with ``_std_error``, ``_low`` and ``_high``), ``interpolated, normalised_interpolated,
            gain, best_f1, best_f1_threshold`` and, with ``overall``, ``n_undefined``. Sorted by the
            keys.

            Other measures, each with its interval, are those of :func:`compare_models`; of
            probabilities, a score above 1 by up to 0.001, as of rounded sums, counts as 1. Areas
            are null without positives; the normalised and calibrated ones and ``gain`` also without
            negatives. ``status`` is that of :func:`average_precision`, of measures also
            ``"few_rows"`` or ``"undefined"``; of those that only ``details`` adds it says nothing.

            With ``overall``, a column ``level`` comes before the keys, and the pooled rows and then
            the macro rows follow the segments. In a macro row, sizes are sums, measures are means
            over the segments that have them, and the interval adds up what each row, or cluster,
            does to all segments; in a ``"macro"`` row it is null, and ``status``
            ``"no_std_error"``, if any of them has no standard error: of a single positive, or an
            area of exactly 0 or 1.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame({"row": range(300)}).with_columns(
        ...     region=pl.col("row") % 3,
        ...     late=pl.col("row") * 7 % 11 < 4,
        ...     score=pl.col("row") * 7919 % 601 + 100 * (pl.col("row") * 7 % 11 < 4),
        ... )
        >>> df.prc.summary("late", "score", by="region")
        shape: (3, 8)
        ┌────────┬─────┬───────┬──────────┬───────────────────┬──────────┬──────────┬────────┐
        │ region ┆ n   ┆ n_pos ┆ lift     ┆ average_precision ┆ ci_low   ┆ ci_high  ┆ status │
        │ ---    ┆ --- ┆ ---   ┆ ---      ┆ ---               ┆ ---      ┆ ---      ┆ ---    │
        │ i64    ┆ i64 ┆ i64   ┆ f64      ┆ f64               ┆ f64      ┆ f64      ┆ str    │
        ╞════════╪═════╪═══════╪══════════╪═══════════════════╪══════════╪══════════╪════════╡
        │ 0      ┆ 100 ┆ 37    ┆ 1.436706 ┆ 0.569865          ┆ 0.405844 ┆ 0.713523 ┆ ok     │
        │ 1      ┆ 100 ┆ 36    ┆ 1.56471  ┆ 0.605652          ┆ 0.441863 ┆ 0.743784 ┆ ok     │
        │ 2      ┆ 100 ┆ 37    ┆ 1.583475 ┆ 0.62808           ┆ 0.466758 ┆ 0.760892 ┆ ok     │
        └────────┴─────┴───────┴──────────┴───────────────────┴──────────┴──────────┴────────┘
        """
        from frame_prc._curves.calibration import CALIBRATED
        from frame_prc._tables.summary import MEASURES, Summary

        overall = check_option("overall", overall, (True, False))
        level = self._level_or_none(ci)
        interval = None if level is None else Interval(level)
        if overall:
            check_pooled(self._request)
        reference = given_reference(calibrate) or compared_at(None)
        if overall and reference.given is not None:
            raise OptionError(
                "calibrate= is a frame, and overall=True adds rows of no segment",
                "one of them, or a number in calibrate=",
            )
        are = check_option("segments", segments, get_args(SegmentsAre))
        if are == "sampled" and not overall:
            both = "both, for the mean of the segments"
            raise OptionError("segments='sampled' is given without overall=True", both)
        named = points.measure_list(
            measures, MEASURES, (PARTIAL_ROC_AUC, *OF_PROBABILITIES, *AT_THRESHOLD)
        )
        if calibrate is not None and CALIBRATED not in named:
            named = [CALIBRATED, *named]
        unasked = {*MEASURES}.difference(named)
        if details is True:
            named = [*MEASURES, *(name for name in named if name not in MEASURES)]
        beside = points.measures_beside(self._request, named, given_at(at))
        if check_option("shrink", shrink, (False, True)):
            comparisons.check_segments(self._request)
            check_numpy("shrink=True")
            if level is not None:
                check_level_of_draws(level)
        table = Summary(interval, overall, reference, are, named, beside, shrink, unasked)
        return self._table(table, details=details)
