"""Pictures: the curves, and the average precision of each segment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from frame_prc._charts.data import ChartSource, source_of_curve, source_of_rows
from frame_prc._charts.options import (
    SORTS,
    Facet,
    OperatingPoints,
    Sort,
    chart_look,
    chart_options,
    check_altair,
)
from frame_prc._curves.curve import CURVE
from frame_prc._curves.curve_frame import check_unused, is_curve
from frame_prc._frames.border import check_frame, scan_all
from frame_prc._request.options import calibration, comparison, confidence
from frame_prc._request.roles import Given, check_option, request
from frame_prc._request.specs import (
    STARTS,
    Calibration,
    ChartX,
    Comparison,
    IntoColumn,
    IntoKeys,
    IntoScores,
    Missing,
    Start,
)
from frame_prc.verbs.run import rows_in_memory
from frame_prc.verbs.verb import verb

if TYPE_CHECKING:
    from altair.typing import ChartType

    from frame_prc._frames.border import AnyFrame


@verb
def plot(
    frame: AnyFrame,
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
    x: ChartX = "recall",
    start: Start = "one",
    ci: float | None = None,
    cluster: IntoColumn | None = None,
    band: bool = False,
    iso_f1: bool | Sequence[float] = True,
    points: OperatingPoints | None = None,
    roc: bool = False,
    threshold: float | None = None,
    facet: Facet = None,
    dark: bool = False,
    title: str | None = None,
    width: int | None = None,
    height: int | None = None,
) -> ChartType:
    """Draw the precision-recall curve of each segment and model.

    Curves are steps whose area is the average precision. A dashed line marks the prevalence. The
    average precision is in the legend or above each panel, with its interval if there is one, and
    the number of positives. The point nearest the mouse shows its threshold, precision, recall,
    ``tp`` and ``fp``. Needs Altair: ``pip install altair``.

    Parameters
    ----------
    frame
        Polars ``DataFrame`` or ``LazyFrame``, pandas, Arrow or Narwhals frame: one row per item.
        Without ``truth``, ``score``, ``pos`` and ``neg``, it is a curve as :func:`curve` returned
        it, or as read back from a file; its keys are then the columns before ``threshold``. A lazy
        frame is read here, once.
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
    x
        ``"recall"``: draw precision over recall. ``"threshold"``: draw precision, recall and F1
        over the threshold, each segment and model in a panel of its own, and show the confusion
        counts at one threshold: ``threshold``, or the one of the largest F1 (of several lines, the
        median of theirs). In a saved page a slider moves it. A single panel has the curve over
        recall beside it, to which ``start`` and ``iso_f1`` apply; ``roc``, ``band`` and ``facet``
        are errors.
    start
        The point at recall 0 that opens each segment: ``"one"`` (precision 1), ``"first"`` (the
        precision of the first real point), or ``None`` (no such point). A curve frame keeps its own
        start. Lines are drawn from the first visible step on, and faint from the start to there.
    ci
        Draw a ribbon around each curve: for each threshold by itself, an interval of this level for
        the precision (Wilson), as in :func:`curve`. It is also the level of the intervals of the
        average precision, which is 0.95 by default.
    cluster
        Column that names groups of rows that are not independent (same user, same day); the groups
        are then taken as independent. For single rows only.
    band
        Draw the ribbon of :func:`band` instead, at the same level: from a bootstrap, for each
        recall by itself. It takes longer, and accepts weights. The seed is fixed.
    iso_f1
        Draw lines of equal F1 score behind the curves: ``True`` for 0.2, 0.4, 0.6 and 0.8,
        ``False`` for none, or a list of up to 9 scores.
    points
        Operating points to mark, up to 6, as :func:`operating_points` takes them: for example
        ``{"recall": 0.9}`` or ``{"f_beta": [1, 2]}``. The numbers at the marks are thresholds.
        Marks of several lines at one place are drawn side by side.
    roc
        Draw the ROC curve of the same counts beside each panel.
    threshold
        Mark the point at this threshold, and show its confusion counts.
    facet
        The keys that get a panel for each of their values: a name or a list of names. The other
        keys are distinguished by colour, up to 21 in a panel. ``False`` puts all lines into one
        panel. ``None`` chooses: models are distinguished by colour, and each segment has a panel;
        but up to 6 segments of a single model share one panel, and with two or more keys the last
        one is distinguished by colour if it has up to 6 values.
    dark
        Draw light marks on a dark background.
    title
        Title above the chart.
    width, height
        The size of a panel in pixels. If only one is given, the panel is a square. By default the
        chart is up to about 800 pixels wide.

    Returns
    -------
    altair.LayerChart, altair.ConcatChart, altair.HConcatChart or altair.VConcatChart
        ``chart.save("curves.html", inline=True)`` writes a page that works offline; ``curves.svg``
        and ``curves.png`` need no network either. A ``.png`` has two pixels per pixel of the chart,
        unless ``scale_factor`` or ``ppi`` is given. A chart has up to 60 lines, and fewer rows than
        Altair's limit of 5,000. If points were left out to stay below it,
        ``chart.usermeta["frame_prc"]["precision_error"]`` says how far the steps are off at most,
        and ``"roc_error"`` the same for ROC curves; from 0.001 on, the text above the chart says so
        too. With ``x="threshold"`` all counts are exact, at each of up to 240 scores, or else at
        about as many thresholds. Segments whose average precision is undefined are listed with the
        reason, and have no line.

    Raises
    ------
    ColumnError, OptionError, FrameError
        For invalid parameters, for columns that do not exist or have the wrong dtype, and if Altair
        is not installed.
    DataError
        If the data contain invalid values, or there are more lines than a chart can show.

    Notes
    -----
    If the rows do not fit in memory, draw their counts: ``counts(..., thresholds=1001)``, then
    ``score="threshold", pos="pos", neg="neg"``. There is no interval for sums of weights in ``pos``
    and ``neg``, nor for weighted curves. For a curve thinned by ``keep=``, the average precision is
    that of the remaining steps, marked with "≈".

    Examples
    --------
    >>> import polars as pl
    >>> import frame_prc
    >>> df = pl.DataFrame({"late": [True, False, True, False], "score": [0.9, 0.4, 0.4, 0.2]})
    >>> chart = df.prc.plot("late", "score", points={"f_beta": 1})
    >>> type(chart).__name__, chart.usermeta["frame_prc"]["precision_error"]
    ('LayerChart', 0.0)
    """
    check_frame(frame)
    check_altair("plot")
    start = check_option("start", start, STARTS)
    look = chart_look(dark, title, width, height)
    options = chart_options(
        x, ci, band, iso_f1, points, roc, threshold, facet, look, ascending=ascending
    )
    from frame_prc._charts import curves, saving, thresholds  # noqa: PLC0415 - Altair takes its time

    given = Given(
        truth=truth,
        score=score,
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
    draw = thresholds.plot if options.x == "threshold" else curves.plot
    return saving.with_files(draw(_chart_source(frame, given, start), options))


@verb
def plot_summary(
    frame: AnyFrame,
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
    ci: float = 0.95,
    cluster: IntoColumn | None = None,
    baseline: str | None = None,
    calibrate: float | Literal["pooled"] | None = None,
    sort: Sort = None,
    dark: bool = False,
    title: str | None = None,
    width: int | None = None,
) -> ChartType:
    """Draw the average precision of each segment.

    Segments are rows with a dot per model; over dates or times, the dots are joined by lines. For
    two models, or for several and a ``baseline``, a second panel shows the differences, with the
    intervals of :func:`compare`. Needs Altair: ``pip install altair``.

    Parameters
    ----------
    frame
        Polars ``DataFrame`` or ``LazyFrame``, pandas, Arrow or Narwhals frame: one row per item.
        Without ``truth``, ``score``, ``pos`` and ``neg``, it is a curve as :func:`curve` returned
        it, or as read back from a file; its keys are then the columns before ``threshold``. A lazy
        frame is read here, once.
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
        another of their values is missing; a segment without other rows is not in the result.
        Other weights must be at least 1e-150, and their sum below 1e150.
    pos_label
        The value of ``truth`` that is the positive class; all other values are negative. It is an
        error if the value never occurs.
    missing
        How to treat null, and NaN in truth or score. ``"raise"``: raise an error that counts them.
        ``"drop"``: if a row lacks the score of any model, leave it out for all models, as in
        :func:`compare`; the chart says so. ``"unretrieved"``: count a row without a score in the
        totals, as one that no threshold retrieves; a missing truth still raises.
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
        ``score`` is then one column. Models are then evaluated separately, also with
        ``missing="drop"``.
    ci
        The level of the intervals. A dot is hollow if it has no interval, or is from so few rows
        that its interval may cover less.
    cluster
        Column that names groups of rows that are not independent (same user, same day); the groups
        are then taken as independent. For single rows only.
    baseline
        The name of a model. The chart shows the difference of each other model from it.
    calibrate
        Show the calibrated average precision instead, all segments at this prevalence: a number
        between 0 and 1, or ``"pooled"``: the share of positives of all rows of the model.
    sort
        The order of the rows, from the top: ``"key"``, the order of the keys; ``"value"``, largest
        average precision first; ``"difference"``, largest difference first. By default, dates or
        times in one key are drawn as lines; otherwise the order is that of the keys if all of them
        are numbers, times or ordered categories (``Enum``), and else by difference if there is one,
        or by value.
    dark
        Draw light marks on a dark background.
    title
        Title above the chart.
    width
        The width in pixels of the panel of average precisions.

    Returns
    -------
    altair.ConcatChart
        One row per segment, up to 200. It shows the average precisions, a tick at the average
        precision of a random ranking (with weights, at the prevalence), and the numbers of
        positives and of rows. The points of a curve frame count as ties, so any ``keep`` other than
        ``"all"`` moves its ticks towards the prevalence. A difference is the first model minus the
        second, or each model minus the baseline; for counts, a curve frame or ``model`` it has no
        interval. Segments whose average precision is undefined have the reason instead of the dot;
        sorted by value or difference, they come last. Save the chart as one of :func:`plot`.

        If one key has dates or datetimes, and ``sort`` is not given, the chart has time as its
        horizontal axis, with a line and a ribbon per model, a dashed line for a random ranking, and
        a panel for each value of the other keys, up to 24 (with more, it has rows). There are up to
        2,000 points. A segment whose average precision is undefined leaves a gap, marked with a
        cross. A date without rows does not. Datetimes are shown in their own time zone.

    Raises
    ------
    ColumnError, OptionError, FrameError
        For invalid parameters, for columns that do not exist or have the wrong dtype, and if Altair
        is not installed.
    DataError
        If the data contain invalid values, or more segments or models (7) than a chart can show.

    Notes
    -----
    Windows that overlap share rows, so their average precisions go up and down together: to test a
    change, compare windows that do not overlap. ``examples/rolling_weeks.py`` also leaves out the
    first and the last windows, which are incomplete.

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
    >>> chart = df.prc.plot_summary("late", "score", by="region")
    >>> type(chart).__name__
    'ConcatChart'

    Average precision by week, in order, for a frame with a column ``day`` of dates:

    >>> days = df.with_columns(day=pl.date(2024, 1, 1 + 3 * pl.int_range(pl.len())))
    >>> week = pl.col("day").dt.truncate("1w")
    >>> chart = days.prc.plot_summary("late", "score", by=week)

    In windows that overlap: repeat each row in every window that it belongs to, here in those of
    the four weeks up to each week. A lazy frame stays lazy.

    >>> up_to = pl.date_ranges(week, week.dt.offset_by("3w"), "1w")
    >>> windows = days.lazy().with_columns(up_to=up_to).explode("up_to")
    >>> chart = windows.prc.plot_summary("late", "score", by="up_to")
    >>> windows.prc.average_precision("late", "score", by="up_to").collect()["n"].to_list()
    [3, 5, 5, 5, 2]
    """
    check_frame(frame)
    check_altair("plot_summary")
    level, look = confidence(ci), chart_look(dark, title, width, None)
    sort = check_option("sort", sort, SORTS)
    from frame_prc._charts import saving, summary  # noqa: PLC0415 - Altair takes its time

    given = Given(
        truth=truth,
        score=score,
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
    pairs = _pairs(given, level, baseline, calibrate)
    reference = calibration(calibrate)
    source = _chart_source(frame, given, "one", common_rows=True, reference=reference)
    chart = summary.plot_summary(source, pairs, baseline, sort, level, look)
    return saving.with_files(chart)


def _chart_source(
    frame: AnyFrame,
    given: Given,
    start: Start,
    *,
    common_rows: bool = False,
    reference: Calibration | None = None,
) -> ChartSource:
    """Return the segments of rows, of counts, or of a curve frame."""
    if is_curve(given):
        check_unused(**given, start=start)
        points = scan_all(frame).collect()
        return source_of_curve(points, reference, ascending=given["ascending"])
    rows = rows_in_memory(frame, request(**given), CURVE, common_rows=common_rows)
    return source_of_rows(rows, start, reference)


def _pairs(
    given: Given, level: float, baseline: str | None, calibrate: object
) -> Comparison | None:
    """Return which models to compare on the same rows, where there are single rows of several."""
    if given["truth"] is None or given["score"] is None or given["model"] is not None:
        return None
    asked = request(**given)
    pair = 2
    if baseline is None and len(asked.models) != pair:
        return None
    return comparison(asked, level, baseline=baseline, calibrate=calibrate)
