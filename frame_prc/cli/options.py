"""The options of the commands, and how their text becomes the parameters of a verb."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import Annotated, Any, get_args

import polars as pl

from frame_prc._request.class_values import from_text
from frame_prc._request.specs import (
    CI_METHODS,
    PAIRED_TESTS,
    SEGMENTS_TESTS,
    Adjust,
    ChartX,
    Criterion,
    How,
    MeasureName,
    Missing,
    NamedAgainst,
    Normaliser,
    SegmentsAre,
    Ties,
)
from frame_prc.cli.files import KINDS
from frame_prc.cli.output import FORMATS
from frame_prc.exceptions import OptionError


def flag(name: str) -> str:
    """Return the option of a parameter."""
    return "--" + name.replace("_", "-")


def _unchanged(value: Any) -> Any:
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise OptionError(f"{text!r} is not a number", "numbers, such as 0.9 or 0.5,0.9") from None


def _integer(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() else None


def _pieces(texts: Sequence[str]) -> list[str]:
    return [piece.strip() for text in texts for piece in text.split(",")]


def numbers(texts: Sequence[str]) -> list[float]:
    """Return the numbers of an option that is repeated, or has several separated by commas."""
    return [_number(piece) for piece in _pieces(texts)]


def thresholds(texts: Sequence[str]) -> int | list[float]:
    """Return a number of thresholds, or the thresholds."""
    pieces = _pieces(texts)
    count = _integer(pieces[0]) if len(pieces) == 1 else None
    if count is not None:
        return count
    found = numbers(texts)
    if len(found) == 1 and found[0] >= 2 and found[0].is_integer():  # noqa: PLR2004
        raise OptionError(
            f"thresholds={pieces[0]!r} is ambiguous: one threshold, or a number of thresholds",
            "an integer for a number of thresholds, or a list of thresholds",
            f"thresholds={found[0]:.0f}",
        )
    return found


def costs(texts: Sequence[str]) -> list[tuple[float, ...]]:
    """Return pairs of costs, from texts such as ``1,10``."""
    return [tuple(numbers([text])) for text in texts]


def recalls(texts: Sequence[str]) -> int | list[float]:
    """Return a number of recalls, or the recalls."""
    count = _integer(texts[0].strip()) if len(texts) == 1 else None
    return numbers(texts) if count is None or count <= 1 else count


def measures(texts: Sequence[str]) -> str | list[str]:
    """Return the names of measures, or the word for all of them."""
    found = [name.strip() for text in texts for name in text.split(",")]
    return "all" if found == ["all"] else found


def keep(text: str) -> int | str:
    """Return which points of a curve to keep, or how many."""
    count = _integer(text)
    return text if count is None else count


def share(text: str) -> float | str:
    """Return a prevalence, or the word for one."""
    try:
        return float(text)
    except ValueError:
        return text


def segment(text: str, schema: Mapping[str, pl.DataType]) -> str | dict[str, Any]:
    """Return a segment named as KEY=VALUE, or another text as it is."""
    key, equals, value = text.partition("=")
    if not equals:
        return text
    return {key: from_text(value, schema[key]) if key in schema else value}


def none_or(text: str) -> str | None:
    """Return a word, or ``None`` for the word none, or None as in Python."""
    return None if text.lower() == "none" else text


def targets(texts: Sequence[str]) -> dict[str, list[float]]:
    """Return operating points to mark, from texts such as ``recall=0.9``."""
    found: dict[str, list[float]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals:
            raise OptionError(
                f"points={text!r} is not an operating point",
                "a criterion and numbers, such as 'recall=0.9'",
            )
        found.setdefault(name.replace("-", "_"), []).extend(numbers([values]))
    return found


def columns(texts: Sequence[str], schema: Mapping[str, object]) -> list[str]:
    """Return names of columns; commas separate them, unless they are part of a name."""
    return [
        name
        for text in texts
        for name in ([text] if text in schema else [piece.strip() for piece in text.split(",")])
    ]


def scores(texts: Sequence[str], schema: Mapping[str, object]) -> str | list[str] | dict[str, str]:
    """Return one score, several, or ``{name: column}`` if one is written as NAME=COLUMN."""
    texts = columns(texts, schema)
    pairs = [_named(text, schema) for text in texts]
    if all(name == column for name, column in pairs):
        return texts[0] if len(texts) == 1 else texts
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise OptionError(f"score= names a model {name!r} twice", "each model once")
    return dict(pairs)


def _named(text: str, schema: Mapping[str, object]) -> tuple[str, str]:
    name, equals, column = text.partition("=")
    return (name, column) if equals and text not in schema else (text, text)


@dataclass(frozen=True)
class Option:
    """One option of a command.

    Typer converts the text to the type ``kind``, and ``parse`` converts that to the verb's
    parameter. Shell completion offers the ``values``, which are also the metavar by default. The
    help shows ``default_text`` instead of the default.
    """

    kind: Any
    help: str
    metavar: str | None = None
    short: str | None = None
    values: Sequence[str] = ()
    parse: Callable[[Any], Any] = _unchanged
    default_text: str | None = None

    def parameter(self, name: str, default: Any) -> Parameter:
        """Return the parameter from which Typer makes this option."""
        import typer  # noqa: PLC0415

        main = flag(name)
        flags = [f"{main}/--no-{main[2:]}" if default is True else main]
        offered = list(self.values)
        option = typer.Option(
            *flags,
            *([self.short] if self.short else []),
            help=self.help,
            metavar=self.metavar or "|".join(offered) or None,
            show_default=self.default_text or default not in (None, False, True),
            autocompletion=(lambda: offered) if offered else None,
        )
        kind = self.kind if default is not None else self.kind | None
        return Parameter(
            name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option]
        )


COLUMN, NUMBER, INTEGER = "COLUMN", "NUMBER", "INTEGER"
_SEVERAL = "repeat it, or separate them by commas"


def _target(text: str) -> Option:
    return Option(list[str], f"{text} For several {_SEVERAL}.", NUMBER, parse=numbers)


# By the name that a parameter has in every verb.
OPTIONS: dict[str, Option] = {
    "truth": Option(
        str, "The true class: true/false, 0/1, or any values with --pos-label.", COLUMN, "-t"
    ),
    "score": Option(
        list[str],
        f"Scores; higher means more likely positive. For several models {_SEVERAL}; NAME=COLUMN "
        "names a model.",
        COLUMN,
        "-s",
    ),
    "by": Option(
        list[str],
        "Segments: one result per value. day:1w cuts a column of dates into weeks (s, m, h, d, w, "
        f"mo, q or y). For several keys {_SEVERAL}.",
        "COLUMN[:PERIOD]",
        "-b",
    ),
    "weight": Option(str, "Sample weights.", COLUMN, "-w"),
    "pos_label": Option(
        str, "The value of --truth that is positive, such as yes; all others are negative.", "VALUE"
    ),
    "missing": Option(
        str,
        "Rows without a score: an error, dropped, or counted as never retrieved.",
        values=get_args(Missing),
    ),
    "pos": Option(str, "Positives per row, instead of --truth, for aggregated rows.", COLUMN),
    "neg": Option(str, "Negatives per row, with --pos.", COLUMN),
    "model": Option(str, "The model of each row, for files with a row per item and model.", COLUMN),
    "row": Option(str, "What identifies an item, to match the rows of models.", COLUMN),
    "ascending": Option(bool, "Lower scores mean more likely positive: distances, ranks."),
    "pos_squares": Option(str, "Sums of squared weights of the positives, for --ci.", COLUMN),
    "neg_squares": Option(str, "Sums of squared weights of the negatives, for --ci.", COLUMN),
    "over": Option(str, "Average over this key of --by, within the other keys.", COLUMN),
    "how": Option(str, "How to average over --over.", values=get_args(How)),
    "thresholds": Option(
        list[str],
        "Bin the scores: a number of thresholds from 0 to 1, or a list such as 0.1,0.5,0.9.",
        "NUMBER|LIST",
        parse=thresholds,
    ),
    "bounds": Option(bool, "Add the lowest and highest average precision that ties or bins allow."),
    "ci": Option(float, "Add intervals at this confidence level, such as 0.95.", "LEVEL"),
    "ci_method": Option(str, "How to compute the intervals.", values=CI_METHODS),
    "cluster": Option(
        str, "Rows with the same value are not independent: a user, a patient, a day.", COLUMN
    ),
    "replicates": Option(int, "Number of bootstrap samples, or of random permutations.", INTEGER),
    "stratified": Option(bool, "Resample positives and negatives separately."),
    "seed": Option(int, "Seed of the random numbers, for reproducible results.", INTEGER),
    "start": Option(str, "The point at recall 0.", values=("one", "first", "none"), parse=none_or),
    "keep": Option(
        str,
        "Keep all points, only those that shape the curve, or at most this many.",
        "all|corners|NUMBER",
        values=("all", "corners"),
        parse=keep,
    ),
    "envelope": Option(bool, "Add the highest precision at this recall or above."),
    "gain": Option(bool, "Add precision gain and recall gain."),
    "calibrate": Option(
        str,
        "Calibrate to this prevalence; highest is that of the segment where positives are most "
        "frequent, at most 0.5, and pooled that of all rows of a model.",
        "SHARE|highest|pooled",
        values=("highest", "pooled"),
        parse=share,
    ),
    "recall": _target("At least this recall."),
    "precision": _target("At least this precision."),
    "threshold": Option(
        list[str],
        "This threshold, or that of each segment: a column, or a file that points wrote for other "
        f"rows. For several numbers {_SEVERAL}.",
        "NUMBER|COLUMN|FILE",
    ),
    "f_beta": _target("The highest F score: 1 for F1, 2 for F2."),
    "predicted_rate": _target("At most this share of rows predicted positive."),
    "predicted_count": _target("At most this number of rows predicted positive."),
    "fpr": _target("At most this share of negatives predicted positive."),
    "cost": Option(
        list[str],
        "The least cost, such as 1,10 if a missed positive costs ten false alarms. Repeat it for "
        "several.",
        "FP,FN",
        parse=costs,
    ),
    "guarantee": Option(
        float, "Choose thresholds that new rows meet the target at with this probability.", "LEVEL"
    ),
    "top": Option(float, "Only the area over this many of the highest rows.", NUMBER),
    "normaliser": Option(
        str,
        "Divide the area of --top by all positives, or by those that fit into it.",
        values=get_args(Normaliser),
    ),
    "ties": Option(
        str,
        "Of a tie that does not fit, retrieve nothing (whole), or as many rows as fit, at random.",
        values=get_args(Ties),
    ),
    "recalls": Option(
        list[str],
        "The curve on a common grid: a number of recalls from 0 to 1, or a list such as 0.5,0.9.",
        "NUMBER|LIST",
        parse=recalls,
    ),
    "details": Option(bool, "Add the columns that are not shown at first, such as prevalence."),
    "measures": Option(
        list[str], "Add measures to the scorecard by name, or all.", "NAME|all", parse=measures
    ),
    "squares": Option(bool, "Add the sums of squared weights."),
    "overall": Option(bool, "Add a row for all rows pooled, and one for the mean of the segments."),
    "segments": Option(
        str,
        "Whether the segments are all there are, or a sample: for the interval of their mean.",
        values=get_args(SegmentsAre),
    ),
    "baseline": Option(str, "Compare all other models with this one.", "MODEL"),
    "against": Option(
        str,
        "Compare each segment with the others, with the rest as one list, with all rows, with the "
        "one before, with random orders of its labels, or with a named one.",
        "|".join([*get_args(NamedAgainst), "KEY=VALUE"]),
        values=get_args(NamedAgainst),
        parse=none_or,
    ),
    "measure": Option(str, "What to compare.", values=get_args(MeasureName), parse=none_or),
    "adjust": Option(
        str, "Correct p-values for multiple testing.", values=get_args(Adjust), parse=none_or
    ),
}
# Options that only compare-models has, or that have another meaning there.
COMPARE_MODELS: dict[str, Option] = {
    "over": Option(
        str, "Test the mean difference over this key of --by, whose segments are a sample.", COLUMN
    ),
    "test": Option(str, "The test with --over.", values=PAIRED_TESTS),
}
# Options that only heterogeneity has, or that have another meaning there.
HETEROGENEITY: dict[str, Option] = {
    "ci": Option(float, "Confidence level of the interval of tau.", "LEVEL"),
    "test": Option(
        str,
        "Test by permuting rows or by Cochran's Q; without it, by their number.",
        values=SEGMENTS_TESTS,
    ),
}
# Options that only plot has, or that have another meaning there.
PLOT: dict[str, Option] = {
    "ci": Option(float, "Draw an interval around each curve at this confidence level.", "LEVEL"),
    "x": Option(
        str,
        "Draw precision over recall, or precision, recall and F1 over the threshold.",
        values=get_args(ChartX),
    ),
    "band": Option(bool, "Draw a pointwise bootstrap band around each curve."),
    "iso_f1": Option(bool, "Draw lines of equal F1."),
    "points": Option(
        list[str],
        "Operating points to mark: recall=0.9, precision=0.5,0.9, f-beta=1 or predicted-rate=0.05. "
        "Repeat it for several.",
        "NAME=NUMBER",
        values=tuple(f"{name}=" for name in get_args(Criterion)),
        parse=targets,
    ),
    "roc": Option(bool, "Draw the ROC curve beside each panel."),
    "threshold": Option(float, "Mark this threshold, and show its confusion counts.", NUMBER),
    "facet": Option(
        list[str], "Keys with a panel per value; none draws all curves in one panel.", COLUMN
    ),
    "dark": Option(bool, "Draw on a dark background."),
    "title": Option(str, "Title of the chart.", "TEXT"),
    "width": Option(int, "Width of a panel in pixels.", INTEGER),
    "height": Option(int, "Height of a panel in pixels.", INTEGER),
}

# Options that have another meaning in plot-summary.
PLOT_SUMMARY: dict[str, Option] = {
    "ci": Option(float, "Confidence level of the intervals.", "LEVEL"),
    "baseline": Option(str, "Draw the difference of all other models from this one.", "MODEL"),
    "sort": Option(
        str,
        "Order of the segments: by value, by difference of the models, or by key.",
        values=("value", "difference", "key"),
    ),
    "dark": PLOT["dark"],
    "title": PLOT["title"],
    "width": Option(int, "Width of the panel of average precisions in pixels.", INTEGER),
}

# Options that have another meaning in report.
REPORT: dict[str, Option] = {
    "ci": Option(float, "Confidence level of the intervals.", "LEVEL"),
    "calibrate": Option(
        str,
        "The prevalence at which segments are compared; highest is that of the segment where "
        "positives are most frequent, at most 0.5, and pooled that of all rows of a model.",
        "SHARE|highest|pooled",
        values=("highest", "pooled"),
        parse=share,
    ),
    "title": Option(str, "Title of the page.", "TEXT"),
}

SOURCE: dict[str, Option] = {
    "input_format": Option(
        str, "Format of the files; by default their suffix says it.", values=KINDS
    ),
    "separator": Option(str, "Separator of the columns of CSV files.", "CHARACTER"),
    "decimal_comma": Option(bool, "CSV files have a decimal comma: 0,93."),
    "null_value": Option(
        list[str], "A word that stands for a missing value in CSV files, such as NA.", "WORD"
    ),
    "text": Option(
        list[str], "Columns of CSV files to read as text, so that 007 is not 7.", COLUMN
    ),
    "memory": Option(
        str,
        "Stay below this much memory, such as 2GB, at least 500MB: exact results in passes, with "
        "scratch files beside the output, or in TMPDIR. For ap, counts, curve, points and summary.",
        "SIZE",
    ),
}
RESULT: dict[str, Option] = {
    "output": Option(
        str,
        "File to write; its suffix sets the format.",
        "FILE",
        "-o",
        default_text="standard output",
    ),
    "format": Option(
        str,
        "Format of standard output.",
        short="-f",
        values=FORMATS,
        default_text="table to a terminal, tsv to a pipe",
    ),
    "columns": Option(
        list[str],
        "Write these columns of the result only, in this order.",
        COLUMN,
        default_text="all",
    ),
}
GATE: dict[str, Option] = {
    "fail_under": Option(
        list[str],
        "Exit with code 3 if a row meets this condition, such as 'average_precision<0.3': a "
        "column, one of <, <=, >, >=, and a number. Such rows are named on standard error. So are "
        "rows without a value, which do not fail, unless no row has one: that is an error. Repeat "
        "it for several.",
        "CONDITION",
    ),
}
PICTURE: dict[str, Option] = {
    "output": Option(str, "File to draw: .html, .svg or .png.", "FILE", "-o"),
}
FOR_R: dict[str, Option] = {
    "output": Option(
        str,
        "Table to write: .tsv, .csv, .parquet or .arrow. The script is written beside it, as .R.",
        "FILE",
        "-o",
    ),
}
REPORT_FILES: dict[str, Option] = {
    "output": Option(
        str,
        "Page to write: .html. Its numbers are written beside it, as .json; or .json for them "
        "alone.",
        "FILE",
        "-o",
    ),
    "format": Option(str, "json prints the numbers.", short="-f", values=("json",)),
}
DEBUG: dict[str, Option] = {"debug": Option(bool, "Show the traceback of an error.")}
