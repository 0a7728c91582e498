"""The average precision of segments, and as an expression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

import polars as pl

from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.expression import rank_expression, weighted_expression
from frame_prc._engines.engine import MEAN_OF_SAMPLES, engine_of
from frame_prc._frames.border import FrameT, check_frame
from frame_prc._lazy import named
from frame_prc._request.options import (
    average_over,
    bins_of,
    calibration,
    check_calibrated,
    check_top,
    interval_of,
    resampling,
    top_rows,
)
from frame_prc._request.roles import Request, check_column, check_option, request
from frame_prc._request.specs import (
    Average,
    CiMethod,
    IntoColumn,
    IntoKeys,
    IntoScores,
    Missing,
    Normaliser,
)
from frame_prc._rows.rules import LARGEST_WEIGHT, SMALLEST_WEIGHT
from frame_prc._tables.average_precision import AveragePrecision
from frame_prc._tables.averages import Averages
from frame_prc.verbs.run import engine_verbs, run
from frame_prc.verbs.verb import verb


@verb
def average_precision(
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
    pos_squares: IntoColumn | None = None,
    neg_squares: IntoColumn | None = None,
    over: str | None = None,
    average: Average | None = None,
    thresholds: int | Sequence[float] | None = None,
    bounds: bool = False,
    ci: float | None = None,
    ci_method: CiMethod = "influence",
    cluster: IntoColumn | None = None,
    replicates: int = 1000,
    stratified: bool = False,
    seed: int | None = None,
    calibrate: float | Literal["pooled"] | None = None,
    top: float | None = None,
    normaliser: Normaliser = "positives",
) -> FrameT:
    """Average precision of each segment, with its interval.

    The average precision is the step area under the precision-recall curve,
    ``sum((R_n - R_(n-1)) * P_n)`` over the distinct scores in descending order, as in
    scikit-learn's ``average_precision_score``.

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
        ``"drop"``: leave such rows out, separately for each model, and report their number in
        ``n_dropped``. ``"unretrieved"``: count a row without a score in the totals, as one that no
        threshold retrieves; a missing truth still raises.
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
    pos_squares, neg_squares
        Columns with the sums of squared weights that belong to ``pos`` and ``neg``. An interval
        needs them if ``pos`` and ``neg`` are sums of weights; ``counts(..., squares=True)`` returns
        them.
    over
        The key in ``by`` to average over, within each combination of the other keys. Requires
        ``average``.
    average
        ``"macro"``: the mean over segments. ``"weighted"``: their mean weighted by ``n_pos``.
        ``"micro"``: the average precision of all rows pooled. ``"samples"``: the mean weighted by
        the mean sample weight of each segment, for an ``over`` that identifies samples. Segments
        whose average precision is undefined are left out and counted in ``n_undefined``.
    thresholds
        Bin the scores: an ascending list of thresholds, or how many to space equally from 0 to 1. A
        number is for probabilities: scores below 0 or above 1.001 are then an error. Thresholds
        that are equal in the dtype of the scores are merged. A score counts at the highest
        threshold that it reaches. Rows below the lowest threshold of a list are never retrieved,
        unless the list begins with ``float("-inf")``. Results are those of the binned scores.
    bounds
        Add ``ap_lowest`` and ``ap_highest``: the average precision lies between them whatever the
        order of the rows within each tie or bin, so for binned counts they show how large the error
        of binning can be. They may be slightly wider than the range that is attained. Rows below
        the lowest of the ``thresholds`` are never retrieved here either; if there are none, the
        average precision of the exact scores also lies between the bounds. Always included with
        ``thresholds``; not available for averages.
    ci
        Add a confidence interval of this level, for example ``0.95``, for the average precision in
        the population from which the rows were sampled. With ``over``, the interval of the mean if
        the segments are themselves a sample (queries, users, folds) that stands for others like
        them: it comes from the spread between the segments. Not for ``average="micro"``.
    ci_method
        ``"influence"``: from the influence of each row on the average precision. ``"boyd"``: as if
        the average precision were a proportion of the positives (Boyd, Eng & Page 2013, doi
        10.1007/978-3-642-40994-3_29); without weights and clusters. ``"bootstrap"``: from the
        spread over ``replicates`` resampled data sets; needs NumPy. All three are symmetric on the
        logit scale. See the notes.
    cluster
        Column that names groups of rows that are not independent (same user, same day); the groups
        are then taken as independent. For ``ci`` with ``"influence"`` or ``"bootstrap"``, and for
        single rows only.
    replicates
        Number of resampled data sets for ``ci_method="bootstrap"``, up to 1,000,000. With a single
        one the interval is null.
    stratified
        Resample positives and negatives separately, each to its original number, as if the class
        sizes had been fixed in advance. Otherwise rows are resampled regardless of class, and the
        prevalence varies between replicates. Not with ``cluster``.
    seed
        Integer that makes ``"bootstrap"`` reproducible: the same seed gives the same interval for
        any kind of frame, any order of the rows, and any other segments. ``None`` draws new samples
        each time.
    calibrate
        Return the calibrated average precision instead: the one that the same ranking would have at
        this prevalence (Siblini et al. 2020, arXiv 1909.02827), which makes segments of unequal
        prevalence comparable. A number between 0 and 1, or ``"pooled"``: the share of positives of
        all rows of the model. Its interval is that of ``ci_method="influence"``; not with ``over``
        or ``bounds``.
    top
        Compute only the area over the points that retrieve at most this many rows, such as the 100
        that are looked into. Rows of equal score are retrieved together: if they do not all fit,
        none of them is. With weights it is a sum of weights.
    normaliser
        What the area over the ``top`` rows is divided by: ``"positives"``, all of them, as in
        trec_eval's ``map_cut``, or ``"attainable"``, as many of them as fit into the ``top`` rows,
        so that a perfect ranking has 1.

    Returns
    -------
    Same kind as ``frame``
        The keys, then ``n`` and ``n_pos`` (rows and positive rows, Int64; their total weight,
        Float64, if weighted), ``prevalence`` (``n_pos / n``), ``average_precision`` (Float64, from
        0 to 1) and ``status``: ``"ok"``, ``"no_negatives"`` (the average precision is 1, or the
        share of positives that are retrieved), ``"no_positives"`` or ``"empty"`` (the average
        precision is null). Sorted by the keys. Without ``by``, a single model has one row even if
        there are no rows at all. Averages have ``n_undefined`` (Int64) instead of ``status``.
        With ``ci``, ``std_error, ci_low, ci_high`` precede it; they are null if fewer than two
        segments have an average precision, or if all of these are equal.

        With ``ci``, also ``std_error, ci_low, ci_high`` (Float64) before ``status``. At an average
        precision of 1 or 0, ``std_error`` is null and the interval is the exact (Clopper-Pearson)
        one. With a single positive and any other average precision, all three are null. (``"boyd"``
        has an interval with a single positive, and none at 1 and 0.) ``status`` then has two more
        values. ``"few_positives"`` replaces ``"ok"`` if there are fewer than 20 positives (with
        weights, fewer than 20 effective positives; with clusters, fewer than 20 effective clusters
        with positives). ``"below_chance"`` replaces both if the whole interval lies below the
        average precision of a random ranking (``random_average_precision`` of :func:`summary`). If
        a lower score means more likely positive, pass ``ascending=True``.

        With ``calibrate``, ``reference_prevalence`` and ``calibrated_average_precision`` take the
        place of ``average_precision``; they are followed by the interval. The area is also null
        without negatives. ``status`` may be ``"few_negatives"``: at a prevalence below their own,
        segments with few negatives get too high a value, and too narrow an interval.
        ``"below_chance"`` then means below the reference prevalence.

    Raises
    ------
    ColumnError, OptionError, FrameError
        At the call, for invalid parameters and for columns that do not exist or have the wrong
        dtype.
    DataError
        If the data contain invalid values. For a lazy frame, when the result is collected.

    Notes
    -----
    The influence of a row (with ``cluster``, of a cluster) is how much it changes the average
    precision, to first order; the standard error is the square root of the sum of squared
    influences (infinitesimal jackknife: Efron 1981, doi 10.2307/2335442). The interval uses
    Student's t on the logit scale. The formulas, the bootstrap, the limits at 1 and 0, and
    simulated coverage are in ``docs/statistics.md`` in the repository.

    Also takes a DuckDB relation, a PySpark DataFrame or an Ibis table, with columns given by name.
    The result is a lazy frame of the same engine, which does all the work and reports invalid data
    with an error of its own. At the call, the values of an Ibis table are checked, by one query
    with one row; a PySpark frame is sampled once, to cut large segments into ranges. Results of
    DuckDB and Ibis are sorted, Spark's is not. There, ``top`` is not available, nor are ``ci`` with
    weights, ``cluster``, ``over``, ``calibrate`` or ``"bootstrap"``, and ``average="samples"`` with
    weights; ``thresholds`` is limited to 1,000.

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
    shape: (2, 6)
    ┌────────┬─────┬───────┬────────────┬───────────────────┬────────┐
    │ region ┆ n   ┆ n_pos ┆ prevalence ┆ average_precision ┆ status │
    │ ---    ┆ --- ┆ ---   ┆ ---        ┆ ---               ┆ ---    │
    │ str    ┆ i64 ┆ i64   ┆ f64        ┆ f64               ┆ str    │
    ╞════════╪═════╪═══════╪════════════╪═══════════════════╪════════╡
    │ north  ┆ 3   ┆ 2     ┆ 0.666667   ┆ 0.833333          ┆ ok     │
    │ south  ┆ 2   ┆ 1     ┆ 0.5        ┆ 0.5               ┆ ok     │
    └────────┴─────┴───────┴────────────┴───────────────────┴────────┘
    """
    check_frame(frame, engines=True)
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
        pos_squares=pos_squares,
        neg_squares=neg_squares,
        cluster=cluster,
    )
    bounds = check_option("bounds", bounds, (True, False))
    bins = bins_of(thresholds, ascending=ascending)
    interval = interval_of(
        ci, ci_method, cluster, resampling(replicates, seed, stratified, cluster)
    )
    reference = calibration(calibrate)
    within = top_rows(top, normaliser)
    if within is not None:
        check_top(ci if over is None else None, thresholds, bounds=bounds)
    if reference is not None:
        check_calibrated(ci_method, over, average, bounds=bounds)
    if over is not None or average is not None:
        key, kind = average_over(over, average, interval, cluster, bounds=bounds)
        averages = Averages(key, kind, bins, interval, within)
        if engine := engine_of(frame):
            verbs = engine_verbs(engine, asked, _refused(averages, asked))
            outputs = averages.columns(missing)
            mean = verbs.averages(engine, frame, asked, key, kind, outputs, bins)
            return cast("FrameT", mean)
        return run(frame, asked, averages)
    bounds = reference is None and (bounds or bins is not None)
    table = AveragePrecision(bins, interval, bounds, calibration=reference, top=within)
    if engine := engine_of(frame):
        verbs = engine_verbs(engine, asked, _refused(table, asked))
        outputs = table.columns(missing)
        area = verbs.average_precision(
            engine, frame, asked, outputs, bins, reference, interval, bounds=bounds
        )
        return cast("FrameT", area)
    return run(frame, asked, table)


def _refused(table: AveragePrecision | Averages, asked: Request) -> dict[str, bool]:
    """Return what does not run inside an engine, and whether it is given."""
    by_samples = isinstance(table, Averages) and table.average == "samples"
    calibrates = isinstance(table, AveragePrecision) and table.calibration is not None
    interval = table.interval
    is_drawn = interval is not None and interval.resampling is not None
    return {
        "top": table.top is not None,
        "ci= with over=": interval is not None and isinstance(table, Averages),
        "ci= with calibrate=": interval is not None and calibrates,
        "ci= with cluster=": interval is not None and asked.cluster is not None,
        "ci= by bootstrap": is_drawn,
        MEAN_OF_SAMPLES: by_samples and "weight" in asked.classes,
    }


@verb
def average_precision_expr(
    truth: str | pl.Expr,
    score: str | pl.Expr,
    weight: str | pl.Expr | None = None,
    *,
    ascending: bool = False,
) -> pl.Expr:
    """Average precision as one Polars expression, for any context that aggregates.

    Use it in ``group_by(...).agg``, ``group_by_dynamic``, ``rolling`` or ``over``. For whole
    frames, :func:`frame_prc.average_precision` is faster, checks the data, and reports sizes.

    Parameters
    ----------
    truth
        Column of the true class: Boolean, or 0/1 numbers.
    score
        Column of scores, of any numeric dtype; higher means more likely positive.
    weight
        Column of sample weights from 1e-150 to 1e150. Rows of weight 0 are ignored.
    ascending
        ``True`` if a lower score means more likely positive, as for distances and ranks.

    Returns
    -------
    Expr
        One Float64 named ``average_precision``, from 0 to 1. It is null without positives. It is
        also null if a row has a missing truth or score, a truth other than 0 and 1, or an invalid
        weight, because an expression cannot raise an error for a group. A column of an unsupported
        dtype fails with an error of Polars.

    Notes
    -----
    Without weights, this is the mean over the positive rows of the precision at their score: the
    rank among the positives divided by the rank among all rows. With weights, it is the sum of
    ``(R_n - R_(n-1)) * P_n`` over the distinct scores.

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
    >>> df.group_by("region").agg(frame_prc.average_precision_expr("late", "score")).sort("region")
    shape: (2, 2)
    ┌────────┬───────────────────┐
    │ region ┆ average_precision │
    │ ---    ┆ ---               │
    │ str    ┆ f64               │
    ╞════════╪═══════════════════╡
    │ north  ┆ 0.833333          │
    │ south  ┆ 0.5               │
    └────────┴───────────────────┘
    """
    ascending = check_option("ascending", ascending, (True, False))
    truth = _column("truth", truth)
    score = _per_row(_column("score", score), truth)
    undefined = ((truth != 0) & (truth != 1)).fill_null(value=True)
    undefined = undefined | score.is_null() | score.abs().cast(pl.Float64).is_nan()
    if weight is None:
        area = rank_expression(truth == 1, score, ascending=ascending)
    else:
        weight = _per_row(_column("weight", weight), truth).cast(pl.Float64)
        in_range = weight.is_between(SMALLEST_WEIGHT, LARGEST_WEIGHT)
        is_weight = ((weight == 0) | in_range).fill_null(value=False)
        undefined = (undefined & (weight != 0)) | ~is_weight
        area = weighted_expression(truth == 1, score, weight, ascending=ascending)
    return pl.when(~undefined.any()).then(area).alias(AVERAGE_PRECISION)


def _column(role: str, column: str | pl.Expr) -> pl.Expr:
    check_column(role, column)
    return named(column) if isinstance(column, str) else column


def _per_row(column: pl.Expr, truth: pl.Expr) -> pl.Expr:
    # A constant has one value for all rows; ranks need as many as there are rows.
    return pl.when(truth.is_null() | truth.is_not_null()).then(column)
