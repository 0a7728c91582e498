"""Comparisons: of models, of segments with others or with chance, and how far segments differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from frame_prc._frames.border import FrameT
from frame_prc._request import comparisons
from frame_prc._request.hints import check_numpy
from frame_prc._request.options import draws, is_list, is_word, key_name
from frame_prc._request.points import models_measured
from frame_prc._request.roles import Request, refuse
from frame_prc._request.specs import (
    Adjust,
    Against,
    Draws,
    MeasureName,
    Scale,
    pairs_of,
)
from frame_prc._rows.table import Table
from frame_prc.evaluation.base import OF_EVALUATION_OR_95, Evaluated, given_at, verb

if TYPE_CHECKING:
    from frame_prc._frames.border import AnyFrame


_NOT_PERMUTED = "{} is given, and nothing is permuted"


class ComparisonVerbs(Evaluated[FrameT]):
    """The verbs that compare."""

    @verb
    def compare_models(
        self,
        *,
        ci: float | None = OF_EVALUATION_OR_95,
        baseline: str | None = None,
        measure: MeasureName | Sequence[MeasureName] | None = None,
        calibrate: float | Literal["highest", "pooled"] | None = None,
        at: Mapping[str, float] | AnyFrame | None = None,
        over: str | None = None,
        permutations: int | Draws | None = None,
        adjust: Adjust | None = None,
        margin: float | None = None,
        scale: Scale = "difference",
        details: bool = False,
    ) -> FrameT:
        """Compare models on the same rows, each with earlier ones or a baseline.

        Parameters
        ----------
        measure
            ``"average_precision"`` by default; or ``"calibrated_average_precision"``, that at
            another prevalence, ``"roc_auc"``, ``"partial_roc_auc"`` (up to the false positive rate
            ``at``). Of probabilities: ``"brier"``, ``"brier_skill"``, ``"log_loss"``,
            ``"mean_score"``, ``"calibration_gap"``, ``"observed_expected"``. At a point, ``at``:
            ``"precision"``, ``"recall"``, ``"fpr"``, ``"specificity"``, ``"f1"``, ``"accuracy"``,
            ``"balanced_accuracy"``, ``"mcc"``, ``"net_benefit"``, ``"precision_lift"``.
            ``examples/guide/reference.md`` explains them. Of a list, each has a row.
        calibrate
            The prevalence for ``measure="calibrated_average_precision"``, as in :func:`summary`.
        at
            Where such a measure is taken. ``{"threshold": 0.5}``, or a frame with a column
            ``threshold`` for each segment and model, such as what :func:`operating_points`
            returned: chosen on other rows, as intervals take it as given. Or what each model and
            segment chooses one by on these rows; intervals allow for that. ``{"recall": 0.7}``: the
            highest with this recall. ``{"fpr": 0.05}``, ``{"predicted_rate": 0.1}``,
            ``{"predicted_count": 100}``: the lowest with at most this false positive rate, share,
            or number of rows predicted positive.
        over
            A key in ``by`` whose segments are a sample of others like them (queries, users, folds).
            Models are then compared by the mean of their differences: a paired test whose
            independent units are segments. Not with ``cluster``, ``margin`` or ``scale``.
        permutations
            With ``over``: in place of Student's t, flip the signs of the differences so many times,
            or as :class:`Draws` says; needs NumPy.
        adjust
            Correct p-values for all rows of the result: ``"holm"`` controls the probability of any
            false positive, ``"bh"`` (Benjamini & Hochberg 1995) their expected share, ``"max"``
            what Holm does, with more power where models are alike (Westfall & Young 1993); it needs
            NumPy, and is not for ``over``. Intervals are not corrected.
        margin
            The largest loss that does not matter, such as 0.01 or 0, for a ``conclusion`` in place
            of the p-value: ``"better"``, ``"not worse"`` by as much as the margin, ``"worse"`` or
            ``"undecided"``, by the interval, or the adjusted one, if ``status`` is ``"ok"``.
        scale
            ``"ratio"``: the measure of the model over that of its baseline, with an interval and a
            test on the log scale. For measures from 0 on; not with ``margin``.

        Returns
        -------
        Same kind as ``frame``
            The keys, then ``model, baseline, difference`` (with ``scale`` ``ratio``), ``ci_low,
            ci_high, p_value`` (with ``adjust`` ``p_adjusted``, with ``margin`` ``conclusion``),
            ``status``. With ``details`` also ``n, n_pos, value_a, value_b`` (of the model and of
            its baseline), ``std_error``, with ``adjust`` ``p_value, ci_low_adjusted,
            ci_high_adjusted`` (not with ``over``), with ``margin`` ``p_value, p_margin``, if
            calibrated ``reference_prevalence``; ``measure``, always of another than the average
            precision. ``status`` is as in :func:`average_precision`, but never ``"below_chance"``.

            Sorted by the keys, then by the baselines and their models: of ``["old", "new"]`` the
            difference is ``new`` less ``old``, which is below 0 where ``new`` is better by
            ``"brier"``, ``"log_loss"`` or ``"fpr"``. Models in long data go by name, or ``Enum``.

            With ``over``, ``n_segments`` and, with ``details``, ``n_undefined`` count segments;
            ``status`` is ``"few_segments"`` with fewer than 6.

        Notes
        -----
        Interval and p-value agree; both are null if the rows show no spread, as of models that rank
        alike. Formulas and simulated error rates: ``examples/guide/statistics.md``.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame({"row": range(300)}).with_columns(
        ...     late=pl.col("row") * 7 % 11 < 4,
        ...     old=pl.col("row") * 7919 % 601,
        ... )
        >>> df = df.with_columns(new=pl.col("old") + 150 * pl.col("late"))
        >>> df.prc.compare_models("late", ["old", "new"])
        shape: (1, 7)
        ┌───────┬──────────┬────────────┬──────────┬─────────┬────────────┬────────┐
        │ model ┆ baseline ┆ difference ┆ ci_low   ┆ ci_high ┆ p_value    ┆ status │
        │ ---   ┆ ---      ┆ ---        ┆ ---      ┆ ---     ┆ ---        ┆ ---    │
        │ str   ┆ str      ┆ f64        ┆ f64      ┆ f64     ┆ f64        ┆ str    │
        ╞═══════╪══════════╪════════════╪══════════╪═════════╪════════════╪════════╡
        │ new   ┆ old      ┆ 0.299825   ┆ 0.263218 ┆ 0.33491 ┆ 2.7457e-32 ┆ ok     │
        └───────┴──────────┴────────────┴──────────┴─────────┴────────────┴────────┘
        """
        from frame_prc._tables.averages import PairedDifferences
        from frame_prc._tables.compare import Differences

        asked, level = self._request, self._level_beside(ci)
        comparisons.check_rows(asked)
        held, drawn = given_at(at), draws("permutations", permutations)
        if over is None:
            needed = "permutations= with over=, the key of segments that are a sample"
            refuse(_NOT_PERMUTED, {"permutations=": drawn}, needed)
        comparisons.check_long(asked)

        def table(models: Request, base: str | None) -> Table:
            """Return what compares the models of a request."""
            if over is None:
                compared = comparisons.models_compared(
                    models,
                    level,
                    base,
                    measure=measure,
                    calibrate=calibrate,
                    at=held,
                    adjust=adjust,
                    margin=margin,
                    scale=scale,
                )
                return Differences(compared)
            is_ratio, several = scale == "ratio" or None, is_list(measure) or None
            given = {"margin=": margin, "scale=": is_ratio, "a list in measure=": several}
            refuse("{} is given with over=", given)
            key, names = key_name(over), tuple(comparisons.models_to_compare(models, base))
            units = "with over= the segments are the independent units: name the clusters there"
            refuse("{} is given beside over=", {"cluster=": asked.cluster}, hint=units)
            if drawn is not None:
                check_numpy("a permutation test")
            pairs, tests = pairs_of(names, base), comparisons.adjustment_alone(adjust, "over=")
            found = models_measured(models, measure, calibrate, held)
            return PairedDifferences(level, names, pairs, key, drawn, tests, found)

        limits = ci is not None
        return self._table_of_models(table, baseline, details=details, limits=limits)

    @verb
    def compare_segments(
        self,
        *,
        against: Against = "others",
        ci: float | None = OF_EVALUATION_OR_95,
        measure: MeasureName | Sequence[MeasureName] | None = None,
        calibrate: float | Literal["highest", "pooled"] | None = None,
        at: Mapping[str, float] | AnyFrame | None = None,
        permutations: int | Draws | None = None,
        adjust: Adjust | None = None,
        margin: float | None = None,
        scale: Scale = "difference",
        details: bool = False,
    ) -> FrameT:
        """Compare each segment with the others, all rows, another one, or chance.

        Parameters
        ----------
        against
            What each segment of a model is compared with. ``"others"``: the mean of the other
            segments, weighted by their positives. ``"rest"``: all rows outside it, as one list;
            rows times segments may be 4 billion. ``"overall"``: all rows, as one list. If scores
            are higher where positives are more frequent, one list is easier to rank than its
            segments, and all of them may look worse. ``"previous"``: the segment before it in the
            order of the last key in ``by``, with the same other keys. ``{"region": "north"}``: the
            one with these values and the same other keys; ``None`` is a missing key. ``"random"``:
            a random order of its labels; needs NumPy, without ``cluster``. The p-value is
            one-sided: ``(1 + hits) / (1 + replicates)``.
        measure
            ``"calibrated_average_precision"`` by default, with both sides at the same prevalence:
            ``"average_precision"`` grows with it. Others, or a list, are as in
            :func:`compare_models`.
        permutations
            Random orders for ``against="random"``, 1,000 by default, or :class:`Draws`.
        adjust
            Correct p-values for multiple testing, as in :func:`compare_models`. Two segments that
            are compared with each other are one test.
        margin
            The largest loss that does not matter, as in :func:`compare_models`.
        scale
            ``"ratio"`` in place of the difference, as in :func:`compare_models`.

        Returns
        -------
        Same kind as ``frame``
            The keys, then ``reference, difference`` (with ``scale`` ``ratio``), ``ci_low, ci_high,
            p_value`` (with ``adjust`` ``p_adjusted``, with ``margin`` ``conclusion``), ``status``.
            With ``details`` also ``n, n_pos`` of the segment, ``prevalence_a, prevalence_b,
            value_a, value_b`` (of the segment and of its reference), ``reference_prevalence,
            std_error``, with ``adjust`` ``p_value, ci_low_adjusted, ci_high_adjusted``, with
            ``margin`` ``p_value, p_margin``, and ``measure``, which another one always has. Sorted
            by the keys.

            ``status`` is that of the worse of the two sides, but never ``"below_chance"``. A
            segment that has nothing to be compared with, such as the first week, has nulls and the
            status ``"no_other"``. The segment that ``against`` names has a difference of 0 and no
            test.

            With ``against="random"`` there is no measure, prevalence, ``std_error`` or interval,
            and the p-value is null without positives or negatives. The test holds for few
            positives, so ``status`` is never ``"few_positives"``.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame({"row": range(300)}).with_columns(
        ...     region=pl.col("row") % 3,
        ...     late=pl.col("row") * 7 % 11 < 4,
        ...     score=pl.col("row") * 7919 % 601 + 100 * (pl.col("row") * 7 % 11 < 4),
        ... )
        >>> df.prc.compare_segments("late", "score", by="region", adjust="holm")
        shape: (3, 7)
        ┌────────┬───────────┬────────────┬───────────┬──────────┬────────────┬────────┐
        │ region ┆ reference ┆ difference ┆ ci_low    ┆ ci_high  ┆ p_adjusted ┆ status │
        │ ---    ┆ ---       ┆ ---        ┆ ---       ┆ ---      ┆ ---        ┆ ---    │
        │ i64    ┆ str       ┆ f64        ┆ f64       ┆ f64      ┆ f64        ┆ str    │
        ╞════════╪═══════════╪════════════╪═══════════╪══════════╪════════════╪════════╡
        │ 0      ┆ others    ┆ -0.05119   ┆ -0.207491 ┆ 0.10511  ┆ 1.0        ┆ ok     │
        │ 1      ┆ others    ┆ 0.014863   ┆ -0.141163 ┆ 0.170263 ┆ 1.0        ┆ ok     │
        │ 2      ┆ others    ┆ 0.036531   ┆ -0.118854 ┆ 0.190436 ┆ 1.0        ┆ ok     │
        └────────┴───────────┴────────────┴───────────┴──────────┴────────────┴────────┘
        """
        from frame_prc._tables.compare import ChanceTests, Differences

        asked, level = self._request, self._level_beside(ci)
        comparisons.check_rows(asked)
        drawn = draws("permutations", permutations)
        if not is_word(against, "random"):
            needed = "permutations= with against='random'"
            refuse(_NOT_PERMUTED, {"permutations=": drawn}, needed)
        else:
            self._check_frame(takes_counts=False)
            given = {"measure=": measure, "calibrate=": calibrate, "at=": at, "margin=": margin}
            given["scale="] = None if scale == "difference" else scale
            plain = "the average precision as it is"
            one = "random orders have one prevalence"
            refuse("{} is given with against='random'", given, plain, one)
            refuse(
                "{} is given with against='random', which permutes the labels of single rows: "
                "within a cluster they are not exchangeable",
                {"cluster=": asked.cluster},
                "against='random' without cluster=",
                "average_precision(..., ci=0.95, cluster=...) gives an interval to compare with "
                "random_average_precision of summary",
            )
            check_numpy("a permutation test")
            tests = comparisons.adjustment_alone(adjust, "against='random'")
            table = ChanceTests(drawn or Draws(), tests)
            return self._table(table, details=details, limits=ci is not None)
        compared = comparisons.segments_compared(
            asked,
            level,
            against,
            measure=measure,
            calibrate=calibrate,
            at=given_at(at),
            adjust=adjust,
            margin=margin,
            scale=scale,
        )
        return self._table(Differences(compared), details=details, limits=ci is not None)
