"""Areas: average precision, the other named areas, and average precision as an expression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import polars as pl

from frame_prc._curves.areas import AVERAGE_PRECISION, Areas
from frame_prc._curves.expression import rank_expression, weighted_expression
from frame_prc._engines.engine import engine_of
from frame_prc._frames.border import FrameT, check_frame
from frame_prc._lazy import named
from frame_prc._request.options import (
    average_over,
    bins_of,
    interval_of,
    method_list,
    recall_bounds,
    resampling,
)
from frame_prc._request.parameters import verb
from frame_prc._request.roles import check_column, check_option, request
from frame_prc._request.specs import (
    STARTS,
    Average,
    CiMethod,
    IntoColumn,
    IntoKeys,
    IntoScores,
    Method,
    Missing,
    Start,
)
from frame_prc._rows.rules import LARGEST_WEIGHT, SMALLEST_WEIGHT
from frame_prc._tables.average_precision import AveragePrecision
from frame_prc._tables.averages import Averages
from frame_prc.verbs.run import engine_verbs, run

if TYPE_CHECKING:
    pass


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
) -> FrameT:
    """Average precision of each segment, beside its size and prevalence, and how sure it is.

    The step area under the precision-recall curve, ``sum((R_n - R_(n-1)) * P_n)`` over the distinct
    scores in descending order, as scikit-learn's ``average_precision_score``.

    Parameters
    ----------
    frame
        Polars ``DataFrame`` or ``LazyFrame``, or pandas ``DataFrame``, one row per evaluated item.
    truth
        Column of the true class: Boolean, or 0/1 numbers, or any dtype with ``pos_label``.
    score
        Column of scores, any numeric dtype, higher means more likely positive. A list of columns,
        or ``{name: column}``, evaluates several models; the result then begins with a key column
        ``model``.
    by
        Segment keys: a column, an expression, a selector, or a list of them. Without it all rows
        are one segment.
    weight
        Column of sample weights, finite and 0 or more. A row of weight 0 is ignored, also where its
        truth or score is missing. Other weights are at least 1e-150; their sum is below 1e150.
    pos_label
        The value of ``truth`` that is the positive class; every other value is negative.
    missing
        What happens to null, and to NaN in truth or score. ``"raise"``: an error that counts them.
        ``"drop"``: such rows are left out, for each model its own, and counted in ``n_dropped``.
        ``"unretrieved"``: rows without a score stay in the totals as never found, at no threshold;
        a missing truth raises.
    pos, neg
        Columns of positives and negatives per row, in place of ``truth``, for rows that are already
        aggregated; rows with the same score are added up. Integers count rows; floats are taken for
        sums of weights, also where all of them are whole.
    pos_squares, neg_squares
        Columns of the sums of squared weights that go with ``pos`` and ``neg``, for an interval if
        those are sums of weights; ``counts(..., squares=True)`` makes them.
    over
        One of the keys in ``by``, to average over inside the others. Goes with ``average``.
    average
        ``"macro"``: the mean of the segments. ``"weighted"``: their mean weighted by ``n_pos``.
        ``"micro"``: all rows pooled. ``"samples"``: the mean weighted by each segment's mean sample
        weight, for an ``over`` that identifies samples. Segments whose average precision is
        undefined are left out and counted in ``n_undefined``.
    thresholds
        Bin the scores: a list of ascending thresholds, or a number of them, equally spaced from 0
        to 1, for probabilities: scores below 0, or above 1.001, are then an error. Thresholds that
        are equal in the score's dtype are one. A score counts at the highest threshold it reaches;
        rows below the lowest of a list are never retrieved, unless it begins with
        ``float("-inf")``. Results are then those of the binned scores.
    bounds
        Add ``ap_lowest`` and ``ap_highest``, between which the average precision lies in whatever
        order the rows within a tie, or within a bin, really come; for counts of bins, that is how
        far off it can be. What orders attain may lie a little inside. Rows below the lowest of the
        ``thresholds`` are never retrieved here either; where there are none, the average precision
        of the exact scores lies between the bounds too. Always there with ``thresholds``; not for
        averages.
    ci
        Add an interval with this probability of covering the average precision of the population
        that the rows are a sample of, for example ``0.95``.
    ci_method
        ``"influence"``: from how far each row moves the average precision. ``"boyd"``: as if it
        were a share of the positives (Boyd, Eng & Page 2013, doi 10.1007/978-3-642-40994-3_29); it
        takes no weights. ``"bootstrap"``: from how it spreads over ``replicates`` new samples; it
        needs NumPy. All are symmetric on the logit scale. See the notes.
    cluster
        Column that says which rows hang together, such as those of one user or one day; clusters
        are then what is independent. For ``ci`` by ``"influence"`` or ``"bootstrap"`` from single
        rows.
    replicates
        Number of samples that ``ci_method="bootstrap"`` draws, up to 1,000,000; a single one has no
        spread, and the interval is null.
    stratified
        Draw positives and negatives apart, as many of each as there are, as in a sample whose class
        sizes were chosen. Otherwise rows are drawn whatever their class, and prevalence varies with
        them. Not with ``cluster``.
    seed
        An integer for the same ``"bootstrap"`` every time, whatever the kind of frame and the order
        of rows, and whichever other segments there are; ``None`` for a new one.

    Returns
    -------
    Same kind as ``frame``
        The keys, then ``n`` and ``n_pos`` (rows and positive rows, Int64; their total weight,
        Float64, if weighted), ``prevalence`` (``n_pos / n``), ``average_precision`` (Float64, from
        0 to 1) and ``status``: ``"ok"``, ``"no_negatives"`` (the average precision is 1,
        or the share of positives that are retrieved), ``"no_positives"`` or ``"empty"`` (it is
        null). Sorted by the keys. Without ``by`` a single model has one row, also for no rows at
        all. Averages have ``n_undefined`` (Int64) for ``status``.

        With ``ci`` also ``std_error, ci_low, ci_high`` (Float64) before ``status``, which for
        ``"ok"`` says ``"few_positives"`` where there are fewer than 20 (by weights, fewer than
        carry as much; by clusters, fewer clusters that hold positives), and for both of these
        ``"below_chance"`` where the whole interval lies below the average precision of a random
        ranking, which is ``random_average_precision`` of :func:`summary`. Is a lower score better?
        Negate it.

    Raises
    ------
    ColumnError, OptionError, FrameError
        At the call, where the schema shows that a role cannot be filled.
    DataError
        When the result is collected, for values that must not be swallowed.

    Notes
    -----
    The standard error is the root of the sum of squares of how far each row (with ``cluster``, each
    cluster) moves the average precision, to first order: exact for ties and weights, and the same
    from counts. The interval is as wide as Student's t with ``n_pos - 1`` degrees of freedom
    (effectively, with weights or clusters) has it on the logit scale, and by a factor of
    ``sqrt(n_pos / (n_pos - 1))`` wider, as a standard error that goes with Student's t divides by
    one less. How often it covers was simulated: ``tests/benchmarks`` has the table. With weights it
    is right to 1e-15 times the square of the largest weight over the smallest.

    The bootstrap draws as many rows as there are, with replacement (with ``cluster``, as many
    clusters), and takes the standard deviation of their average precisions as its standard error;
    replicates without positives are left out. ``"influence"`` is its limit for many rows; with
    ``stratified`` it is smaller, for prevalence is then no source of error. Its interval is not
    made of percentiles, for the average precision of a sample with repeated rows is biased upwards:
    simulated with 5 to 20 positives, a 95 % interval of percentiles covers 85 to 94 %, this one 95
    to 99 %.

    At an average precision of 1 or 0 the logit has no width: the standard error is null, and the
    interval that of so many positives which all do alike, from ``((1 - ci) / 2) ** (1 / n_pos)`` to
    1, or the mirror of it; it covers more than it says. By ``"boyd"`` it is null, as is that of 1
    without negatives, which is no finding, and with a single positive (or cluster of them), which
    does not tell how positives differ.

    Also takes a DuckDB relation or a PySpark DataFrame, with columns given by name, and returns the
    same, not yet computed: the engine does all the work, and reports what must not be swallowed as
    an error of its own when it meets it. DuckDB's result is sorted, Spark's is not. There are no
    averages ``over`` a key, no ``ci`` and no bounds, also with ``thresholds``.

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
        pos_squares=pos_squares,
        neg_squares=neg_squares,
        cluster=cluster,
    )
    bounds = check_option("bounds", bounds, (True, False))
    bins = bins_of(thresholds)
    interval = interval_of(
        ci, ci_method, cluster, resampling(replicates, seed, stratified, cluster)
    )
    if engine := engine_of(frame):
        refused = {"over": over is not None, "average": average is not None, "bounds": bounds}
        verbs = engine_verbs(engine, asked, **refused, ci=interval is not None)
        outputs = AveragePrecision().columns(missing)
        table = verbs.average_precision(engine, frame, asked, outputs, bins)
        return cast("FrameT", table)
    if over is None and average is None:
        return run(frame, asked, AveragePrecision(bins, interval, bounds or bins is not None))
    key, kind = average_over(over, average, interval, bounds=bounds)
    return run(frame, asked, Averages(key, kind, bins))


