"""Areas under the curve, by any method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

from frame_prc._curves.areas import AreaSpec
from frame_prc._engines.engine import engine_of
from frame_prc._frames.border import FrameT, check_frame
from frame_prc._request.options import (
    bins_of,
    calibration,
    check_calibrated_methods,
    drawn_interval,
    method_list,
    recall_bounds,
    resampling,
    top_rows,
)
from frame_prc._request.roles import check_option, request
from frame_prc._request.specs import (
    PARTIAL_METHODS,
    STARTS,
    IntoColumn,
    IntoKeys,
    IntoScores,
    Method,
    Missing,
    Normaliser,
    Start,
)
from frame_prc._tables.areas import Areas
from frame_prc.verbs.run import engine_verbs, run
from frame_prc.verbs.verb import verb


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
    ascending: bool = False,
    model: IntoColumn | None = None,
    method: Method | Sequence[Method] = "step",
    start: Start = "one",
    recall_range: tuple[float, float] | None = None,
    standardised: bool = False,
    thresholds: int | Sequence[float] | None = None,
    calibrate: float | Literal["pooled"] | None = None,
    top: float | None = None,
    normaliser: Normaliser = "positives",
    ci: float | None = None,
    cluster: IntoColumn | None = None,
    replicates: int = 1000,
    stratified: bool = False,
    seed: int | None = None,
) -> FrameT:
    """Area under the curve of each segment, by one or several methods.

    Different tools report different areas as PR-AUC; here each of them has a name. All methods are
    computed from one sort.

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
    method
        One method, or a list for one row per segment and method, in this order. See the notes.
    start
        The point at recall 0 where the trapezoid begins: ``"one"`` (precision 1, as in scikit-learn
        and yardstick), ``"first"`` (the precision of the first real point, as in Spark) or ``None``
        (no such point: the area begins at the first real point). The other methods do not use it.
    recall_range
        Compute only the area between these two recalls, cut exactly; each method uses its own
        interpolation. For ``step``, ``trapezoid``, ``interpolated`` and ``envelope``.
    standardised
        Divide by the width of ``recall_range``, so that a perfect curve has area 1.
    thresholds
        Bin the scores: an ascending list of thresholds, or how many to space equally from 0 to 1. A
        number is for probabilities: scores below 0 or above 1.001 are then an error. Thresholds
        that are equal in the dtype of the scores are merged. A score counts at the highest
        threshold that it reaches. Rows below the lowest threshold of a list are never retrieved,
        unless the list begins with ``float("-inf")``. Results are those of the binned scores.
    calibrate
        Calibrate the areas to this prevalence: each negative counts as much as makes the segment's
        prevalence equal to it. A number between 0 and 1, or ``"pooled"``: the share of positives of
        all rows of the model. For ``step`` it is the calibrated average precision (Siblini et al.
        2020, arXiv 1909.02827). Not for ``gain``.
    top
        Compute only the area over the points that retrieve at most this many rows, such as the 100
        that are looked into. Rows of equal score are retrieved together: if they do not all fit,
        none of them is. With weights it is a sum of weights. Only for ``step``.
    normaliser
        What the area over the ``top`` rows is divided by: ``"positives"``, all of them, as in
        trec_eval's ``map_cut``, or ``"attainable"``, as many of them as fit into the ``top`` rows,
        so that a perfect ranking has 1.
    ci
        Add ``std_error, ci_low, ci_high``: the standard deviation over bootstrap replicates, and an
        interval of this level between two of their percentiles. It needs NumPy. Not with
        ``calibrate``.
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
        Integer that makes the interval reproducible: the same seed gives the same one for any kind
        of frame, any order of the rows, and any other segments. ``None`` draws new samples each
        time.

    Returns
    -------
    Same kind as ``frame``
        The keys, then ``method`` (String) and ``auc`` (Float64; null without positives, and for
        ``gain`` also without negatives). Sorted by the keys, then in the order of ``method``. With
        ``missing="drop"``, also ``n_dropped``. With ``calibrate``, ``reference_prevalence`` comes
        before ``method``, and areas are also null without negatives.

    Raises
    ------
    ColumnError, OptionError, FrameError
        At the call, for invalid parameters and for columns that do not exist or have the wrong
        dtype.
    DataError
        If the data contain invalid values. For a lazy frame, when the result is collected.

    Notes
    -----
    With P_n and R_n the precision and recall at the n-th highest distinct score:

    - ``step``: ``sum((R_n - R_(n-1)) * P_n)``, the average precision (scikit-learn, torchmetrics,
      ClickHouse).
    - ``trapezoid``: ``sum((R_n - R_(n-1)) * (P_n + P_(n-1)) / 2)``; with ties it may be far too
      high, without ties it is at most ``step`` (scikit-learn's ``auc`` of a curve, yardstick
      ``pr_auc``; with ``start="first"``, Spark; without ties, PRROC ``auc.davis.goadrich``).
    - ``interpolated``: true and false positives grow linearly between two points (Davis & Goadrich
      2006, doi 10.1145/1143844.1143874; Keilwagen et al. 2014, doi 10.1371/journal.pone.0092209;
      PRROC ``auc.integral``, xgboost ``aucpr``, Keras).
    - ``envelope``: ``sum((R_n - R_(n-1)) * max(P_m for m >= n))`` (PASCAL VOC 2010, Detectron).
    - ``11-point``, ``101-point``: mean over the recalls 0, 0.1, ..., 1 (VOC 2007) or 0, 0.01, ...,
      1 (COCO) of the largest precision at that recall or a higher one.
    - ``gain``: trapezoid of the precision-recall-gain curve (Flach & Kull 2015, NIPS).

    For ``step``, ``ci`` of :func:`average_precision` has an interval that needs no bootstrap, and
    covers better where positives are few.

    Also takes a DuckDB relation, a PySpark DataFrame or an Ibis table, with columns given by name.
    The result is a lazy frame of the same engine, which does all the work and reports invalid data
    with an error of its own. At the call, the values of an Ibis table are checked, by one query
    with one row; a PySpark frame is sampled once, to cut large segments into ranges. Results of
    DuckDB and Ibis are sorted, Spark's is not. There, the methods are ``step``, ``trapezoid``,
    ``interpolated`` and ``envelope``, ``top`` and ``ci`` are not available, and ``thresholds`` is
    limited to 1,000.

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
    check_frame(frame, engines=True)
    methods = method_list(method)
    start = check_option("start", start, STARTS)
    standardised = check_option("standardised", standardised, (True, False))
    bounds, bins = recall_bounds(recall_range, methods), bins_of(thresholds, ascending=ascending)
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
    reference = calibration(calibrate)
    drawn = resampling(replicates, seed, stratified, cluster)
    interval = drawn_interval(ci, cluster, drawn)
    if reference is not None:
        check_calibrated_methods(methods, ci)
    spec = AreaSpec(methods, start, bounds, standardised, top_rows(top, normaliser, methods))
    areas = Areas(spec, bins, reference, interval)
    if engine := engine_of(frame):
        refused = {"top": spec.top is not None, "ci": interval is not None}
        refused |= {f"method={name!r}": name not in PARTIAL_METHODS for name in methods}
        verbs = engine_verbs(engine, asked, refused)
        table = verbs.auc(engine, frame, asked, spec, areas.columns(missing), bins, reference)
        return cast("FrameT", table)
    return run(frame, asked, areas)
