"""Curves for R: a table and the ggplot2 script that draws it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from frame_prc._charts.data import counts_of_curve
from frame_prc._curves import areas as _areas
from frame_prc._curves import curve as _curve
from frame_prc._curves import curve_frame as _curve_frame
from frame_prc._formulas import normal_quantile
from frame_prc._frames.border import check_frame, scan_all
from frame_prc._ggplot import write as _ggplot
from frame_prc._request.options import (
    check_title,
    confidence,
    points_to_keep,
)
from frame_prc._request.parameters import verb
from frame_prc._request.roles import check_option, request
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
from frame_prc._tables import average_precision as _tables
from frame_prc.verbs.run import rows_in_memory

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
    start: Start = "one",
    keep: Keep = "corners",
    ci: float | None = None,
    title: str | None = None,
) -> tuple[Path, Path]:
    """Curves for R: a table that it reads without surprises, and a script that draws it.

    Parameters
    ----------
    frame
        Polars ``DataFrame`` or ``LazyFrame``, or pandas ``DataFrame``, one row per evaluated item;
        or a curve, as :func:`curve` returned it or as read back from a file: then ``truth``,
        ``score``, ``pos`` and ``neg`` are left out, and its keys are the columns before
        ``threshold``. A lazy frame is read here, once.
    path
        Where the table goes; what lies there is replaced. ``.tsv`` or ``.csv`` is text, which R
        reads by itself; ``.parquet`` and ``.arrow`` or ``.feather`` need R's package arrow. The
        script goes beside it, with the suffix ``.R``.
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
        ``"drop"``: such rows are left out, for each model its own. ``"unretrieved"``: rows without
        a score stay in the totals as never found, at no threshold; a missing truth raises.
    pos, neg
        Columns of positives and negatives per row, in place of ``truth``, for rows that are already
        aggregated; rows with the same score are added up. Integers count rows; floats are taken for
        sums of weights, also where all of them are whole.
    start
        The point at recall 0 that opens each segment, at threshold ``inf``. ``"one"``: precision 1,
        as scikit-learn and yardstick. ``"first"``: the precision of the first real point, as
        precrec, PRROC and Spark. ``None``: no such row.
    keep
        The points of each segment, as in :func:`curve`; the corners draw the same line as all.
    ci
        Add an interval with this probability of covering, for example ``0.95``: that of the average
        precision, as :func:`average_precision` has it, and at each threshold that of the precision,
        as :func:`curve` has it, which is drawn as a ribbon. Both are those of independent rows. Not
        with weights, nor for a curve.
    title
        The title of the picture.

    Returns
    -------
    tuple of Path
        The table and the script. Either both are written, or an error leaves both as they were.

    Raises
    ------
    ColumnError, OptionError, FrameError, FileError
        Before anything is read: a role that the schema cannot fill, an unknown suffix, a path that
        cannot be written, or a script of somebody else where this one would go.
    DataError
        For values that must not be swallowed.

    Notes
    -----
    The table is :func:`curve`, with the ``average_precision`` of its segment in every row, and with
    ``ci`` also ``ci_low, ci_high``. For a curve that was thinned before, which no longer tells, it
    is null. ``Rscript`` draws the table into a ``.png`` beside it: a panel per segment, a colour
    per ``model``.

    A null is ``NA`` (``<NA>`` in a column where ``NA`` is a text), infinity ``Inf``; texts are
    quoted, numbers have 17 digits, and a Float32 is written with the value it has as a double.
    Names become ASCII that R takes as it stands, and the script says which. Its ``restore`` makes
    factors of strings, categories, decimals, times, durations and integers beyond ``2**53``, with
    levels in the order of their dtype, and of Booleans, integers, floats, dates and datetimes what
    R has for them. Counts become doubles, exact up to ``2**53``. No string of R holds a NUL; U+2400
    stands in its place.

    Of 106,015 doubles, most of them random bit patterns, subnormals and quotients of counts, R
    4.2.2 on x86-64 read all from this text bit for bit, by ``read.table`` and by ``fread`` of
    data.table 1.14.8; from the shortest texts that stand for them it misread 6 and 3. By itself
    readr 2.1.4 misread 37 % of this text and 32 % of the shortest; as the script calls it, none.

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
    table = _ggplot.table_path(path)
    check_title(title)
    check_frame(frame)
    if _curve_frame.is_curve(truth, score, pos, neg):
        _curve_frame.check_unused(
            by=(by, None),
            weight=(weight, None),
            pos_label=(pos_label, None),
            ci=(ci, None),
            missing=(missing, "raise"),
            start=(start, "one"),
            keep=(keep, "corners"),
        )
        curve_frame = _curve_frame.read_curve(scan_all(frame))
        _ggplot.check_keys(curve_frame.keys)
        points, areas = curve_frame.points.lazy(), _areas_of_curve(curve_frame)
    else:
        asked = request(truth, score, by, weight, pos_label, missing, pos, neg)
        check_option("start", start, STARTS)
        kept, level = points_to_keep(keep), None if ci is None else confidence(ci)
        extras = _curve.Extras(z=None if level is None else normal_quantile(level))
        interval = None if level is None else Interval(level)
        outputs = [*_curve.columns(extras, kept), *_tables.columns(missing, interval, bounds=False)]
        rows = rows_in_memory(frame, asked, outputs)
        points = _curve.curve(rows, start, kept, None, extras)
        areas = _tables.average_precision(rows, None, interval, bounds=False)
    drawn, known = pl.collect_all([points, areas])
    return _ggplot.write(drawn, known, table, title, ci)


def _areas_of_curve(curve_frame: _curve_frame.CurveFrame) -> pl.LazyFrame:
    """Return keys and average precision of a curve; null where it lacks points that count."""
    rows = counts_of_curve(curve_frame)
    table = _tables.average_precision(rows, None, None, bounds=False)
    names = dict(zip(rows.columns.result_keys, curve_frame.keys, strict=True))
    area = pl.col(_areas.AVERAGE_PRECISION)
    known = pl.when(pl.lit(curve_frame.error is None)).then(area)
    return table.select(*(pl.col(key).alias(name) for key, name in names.items()), known)