@verb
def auc(
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
    method: Method | Sequence[Method] = "step",
    start: Start = "one",
    recall_range: tuple[float, float] | None = None,
    standardised: bool = False,
    thresholds: int | Sequence[float] | None = None,
) -> FrameT:
    """Area under the precision-recall curve of each segment, by one or several named conventions.

    Ten tools compute ten numbers under the name of PR-AUC; here each has a name. All methods asked
    for come from one sort.

    Parameters
    ----------
    frame
        Polars ``DataFrame`` or ``LazyFrame``, or pandas ``DataFrame``, one row per evaluated item.
    truth
        Column of the true class: Boolean, or 0/1 numbers, or any dtype with ``pos_label``.
    score
        Column of scores, any numeric dtype, higher means more likely positive. A list of columns,
        or ``{name: column}``, evaluates several models; the result then begins with a key column
        ``model``.
    by
        Segment keys: a column, an expression, a selector, or a list of them. Without it all rows
        are one segment.
    weight
        Column of sample weights, finite and 0 or more. A row of weight 0 is ignored, also where its
        truth or score is missing. Other weights are at least 1e-150; their sum is below 1e150.
    pos_label
        The value of ``truth`` that is the positive class; every other value is negative.
    missing
        What happens to null, and to NaN in truth or score. ``"raise"``: an error that counts them.
        ``"drop"``: such rows are left out, for each model its own, and counted in ``n_dropped``.
        ``"unretrieved"``: rows without a score stay in the totals as never found, at no threshold;
        a missing truth raises.
    pos, neg
        Columns of positives and negatives per row, in place of ``truth``, for rows that are already
        aggregated; rows with the same score are added up. Integers count rows; floats are taken for
        sums of weights, also where all of them are whole.
    method
        One method, or a list for one row per segment and method, in this order. See the notes.
    start
        The point at recall 0 that the trapezoid begins with: ``"one"`` (precision 1, as
        scikit-learn and yardstick), ``"first"`` (the precision of the first real point, as Spark)
        or ``None`` (no point: the area begins at the first real one). No other method uses it.
    recall_range
        Only the area between these two recalls, cut exactly, each method by its own interpolation.
        For ``step``, ``trapezoid``, ``interpolated`` and ``envelope``.
    standardised
        Divide by the width of ``recall_range``, so that a perfect curve has 1.
    thresholds
        Bin the scores: a list of ascending thresholds, or a number of them, equally spaced from 0
        to 1, for probabilities: scores below 0, or above 1.001, are then an error. Thresholds that
        are equal in the score's dtype are one. A score counts at the highest threshold it reaches;
        rows below the lowest of a list are never retrieved, unless it begins with
        ``float("-inf")``. Results are then those of the binned scores.

    Returns
    -------
    Same kind as ``frame``
        The keys, then ``method`` (String) and ``auc`` (Float64; null without positives, for
        ``gain`` also without negatives). Sorted by the keys, then in the order of ``method``. With
        ``missing="drop"`` also ``n_dropped``.

    Raises
    ------
    ColumnError, OptionError, FrameError
        At the call, where the schema shows that a role cannot be filled.
    DataError
        When the result is collected, for values that must not be swallowed.

    Notes
    -----
    With P_n and R_n the precision and recall at the n-th highest distinct score:

    - ``step``: ``sum((R_n - R_(n-1)) * P_n)``, the average precision (scikit-learn, torchmetrics,
      ClickHouse).
    - ``trapezoid``: ``sum((R_n - R_(n-1)) * (P_n + P_(n-1)) / 2)``; too optimistic (scikit-learn's
      ``auc`` of a curve, yardstick ``pr_auc``; with ``start="first"`` Spark).
    - ``interpolated``: true and false positives grow linearly between two points (Davis & Goadrich
      2006, doi 10.1145/1143844.1143874; Keilwagen et al. 2014, doi 10.1371/journal.pone.0092209;
      PRROC, xgboost ``aucpr``, Keras).
    - ``envelope``: ``sum((R_n - R_(n-1)) * max(P_m for m >= n))`` (PASCAL VOC 2010, Detectron).
    - ``11-point``, ``101-point``: mean over the recalls 0, .1, ..., 1 (VOC 2007) or 0, .01, ..., 1
      (COCO) of the largest precision at that recall or a higher one.
    - ``gain``: trapezoid of the precision-recall-gain curve (Flach & Kull 2015, NIPS).

    Only ``step`` has an interval from one sort, by :func:`average_precision` with ``ci``. How far
    a row moves the others to first order is not worked out here, and an envelope or a grid, which
    take the largest of several precisions, jump where another becomes the largest: for them
    resample the rows.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_prc
    >>> df = pl.DataFrame(
    ...     {"late": [True, False, False, True, True], "score": [0.9, 0.8, 0.7, 0.6, 0.5]}
    ... )
    >>> df.prc.auc("late", "score", method=["step", "trapezoid", "interpolated", "envelope"])
    shape: (4, 2)
    ┌──────────────┬──────────┐
    │ method       ┆ auc      │
    │ ---          ┆ ---      │
    │ str          ┆ f64      │
    ╞══════════════╪══════════╡
    │ step         ┆ 0.7      │
    │ trapezoid    ┆ 0.655556 │
    │ interpolated ┆ 0.65945  │
    │ envelope     ┆ 0.733333 │
    └──────────────┴──────────┘
    """
    check_frame(frame)
    methods = method_list(method)
    start = check_option("start", start, STARTS)
    standardised = check_option("standardised", standardised, (True, False))
    bounds, bins = recall_bounds(recall_range, methods), bins_of(thresholds)
    asked = request(
        truth, score, by=by, weight=weight, pos_label=pos_label, missing=missing, pos=pos, neg=neg
    )
    return run(frame, asked, Areas(methods, start, bounds, standardised, bins))


