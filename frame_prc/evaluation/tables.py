"""Tables: the scorecard of each segment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from frame_prc._frames.border import FrameT
from frame_prc._request.comparisons import (
    check_segments,
    measure_list,
    measures_beside,
    segments_are,
)
from frame_prc._request.intervals import confidence
from frame_prc._request.options import calibration
from frame_prc._request.packages import check_numpy
from frame_prc._request.roles import check_option, check_pooled
from frame_prc._request.specs import (
    AT_THRESHOLD,
    OF_PROBABILITIES,
    PARTIAL_ROC_AUC,
    Calibration,
    Interval,
    SegmentsAre,
)
from frame_prc._tables.summary import MEASURES, Summary
from frame_prc.evaluation.base import OF_EVALUATION_OR_95, Evaluated
from frame_prc.evaluation.verb import verb


class TableVerbs(Evaluated[FrameT]):
    """The verbs that return all measures."""

    @verb
    def summary(
        self,
        *,
        ci: float = OF_EVALUATION_OR_95,
        calibrate: float | Literal["highest", "pooled"] | None = None,
        overall: bool = False,
        segments: SegmentsAre = "fixed",
        measures: str | Sequence[str] | None = None,
        at: Mapping[str, float] | None = None,
        shrink: bool = False,
        details: bool = False,
    ) -> FrameT:
        """Scorecard of each segment: area, interval, lift and measures by name.

        Only ``calibrated_average_precision`` is meant to be equal for classifiers that are equally
        good in segments of different prevalence; the other measures still change with the
        prevalence.

        Parameters
        ----------
        ci
            The level of the confidence intervals for the average precision in the population, and
            for the calibrated one.
        calibrate
            The prevalence for ``calibrated_average_precision``. ``"highest"``, the default: that of
            the segment of the model where positives are most frequent, of those with 20 rows of
            each class, and at most 0.5; areas calibrated down are biased where negatives are few.
            ``"pooled"``: the share of positives of all rows of the model. Give a number between 0
            and 1 to hold reports of several months to the same one.
        overall
            For each model, add a row for all rows pooled and a row for the mean of the segments. A
            column ``level`` before the keys then says what each row is: ``"segment"``, ``"pooled"``
            or ``"macro"``. The added rows have null keys.
        segments
            What the interval of the mean of the segments is for. ``"fixed"``: these segments are
            all there are (regions, devices), and only their rows are a sample; the variances of the
            segments are added up. ``"sampled"``: the segments stand for others like them (queries,
            users, folds); the interval comes from their spread, as in :func:`average_precision`
            with ``over``, ``level`` is ``"macro_sampled"``, and ``status`` ``"few_segments"`` if
            fewer than 6 have an average precision.
        measures
            Measures to add, by their names below, or ``"all"`` of those that suit any scores.
        at
            The threshold of the measures that have one, such as ``{"threshold": 0.5}``, and the
            false positive rate of ``partial_roc_auc``, such as ``{"fpr": 0.1}``. It must not be
            chosen on these rows: the intervals take it as given.
        shrink
            Show ``shrunk, shrunk_low, shrunk_high`` in place of ``ci_low, ci_high`` and ``lift``:
            what the average precision of each segment probably is, given those of the others, as
            :func:`shrunk` says. Needs NumPy.
        details
            Add all measures, ``prevalence``, ``n_effective`` and the standard errors (as in
            :func:`average_precision`), the interval of the calibrated average precision and, with
            ``overall``, ``n_undefined``.

        Returns
        -------
        Same kind as ``frame``
            The keys, then

            - ``n, n_pos`` as in :func:`average_precision`, with ``missing="drop"`` also
              ``n_dropped``, and, always last, ``status``: ``"ok"``, ``"few_positives"`` (fewer than
              20, or with weights fewer than 20 effective positives), ``"few_clusters"`` (fewer than
              20 effective clusters that hold positives), ``"few_negatives"`` (so few for the
              prevalence that the calibrated average precision is likely too high),
              ``"below_chance"`` (the whole interval lies below ``random_average_precision``; if a
              lower score means more likely positive, pass ``ascending=True``), ``"few_scores"``
              (the model has no more than two, like the predictions 0 and 1), ``"no_negatives"``,
              ``"no_positives"`` or ``"empty"``; of the ``measures`` also ``"few_rows"`` (fewer than
              20 that one rests on, or fewer than 5 in a cell that moves it) and ``"undefined"`` (it
              divides by 0: no row reaches the threshold);
            - ``average_precision``, and ``ci_low, ci_high`` as in :func:`average_precision` with
              ``ci_method="influence"``;
            - ``lift``, unless ``overall`` is given, and the ``measures``.

            The measures are

            - ``random_average_precision``: the expected average precision of a random ranking with
              the same ties (without ties, Bestgen 2015); with weights, the prevalence;
            - ``lift``: ``average_precision / random_average_precision``, null if the denominator is
              0;
            - ``chance_corrected_average_precision``: ``(area - random) / (1 - random)``. 0 is a
              random ranking, 1 a perfect one; null if every ranking is perfect;
            - ``normalised_average_precision``: ``(area - worst) / (1 - worst)``. 0 is the worst
              possible ranking, 1 a perfect one (Boyd et al. 2012, arXiv 1206.4667). With weights, 0
              is an area that no ranking falls below, and the worst ranking may be above 0;
            - ``reference_prevalence``: the prevalence of ``calibrate``;
              ``calibrated_average_precision``: the average precision that the same ranking would
              have at that prevalence (Siblini et al. 2020, arXiv 1909.02827);
            - ``interpolated`` and ``normalised_interpolated``: the area by that method of
              :func:`auc`;
            - ``gain``: the area by that method of :func:`auc`;
            - ``roc_auc``, with ``roc_auc_low, roc_auc_high``: the area under the ROC curve, the
              probability that a positive scores higher than a negative, with ties as one half, and
              its interval by the variance of DeLong et al. 1988;
            - ``partial_roc_auc``, with its interval: the part of that area up to the false positive
              rate ``at={"fpr": 0.1}``, on the scale of McClish (1989): 0.5 for random scores, 1 for
              perfect ones, as ``max_fpr=`` of scikit-learn;
            - of probabilities, each with its interval: ``brier``, ``log_loss`` (as scikit-learn
              clips it), ``mean_score`` and ``calibration_gap``, the mean score less the share of
              positives; ``observed_expected``, that share over the mean score, and ``brier_skill``,
              ``1 - brier / (p (1 - p))`` with that share p (scikit-learn's ``d2_brier_score``);
              these two need rows of both classes, and beyond 1,048,576, or below -4,095, they are
              null. A score above 1 by up to 0.001, as of rounded sums, counts as 1;
            - at the threshold ``at``, each with its interval: ``precision``, ``recall``, ``fpr``,
              ``specificity``, ``f1``, ``accuracy``, ``balanced_accuracy``, ``mcc`` and
              ``net_benefit``, the share of true alerts less that of false ones times the odds of
              the threshold (Vickers & Elkin 2006);
            - ``best_f1`` and ``best_f1_threshold``, the highest threshold that reaches it; the
              threshold is null if no threshold retrieves a positive, and ``best_f1`` is then 0.

            All areas are Float64. They are null without positives; the normalised and calibrated
            ones and ``gain`` are also null without negatives. Sorted by the keys.

            With ``overall``, the pooled rows and then the macro rows follow the segments. Of the
            details, ``n_undefined`` (Int64) is how many segments have no average precision and are
            left out of the mean (0 for pooled rows, null for segments). In a macro row, sizes
            are sums, measures are means over the segments that have them, and the interval adds up
            what each row, or cluster, does to all segments. In a ``"macro"`` row the interval is
            null, and ``status`` ``"no_std_error"``, if any of these segments has no standard error,
            because of a single positive or an average precision of exactly 0 or 1.

        Raises
        ------
        ColumnError, OptionError, FrameError
            At the call, for invalid parameters and for columns that do not exist or have the wrong
            dtype.
        DataError
            If the data contain invalid values. For a lazy frame, when the result is collected.

        Notes
        -----
        A random ranking has more than the prevalence if rows or positives are few: on average 2.9
        times as much with 1 positive in 10 rows, 1.8 times with 5 in 100, 1.12 times with 50 in
        1,000. If ``pos`` and ``neg`` are sums of weights without ``pos_squares`` and
        ``neg_squares``, the interval is null, and ``status`` is ``"no_std_error"`` in place of
        ``"ok"``, ``"few_positives"`` and ``"below_chance"``. All formulas are in
        ``examples/guide/statistics.md`` in the repository.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame({"row": range(300)}).with_columns(
        ...     region=pl.col("row") % 3,
        ...     late=pl.col("row") * 7 % 11 < 4,
        ...     score=pl.col("row") * 7919 % 601 + 100 * (pl.col("row") * 7 % 11 < 4),
        ... )
        >>> ev = df.prc.evaluate("late", "score", by="region")
        >>> ev.summary()
        shape: (3, 8)
        ┌────────┬─────┬───────┬───────────────────┬──────────┬──────────┬──────────┬────────┐
        │ region ┆ n   ┆ n_pos ┆ average_precision ┆ ci_low   ┆ ci_high  ┆ lift     ┆ status │
        │ ---    ┆ --- ┆ ---   ┆ ---               ┆ ---      ┆ ---      ┆ ---      ┆ ---    │
        │ i64    ┆ i64 ┆ i64   ┆ f64               ┆ f64      ┆ f64      ┆ f64      ┆ str    │
        ╞════════╪═════╪═══════╪═══════════════════╪══════════╪══════════╪══════════╪════════╡
        │ 0      ┆ 100 ┆ 37    ┆ 0.569865          ┆ 0.405844 ┆ 0.713523 ┆ 1.436706 ┆ ok     │
        │ 1      ┆ 100 ┆ 36    ┆ 0.605652          ┆ 0.441863 ┆ 0.743784 ┆ 1.56471  ┆ ok     │
        │ 2      ┆ 100 ┆ 37    ┆ 0.62808           ┆ 0.466758 ┆ 0.760892 ┆ 1.583475 ┆ ok     │
        └────────┴─────┴───────┴───────────────────┴──────────┴──────────┴──────────┴────────┘
        >>> ev.summary(overall=True).tail(3)
        shape: (3, 8)
        ┌─────────┬────────┬─────┬───────┬───────────────────┬──────────┬──────────┬────────┐
        │ level   ┆ region ┆ n   ┆ n_pos ┆ average_precision ┆ ci_low   ┆ ci_high  ┆ status │
        │ ---     ┆ ---    ┆ --- ┆ ---   ┆ ---               ┆ ---      ┆ ---      ┆ ---    │
        │ str     ┆ i64    ┆ i64 ┆ i64   ┆ f64               ┆ f64      ┆ f64      ┆ str    │
        ╞═════════╪════════╪═════╪═══════╪═══════════════════╪══════════╪══════════╪════════╡
        │ segment ┆ 2      ┆ 100 ┆ 37    ┆ 0.62808           ┆ 0.466758 ┆ 0.760892 ┆ ok     │
        │ pooled  ┆ null   ┆ 300 ┆ 110   ┆ 0.592205          ┆ 0.501922 ┆ 0.674543 ┆ ok     │
        │ macro   ┆ null   ┆ 300 ┆ 110   ┆ 0.601199          ┆ 0.507138 ┆ 0.682194 ┆ ok     │
        └─────────┴────────┴─────┴───────┴───────────────────┴──────────┴──────────┴────────┘
        """
        self._check_frame()
        overall = check_option("overall", overall, (True, False))
        interval = Interval(confidence(self._level(ci)))
        if overall:
            check_pooled(self._request)
        reference = calibration(calibrate) or Calibration(highest=True)
        are = segments_are(segments, overall=overall)
        named = measure_list(
            measures, MEASURES, (PARTIAL_ROC_AUC, *OF_PROBABILITIES, *AT_THRESHOLD)
        )
        if details is True:
            named = [*MEASURES, *(name for name in named if name not in MEASURES)]
        beside = measures_beside(self._request, named, at)
        if check_option("shrink", shrink, (False, True)):
            check_segments(self._request)
            check_numpy("shrink=True")
        table = Summary(interval, overall, reference, are, named, beside, shrink)
        return self._table(table, details=details)
