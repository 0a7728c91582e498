"""The verbs: signatures, documentation, and the way from a frame to a result and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast, get_args

import polars as pl

from frame_prc import _areas, _averages, _counts, _curve, _frames, _labels, _operating, _rows
from frame_prc._areas import Method
from frame_prc._averages import Average
from frame_prc._columns import resolve
from frame_prc._curve import STARTS, Keep, Start
from frame_prc._engines import engine_of, inside
from frame_prc._frames import FrameT, check_frame
from frame_prc._labels import label_request
from frame_prc._operating import Criterion
from frame_prc._options import (
    Numbers,
    average_over,
    f_scores_and_steps,
    method_list,
    prevalence,
    recall_bounds,
    targets,
    threshold_list,
)
from frame_prc._request import (
    IntoColumn,
    IntoKeys,
    IntoScores,
    Missing,
    Request,
    check_option,
    request,
)


def counts(
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
) -> FrameT:
    """Positives and negatives at each distinct score of each segment.

    Counts are all that a curve or an area needs, and they add up: count files or days apart,
    concatenate, and pass the result on with ``score="threshold", pos="pos", neg="neg"``.

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
        Column of sample weights, finite and not negative. Rows of weight 0 are as good as absent.
    pos_label
        The value of ``truth`` that is the positive class; every other value is negative.
    missing
        What happens to null, and to NaN in truth or score. ``"raise"``: an error that counts them.
        ``"drop"``: such rows are left out, for each model its own. ``"unretrieved"``: rows without
        a score stay in the totals as never found, at no threshold; a missing truth raises.
    pos, neg
        Columns of positives and negatives per row, in place of ``truth``, for rows that are already
        aggregated; rows with the same score are added up.

    Returns
    -------
    Same kind as ``frame``
        The keys, then ``threshold`` (the score, in its own dtype), ``pos`` and ``neg`` (Int64;
        Float64 if weighted). Sorted by the keys, then by threshold descending. Rows never
        retrieved come last in their segment with a null threshold.

    Raises
    ------
    ColumnError, OptionError, FrameError
        At the call, where the schema shows that a role cannot be filled.
    DataError
        When the result is collected, for values that must not be swallowed.

    Notes
    -----
    Also takes a DuckDB relation or a PySpark DataFrame, with columns given by name, and returns the
    same, not yet computed: the engine does all the work, and reports what must not be swallowed as
    an error of its own when it meets it. DuckDB's result is sorted, Spark's is not.

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
    check_frame(frame, engines=True)
    asked = request(truth, score, by, weight, pos_label, missing, pos, neg)
    if engine := engine_of(frame):
        return cast("FrameT", inside(engine, asked).counts(engine, frame, asked))
    return _run(frame, asked, _counts.COLUMNS, _counts.counts)


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
    start: Start = "one",
    keep: Keep = "all",
    envelope: bool = False,
    gain: bool = False,
    calibrate: float | None = None,
    thresholds: int | Sequence[float] | None = None,
) -> FrameT:
    """Exact precision-recall curve of each segment: one row per distinct score.

    A row is predicted positive at a threshold when ``score >= threshold``.

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
        Column of sample weights, finite and not negative. Rows of weight 0 are as good as absent.
    pos_label
        The value of ``truth`` that is the positive class; every other value is negative.
    missing
        What happens to null, and to NaN in truth or score. ``"raise"``: an error that counts them.
        ``"drop"``: such rows are left out, for each model its own. ``"unretrieved"``: rows without
        a score stay in the totals as never found, at no threshold; a missing truth raises.
    pos, neg
        Columns of positives and negatives per row, in place of ``truth``, for rows that are already
        aggregated; rows with the same score are added up.
    start
        The point at recall 0 that opens each segment, at threshold ``inf``. ``"one"``: precision 1,
        as scikit-learn and yardstick. ``"first"``: the precision of the first real point, as
        precrec, PRROC and Spark. ``None``: no such row.
    keep
        ``"all"``: every point. ``"corners"``: only the first and the last point of each number of
        true positives, which draw the same line and have the same areas and envelope.
    envelope
        Add a column ``envelope``: the largest precision from this point on, at higher recall
        (PASCAL VOC 2010, Detectron).
    gain
        Add ``precision_gain`` and ``recall_gain``, on which 1 is perfect and 0 is what calling
        every row positive gives (Flach & Kull 2015, NIPS).
    calibrate
        Add ``precision_calibrated``: the precision the same ranking has where this share of rows is
        positive, which makes segments of different prevalence comparable (Siblini et al. 2020,
        arXiv 1909.02827).
    thresholds
        Bin the scores: a list of ascending thresholds, or a number of them, equally spaced from 0
        to 1. A score counts at the highest threshold it reaches; one that reaches none is never
        retrieved. The curve then has these thresholds in every segment.

    Returns
    -------
    Same kind as ``frame``
        The keys, then ``threshold`` (the score's float dtype; Float64 for integers and decimals),
        ``tp, fp, fn, tn`` (Int64; Float64 if weighted), ``precision, recall`` (Float64, from 0 to
        1) and the columns asked for. Sorted by the keys, then by threshold descending, so recall
        ascends and the rows draw as they lie. What is not defined is null: recall in a segment
        without positives, precision at a given threshold that no row reaches, gains before the
        first hit.

    Raises
    ------
    ColumnError, OptionError, FrameError
        At the call, where the schema shows that a role cannot be filled.
    DataError
        When the result is collected, for values that must not be swallowed.

    Notes
    -----
    Also takes a DuckDB relation or a PySpark DataFrame, with columns given by name, and returns the
    same, not yet computed: the engine does all the work, and reports what must not be swallowed as
    an error of its own when it meets it. DuckDB's result is sorted, Spark's is not. There are no
    ``gain`` and ``calibrate``.

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
    check_option("start", start, STARTS)
    check_option("keep", keep, get_args(Keep))
    check_option("envelope", envelope, (True, False))
    check_option("gain", gain, (True, False))
    extras = _curve.Extras(envelope, gain, prevalence(calibrate))
    levels = threshold_list(thresholds)
    asked = request(truth, score, by, weight, pos_label, missing, pos, neg)
    if engine := engine_of(frame):
        verbs = inside(engine, asked, gain=gain, calibrate=calibrate is not None)
        points = verbs.curve(engine, frame, asked, start, keep, levels, envelope=envelope)
        return cast("FrameT", points)
    return _run(
        frame,
        asked,
        [*_curve.COLUMNS, *extras.names()],
        lambda rows: _curve.curve(rows, start, keep, levels, extras),
    )


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
    over: str | None = None,
    average: Average | None = None,
    thresholds: int | Sequence[float] | None = None,
) -> FrameT:
    """Average precision of each segment, beside its size and prevalence.

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
        Column of sample weights, finite and not negative. Rows of weight 0 are as good as absent.
    pos_label
        The value of ``truth`` that is the positive class; every other value is negative.
    missing
        What happens to null, and to NaN in truth or score. ``"raise"``: an error that counts them.
        ``"drop"``: such rows are left out, for each model its own, and counted in ``n_dropped``.
        ``"unretrieved"``: rows without a score stay in the totals as never found, at no threshold;
        a missing truth raises.
    pos, neg
        Columns of positives and negatives per row, in place of ``truth``, for rows that are already
        aggregated; rows with the same score are added up.
    over
        One of the keys in ``by``, to average over inside the others. Goes with ``average``.
    average
        ``"macro"``: the mean of the segments. ``"weighted"``: their mean weighted by ``n_pos``.
        ``"micro"``: all rows pooled. ``"samples"``: the mean weighted by each segment's mean sample
        weight, for an ``over`` that identifies samples. Segments whose average precision is
        undefined are left out and counted in ``n_undefined``.
    thresholds
        Bin the scores: a list of ascending thresholds, or a number of them, equally spaced from 0
        to 1. A score counts at the highest threshold it reaches; one that reaches none is never
        retrieved. Results are then those of the binned scores.

    Returns
    -------
    Same kind as ``frame``
        The keys, then ``n`` and ``n_pos`` (rows and positive rows, Int64; their total weight,
        Float64, if weighted), ``prevalence`` (``n_pos / n``), ``average_precision`` (Float64, from
        0 to 1) and ``status``: ``"ok"``, ``"no_negatives"`` (the average precision is 1),
        ``"no_positives"`` or ``"empty"`` (it is null). Sorted by the keys. Without ``by`` there is
        one row, also for no rows at all. Averages have ``n_undefined`` (Int64) for ``status``.

    Raises
    ------
    ColumnError, OptionError, FrameError
        At the call, where the schema shows that a role cannot be filled.
    DataError
        When the result is collected, for values that must not be swallowed.

    Notes
    -----
    Also takes a DuckDB relation or a PySpark DataFrame, with columns given by name, and returns the
    same, not yet computed: the engine does all the work, and reports what must not be swallowed as
    an error of its own when it meets it. DuckDB's result is sorted, Spark's is not. There are no
    averages ``over`` a key.

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
    asked = request(truth, score, by, weight, pos_label, missing, pos, neg)
    levels = threshold_list(thresholds)
    outputs = [*_areas.TABLE_COLUMNS, *_areas.dropped(missing)]
    if engine := engine_of(frame):
        verbs = inside(engine, asked, over=over is not None, average=average is not None)
        table = verbs.average_precision(engine, frame, asked, outputs, levels)
        return cast("FrameT", table)
    if over is None and average is None:
        return _run(frame, asked, outputs, lambda rows: _areas.average_precision(rows, levels))
    key, kind = average_over(over, average)
    return _run(
        frame,
        asked,
        [*_averages.COLUMNS, *_areas.dropped(missing)],
        lambda rows: _averages.averaged(rows, key, kind, levels),
    )


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
        Column of sample weights, finite and not negative. Rows of weight 0 are as good as absent.
    pos_label
        The value of ``truth`` that is the positive class; every other value is negative.
    missing
        What happens to null, and to NaN in truth or score. ``"raise"``: an error that counts them.
        ``"drop"``: such rows are left out, for each model its own, and counted in ``n_dropped``.
        ``"unretrieved"``: rows without a score stay in the totals as never found, at no threshold;
        a missing truth raises.
    pos, neg
        Columns of positives and negatives per row, in place of ``truth``, for rows that are already
        aggregated; rows with the same score are added up.
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
        to 1. A score counts at the highest threshold it reaches; one that reaches none is never
        retrieved. Results are then those of the binned scores.

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
    check_option("start", start, STARTS)
    check_option("standardised", standardised, (True, False))
    bounds, levels = recall_bounds(recall_range, methods), threshold_list(thresholds)
    return _run(
        frame,
        request(truth, score, by, weight, pos_label, missing, pos, neg),
        [*_areas.METHOD_COLUMNS, *_areas.dropped(missing)],
        lambda rows: _areas.auc(rows, methods, start, bounds, standardised, levels),
    )


