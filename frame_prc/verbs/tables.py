"""Tables: the scorecard of each segment, and the comparison of models or segments."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from frame_prc._frames.border import FrameT, check_frame
from frame_prc._request.near_misses import verb
from frame_prc._request.options import (
    comparison,
    confidence,
)
from frame_prc._request.roles import check_option, request
from frame_prc._request.specs import (
    Adjust,
    Against,
    Interval,
    IntoColumn,
    IntoKeys,
    IntoScores,
    Missing,
)
from frame_prc._tables.compare import Differences
from frame_prc._tables.summary import Summary
from frame_prc.verbs.run import run

if TYPE_CHECKING:
    pass


@verb
def compare(
    frame: FrameT,
    truth: IntoColumn,
    score: IntoScores,
    *,
    by: IntoKeys | None = None,
    weight: IntoColumn | None = None,
    pos_label: object = None,
    missing: Missing = "raise",
    ci: float = 0.95,
    cluster: IntoColumn | None = None,
    baseline: str | None = None,
    against: Against | None = None,
    adjust: Adjust | None = None,
) -> FrameT:
    """Compare the average precision of models on the same rows, or of each segment with the others.

    Parameters
    ----------
    frame
        Polars ``DataFrame`` or ``LazyFrame``, or pandas ``DataFrame``, one row per evaluated item.
    truth
        Column of the true class: Boolean, or 0/1 numbers, or any dtype with ``pos_label``.
    score
        The models: a list of columns, or ``{name: column}``; higher means more likely positive.
        With ``against``, it may be one column.
    by
        Segment keys: a column, an expression, a selector, or a list of them. Without it, all rows
        are one segment.
    weight
        Column of sample weights, non-negative and finite. Rows of weight 0 are ignored, even if
        another of their values is missing. Other weights must be at least 1e-150, and their sum
        below 1e150.
    pos_label
        The value of ``truth`` that is the positive class; all other values are negative. It is an
        error if the value never occurs.
    missing
        How to treat null, and NaN in truth or score. ``"raise"``: raise an error that counts them.
        ``"drop"``: if a row lacks the score of any model, leave it out for all models, and report
        the number of such rows in ``n_dropped``; with ``against``, where models are evaluated
        separately, leave it out only for the models whose score it lacks. ``"unretrieved"``: count
        a row without a score in the totals, as one that no threshold retrieves; a missing truth
        still raises.
    ci
        The level of the confidence interval for the difference in the population from which the
        rows were sampled.
    cluster
        Column that names groups of rows that are not independent (same user, same day); the groups
        are then taken as independent.
    baseline
        The name of a model. Each other model is compared with it, instead of each with each.
    against
        ``"rest"``: compare each segment with all rows outside it. The work is rows times segments:
        400,000 rows in 2,000 segments take a minute or two, and a product above 4 billion is an
        error. ``"overall"``: compare each segment with all rows, including its own. Each model is
        compared with itself. Average precision grows with prevalence, so a segment of another
        prevalence differs for that reason alone.
    adjust
        Add ``p_adjusted``, the p-values corrected for multiple testing over all rows of the result
        that have one: ``"holm"`` controls the probability of any false positive, ``"bh"``
        (Benjamini & Hochberg 1995) the expected share of false positives.

    Returns
    -------
    Same kind as ``frame``
        The keys, then ``model_a, model_b`` (String; with ``against``, a column ``against``
        instead), ``n, n_pos`` of the segment as in :func:`average_precision`, ``ap_a, ap_b`` (the
        average precision of the two models; with ``against``, of the segment and of what it is
        compared with), ``difference`` (``ap_a - ap_b``), ``std_error, ci_low, ci_high, p_value``
        (Float64; two-sided), ``p_adjusted`` if requested, and ``status`` (String) as in
        :func:`average_precision`; with ``against``, it describes the worse of the two sides. With
        ``missing="drop"``, also ``n_dropped``. Sorted by the keys, then in the order of the models.
        A baseline is ``model_b``.

    Raises
    ------
    ColumnError, OptionError, FrameError
        At the call, for invalid parameters, for columns that do not exist or have the wrong dtype,
        and if there is nothing to compare.
    DataError
        If the data contain invalid values. For a lazy frame, when the result is collected.

    Notes
    -----
    The standard error comes from the difference of the two influences of each row (with
    ``cluster``, of each cluster), so it accounts for models that find the same rows hard. The
    interval is for the plain difference, while the p-value tests the difference of the two logits;
    if they disagree, go by the p-value. Standard error, interval and p-value are null if the rows
    show no spread: two models that rank alike, a single positive, or an area of 1 or 0 with fewer
    than 20 effective positives. ``docs/statistics.md`` in the repository has the formulas and
    simulated error rates.

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
    check_frame(frame, takes_counts=False)
    asked = request(
        truth, score, by=by, weight=weight, pos_label=pos_label, missing=missing, cluster=cluster
    )
    compared = comparison(asked, ci, baseline, against, adjust)
    asked = replace(asked, side_by_side=compared.against is None)
    return run(frame, asked, Differences(compared))


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
    pos_squares: IntoColumn | None = None,
    neg_squares: IntoColumn | None = None,
    ci: float = 0.95,
    overall: bool = False,
) -> FrameT:
    """Scorecard of each segment in one row: its size, average precision, interval, chance level.

    Only ``calibrated_average_precision`` is meant to be equal for classifiers that are equally good
    in segments of different prevalence; the other measures still change with the prevalence.

    Parameters
    ----------
    frame
        Polars ``DataFrame`` or ``LazyFrame``, or pandas ``DataFrame``, one row per evaluated item.
    truth
        Column of the true class: Boolean, or 0/1 numbers, or any dtype with ``pos_label``.
    score
        Column of scores, of any numeric dtype; higher means more likely positive. Pass a list of
        columns, or ``{name: column}``, to evaluate several models; the result then begins with a
        key column ``model``.
    by
        Segment keys: a column, an expression, a selector, or a list of them. Without it, all rows
        are one segment.
    weight
        Column of sample weights, non-negative and finite. Rows of weight 0 are ignored, even if
        another of their values is missing. Other weights must be at least 1e-150, and their sum
        below 1e150.
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
    pos_squares, neg_squares
        Columns with the sums of squared weights that belong to ``pos`` and ``neg``. An interval
        needs them if ``pos`` and ``neg`` are sums of weights; ``counts(..., squares=True)`` returns
        them.
    ci
        The level of the confidence interval for the average precision in the population. Rows are
        taken as independent; if they are not, use :func:`average_precision` with ``cluster``.
    overall
        For each model, add a row for all rows pooled and a row for the mean of the segments. A
        column ``level`` before the keys then says what each row is: ``"segment"``, ``"pooled"`` or
        ``"macro"``. The added rows have null keys.

    Returns
    -------
    Same kind as ``frame``
        The keys, then

        - ``n, n_pos, prevalence`` as in :func:`average_precision`, ``n_dropped`` (Int64; 0 unless
          ``missing="drop"``), and ``status``: ``"ok"``, ``"few_positives"`` (fewer than 20, or with
          weights fewer than 20 effective positives), ``"below_chance"`` (the whole interval lies
          below ``random_average_precision``; if a lower score means more likely positive, negate
          it), ``"no_negatives"``, ``"no_positives"`` or ``"empty"``;
        - ``average_precision``, and ``std_error, ci_low, ci_high`` as in :func:`average_precision`
          with ``ci_method="influence"``;
        - ``random_average_precision``: the expected average precision of a random ranking with the
          same ties (without ties, Bestgen 2015); with weights, the prevalence;
        - ``lift``: ``average_precision / random_average_precision``, null if the denominator is 0;
        - ``chance_corrected_average_precision``: ``(area - random) / (1 - random)``. 0 is a random
          ranking, 1 a perfect one; null if every ranking is perfect;
        - ``normalised_average_precision``: ``(area - worst) / (1 - worst)``. 0 is the worst
          possible ranking, 1 a perfect one (Boyd et al. 2012, arXiv 1206.4667);
        - ``calibrated_average_precision``: the average precision that the same ranking would have
          at the prevalence of all rows of the model (Siblini et al. 2020, arXiv 1909.02827);
        - ``interpolated`` and ``normalised_interpolated``: the area by that method of :func:`auc`;
        - ``gain``: the area by that method of :func:`auc`;
        - ``best_f1`` and ``best_f1_threshold``, the highest threshold that reaches it; the
          threshold is null if no threshold retrieves a positive, and ``best_f1`` is then 0.

        All areas are Float64. They are null without positives; the normalised and calibrated ones
        and ``gain`` are also null without negatives. Sorted by the keys.

        With ``overall``, the pooled rows and then the macro rows follow the segments. The last
        column is then ``n_undefined`` (Int64): how many segments have no average precision and are
        left out of the mean (0 for pooled rows, null for segments). In a macro row, sizes are sums,
        measures are means over the segments that have them, and the interval is for a mean of
        independent segments.

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
    interval is null, and ``status`` is never ``"few_positives"`` or ``"below_chance"``. All
    formulas are in ``docs/statistics.md`` in the repository.

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
        pos_squares=pos_squares,
        neg_squares=neg_squares,
    )
    return run(frame, asked, Summary(interval, overall))
