"""Tables: the scorecard of each segment."""

from __future__ import annotations

from typing import Literal

from frame_prc._frames.border import FrameT, check_frame
from frame_prc._request.comparisons import (
    segments_are,
)
from frame_prc._request.options import (
    calibration,
    confidence,
)
from frame_prc._request.roles import check_option, check_pooled, request
from frame_prc._request.specs import (
    Calibration,
    Interval,
    IntoColumn,
    IntoKeys,
    IntoScores,
    Missing,
    SegmentsAre,
)
from frame_prc._tables.summary import Summary
from frame_prc.verbs.run import run
from frame_prc.verbs.verb import verb


@verb
def summary(
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
    ci: float = 0.95,
    cluster: IntoColumn | None = None,
    calibrate: float | Literal["pooled"] = "pooled",
    overall: bool = False,
    segments: SegmentsAre = "fixed",
) -> FrameT:
    """Scorecard of each segment: area, interval, chance level.

    Only ``calibrated_average_precision`` is meant to be equal for classifiers that are equally good
    in segments of different prevalence; the other measures still change with the prevalence.

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
    ci
        The level of the confidence intervals for the average precision in the population, and for
        the calibrated one.
    cluster
        Column that names groups of rows that are not independent (same user, same day); the groups
        are then taken as independent. For single rows only.
    calibrate
        The prevalence for ``calibrated_average_precision``: a number between 0 and 1, or
        ``"pooled"``: the share of positives of all rows of the model. Give a number to hold reports
        of several months to the same one.
    overall
        For each model, add a row for all rows pooled and a row for the mean of the segments. A
        column ``level`` before the keys then says what each row is: ``"segment"``, ``"pooled"`` or
        ``"macro"``. The added rows have null keys.
    segments
        What the interval of the mean of the segments is for. ``"fixed"``: these segments are all
        there are (regions, devices), and only their rows are a sample; the variances of the
        segments are added up. ``"sampled"``: the segments stand for others like them (queries,
        users, folds); the interval comes from their spread, as in :func:`average_precision` with
        ``over``, ``level`` is ``"macro_sampled"``, and ``status`` ``"few_segments"`` if fewer than
        6 have an average precision.

    Returns
    -------
    Same kind as ``frame``
        The keys, then

        - ``n, n_pos, prevalence`` as in :func:`average_precision`, ``n_dropped`` (Int64; 0 unless
          ``missing="drop"``), and ``status``: ``"ok"``, ``"few_positives"`` (fewer than 20, or with
          weights fewer than 20 effective positives), ``"few_negatives"`` (so few for the prevalence
          that the calibrated average precision is likely too high), ``"below_chance"`` (the whole
          interval lies below ``random_average_precision``; if a lower score means more likely
          positive, pass ``ascending=True``), ``"no_negatives"``, ``"no_positives"`` or ``"empty"``;
        - ``average_precision``, and ``std_error, ci_low, ci_high`` as in :func:`average_precision`
          with ``ci_method="influence"``;
        - ``random_average_precision``: the expected average precision of a random ranking with the
          same ties (without ties, Bestgen 2015); with weights, the prevalence;
        - ``lift``: ``average_precision / random_average_precision``, null if the denominator is 0;
        - ``chance_corrected_average_precision``: ``(area - random) / (1 - random)``. 0 is a random
          ranking, 1 a perfect one; null if every ranking is perfect;
        - ``normalised_average_precision``: ``(area - worst) / (1 - worst)``. 0 is the worst
          possible ranking, 1 a perfect one (Boyd et al. 2012, arXiv 1206.4667). With weights, 0 is
          an area that no ranking falls below, and the worst ranking may be above 0;
        - ``reference_prevalence``: the prevalence of ``calibrate``;
          ``calibrated_average_precision``: the average precision that the same ranking would have
          at that prevalence (Siblini et al. 2020, arXiv 1909.02827), with
          ``calibrated_std_error, calibrated_ci_low, calibrated_ci_high``;
        - ``interpolated`` and ``normalised_interpolated``: the area by that method of :func:`auc`;
        - ``gain``: the area by that method of :func:`auc`;
        - ``best_f1`` and ``best_f1_threshold``, the highest threshold that reaches it; the
          threshold is null if no threshold retrieves a positive, and ``best_f1`` is then 0.

        All areas are Float64. They are null without positives; the normalised and calibrated ones
        and ``gain`` are also null without negatives. Sorted by the keys.

        With ``overall``, the pooled rows and then the macro rows follow the segments. The last
        column is then ``n_undefined`` (Int64): how many segments have no average precision and are
        left out of the mean (0 for pooled rows, null for segments). In a macro row, sizes are sums,
        measures are means over the segments that have them, and the interval adds up what each
        row, or cluster, does to all segments. In a ``"macro"`` row it is null, and ``status``
        ``"no_std_error"``, if any of these segments has no standard error, because of a single
        positive or an average precision of exactly 0 or 1.

    Raises
    ------
    ColumnError, OptionError, FrameError
        At the call, for invalid parameters and for columns that do not exist or have the wrong
        dtype.
    DataError
        If the data contain invalid values. For a lazy frame, when the result is collected.

    Notes
    -----
    A random ranking has more than the prevalence if rows or positives are few: on average 2.9 times
    as much with 1 positive in 10 rows, 1.8 times with 5 in 100, 1.12 times with 50 in 1,000. If
    ``pos`` and ``neg`` are sums of weights without ``pos_squares`` and ``neg_squares``, the
    interval is null, and ``status`` is never ``"few_positives"``, ``"below_chance"`` or
    ``"no_std_error"``. All formulas are in ``docs/statistics.md`` in the repository.

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
    >>> table = df.prc.summary("late", "score", by="region", overall=True)
    >>> table.select("level", "region", "n", "n_pos", "average_precision", "lift", "best_f1")
    shape: (4, 7)
    ┌─────────┬────────┬─────┬───────┬───────────────────┬──────────┬──────────┐
    │ level   ┆ region ┆ n   ┆ n_pos ┆ average_precision ┆ lift     ┆ best_f1  │
    │ ---     ┆ ---    ┆ --- ┆ ---   ┆ ---               ┆ ---      ┆ ---      │
    │ str     ┆ str    ┆ i64 ┆ i64   ┆ f64               ┆ f64      ┆ f64      │
    ╞═════════╪════════╪═════╪═══════╪═══════════════════╪══════════╪══════════╡
    │ segment ┆ north  ┆ 3   ┆ 2     ┆ 0.833333          ┆ 1.034483 ┆ 0.8      │
    │ segment ┆ south  ┆ 2   ┆ 1     ┆ 0.5               ┆ 0.666667 ┆ 0.666667 │
    │ pooled  ┆ null   ┆ 5   ┆ 3     ┆ 0.7               ┆ 0.961098 ┆ 0.75     │
    │ macro   ┆ null   ┆ 5   ┆ 3     ┆ 0.666667          ┆ 0.850575 ┆ 0.733333 │
    └─────────┴────────┴─────┴───────┴───────────────────┴──────────┴──────────┘
    """
    check_frame(frame)
    overall = check_option("overall", overall, (True, False))
    interval = Interval(confidence(ci))
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
    if overall:
        check_pooled(asked)
    pooled_or_given = calibration(calibrate) or Calibration()
    are = segments_are(segments, overall=overall)
    table = Summary(interval, overall, pooled_or_given, are)
    return run(frame, asked, table)