def operating_points(
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
    recall: float | Sequence[float] | None = None,
    precision: float | Sequence[float] | None = None,
    threshold: float | Sequence[float] | None = None,
    f_beta: float | Sequence[float] | None = None,
    predicted_rate: float | Sequence[float] | None = None,
) -> FrameT:
    """Find the threshold of each segment that meets a target best, and what it gives.

    Any number of targets, each a number or a list. Of equally good thresholds the highest is taken.

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
        Column of sample weights, finite and not negative. Rows of weight 0 are as good as absent.
    pos_label
        The value of ``truth`` that is the positive class; every other value is negative.
    missing
        What happens to null, and to NaN in truth or score. ``"raise"``: an error that counts them.
        ``"drop"``: such rows are left out, for each model its own, and counted in ``n_dropped``.
        ``"unretrieved"``: rows without a score stay in the totals as never found, at no threshold;
        a missing truth raises.
    pos, neg
        Columns of positives and negatives per row, in place of ``truth``, for rows that are already
        aggregated; rows with the same score are added up.
    recall
        The most precise point with at least this recall, above 0 and up to 1.
    precision
        The point of most recall with at least this precision, above 0 and up to 1.
    threshold
        What this threshold gives, also between scores: one threshold for all segments.
    f_beta
        The point of the largest F score that weighs recall this many times as much as precision.
    predicted_rate
        The largest share of rows predicted positive that is not above this one, above 0 and up to
        1: a budget of alerts.

    Returns
    -------
    Same kind as ``frame``
        The keys, then ``criterion`` (String), ``target`` (Float64), ``threshold``, ``tp, fp, fn,
        tn, precision, recall`` as in :func:`curve`, ``f_score`` (F1, or the F-beta asked for) and
        ``predicted_rate`` (``(tp + fp) / n``). Sorted by the keys, then in the order of the
        parameters above. A target that cannot be met leaves a row of nulls. With
        ``missing="drop"`` also ``n_dropped``.

    Raises
    ------
    ColumnError, OptionError, FrameError
        At the call, where the schema shows that a role cannot be filled.
    DataError
        When the result is collected, for values that must not be swallowed.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_prc
    >>> df = pl.DataFrame({"late": [True, False, True, False], "score": [0.9, 0.4, 0.4, 0.2]})
    >>> df.prc.operating_points("late", "score", recall=0.8, f_beta=1).select(
    ...     "criterion", "target", "threshold", "precision", "recall", "f_score"
    ... )
    shape: (2, 6)
    ┌───────────┬────────┬───────────┬───────────┬────────┬─────────┐
    │ criterion ┆ target ┆ threshold ┆ precision ┆ recall ┆ f_score │
    │ ---       ┆ ---    ┆ ---       ┆ ---       ┆ ---    ┆ ---     │
    │ str       ┆ f64    ┆ f64       ┆ f64       ┆ f64    ┆ f64     │
    ╞═══════════╪════════╪═══════════╪═══════════╪════════╪═════════╡
    │ recall    ┆ 0.8    ┆ 0.4       ┆ 0.666667  ┆ 1.0    ┆ 0.8     │
    │ f_beta    ┆ 1.0    ┆ 0.4       ┆ 0.666667  ┆ 1.0    ┆ 0.8     │
    └───────────┴────────┴───────────┴───────────┴────────┴─────────┘
    """
    check_frame(frame)
    asked: dict[Criterion, Numbers] = {
        "recall": recall,
        "precision": precision,
        "threshold": threshold,
        "f_beta": f_beta,
        "predicted_rate": predicted_rate,
    }
    wanted = targets(asked)
    return _run(
        frame,
        request(truth, score, by, weight, pos_label, missing, pos, neg),
        [*_operating.COLUMNS, *_areas.dropped(missing)],
        lambda rows: _operating.operating_points(rows, wanted),
    )


