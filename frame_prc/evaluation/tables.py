"""Tables: the scorecard of each segment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from frame_prc._frames.border import FrameT
from frame_prc._request import comparisons, points
from frame_prc._request.hints import check_numpy
from frame_prc._request.options import check_level_of_draws, compared_at
from frame_prc._request.roles import check_option, check_pooled
from frame_prc._request.specs import (
    AT_THRESHOLD,
    OF_PROBABILITIES,
    PARTIAL_ROC_AUC,
    Interval,
    SegmentsAre,
)
from frame_prc.evaluation.base import OF_EVALUATION_OR_95, Evaluated, verb
from frame_prc.evaluation.given import given_at, given_reference
from frame_prc.exceptions import OptionError

if TYPE_CHECKING:
    from frame_prc._frames.border import AnyFrame


class TableVerbs(Evaluated[FrameT]):
    """The verbs that return all measures."""

    @verb
    def summary(
        self,
        *,
        ci: float = OF_EVALUATION_OR_95,
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
        ci
            The level of the intervals.
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
        at
            Where such a measure is taken, as in :func:`compare_models`.
        shrink
            Show ``shrunk, shrunk_low, shrunk_high``, as of :func:`shrunk`, in place of ``ci_low,
            ci_high`` and ``lift``. All rows, and the mean of segments, lean on no others: these are
            their ``average_precision, ci_low, ci_high``. Needs NumPy.
        details
            Add the columns that are named so below. All measures are.

        Returns
        -------
        Same kind as ``frame``
            The keys, then ``n, n_pos, average_precision, ci_low, ci_high``, ``lift`` unless
            ``overall`` is given, the ``measures``, and ``status``. With ``details`` also
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
        ┌────────┬─────┬───────┬───────────────────┬──────────┬──────────┬──────────┬────────┐
        │ region ┆ n   ┆ n_pos ┆ average_precision ┆ ci_low   ┆ ci_high  ┆ lift     ┆ status │
        │ ---    ┆ --- ┆ ---   ┆ ---               ┆ ---      ┆ ---      ┆ ---      ┆ ---    │
        │ i64    ┆ i64 ┆ i64   ┆ f64               ┆ f64      ┆ f64      ┆ f64      ┆ str    │
        ╞════════╪═════╪═══════╪═══════════════════╪══════════╪══════════╪══════════╪════════╡
        │ 0      ┆ 100 ┆ 37    ┆ 0.569865          ┆ 0.405844 ┆ 0.713523 ┆ 1.436706 ┆ ok     │
        │ 1      ┆ 100 ┆ 36    ┆ 0.605652          ┆ 0.441863 ┆ 0.743784 ┆ 1.56471  ┆ ok     │
        │ 2      ┆ 100 ┆ 37    ┆ 0.62808           ┆ 0.466758 ┆ 0.760892 ┆ 1.583475 ┆ ok     │
        └────────┴─────┴───────┴───────────────────┴──────────┴──────────┴──────────┴────────┘
        """
        from frame_prc._curves.calibration import CALIBRATED
        from frame_prc._tables.summary import MEASURES, Summary

        overall = check_option("overall", overall, (True, False))
        interval = Interval(self._level(ci))
        if overall:
            check_pooled(self._request)
        reference = given_reference(calibrate) or compared_at(None)
        if overall and reference.given is not None:
            raise OptionError(
                "calibrate= is a frame, and overall=True adds rows of no segment",
                "one of them, or a number in calibrate=",
            )
        are = comparisons.segments_are(segments, overall=overall)
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
            check_level_of_draws(interval.level)
        table = Summary(interval, overall, reference, are, named, beside, shrink, unasked)
        return self._table(table, details=details)
