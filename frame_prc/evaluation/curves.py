"""Curves: every point, bands around them, and the counts that they are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, get_args

from frame_prc._frames.border import FrameT
from frame_prc._request import options
from frame_prc._request.hints import check_numpy
from frame_prc._request.points import check_probabilities
from frame_prc._request.roles import check_option
from frame_prc._request.specs import STARTS, Draws, Keep, Start, Strategy
from frame_prc.evaluation.base import (
    OF_EVALUATION,
    OF_EVALUATION_OR_95,
    Evaluated,
    given_reference,
    verb,
)
from frame_prc.exceptions import OptionError

if TYPE_CHECKING:
    from frame_prc._frames.border import AnyFrame


class CurveVerbs(Evaluated[FrameT]):
    """The verbs that return points."""

    @verb
    def curve(
        self,
        *,
        start: Start = "one",
        keep: Keep = "all",
        envelope: bool = False,
        gain: bool = False,
        calibrate: float | Literal["highest", "pooled"] | AnyFrame | None = None,
        thresholds: int | Sequence[float] | None = None,
        ci: float | None = OF_EVALUATION,
        recalls: int | Sequence[float] | None = None,
        over: str | None = None,
    ) -> FrameT:
        """Precision and recall at every threshold of each segment.

        A row is predicted positive at a threshold if ``score >= threshold``, or with ``ascending``
        if ``score <= threshold``.

        Parameters
        ----------
        start
            The point at recall 0 that opens each segment, at threshold ``inf``. ``"one"``:
            precision 1, as in scikit-learn and yardstick. ``"first"``: the precision of the first
            real point, as in precrec, PRROC and Spark. ``None``: no such row.
        keep
            ``"all"``: every point. ``"corners"``: only the first and the last point at each number
            of true positives; they draw the same line and have the same areas and envelope. An
            integer of 5 or more: at most this many of the corners in each segment, always with the
            start, the end, and the corners of highest and lowest precision. The column
            ``precision_error`` then says how far the steps through these points are from the curve
            at most.
        envelope
            Add a column ``envelope``: the largest precision at this recall or a higher one.
        gain
            Add ``precision_gain`` and ``recall_gain``: 1 is perfect, and 0 is the result of calling
            every row positive (Flach & Kull 2015, NIPS).
        calibrate
            Add ``precision_calibrated``: the precision of the same ranking at this prevalence, as
            in :func:`operating_points` (Siblini et al. 2020, arXiv 1909.02827).
        thresholds
            Bin the scores, as in :func:`average_precision`. The curve of every segment has these
            thresholds.
        ci
            Add ``precision_low, precision_high``: an interval of the precision at each threshold by
            itself, as that of the measure ``precision`` in :func:`summary`; with ``calibrate`` also
            ``precision_calibrated_low, precision_calibrated_high``, but not with ``cluster``. For
            weighted rows, and for a band around the curve, see :func:`band`.
        recalls
            Return the curve on a common grid of recalls instead: an ascending list, or how many to
            space equally from 0 to 1. The point of each is that of the highest threshold that
            reaches it; of recall 0, that of the first true positive, as there is no start point.
            Without ``keep, envelope, gain, calibrate, ci``.
        over
            With ``recalls``, a key in ``by``, such as the fold, over whose segments the precision
            at each recall is averaged. Scores of different folds are never compared.

        Returns
        -------
        Same kind as ``frame``
            The keys, then ``threshold, tp, fp, fn, tn, precision, recall``; with the options that
            add them also ``envelope``, ``precision_gain, recall_gain``, ``precision_calibrated``,
            ``precision_error``, ``precision_low, precision_high``, and with both
            ``precision_calibrated_low, precision_calibrated_high``. Thresholds have the float dtype
            of the score, Float64 for integers and decimals: those that round to one, as beyond
            2^53, are one threshold. Sorted by the keys, then by threshold so that recall ascends.
            Undefined values are null: recall without positives, precision at a given threshold that
            no row reaches, gains before the first true positive.

            With ``recalls``, ``at_recall`` comes before ``threshold``, every segment has a row for
            each, ascending, and the rest is null where no threshold reaches the recall. With
            ``over``, there are only ``at_recall, precision, n_segments``, the number of segments
            that reach the recall.

        Notes
        -----
        Inside DuckDB, Spark and Ibis there is no ``gain, calibrate, ci, recalls, keep=<number>``.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame({"late": [True, False, True, False], "score": [0.9, 0.4, 0.4, 0.2]})
        >>> df.prc.curve("late", "score")
        shape: (4, 7)
        ┌───────────┬─────┬─────┬─────┬─────┬───────────┬────────┐
        │ threshold ┆ tp  ┆ fp  ┆ fn  ┆ tn  ┆ precision ┆ recall │
        │ ---       ┆ --- ┆ --- ┆ --- ┆ --- ┆ ---       ┆ ---    │
        │ f64       ┆ i64 ┆ i64 ┆ i64 ┆ i64 ┆ f64       ┆ f64    │
        ╞═══════════╪═════╪═════╪═════╪═════╪═══════════╪════════╡
        │ inf       ┆ 0   ┆ 0   ┆ 2   ┆ 2   ┆ 1.0       ┆ 0.0    │
        │ 0.9       ┆ 1   ┆ 0   ┆ 1   ┆ 2   ┆ 1.0       ┆ 0.5    │
        │ 0.4       ┆ 2   ┆ 1   ┆ 0   ┆ 1   ┆ 0.666667  ┆ 1.0    │
        │ 0.2       ┆ 2   ┆ 2   ┆ 0   ┆ 0   ┆ 0.5       ┆ 1.0    │
        └───────────┴─────┴─────┴─────┴─────┴───────────┴────────┘
        """
        from frame_prc._curves.curve import Curve, Extras
        from frame_prc._tables.curves import RecallGrid

        asked = self._request
        start, kept = check_option("start", start, STARTS), options.points_to_keep(keep)
        envelope = check_option("envelope", envelope, (True, False))
        gain = check_option("gain", gain, (True, False))
        level = self._level_or_none(ci, has_interval=recalls is None)
        extras = Extras(envelope, gain, given_reference(calibrate), level)
        bins = options.bins_of(thresholds, ascending=asked.ascending)
        grid = options.recall_grid(recalls, over, start=start, keep=kept, extras=extras.columns())
        if engine := self._engine:
            refused = {"gain": gain, "calibrate": calibrate is not None, "ci": level is not None}
            refused |= {"recalls": grid is not None, "keep": isinstance(kept, int)}
            return self._inside(engine, Curve(start, kept, bins, extras), refused)
        if grid is not None:
            return self._table(RecallGrid(grid, bins, over))
        return self._table(Curve(start, kept, bins, extras))

    @verb
    def band(
        self,
        *,
        recalls: int | Sequence[float] = 101,
        ci: float = OF_EVALUATION_OR_95,
        simultaneous: bool = False,
        calibrate: float | Literal["highest", "pooled"] | AnyFrame | None = None,
        bootstrap: int | Draws = 1000,
    ) -> FrameT:
        """Precision on a grid of recalls, with a pointwise or simultaneous band.

        Pointwise means that it covers the precision in the population with probability ``ci`` at
        each recall by itself, and a whole curve less often. It comes from a bootstrap, which needs
        NumPy, and is at least as wide as the exact interval of a precision.

        Parameters
        ----------
        recalls
            The recalls: an ascending list, or how many to space equally from 0 to 1.
        ci
            The confidence level at each recall, or of the whole band.
        simultaneous
            Cover all recalls of the grid at once with probability ``ci`` (a rank envelope). Recalls
            close to 1, where the status is not ``"ok"``, make it wider: end the list before them.
        calibrate
            The prevalence of the precision, as in :func:`operating_points`. For single rows.
        bootstrap
            How many data sets are resampled, at least ``2 / (1 - ci)``, or :class:`Draws`.

        Returns
        -------
        Same kind as ``frame``
            The keys, then ``recall, precision, precision_low, precision_high, status``. Precision
            is that of the highest threshold that reaches the recall, which is the height of the
            steps whose area is the average precision, and null if none does. ``status`` is
            ``"few_positives"`` with fewer than 20 positives (effective ones, with weights), or
            fewer than 4 beyond the recall, so always close to 1: the band may then cover less.
            Otherwise it is that of :func:`average_precision`. Sorted by the keys, then by recall
            ascending: every segment has the same rows.

        Notes
        -----
        The band lies between two percentiles of the precision over the replicates that reach the
        recall, or the limits of Clopper & Pearson (1934) for the rows retrieved there, if these are
        farther away. Coverage: ``examples/guide/statistics.md``.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame(
        ...     {"late": [1, 1, 0, 1, 0, 0, 1, 0] * 20, "score": [8, 7, 6, 5, 4, 3, 2, 1] * 20}
        ... )
        >>> df.prc.band("late", "score", recalls=5, bootstrap=frame_prc.Draws(1000, seed=1))
        shape: (5, 5)
        ┌────────┬───────────┬───────────────┬────────────────┬───────────────┐
        │ recall ┆ precision ┆ precision_low ┆ precision_high ┆ status        │
        │ ---    ┆ ---       ┆ ---           ┆ ---            ┆ ---           │
        │ f64    ┆ f64       ┆ f64           ┆ f64            ┆ str           │
        ╞════════╪═══════════╪═══════════════╪════════════════╪═══════════════╡
        │ 0.0    ┆ 1.0       ┆ 0.831567      ┆ 1.0            ┆ ok            │
        │ 0.25   ┆ 1.0       ┆ 0.831567      ┆ 1.0            ┆ ok            │
        │ 0.5    ┆ 1.0       ┆ 0.67049       ┆ 1.0            ┆ ok            │
        │ 0.75   ┆ 0.75      ┆ 0.5           ┆ 0.84012        ┆ ok            │
        │ 1.0    ┆ 0.571429  ┆ 0.485109      ┆ 0.657386       ┆ few_positives │
        └────────┴───────────┴───────────────┴────────────────┴───────────────┘
        """
        from frame_prc._tables.curves import Band

        self._check_frame()
        grid, level = options.recall_list(recalls), self._level(ci)
        drawn = options.draws("bootstrap", bootstrap, self._request.cluster) or Draws()
        options.check_enough_drawn(drawn, level)
        check_numpy()
        check_option("simultaneous", simultaneous, (True, False))
        return self._table(Band(grid, level, drawn, simultaneous, given_reference(calibrate)))

    @verb
    def reliability(
        self,
        *,
        bins: int | Sequence[float] = 10,
        strategy: Strategy = "uniform",
        ci: float | None = OF_EVALUATION_OR_95,
        details: bool = False,
    ) -> FrameT:
        """How often rows of like probabilities are positive.

        The table of a reliability diagram: of calibrated probabilities ``observed`` is
        ``mean_score`` in every bin, but for sampling.

        Parameters
        ----------
        bins
            How many bins of equal width from 0 to 1, from 2 to 1,000, or their edges, ascending
            from 0 to 1. A score on an edge is in the bin above it, and 1 in the last.
        strategy
            ``"quantile"``: so many bins with the same number of rows, but for ties, from the lowest
            score in each (``bin_low``) to the highest.

        Returns
        -------
        Same kind as ``frame``
            The keys, then ``bin_low, n, mean_score, observed, observed_low, observed_high,
            status``, with ``details`` also ``bin_high, n_pos, calibration_error,
            calibration_error_by_chance``, all of the rows, or their weights, in the bin.
            ``status`` is ``"few_rows"`` below 20 effective rows. Bins without rows are left out.
            Sorted by the keys, then by the bins.

        Notes
        -----
        Intervals are those of shares, as of the measure ``precision``. For one number see
        ``calibration_gap`` and ``brier`` in :func:`summary`. To recalibrate scores is the work of
        other libraries, such as scikit-learn's ``calibration``.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame({"late": [True, False, True, False], "p": [0.9, 0.6, 0.7, 0.2]})
        >>> df.prc.reliability("late", "p", bins=2)
        shape: (2, 7)
        ┌─────────┬─────┬────────────┬──────────┬──────────────┬───────────────┬──────────┐
        │ bin_low ┆ n   ┆ mean_score ┆ observed ┆ observed_low ┆ observed_high ┆ status   │
        │ ---     ┆ --- ┆ ---        ┆ ---      ┆ ---          ┆ ---           ┆ ---      │
        │ f64     ┆ i64 ┆ f64        ┆ f64      ┆ f64          ┆ f64           ┆ str      │
        ╞═════════╪═════╪════════════╪══════════╪══════════════╪═══════════════╪══════════╡
        │ 0.0     ┆ 1   ┆ 0.2        ┆ 0.0      ┆ 0.0          ┆ 0.975         ┆ few_rows │
        │ 0.5     ┆ 3   ┆ 0.733333   ┆ 0.666667 ┆ 0.002424     ┆ 0.999935      ┆ few_rows │
        └─────────┴─────┴────────────┴──────────┴──────────────┴───────────────┴──────────┘
        """
        from frame_prc._tables.curves import Reliability

        is_quantile = check_option("strategy", strategy, get_args(Strategy)) == "quantile"
        if is_quantile and options.is_list(bins):
            raise OptionError("strategy='quantile' is given with edges in bins=", "one of them")
        table = Reliability(options.bin_edges(bins), self._level_beside(ci), is_quantile)
        check_probabilities(self._request, table.measure_names)
        limits = ci is not None
        if is_quantile and (engine := self._engine):
            return self._table_of_counts(table, engine, details=details, limits=limits)
        return self._table(table, details=details, limits=limits)

    @verb
    def counts(
        self,
        *,
        thresholds: int | Sequence[float] | None = None,
        squares: bool = False,
    ) -> FrameT:
        """Positives and negatives at each score, or in each bin.

        Counts are all that a curve or an area needs, and counts of parts can be added up. Count
        files or days separately, add the counts up with :func:`frame_prc.merge_counts`, and pass
        the result to any verb with ``score="threshold", pos="pos", neg="neg"``.

        Parameters
        ----------
        thresholds
            Bin the scores, as in :func:`average_precision`. For a list that divides the rows evenly
            see :func:`frame_prc.quantile_thresholds`. Binning takes one pass over the rows, and
            memory only for the counts.
        squares
            Add ``pos_squares`` and ``neg_squares``, the sums of squared weights. An interval of the
            average precision needs them beside sums of weights. Without weights they equal the
            counts.

        Returns
        -------
        Same kind as ``frame``
            The keys, then ``threshold, pos, neg``, with ``squares`` also ``pos_squares,
            neg_squares``. Sorted by the keys, then by threshold descending. The threshold is the
            score, in its own dtype. Rows that are never retrieved come last in their segment, with
            a null threshold; a verb that is given these counts needs ``missing="unretrieved"``.
            With ``thresholds``, a column ``below`` follows ``threshold``, both as floats, and only
            bins with rows are returned. With ``ascending``, thresholds ascend, and a column
            ``above`` replaces ``below``: a bin holds the scores above it, up to ``threshold``.

        Notes
        -----
        Inside DuckDB, Spark and Ibis (see :func:`evaluate`) there is no ``squares``.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame({"late": [True, False, True, False], "score": [0.9, 0.4, 0.4, 0.2]})
        >>> df.prc.counts("late", "score")
        shape: (3, 3)
        ┌───────────┬─────┬─────┐
        │ threshold ┆ pos ┆ neg │
        │ ---       ┆ --- ┆ --- │
        │ f64       ┆ i64 ┆ i64 │
        ╞═══════════╪═════╪═════╡
        │ 0.9       ┆ 1   ┆ 0   │
        │ 0.4       ┆ 1   ┆ 1   │
        │ 0.2       ┆ 0   ┆ 1   │
        └───────────┴─────┴─────┘
        """
        from frame_prc._curves.curve import Counts

        asked = self._request
        squares = check_option("squares", squares, (True, False))
        bins = options.bins_of(thresholds, ascending=asked.ascending)
        table = Counts(bins, squares)
        if engine := self._engine:
            return self._inside(engine, table, {})
        return self._table(table)