def one_vs_rest(
    frame: FrameT,
    truth: IntoColumn | Sequence[IntoColumn],
    score: Mapping[Any, IntoColumn] | Sequence[IntoColumn],
    *,
    by: IntoKeys | None = None,
    weight: IntoColumn | None = None,
    row: IntoColumn | None = None,
) -> FrameT:
    """Turn a score column per class into one long frame with a key ``label``.

    The result goes into every verb with ``by="label"``: one curve per class, and averages over the
    classes with ``over="label"``.

    Parameters
    ----------
    frame
        Polars ``DataFrame`` or ``LazyFrame``, or pandas ``DataFrame``, one row per evaluated item.
    truth
        Multiclass: the column of classes. Multilabel: a list of columns, Boolean or 0/1, one per
        label.
    score
        Multiclass: ``{class: column}``. Multilabel: a list of columns, or ``{label: column}``, in
        the order of ``truth``; without names the labels are the names of the truth columns.
    by
        Segment keys to carry along: a column, an expression, a selector, or a list of them.
    weight
        Column of sample weights to carry along.
    row
        Column that identifies a row, to carry along, for averages over the labels of a row.

    Returns
    -------
    Same kind as ``frame``
        The columns of ``row`` and ``by``, then ``label`` (the dtype of ``truth``; String for
        several truths), ``truth`` (Boolean, or as given for several truths), ``score``, and the
        column of ``weight``. All rows of the first label come first.

    Raises
    ------
    ColumnError, OptionError, FrameError
        At the call, where the schema shows that a role cannot be filled, or the numbers of truth
        and score columns differ.
    DataError
        When the result is collected, if a class occurs that has no score column.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_prc
    >>> df = pl.DataFrame(
    ...     {"kind": ["cat", "dog", "cat"], "p_cat": [0.9, 0.6, 0.5], "p_dog": [0.1, 0.4, 0.5]}
    ... )
    >>> long = df.prc.one_vs_rest("kind", {"cat": "p_cat", "dog": "p_dog"})
    >>> long.prc.average_precision("truth", "score", by="label")
    shape: (2, 6)
    ┌───────┬─────┬───────┬────────────┬───────────────────┬────────┐
    │ label ┆ n   ┆ n_pos ┆ prevalence ┆ average_precision ┆ status │
    │ ---   ┆ --- ┆ ---   ┆ ---        ┆ ---               ┆ ---    │
    │ str   ┆ i64 ┆ i64   ┆ f64        ┆ f64               ┆ str    │
    ╞═══════╪═════╪═══════╪════════════╪═══════════════════╪════════╡
    │ cat   ┆ 3   ┆ 2     ┆ 0.666667   ┆ 0.833333          ┆ ok     │
    │ dog   ┆ 3   ┆ 1     ┆ 0.333333   ┆ 0.5               ┆ ok     │
    └───────┴─────┴───────┴────────────┴───────────────────┴────────┘
    """
    check_frame(frame)
    asked = label_request(truth, score, by, weight, row)

    def plan(lf: pl.LazyFrame, *, in_memory: bool) -> pl.LazyFrame:  # noqa: ARG001
        return _labels.one_vs_rest(lf, asked)

    return _frames.apply(frame, plan, asked.column_names(), frozenset())


