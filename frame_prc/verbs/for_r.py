"""Curves for R: a table and the ggplot2 script that draws it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from frame_prc._charts.data import counts_of_curve
from frame_prc._curves.areas import AVERAGE_PRECISION
from frame_prc._curves.curve import Curve, Extras
from frame_prc._curves.curve_frame import CurveFrame, check_unused, is_curve, read_curve
from frame_prc._formulas import normal_quantile
from frame_prc._frames.border import check_frame, scan_all
from frame_prc._ggplot.write import check_keys, table_path, write
from frame_prc._request.options import (
    check_cluster,
    check_title,
    confidence,
    points_to_keep,
)
from frame_prc._request.roles import Given, Request, check_option, request
from frame_prc._request.specs import (
    STARTS,
    Interval,
    IntoColumn,
    IntoKeys,
    IntoScores,
    Keep,
    Missing,
    Start,
)
from frame_prc._tables.average_precision import AveragePrecision
from frame_prc.verbs.run import rows_in_memory
from frame_prc.verbs.verb import verb

if TYPE_CHECKING:
    from frame_prc._frames.border import AnyFrame


@verb
def write_ggplot(
    frame: AnyFrame,
    path: str | os.PathLike[str],
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
    keep: Keep = "corners",
    ci: float | None = None,
    cluster: IntoColumn | None = None,
    title: str | None = None,
) -> tuple[Path, Path]:
    """Write a table for R, and the ggplot2 script that draws it.

    Parameters
    ----------
    frame
        Polars ``DataFrame`` or ``LazyFrame``, pandas, Arrow or Narwhals frame: one row per item.
        Without ``truth``, ``score``, ``pos`` and ``neg``, it is a curve as :func:`curve` returned
        it, or as read back from a file; its keys are then the columns before ``threshold``. A lazy
        frame is read here, once.
    path
        Where to write the table; an existing file is replaced. ``.tsv`` and ``.csv`` are text,
        which R reads by itself; ``.parquet``, ``.arrow`` and ``.feather`` need R's package arrow.
        The script is written beside it, with the suffix ``.R``.
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
    start
        The point at recall 0 that opens each segment, at threshold ``inf``. ``"one"``: precision 1,
        as in scikit-learn and yardstick. ``"first"``: the precision of the first real point, as in
        precrec, PRROC and Spark. ``None``: no such row.
    keep
        The points of each segment, as in :func:`curve`. The corners draw the same line as all
        points.
    ci
        Add confidence intervals of this level, for example ``0.95``: for the average precision, as
        in :func:`average_precision`, and for the precision at each threshold, as in :func:`curve`,
        which is drawn as a ribbon. Not with weights, and not for a curve.
    cluster
        Column that names groups of rows that are not independent (same user, same day); the groups
        are then taken as independent. For single rows only.
    title
        The title of the picture.

    Returns
    -------
    tuple of Path
        The paths of the table and of the script. If an error is raised, existing files are
        unchanged.

    Raises
    ------
    ColumnError, OptionError, FrameError, FileError
        Before anything is read: for invalid parameters, for columns that do not exist or have the
        wrong dtype, for an unknown suffix, for a path that cannot be written, and if the script
        would replace one that this function did not write, or that was edited since.
    DataError
        If the data contain invalid values.

    Notes
    -----
    The table holds the points of :func:`curve`, with the ``average_precision`` of the segment in
    every row, and with ``ci`` also ``ci_low, ci_high``. The average precision is null for a curve
    that was thinned before, because the points left do not determine it. ``Rscript`` draws the
    table into a ``.png`` beside it, with a panel per segment and a colour per ``model``, in the
    order in which models are given.

    A null is ``NA`` (``<NA>`` in a column that holds the text ``NA``), and infinity is ``Inf``.
    Strings are quoted, numbers have 17 digits, and a Float32 is written with its value as a double.
    Column names become ASCII names that R accepts unchanged, and the script lists the changes. The
    function ``restore`` of the script turns strings, categories, decimals, times, durations and
    integers beyond ``2**53`` into factors, with levels in the order of their dtype, and Booleans,
    integers, floats, dates and datetimes into the matching types of R. Counts become doubles, exact
    up to ``2**53``. Strings in R cannot hold a NUL; U+2400 is written instead.

    We checked 106,015 doubles, most of them random bit patterns, subnormals and quotients of
    counts, with R 4.2.2 on x86-64. ``read.table``, and ``fread`` of data.table 1.14.8, read all of
    them bit for bit from this text; from the shortest text of each number they misread 6 and 3.
    readr 2.1.4 on its own misread 37 % of this text and 32 % of the shortest; as the script calls
    it, none.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> import frame_prc
    >>> df = pl.DataFrame({"late": [True, False, True, False], "score": [0.9, 0.4, 0.4, 0.2]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table, script = df.prc.write_ggplot(f"{folder}/late.tsv", "late", "score")
    ...     print(table.name, script.name)
    late.tsv late.R
    """
    table = table_path(path)
    check_title(title)
    check_cluster(cluster, ci)
    check_frame(frame)
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
    if is_curve(given):
        check_unused(**given, start=start, keep=keep, ci=ci)
        curve = read_curve(scan_all(frame), ascending=ascending)
        check_keys(curve.keys)
        points, areas, clusters = curve.points.lazy(), _areas_of_curve(curve), None
        models: list[str] = []
    else:
        asked = request(**given)
        start, kept = check_option("start", start, STARTS), points_to_keep(keep)
        level = None if ci is None else confidence(ci)
        points, areas, clusters = _tables(frame, asked, start, kept, level)
        models = [name for name in asked.models if name is not None]
    drawn, known = pl.collect_all([points, areas])
    return write(drawn, known, table, title, ci, clusters, models)


def _tables(
    frame: AnyFrame, asked: Request, start: Start, keep: Keep, level: float | None
) -> tuple[pl.LazyFrame, pl.LazyFrame, str | None]:
    """Return the curves of rows, their average precisions, and the name of their clusters."""
    z = None if level is None else normal_quantile(level)
    curve = Curve(start, keep, extras=Extras(z=z))
    areas = AveragePrecision(interval=None if level is None else Interval(level))
    rows = rows_in_memory(frame, asked, [*curve.outputs, *areas.columns(asked.missing)])
    cluster = rows.columns.cluster
    return curve.finished(rows), areas.finished(rows), None if cluster is None else cluster.name


def _areas_of_curve(curve_frame: CurveFrame) -> pl.LazyFrame:
    """Return keys and average precision of a curve; null where it lacks points that count."""
    rows = counts_of_curve(curve_frame)
    table = AveragePrecision().finished(rows)
    names = dict(zip(rows.columns.result_keys, curve_frame.keys, strict=True))
    area = pl.col(AVERAGE_PRECISION)
    known = pl.when(pl.lit(curve_frame.error is None)).then(area)
    return table.select(*(pl.col(key).alias(name) for key, name in names.items()), known)
