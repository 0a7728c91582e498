"""Comparisons: of models, of segments with others or with chance, and how far segments differ."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from frame_prc._frames.border import FrameT
from frame_prc._request.comparisons import (
    chance_test,
    check_long,
    check_measure,
    check_rows,
    check_segments,
    paired,
    paired_test,
)
from frame_prc._request.options import comparison, reference, resampling
from frame_prc._request.roles import Request, check_one_grouping
from frame_prc._request.specs import Adjust, Against, Measure, PairedTest
from frame_prc._rows.long import PLACEHOLDERS, of_models
from frame_prc._rows.table import Table
from frame_prc._tables.chance_test import ChanceTests
from frame_prc._tables.compare import Differences
from frame_prc._tables.heterogeneity import Heterogeneity
from frame_prc._tables.paired import PairedDifferences
from frame_prc.evaluation.base import OF_EVALUATION_OR_95, Evaluated
from frame_prc.evaluation.verb import verb


class ComparisonVerbs(Evaluated[FrameT]):
    """The verbs that compare."""

    @verb
    def compare(
        self,
        *,
        ci: float = OF_EVALUATION_OR_95,
        baseline: str | None = None,
        against: Against | None = None,
        measure: Measure | None = None,
        calibrate: float | Literal["pooled"] | None = None,
        over: str | None = None,
        method: PairedTest = "t",
        replicates: int = 1000,
        seed: int | None = None,
        adjust: Adjust | None = None,
    ) -> FrameT:
        """Compare models, or segments with each other or with chance.

        Parameters
        ----------
        ci
            The level of the confidence interval for the difference in the population from which the
            rows were sampled.
        baseline
            The name of a model. Each other model is compared with it, instead of each with each.
        against
            What each segment is compared with; each model is compared with itself. ``"others"``:
            the other segments, each ranked by itself; ``ap_b`` is the mean of their areas, weighted
            by their positives, which are taken as given. ``"rest"``: all rows outside it, ranked as
            one list. The work is rows times segments: 400,000 rows in 2,000 segments take a minute
            or two, and a product above 4 billion is an error. ``"overall"``: all rows, including
            its own, as one list. If scores are higher where positives are more frequent, one list
            is easier to rank than its segments, and all of them may look worse than it: then
            compare with the others. ``"previous"``: the segment before it in the order of the last
            key in ``by``, such as the week before, among those with the same other keys; a segment
            that does not occur is skipped, and a null key has no place in this order. Text keys are
            in the order of text (``"W10"`` before ``"W2"``). A dictionary such as ``{"region":
            "north"}``: the segment with these values of the keys, among those with the same other
            keys; ``None`` stands for a missing key. ``"random"``: test whether each segment (or,
            without ``by``, each model) is better than a random order of its labels; needs NumPy,
            and does not take ``cluster``. Then ``ap_b`` is ``random_average_precision`` as in
            :func:`summary`, and the p-value is one-sided: ``(1 + hits) / (1 + replicates)``, with
            hits the random orders whose average precision is at least ``ap_a``, up to a relative
            rounding error of 1e-12. Scores, ties and weights stay with their rows; only labels
            move.
        measure
            ``"calibrated"``: compare the calibrated average precision, with both sides at the same
            prevalence. ``"average_precision"``: compare it as it is; it grows with the prevalence,
            so segments of unequal prevalence differ for that reason alone. By default segments are
            compared by the calibrated one, and models, which have the same rows, by the plain one.
        calibrate
            The prevalence for ``measure="calibrated"``: a number between 0 and 1, or ``"pooled"``,
            the default: the share of positives of all rows of the model.
        over
            A key in ``by`` whose segments are themselves a sample (queries, users, folds) that
            stands for others like them. Models are then compared by the mean of their differences
            over these segments, within each combination of the other keys: a paired test with
            segments as the independent units. Not with ``against`` or ``cluster``.
        method
            The test with ``over``. ``"t"``: Student's t. ``"permutation"``: flip the signs of the
            differences; needs NumPy. With up to 16 segments all combinations of signs are
            evaluated, otherwise ``replicates`` random ones, and the p-value is ``(1 + hits) / (1 +
            replicates)``.
        replicates
            Number of random permutations, up to 1,000,000. No p-value is below ``1 / (1 +
            replicates)``, unless all combinations of signs are evaluated.
        seed
            Integer that makes random permutations reproducible: the same seed gives the same
            p-value for any kind of frame, any order of the rows, and any other segments. ``None``
            draws new ones each time.
        adjust
            Add ``p_adjusted``, the p-values corrected for multiple testing over all rows of the
            result that have one: ``"holm"`` controls the probability of any false positive,
            ``"bh"`` (Benjamini & Hochberg 1995) the expected share of false positives. The
            intervals are not corrected.

        Returns
        -------
        Same kind as ``frame``
            The keys, then ``model_a, model_b`` (String; with ``against``, a column ``against``
            instead), ``n, n_pos`` of the segment as in :func:`average_precision`, ``ap_a, ap_b``
            (the average precision of the two models; with ``against``, of the segment and of what
            it is compared with), ``difference`` (``ap_a - ap_b``), ``std_error, ci_low, ci_high,
            p_value`` (Float64; two-sided), ``p_adjusted`` if requested, and ``status`` (String) as
            in :func:`average_precision`, but never ``"below_chance"``; with ``against``, it
            describes the worse of the two sides. With ``missing="drop"``, also ``n_dropped``.
            Sorted by the keys, then in the order of the models. A baseline is ``model_b``.

            With ``against``, also ``measure``, before ``n``, and after ``n_pos`` ``prevalence_a,
            prevalence_b`` of both sides. For ``measure="calibrated"``, ``reference_prevalence`` is
            the prevalence that ``ap_a`` and ``ap_b`` are calibrated to. A segment that has nothing
            to be compared with, such as the first week, has nulls and the status ``"no_other"``. A
            named segment is in the result too, with a difference of 0 and no test.

            With ``against="random"`` there is no measure, prevalence, ``std_error`` or interval,
            and the p-value is null if there are no positives or no negatives. The test also holds
            for few positives, so ``status`` is never ``"few_positives"``.

            With ``over``, the keys are the others, ``n_segments`` (how many have an average
            precision) and ``n_undefined`` (how many do not) replace ``n, n_pos``, and ``ap_a,
            ap_b`` are means over the segments. ``std_error`` and the interval are those of the mean
            difference, by Student's t; they are null if all differences are equal. ``status`` is
            ``"ok"``, or ``"few_segments"`` with fewer than 6.

        Raises
        ------
        ColumnError, OptionError, FrameError
            At the call, for invalid parameters, for columns that do not exist or have the wrong
            dtype, and if there is nothing to compare.
        DataError
            If the data contain invalid values. For a lazy frame, when the result is collected.

        Notes
        -----
        The standard error comes from the difference of the two influences of each row (with
        ``cluster``, of each cluster), so it accounts for models that find the same rows hard, and
        for clusters that have rows on both sides. The interval is for the plain difference, while
        the p-value tests the difference of the two logits; if they disagree, go by the p-value.
        Standard error, interval and p-value are null if the rows show no spread: two models that
        rank alike, a single positive, or an area of 1 or 0 with fewer than 20 effective positives.
        ``docs/statistics.md`` in the repository has the formulas and simulated error rates.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame(
        ...     {
        ...         "late": [True, False, True, False, True, False],
        ...         "old": [0.5, 0.8, 0.3, 0.6, 0.7, 0.2],
        ...         "new": [0.9, 0.8, 0.7, 0.4, 0.6, 0.3],
        ...     }
        ... )
        >>> df.prc.compare("late", ["new", "old"]).select(
        ...     "model_a", "model_b", "ap_a", "ap_b", "difference", "std_error", "p_value"
        ... )
        shape: (1, 7)
        ┌─────────┬─────────┬──────────┬──────────┬────────────┬───────────┬─────────┐
        │ model_a ┆ model_b ┆ ap_a     ┆ ap_b     ┆ difference ┆ std_error ┆ p_value │
        │ ---     ┆ ---     ┆ ---      ┆ ---      ┆ ---        ┆ ---       ┆ ---     │
        │ str     ┆ str     ┆ f64      ┆ f64      ┆ f64        ┆ f64       ┆ f64     │
        ╞═════════╪═════════╪══════════╪══════════╪════════════╪═══════════╪═════════╡
        │ new     ┆ old     ┆ 0.805556 ┆ 0.533333 ┆ 0.272222   ┆ 0.179627  ┆ 0.35314 │
        └─────────┴─────────┴──────────┴──────────┴────────────┴───────────┴─────────┘
        """
        self._check_frame(takes_counts=False)
        asked, level = self._request, self._level(ci)
        cluster = asked.cluster
        check_rows(asked)
        drawn = resampling(replicates, seed, False, None)
        test = paired_test(against, over, method, drawn)
        is_random = isinstance(against, str) and against == "random"
        if over is not None or is_random:
            check_measure(measure, calibrate)
        check_long(asked, against)
        if is_random:
            return self._table(ChanceTests(chance_test(drawn, adjust, baseline, cluster)))

        def table(models: Request, base: str | None = baseline) -> Table:
            """Return what compares the models of a request."""
            if over is not None:
                over_segments = paired(models, level, base, over, test, drawn, adjust, cluster)
                return PairedDifferences(over_segments)
            compared = comparison(
                models,
                level,
                baseline=base,
                against=against,
                measure=measure,
                calibrate=calibrate,
                adjust=adjust,
            )
            return Differences(compared)

        if against is not None:
            return self._table(table(asked))
        if asked.model is not None:
            # Its models are not known before it is read, but the columns of the result are.
            return self._table_by_model(table(of_models(asked, PLACEHOLDERS), None), table)
        return self._table(table(asked), replace(asked, side_by_side=True))

    @verb
    def heterogeneity(
        self,
        *,
        measure: Measure = "calibrated",
        calibrate: float | Literal["pooled"] | None = None,
    ) -> FrameT:
        """How far segments differ, and how much of it is sampling.

        The more segments there are and the smaller they are, the further their average precisions
        are apart by chance alone. Compare ``gap`` with ``gap_if_equal`` before you explain it.

        Parameters
        ----------
        measure
            ``"calibrated"``: the calibrated average precision, with all segments at the same
            prevalence. ``"average_precision"``: as it is; then segments of unequal prevalence
            differ for that reason alone.
        calibrate
            The prevalence for ``measure="calibrated"``: a number between 0 and 1, or ``"pooled"``,
            the default: the share of positives of all rows of the model.

        Returns
        -------
        Same kind as ``frame``
            One row, or one per model, with the columns

            - ``n_segments``: how many segments are compared, and ``n_left_out``: how many are not,
              because they have no standard error (no or one positive, or an average precision of
              exactly 0 or 1); ``n_few``: how many of those compared have fewer than 20 effective
              positives, or too few negatives for the prevalence. With such segments, and up to
              about 50 positives each, the test rejects too often;
            - ``best_<key>`` for each key, ``best_ap``, ``worst_<key>`` for each key, ``worst_ap``:
              the segments with the highest and the lowest average precision;
            - ``gap``: ``best_ap - worst_ap``; ``gap_if_equal``: the gap that sampling alone would
              be expected to show if all segments had the same average precision;
            - ``q, p_value``: Cochran's Q and its p-value, a test of whether all segments have the
              same average precision;
            - ``i_squared``: the share of the variation between segments that is not sampling, from
              0 to 1; ``tau``: the standard deviation of the segments' true average precisions, by
              the method of moments (DerSimonian & Laird 1986).

            With fewer than two segments, all numbers from ``gap_if_equal`` on are null.

        Raises
        ------
        ColumnError, OptionError, FrameError
            At the call, for invalid parameters and for columns that do not exist or have the wrong
            dtype.
        DataError
            If the data contain invalid values. For a lazy frame, when the result is collected.

        Notes
        -----
        Q, ``tau`` and ``gap_if_equal`` are computed from the logits of the average precisions and
        their standard errors, and the last two converted back at the mean. Formulas and simulated
        error rates are in ``docs/statistics.md`` in the repository.

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
        >>> table = df.prc.heterogeneity("late", score, by="region")
        >>> table.select("^best_.*$", "^worst_.*$", "gap", "gap_if_equal")
        shape: (1, 6)
        ┌─────────────┬──────────┬──────────────┬──────────┬──────────┬──────────────┐
        │ best_region ┆ best_ap  ┆ worst_region ┆ worst_ap ┆ gap      ┆ gap_if_equal │
        │ ---         ┆ ---      ┆ ---          ┆ ---      ┆ ---      ┆ ---          │
        │ i64         ┆ f64      ┆ i64          ┆ f64      ┆ f64      ┆ f64          │
        ╞═════════════╪══════════╪══════════════╪══════════╪══════════╪══════════════╡
        │ 2           ┆ 0.625394 ┆ 0            ┆ 0.56697  ┆ 0.058424 ┆ 0.106426     │
        └─────────────┴──────────┴──────────────┴──────────┴──────────┴──────────────┘
        """
        self._check_frame()
        check_one_grouping(self._request)
        check_segments(self._request)
        return self._table(Heterogeneity(reference(measure, calibrate)))