def iso_f1(f_scores: Sequence[float] = (0.2, 0.4, 0.6, 0.8), points: int = 101) -> pl.DataFrame:
    """Lines of equal F1 score, to draw behind precision-recall curves.

    Parameters
    ----------
    f_scores
        The F1 scores, between 0 and 1.
    points
        Points per line, at least 2.

    Returns
    -------
    DataFrame
        ``f_score, recall, precision`` (Float64), one row per point: ``precision = f r / (2 r - f)``
        for recalls from ``f / (2 - f)``, where it is 1, to 1.

    Raises
    ------
    OptionError
        For an F1 score outside its range, or fewer than two points.

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
    return _operating.iso_f1(scores, steps)


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
        Column of sample weights, finite and not negative; rows of weight 0 are left out.

    Returns
    -------
    Expr
        One Float64 named ``average_precision``, between 0 and 1. It is null where it is undefined:
        without positives, and also where a row has a missing truth or score, a truth other than 0
        and 1, or a weight that is not allowed, since an expression cannot raise an error per group.

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
    truth = _column(truth)
    score = _per_row(_column(score), truth)
    undefined = ((truth != 0) & (truth != 1)).fill_null(value=True)
    undefined = undefined | score.is_null() | score.abs().cast(pl.Float64).is_nan()
    if weight is None:
        area = _areas.rank_expression(truth == 1, score)
    else:
        weight = _per_row(_column(weight), truth).cast(pl.Float64)
        is_weight = ((weight >= 0) & weight.is_finite()).fill_null(value=False)
        undefined = (undefined & (weight != 0)) | ~is_weight
        area = _areas.weighted_expression(truth == 1, score, weight)
    return pl.when(~undefined.any()).then(area).alias(_areas.AVERAGE_PRECISION)


def _column(column: str | pl.Expr) -> pl.Expr:
    return pl.col(column) if isinstance(column, str) else column


def _per_row(column: pl.Expr, truth: pl.Expr) -> pl.Expr:
    # A constant has one value for all rows; ranks need as many as there are rows.
    return pl.when(truth.is_null() | truth.is_not_null()).then(column)


def _run(
    frame: FrameT,
    request: Request,
    outputs: Iterable[str],
    verb: Callable[[_rows.Rows], pl.LazyFrame],
) -> FrameT:
    def plan(lf: pl.LazyFrame, *, in_memory: bool) -> pl.LazyFrame:
        return verb(_rows.read(lf, resolve(lf, request, outputs), in_memory=in_memory))

    return _frames.apply(frame, plan, request.column_names(), request.amount_names())