@verb
def average_precision_expr(
    truth: str | pl.Expr, score: str | pl.Expr, weight: str | pl.Expr | None = None
) -> pl.Expr:
    """Average precision as one Polars expression, for any context that aggregates.

    Use it inside ``group_by(...).agg``, ``group_by_dynamic``, ``rolling`` or ``over``; for whole
    frames :func:`frame_prc.average_precision` is faster, checks the rows, and reports sizes.

    Parameters
    ----------
    truth
        Column of the true class: Boolean, or 0/1 numbers.
    score
        Column of scores, any numeric dtype, higher means more likely positive.
    weight
        Column of sample weights from 1e-150 to 1e150; rows of weight 0 are left out.

    Returns
    -------
    Expr
        One Float64 named ``average_precision``, between 0 and 1. It is null where it is undefined:
        without positives, and also where a row has a missing truth or score, a truth other than 0
        and 1, or a weight that is not allowed, since an expression cannot raise an error per group.
        Nor does it know dtypes: a column of another one ends in an error of Polars.

    Notes
    -----
    Without weights this is the mean, over the positive rows, of the precision at their score: the
    rank among the positives over the rank among all rows. With weights it is the sum of
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
    truth = _column("truth", truth)
    score = _per_row(_column("score", score), truth)
    undefined = ((truth != 0) & (truth != 1)).fill_null(value=True)
    undefined = undefined | score.is_null() | score.abs().cast(pl.Float64).is_nan()
    if weight is None:
        area = rank_expression(truth == 1, score)
    else:
        weight = _per_row(_column("weight", weight), truth).cast(pl.Float64)
        in_range = weight.is_between(SMALLEST_WEIGHT, LARGEST_WEIGHT)
        is_weight = ((weight == 0) | in_range).fill_null(value=False)
        undefined = (undefined & (weight != 0)) | ~is_weight
        area = weighted_expression(truth == 1, score, weight)
    return pl.when(~undefined.any()).then(area).alias(AVERAGE_PRECISION)


def _column(role: str, column: str | pl.Expr) -> pl.Expr:
    check_column(role, column)
    return named(column) if isinstance(column, str) else column


def _per_row(column: pl.Expr, truth: pl.Expr) -> pl.Expr:
    # A constant has one value for all rows; ranks need as many as there are rows.
    return pl.when(truth.is_null() | truth.is_not_null()).then(column)
