"""Reports: one page to send, and its numbers for a pipeline to keep."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from frame_prc._engines.engine import engine_of
from frame_prc._engines.operations import Engine
from frame_prc._frames.border import check_frame
from frame_prc._report.evaluation import Options, evaluate
from frame_prc._report.write import report_paths, write
from frame_prc._request.options import calibration, check_title, confidence
from frame_prc._request.roles import Request, check_one_grouping, request
from frame_prc._request.specs import (
    MODEL,
    Calibration,
    Interval,
    IntoColumn,
    IntoKeys,
    IntoScores,
    Missing,
)
from frame_prc._rows.rows import Rows
from frame_prc._tables.summary import Summary
from frame_prc.verbs.run import engine_verbs, rows_in_memory
from frame_prc.verbs.verb import verb

if TYPE_CHECKING:
    from frame_prc._frames.border import AnyFrame


@verb
def report(
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
    ci: float = 0.95,
    cluster: IntoColumn | None = None,
    baseline: str | None = None,
    calibrate: float | Literal["pooled"] = "pooled",
    title: str | None = None,
) -> list[Path]:
    """Write one HTML page to send, and its numbers as JSON.

    The page needs no network. It says in sentences which model is better, in which segments it is
    not, which segments differ from the others, and which are too small to judge. It has the
    scorecard as a table that sorts and filters, the average precisions with their intervals, the
    curves of the segments that the reader chooses, and the alerts, precision and recall at each
    threshold, with intervals. Its numbers are also written as JSON.

    Parameters
    ----------
    frame
        Polars ``DataFrame`` or ``LazyFrame``, pandas ``DataFrame``, DuckDB relation or PySpark
        ``DataFrame``, one row per evaluated item. A lazy frame is read here, once. Of an engine's
        frame only the counts are collected, so it takes columns by name and no ``cluster``, and
        models and segments are not tested.
    path
        Where to write; existing files are replaced. ``"report.html"`` is the page, and its numbers
        are written beside it, as ``report.json``. ``"report.json"`` is the numbers alone.
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
        :func:`compare`; the report says how many. ``"unretrieved"``: count a row without a score in
        the totals, as one that no threshold retrieves; a missing truth still raises.
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
        The level of the intervals; tests are at the level ``1 - ci``.
    cluster
        Column that names groups of rows that are not independent (same user, same day); the groups
        are then taken as independent. For single rows only.
    baseline
        The name of a model. Each other model is compared with it, instead of each with each.
    calibrate
        The prevalence at which segments are compared: a number between 0 and 1, or ``"pooled"``:
        the share of positives of all rows of the model. Give a number to hold reports of several
        months to the same one.
    title
        The title of the page.

    Returns
    -------
    list of Path
        The files that were written: the page and its numbers, or the numbers alone. If an error is
        raised, existing files are unchanged.

    Raises
    ------
    ColumnError, OptionError, FrameError, FileError
        Before anything is read: for invalid parameters, for columns that do not exist or have the
        wrong dtype, for an unknown suffix, for a path that cannot be written, if the numbers would
        replace a file that this function did not write, and if Altair, Jinja2 or vl-convert is not
        installed.
    DataError
        If the data contain invalid values, or there are more than 7 models.

    Notes
    -----
    The numbers are those of :func:`summary` with ``overall=True``, of :func:`compare` between
    models and of segments with the others (``against="others"``), both adjusted by Holm's method,
    of :func:`heterogeneity`, of :func:`curve` with an integer ``keep``, and of
    :func:`operating_points` at up to about 200 thresholds, with the intervals of their precision
    and recall. Up to 200 segments have curves; of more, the 20 worst, the 20 best and the 20
    largest. Without single rows of models side by side, as in counts and in long data, models are
    not tested; without single rows, segments are not tested either. Weighted rows have no intervals
    at thresholds. ``frame_prc/_report/report.schema.json`` describes the JSON.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> import frame_prc
    >>> df = pl.DataFrame({"late": [True, False, True, False], "score": [0.9, 0.4, 0.4, 0.2]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page, numbers = df.prc.report(f"{folder}/late.html", "late", "score")
    ...     print(page.name, numbers.name)
    late.html late.json
    """
    paths = report_paths(path)
    check_title(title)
    check_frame(frame, engines=True)
    level, reference = confidence(ci), calibration(calibrate) or Calibration()
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
    check_one_grouping(asked)
    table = Summary(Interval(level), overall=True, calibration=reference)
    outputs = [MODEL, *table.outputs]  # its tables name the model, even if there is one
    engine = engine_of(frame)
    if engine is None:
        rows = rows_in_memory(frame, asked, outputs, common_rows=True)
    else:
        rows = _counts_of_engine(engine, frame, asked, outputs)
    options = Options(level, calibrate, reference, baseline, title)
    write(evaluate(rows, asked, options), paths)
    return paths


def _counts_of_engine(engine: Engine, frame: Any, asked: Request, outputs: Collection[str]) -> Rows:
    """Return the counts of an engine's frame as rows."""
    refused = {"cluster": asked.cluster is not None}
    counted = engine_verbs(engine, asked, refused).counts(engine, frame, asked, None)
    import narwhals as nw  # noqa: PLC0415 - the engine needs it, so it is installed

    counts = nw.from_native(counted).collect("polars").to_native()
    made = ["threshold", "pos", "neg", *([MODEL] if asked.several_models else [])]
    keys = [name for name in counts.columns if name not in made]
    of_counts = request(
        score="threshold",
        pos="pos",
        neg="neg",
        by=keys or None,
        model=MODEL if asked.several_models else None,
        missing="raise" if asked.missing == "drop" else asked.missing,
        ascending=asked.ascending,
    )
    return rows_in_memory(counts, of_counts, outputs)
