"""The options of the command line: how each parameter of a verb is written in a shell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from inspect import Parameter
from typing import Annotated, Any, get_args

import polars as pl

from frame_prc._request.specs import CI_METHODS, Adjust, Against, Average, Criterion, Missing
from frame_prc.cli.input import KINDS
from frame_prc.cli.output import FORMATS
from frame_prc.exceptions import OptionError

Parsed = Callable[[Any], Any]


def _same(value: Any) -> Any:
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise OptionError(f"{text!r} is not a number", "numbers, such as .9 or .5,.9") from None


def _integer(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() else None


def _pieces(texts: Sequence[str]) -> list[str]:
    return [piece.strip() for text in texts for piece in text.split(",")]


def numbers(texts: Sequence[str]) -> list[float]:
    """Return the numbers of an option that is repeated, or separated by commas."""
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
            f"thresholds={pieces[0]!r} is a single threshold beyond 1, or a number of thresholds",
            "an integer for so many thresholds, or a list of them",
            f"thresholds={found[0]:.0f}",
        )
    return found


def keep(text: str) -> int | str:
    """Return which points of a curve to keep."""
    count = _integer(text)
    return text if count is None else count


def none_or(text: str) -> str | None:
    """Return a word, or the value that Python calls None."""
    return None if text == "none" else text


def targets(texts: Sequence[str]) -> dict[str, list[float]]:
    """Return operating points to mark, from words such as ``recall=.9``."""
    found: dict[str, list[float]] = {}
    for text in texts:
        name, equals, given = text.partition("=")
        if not equals:
            raise OptionError(f"points={text!r} is no operating point", "'recall=.9' and the like")
        found.setdefault(name.replace("-", "_"), []).extend(numbers([given]))
    return found


def label(text: str, dtype: pl.DataType) -> Any:
    """Return the value of a dtype that a text says, or the text where it says none.

    A verb refuses a label that its truth cannot hold, and says so.
    """
    readers: list[tuple[bool, Callable[[str], Any]]] = [
        (dtype == pl.Boolean, lambda word: {"true": True, "false": False}[word.lower()]),
        (dtype.is_integer(), int),
        (dtype.is_float(), float),
        (dtype.is_decimal(), Decimal),
        (dtype == pl.Date, date.fromisoformat),
        (dtype == pl.Datetime, datetime.fromisoformat),
        (dtype == pl.Time, time.fromisoformat),
    ]
    for fits, read in readers:
        if fits:
            try:
                return read(text)
            except (ValueError, KeyError, ArithmeticError):
                return text
    return text


def columns(texts: Sequence[str], schema: Mapping[str, object]) -> list[str]:
    """Return the columns that are named; commas separate them where no column has such a name."""
    return [
        name
        for text in texts
        for name in ([text] if text in schema else [piece.strip() for piece in text.split(",")])
    ]


def scores(texts: Sequence[str], schema: Mapping[str, object]) -> str | list[str] | dict[str, str]:
    """Return one score, several, or ``{name: column}`` where one is written as NAME=COLUMN."""
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
    """One option: what the shell passes, and what a verb gets.

    ``kind`` is the type Typer parses it as, ``values`` are what completion offers. Where ``parse``
    is left out the verb gets the same. ``shown`` says what happens without the option, where its
    default says too little.
    """

    kind: Any
    help: str
    metavar: str | None = None
    short: str | None = None
    values: Sequence[str] = ()
    parse: Parsed = _same
    shown: str | None = None

    def parameter(self, name: str, default: Any) -> Parameter:
        """Return the parameter from which Typer makes this option."""
        import typer  # noqa: PLC0415

        flag = "--" + name.replace("_", "-")
        flags = [f"{flag}/--no-{flag[2:]}" if default is True else flag]
        offered = list(self.values)
        told = typer.Option(
            *flags,
            *([self.short] if self.short else []),
            help=self.help,
            metavar=self.metavar,
            show_default=self.shown or default not in (None, False, True),
            autocompletion=(lambda: offered) if offered else None,
        )
        kind = self.kind if default is not None else self.kind | None
        return Parameter(
            name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, told]
        )


COLUMN, NUMBER, INTEGER = "COLUMN", "NUMBER", "INTEGER"
_MANY = "; repeat it, or separate by commas"

# By the name that a parameter has in every verb.
OPTIONS: dict[str, Option] = {
    "truth": Option(
        str, "The true class: true/false, 0/1, or any values with --pos-label.", COLUMN, "-t"
    ),
    "score": Option(
        list[str],
        f"Scores, higher is more likely positive. Several models{_MANY}; NAME=COLUMN names one.",
        COLUMN,
        "-s",
    ),
    "by": Option(list[str], f"Segments: one result for each value. Several{_MANY}.", COLUMN, "-b"),
    "weight": Option(str, "Sample weights.", COLUMN, "-w"),
    "pos_label": Option(
        str, "The value of --truth that is positive, such as yes; all others are negative.", "VALUE"
    ),
    "missing": Option(
        str,
        "Missing scores: an error, left out, or counted as never found.",
        "|".join(get_args(Missing)),
        values=get_args(Missing),
    ),
    "pos": Option(str, "Positives per row, instead of --truth, for rows already counted.", COLUMN),
    "neg": Option(str, "Negatives per row, beside --pos.", COLUMN),
    "pos_squares": Option(str, "Sums of squared weights of the positives, for --ci.", COLUMN),
    "neg_squares": Option(str, "Sums of squared weights of the negatives, for --ci.", COLUMN),
    "over": Option(str, "A key of --by to average over inside the others.", COLUMN),
    "average": Option(
        str,
        "How to average --over.",
        "|".join(get_args(Average)),
        values=get_args(Average),
        parse=none_or,
    ),
    "thresholds": Option(
        list[str],
        "Bin the scores: so many thresholds from 0 to 1, or a list such as .1,.5,.9.",
        "NUMBER|LIST",
        parse=thresholds,
    ),
    "bounds": Option(bool, "Add how far off ties or bins can be."),
    "ci": Option(float, "The level of an interval, such as .95.", "LEVEL"),
    "ci_method": Option(str, "How the interval is made.", "|".join(CI_METHODS), values=CI_METHODS),
    "cluster": Option(str, "Rows that hang together: a user, a patient, a day.", COLUMN),
    "replicates": Option(int, "Samples that a bootstrap draws.", INTEGER),
    "stratified": Option(bool, "Draw positives and negatives apart."),
    "seed": Option(int, "For the same bootstrap every time.", INTEGER),
    "start": Option(
        str,
        "The point at recall 0.",
        "one|first|none",
        values=("one", "first", "none"),
        parse=none_or,
    ),
    "keep": Option(
        str,
        "Every point, those that draw the same line, or so many at most.",
        "all|corners|NUMBER",
        values=("all", "corners"),
        parse=keep,
    ),
    "envelope": Option(bool, "Add the largest precision from each point on."),
    "gain": Option(bool, "Add precision gain and recall gain."),
    "calibrate": Option(float, "Add the precision at this prevalence.", "SHARE"),
    "recall": Option(list[str], f"Find at least this share{_MANY}.", NUMBER, parse=numbers),
    "precision": Option(list[str], f"Be at least so precise{_MANY}.", NUMBER, parse=numbers),
    "threshold": Option(list[str], f"Take this threshold{_MANY}.", NUMBER, parse=numbers),
    "f_beta": Option(
        list[str], f"The best F score, 1 for F1, 2 for F2{_MANY}.", NUMBER, parse=numbers
    ),
    "predicted_rate": Option(
        list[str], f"Call at most this share positive{_MANY}.", NUMBER, parse=numbers
    ),
    "squares": Option(bool, "Add the sums of squared weights."),
    "overall": Option(bool, "Add a row for all rows pooled, and one for the segments' mean."),
    "baseline": Option(str, "Compare all models with this one.", "MODEL"),
    "against": Option(
        str,
        "Compare each segment with the rest, or with all.",
        "|".join(get_args(Against)),
        values=get_args(Against),
        parse=none_or,
    ),
    "adjust": Option(
        str,
        "Adjust the p-values for being many.",
        "|".join(get_args(Adjust)),
        values=get_args(Adjust),
        parse=none_or,
    ),
}
# ... and what the picture has beside these, or means by them.
PLOT: dict[str, Option] = {
    "ci": Option(float, "The level of intervals; draws one around each curve.", "LEVEL"),
    "band": Option(bool, "Draw a band from a bootstrap."),
    "iso_f1": Option(bool, "Draw lines of equal F1."),
    "points": Option(
        list[str],
        "Operating points to mark: recall=.9, precision=.5,.9, f-beta=1 or predicted-rate=.05; "
        "repeat it for several.",
        "NAME=NUMBER",
        values=tuple(f"{name}=" for name in get_args(Criterion)),
        parse=targets,
    ),
    "roc": Option(bool, "Draw the ROC curve beside each panel."),
    "threshold": Option(float, "Mark this threshold, and show its confusion counts.", NUMBER),
    "facet": Option(
        list[str], "The keys that have a panel for each value; none puts all into one.", COLUMN
    ),
    "dark": Option(bool, "Light lines on a dark ground."),
    "title": Option(str, "What stands above the picture.", "TEXT"),
    "width": Option(int, "The width of a panel in pixels.", INTEGER),
    "height": Option(int, "The height of a panel in pixels.", INTEGER),
}

SOURCE: dict[str, Option] = {
    "input_format": Option(
        str, "What the files are, where their names do not say.", "|".join(KINDS)
    ),
    "separator": Option(str, "What separates the columns of a CSV file.", "CHARACTER"),
    "decimal_comma": Option(bool, "Numbers in CSV files have a comma: 0,93."),
    "null_value": Option(
        list[str], "A word that stands for a missing value in CSV files, such as NA.", "WORD"
    ),
    "text": Option(
        list[str], "Columns of CSV files to take as text, so that 007 is not 7.", "COLUMN"
    ),
}
RESULT: dict[str, Option] = {
    "output": Option(
        str, "Write this file; its suffix says how.", "FILE", "-o", shown="standard output"
    ),
    "format": Option(
        str,
        "How to write to standard output.",
        "|".join(FORMATS),
        "-f",
        FORMATS,
        shown="table to a terminal, tsv to a pipe",
    ),
}
PICTURE: dict[str, Option] = {
    "output": Option(
        str, "Draw into this file, which ends with .html, .svg or .png.", "FILE", "-o"
    ),
}
FOR_R: dict[str, Option] = {
    "output": Option(
        str,
        "Write this table, which ends with .tsv, .csv, .parquet or .arrow; the script goes beside "
        "it, with the suffix .R.",
        "FILE",
        "-o",
    ),
}
DEBUG: dict[str, Option] = {"debug": Option(bool, "Show where in the program an error arose.")}
