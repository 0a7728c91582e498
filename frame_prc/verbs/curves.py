"""Curves: every point, points that meet a target, bands, and lines to draw behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import polars as pl

from frame_prc._curves.curve import Curve, Extras
from frame_prc._curves.operating_points import iso_lines
from frame_prc._engines.engine import engine_of
from frame_prc._formulas import normal_quantile
from frame_prc._frames.border import FrameT, check_frame
from frame_prc._inference.bootstrap import Band
from frame_prc._request.options import (
    bins_of,
    check_cluster,
    confidence,
    f_scores_and_steps,
    points_to_keep,
    prevalence,
    recall_grid,
    recall_list,
    resampling,
)
from frame_prc._request.packages import check_numpy
from frame_prc._request.roles import check_option, request
from frame_prc._request.specs import (
    STARTS,
    IntoColumn,
    IntoKeys,
    IntoScores,
    Keep,
    Missing,
    Start,
)
from frame_prc._tables.recall_grid import RecallGrid
from frame_prc.verbs.run import engine_verbs, run
from frame_prc.verbs.verb import verb

if TYPE_CHECKING:
    pass


@verb
def curve(
    frame: FrameT,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    by: IntoKeys | None = None,
    weight: IntoColumn | None = None,
    pos_label: object = None,
    missing: Missing = "raise",
    pos: IntoColumn | None = None,
    neg: IntoColumn | None = None,
    ascending: bool = False,
    model: IntoColumn | None = None,
    start: Start = "one",
    keep: Keep = "all",
    envelope: bool = False,
    gain: bool = False,
    calibrate: float | None = None,
    thresholds: int | Sequence[float] | None = None,
    ci: float | None = None,
    cluster: IntoColumn | None = None,
    recalls: int | Sequence[float] | None = None,
    over: str | None = None,
) -> FrameT:
    """Precision and recall at every threshold of each segment.

    A row is predicted positive at a threshold if ``score >= threshold``, or with ``ascending`` if
    ``score <= threshold``.

    Parameters
    ----------
    frame
        Polars ``DataFrame`` or ``LazyFrame``, pandas, Arrow or Narwhals frame: one row per item.
    truth
        Column of the true class: Boolean, or 0/1 numbers, or any dtype with ``pos_label``.
    score
        Column of scores, of any numeric dtype; higher means more likely positive. Pass a list of
        columns, or ``{name: column}``, to evaluate several models; the result then begins with a
        key column ``model``.
    by
        Segment keys: a column, an expression, a selector, or a list of them. Without it, all rows
        are one segment. A list of lists, such as ``[["region"], ["region", "device"], []]``, makes
        several groupings in one result: a first column ``grouping`` names the keys of each row
        (``"region, device"``; ``"all rows"``), and the keys that it does not have are null.
    weight
        Column of sample weights, non-negative and finite. Rows of weight 0 are ignored, even if
        another of their values is missing; a segment without other rows is not in the result.
        Other weights must be at least 1e-150, and their sum below 1e150.
    pos_label
        The value of ``truth`` that is the positive class; all other values are negative. It is an
        error if the value never occurs.
    missing
        How to treat null, and NaN in truth or score. ``"raise"``: raise an error that counts them.
        ``"drop"``: leave such rows out, separately for each model. ``"unretrieved"``: count a row
        without a score in the totals, as one that no threshold retrieves; a missing truth still
        raises.
    pos, neg
        Columns with the number of positives and of negatives in each row, instead of ``truth``, for
        data that are already aggregated. Rows with the same score are added up. Integers are counts
        of rows; floats are sums of weights, even if all of them are whole numbers.
    ascending
        ``True`` if a lower score means more likely positive, as for distances and ranks. A row is
        then predicted positive if ``score <= threshold``, and thresholds ascend along a curve, from
        ``-inf`` at the start point. Where this text speaks of the highest score or threshold, the
        lowest is meant, and the reverse. Thresholds are on the scale of the scores as given.
    model
        Column that names the model of each row, for long data with a row per item and model;
        ``score`` is then one column. It becomes the first key of the result, called ``model``.
    start
        The point at recall 0 that opens each segment, at threshold ``inf``. ``"one"``: precision 1,
        as in scikit-learn and yardstick. ``"first"``: the precision of the first real point, as in
        precrec, PRROC and Spark. ``None``: no such row.
    keep
        ``"all"``: every point. ``"corners"``: only the first and the last point at each number of
        true positives; they draw the same line and have the same areas and envelope. An integer of
        5 or more: at most this many of the corners in each segment, always with the start, the end,
        and the corners of highest and lowest precision. The column ``precision_error`` then says
        how far the steps through these points are from the curve at most.
    envelope
        Add a column ``envelope``: the largest precision at this point or any later one, at higher
        recall (PASCAL VOC 2010, Detectron).
    gain
        Add ``precision_gain`` and ``recall_gain``: 1 is perfect, and 0 is the result of calling
        every row positive (Flach & Kull 2015, NIPS).
    calibrate
        Add ``precision_calibrated``: the precision that the same ranking would have at this
        prevalence, which makes segments of different prevalence comparable (Siblini et al. 2020,
        arXiv 1909.02827).
    thresholds
        Bin the scores: an ascending list of thresholds, or how many to space equally from 0 to 1. A
        number is for probabilities: scores below 0 or above 1.001 are then an error. Thresholds
        that are equal in the dtype of the scores are merged. A score counts at the highest
        threshold that it reaches. Rows below the lowest threshold of a list are never retrieved,
        unless the list begins with ``float("-inf")``. The curve of every segment has these
        thresholds.
    ci
        Add ``precision_low, precision_high``: for each threshold by itself, a confidence interval
        of this level, for example ``0.95``, for the precision in the population (Wilson 1927, JASA
        22:209). With ``cluster``, it is that of the effective number of rows (Korn & Graubard 1998,
        Survey Methodology 24:193). Not with weights, because sums of weights are not counts of
        rows. For weighted rows, and for a band around the curve, see :func:`band`.
    cluster
        Column that names groups of rows that are not independent (same user, same day); the groups
        are then taken as independent. For single rows only.
    recalls
        Return the curve on a common grid of recalls instead: an ascending list, or how many to
        space equally from 0 to 1. The point of each is that of the highest threshold that reaches
        it; of recall 0, that of the first true positive, as there is no start point. Without
        ``keep``, ``envelope``, ``gain``, ``calibrate`` and ``ci``.
    over
        With ``recalls``, a key in ``by``, such as the fold, over whose segments the precision at
        each recall is averaged. The mean curve is not the curve of the pooled rows: scores of
        different folds are never compared with each other.

    Returns
    -------
    Same kind as ``frame``
        The keys, then ``threshold`` (the score's float dtype; Float64 for integers and decimals),
        ``tp, fp, fn, tn`` (Int64; Float64 if weighted), ``precision, recall`` (Float64, from 0 to
        1) and the columns requested. Sorted by the keys, then by threshold descending (with
        ``ascending``, ascending), so recall ascends and the rows are in drawing order. Undefined
        values are null: recall in a segment without positives, precision at a given threshold that
        no row reaches, gains before the first true positive, and an interval of precision where no
        row is retrieved.

        With ``recalls``, ``at_recall`` (Float64) comes before ``threshold``, every segment has a
        row for each, ascending, and the rest is null where no threshold reaches the recall. With
        ``over``, there are only ``at_recall``, ``precision`` and ``n_segments``, the number of
        segments that reach the recall.

    Raises
    ------
    ColumnError, OptionError, FrameError
        At the call, for invalid parameters and for columns that do not exist or have the wrong
        dtype.
    DataError
        If the data contain invalid values. For a lazy frame, when the result is collected.

    Notes
    -----
    Also takes a DuckDB relation, a PySpark DataFrame or an Ibis table, with columns given by name.
    The result is a lazy frame of the same engine, which does all the work and reports invalid data
    with an error of its own. At the call, the values of an Ibis table are checked, by one query
    with one row; a PySpark frame is sampled once, to cut large segments into ranges. Results of
    DuckDB and Ibis are sorted, Spark's is not. There, ``gain``, ``calibrate``, ``ci`` and
    ``keep=<number>`` are not available, and ``thresholds`` is limited to 1,000.

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
    check_frame(frame, engines=True)
    start = check_option("start", start, STARTS)
    kept = points_to_keep(keep)
    envelope = check_option("envelope", envelope, (True, False))
    gain = check_option("gain", gain, (True, False))
    check_cluster(cluster, ci)
    z = None if ci is None else normal_quantile(confidence(ci))
    extras = Extras(envelope, gain, prevalence(calibrate), z)
    bins = bins_of(thresholds, ascending=ascending)
    asked = request(
        truth,
        score,
        by=by,
        weight=weight,
        pos_label=pos_label,
        missing=missing,
        pos=pos,
        neg=neg,
        ascending=ascending,
        model=model,
        cluster=cluster,
    )
    grid = recall_grid(recalls, over, start=start, keep=kept, extras=extras.columns())
    if engine := engine_of(frame):
        thinned = isinstance(kept, int)
        refused = {"gain": gain, "calibrate": calibrate is not None, "ci": ci is not None}
        refused |= {"recalls": grid is not None, "keep": thinned}
        verbs = engine_verbs(engine, asked, refused)
        points = verbs.curve(engine, frame, asked, start, keep, bins, envelope=envelope)
        return cast("FrameT", points)
    if grid is not None:
        return run(frame, asked, RecallGrid(grid, bins, over))
    return run(frame, asked, Curve(start, kept, bins, extras))


@verb
def band(
    frame: FrameT,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    by: IntoKeys | None = None,
    weight: IntoColumn | None = None,
    pos_label: object = None,
    missing: Missing = "raise",
    pos: IntoColumn | None = None,
    neg: IntoColumn | None = None,
    ascending: bool = False,
    model: IntoColumn | None = None,
    recalls: int | Sequence[float] = 101,
    ci: float = 0.95,
    cluster: IntoColumn | None = None,
    replicates: int = 1000,
    stratified: bool = False,
    seed: int | None = None,
) -> FrameT:
    """Precision on a grid of recalls, with a band around each curve.

    The band is pointwise: it covers the precision in the population with probability ``ci`` at each
    recall by itself, and a whole curve less often. It comes from a bootstrap, which needs NumPy.

    Parameters
    ----------
    frame
        Polars ``DataFrame`` or ``LazyFrame``, pandas, Arrow or Narwhals frame: one row per item.
    truth
        Column of the true class: Boolean, or 0/1 numbers, or any dtype with ``pos_label``.
    score
        Column of scores, of any numeric dtype; higher means more likely positive. Pass a list of
        columns, or ``{name: column}``, to evaluate several models; the result then begins with a
        key column ``model``.
    by
        Segment keys: a column, an expression, a selector, or a list of them. Without it, all rows
        are one segment. A list of lists, such as ``[["region"], ["region", "device"], []]``, makes
        several groupings in one result: a first column ``grouping`` names the keys of each row
        (``"region, device"``; ``"all rows"``), and the keys that it does not have are null.
    weight
        Column of sample weights, non-negative and finite. Rows of weight 0 are ignored, even if
        another of their values is missing; a segment without other rows is not in the result.
        Other weights must be at least 1e-150, and their sum below 1e150.
    pos_label
        The value of ``truth`` that is the positive class; all other values are negative. It is an
        error if the value never occurs.
    missing
        How to treat null, and NaN in truth or score. ``"raise"``: raise an error that counts them.
        ``"drop"``: leave such rows out, separately for each model. ``"unretrieved"``: count a row
        without a score in the totals, as one that no threshold retrieves; a missing truth still
        raises.
    pos, neg
        Columns with the number of positives and of negatives in each row, instead of ``truth``, for
        data that are already aggregated. Rows with the same score are added up. Integers are counts
        of rows; floats are sums of weights, even if all of them are whole numbers.
    ascending
        ``True`` if a lower score means more likely positive, as for distances and ranks. A row is
        then predicted positive if ``score <= threshold``, and thresholds ascend along a curve, from
        ``-inf`` at the start point. Where this text speaks of the highest score or threshold, the
        lowest is meant, and the reverse. Thresholds are on the scale of the scores as given.
    model
        Column that names the model of each row, for long data with a row per item and model;
        ``score`` is then one column. It becomes the first key of the result, called ``model``.
    recalls
        The recalls, the same for every segment: an ascending list, or how many to space equally
        from 0 to 1.
    ci
        The confidence level at each recall.
    cluster
        Column that names groups of rows that are not independent (same user, same day); the groups
        are then taken as independent. For single rows only.
    replicates
        Number of resampled data sets, up to 1,000,000.
    stratified
        Resample positives and negatives separately, each to its original number, as if the class
        sizes had been fixed in advance. Otherwise rows are resampled regardless of class, and the
        prevalence varies between replicates. Not with ``cluster``.
    seed
        Integer that makes the band reproducible: the same seed gives the same band for any kind of
        frame, any order of the rows, and any other segments. ``None`` draws new samples each time.

    Returns
    -------
    Same kind as ``frame``
        The keys, then ``recall``, ``precision, precision_low, precision_high`` (Float64, from 0 to
        1). Precision is that of the highest threshold that reaches the recall, which is the height
        of the steps whose area is the average precision. It is null if no threshold reaches the
        recall. Sorted by the keys, then by recall ascending: every segment has the same rows.

    Raises
    ------
    ColumnError, OptionError, FrameError
        At the call, for invalid parameters, for columns that do not exist or have the wrong dtype,
        and if NumPy is not installed.
    DataError
        If the data contain invalid values. For a lazy frame, when the result is collected.

    Notes
    -----
    The band lies between two percentiles of the precision over the replicates that reach the
    recall. In simulations with 200 positives, 95 % bands cover 93 to 98 % at recalls from 0.05 to
    0.95. At lower recalls a few rows decide and the band is too narrow; it has no width where no
    negative is ranked as high. ``docs/statistics.md`` in the repository has more.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_prc
    >>> df = pl.DataFrame(
    ...     {"late": [1, 1, 0, 1, 0, 0, 1, 0] * 20, "score": [8, 7, 6, 5, 4, 3, 2, 1] * 20}
    ... )
    >>> df.prc.band("late", "score", recalls=5, seed=1)
    shape: (5, 4)
    ┌────────┬───────────┬───────────────┬────────────────┐
    │ recall ┆ precision ┆ precision_low ┆ precision_high │
    │ ---    ┆ ---       ┆ ---           ┆ ---            │
    │ f64    ┆ f64       ┆ f64           ┆ f64            │
    ╞════════╪═══════════╪═══════════════╪════════════════╡
    │ 0.0    ┆ 1.0       ┆ 1.0           ┆ 1.0            │
    │ 0.25   ┆ 1.0       ┆ 1.0           ┆ 1.0            │
    │ 0.5    ┆ 1.0       ┆ 0.67049       ┆ 1.0            │
    │ 0.75   ┆ 0.75      ┆ 0.5           ┆ 0.836963       │
    │ 1.0    ┆ 0.571429  ┆ 0.48935       ┆ 0.657386       │
    └────────┴───────────┴───────────────┴────────────────┘
    """
    check_frame(frame)
    grid, level = recall_list(recalls), confidence(ci)
    drawn = resampling(replicates, seed, stratified, cluster)
    check_numpy()
    asked = request(
        truth,
        score,
        by=by,
        weight=weight,
        pos_label=pos_label,
        missing=missing,
        pos=pos,
        neg=neg,
        ascending=ascending,
        model=model,
        cluster=cluster,
    )
    return run(frame, asked, Band(grid, level, drawn))


@verb
def iso_f1(f_scores: Sequence[float] = (0.2, 0.4, 0.6, 0.8), points: int = 101) -> pl.DataFrame:
    """Lines of equal F1 score, to draw behind precision-recall curves.

    Parameters
    ----------
    f_scores
        The F1 scores, between 0 and 1.
    points
        Points per line, from 2 to 10,001.

    Returns
    -------
    DataFrame
        ``f_score, recall, precision`` (Float64), one row per point: ``precision = f r / (2 r - f)``
        for recalls ``r`` from ``f / (2 - f)``, where precision is 1, up to 1.

    Raises
    ------
    OptionError
        If an F1 score is not between 0 and 1, or ``points`` is out of range.

    Examples
    --------
    >>> import frame_prc
    >>> frame_prc.iso_f1([0.5], points=3)
    shape: (3, 3)
    ┌─────────┬──────────┬───────────┐
    │ f_score ┆ recall   ┆ precision │
    │ ---     ┆ ---      ┆ ---       │
    │ f64     ┆ f64      ┆ f64       │
    ╞═════════╪══════════╪═══════════╡
    │ 0.5     ┆ 0.333333 ┆ 1.0       │
    │ 0.5     ┆ 0.666667 ┆ 0.4       │
    │ 0.5     ┆ 1.0      ┆ 0.333333  │
    └─────────┴──────────┴───────────┘
    """
    scores, steps = f_scores_and_steps(f_scores, points)
    return iso_lines(scores, steps)
