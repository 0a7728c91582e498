"""The options of the commands: those of a verb come from its signature and its documentation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from inspect import Parameter, cleandoc, signature
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args

import polars as pl

import frame_prc
from frame_prc._charts import options as chart_options
from frame_prc._lazy import named
from frame_prc._report import options as report_options
from frame_prc._request import specs
from frame_prc._request.values import from_text
from frame_prc.cli.errors import FLAGS, command_name, flag, in_shell
from frame_prc.cli.files import KINDS, Source, first_value, opened, reading
from frame_prc.cli.output import DRAWN, FORMATS, WRITTEN
from frame_prc.evaluation import glossary
from frame_prc.exceptions import ColumnError, OptionError

_SHORT = {"truth": "-t", "score": "-s", "by": "-b", "weight": "-w", "output": "-o", "format": "-f"}


@dataclass(frozen=True)
class Option:
    """One option of a command.

    Typer converts the text to the type ``kind``, and ``read`` that to the verb's parameter, for a
    source. Completion offers ``words``, by default those of the metavar.
    """

    kind: Any
    metavar: str | None = None
    help: str = ""
    read: Callable[[Any, Source], Any] | None = None
    words: Sequence[str] = ()
    default_text: str | None = None

    def value(self, given: Any, source: Source) -> Any:
        """Return the verb's parameter."""
        return given if self.read is None else self.read(given, source)

    def parameter(self, name: str, default: Any) -> Parameter:
        """Return the parameter from which Typer makes this option."""
        import typer  # noqa: PLC0415

        main = flag(name)
        words = [*self.words] or [
            word for word in (self.metavar or "").split("|") if word.islower()
        ]
        option = typer.Option(
            f"{main}/--no-{main[2:]}" if self.kind is bool and default is not False else main,
            *([_SHORT[name]] if name in _SHORT else []),
            help=self.help,
            metavar=self.metavar,
            show_default=self.default_text or default not in (None, False, True),
            autocompletion=(lambda: words) if words else None,
        )
        kind = self.kind if default is not None else self.kind | None
        return Parameter(
            name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option]
        )


# --- the parameters of a verb ------------------------------------------------------------------

# What is written for a value of a type.
_METAVARS = {
    "int": "INTEGER",
    "float": "NUMBER",
    "str": "TEXT",
    "object": "VALUE",
    "dt.date": "DATE",
    "IntoColumn": "COLUMN",
    "AnyFrame": "FILE",
}
_FIELDS: dict[str, type[specs.Draws | specs.Top]] = {"Draws": specs.Draws, "Top": specs.Top}
_TYPES = {*_METAVARS, *_FIELDS, "Literal", "Sequence", "tuple"}
# The types of options by name, such as those that take one of a few words.
ALIASES = vars(specs) | vars(chart_options) | vars(report_options)


def _option_of(annotation: str) -> Option:
    tokens = _tokens(annotation)
    shown = [_METAVARS.get(one, one) for one in tokens if one in _METAVARS or one not in _TYPES]
    if tokens[0] == "bool":
        return Option(bool)
    if "Sequence" not in tokens:
        read = None if tokens[0] in ("str", "object", "IntoColumn") else partial(_read, tokens)
        return Option(str, "|".join(shown), read=read)
    more = {"AnyFrame": "; or a file that points wrote", "Top": "; 100,ties=expected cuts a tie"}
    also = "".join(text for kind, text in more.items() if kind in tokens)
    return Option(
        list[str], "|".join(shown), f"For several {_SEVERAL}{also}.", partial(_read, tokens)
    )


def _tokens(annotation: str) -> list[str]:
    """Return the names of types, and the words, in an annotation and its aliases, once each."""
    found: list[str] = []
    for name in re.findall(r"[\w.]+", annotation):
        found += [name] if name in _TYPES or name not in ALIASES else _words(ALIASES[name])
    return [*dict.fromkeys(found)]


def _words(kind: Any) -> list[str]:
    if kind is NoneType:
        return ["none"]
    parts = [[one] if isinstance(one, str) else _words(one) for one in get_args(kind)]
    return [word for part in parts for word in part] if parts else [kind.__name__]


def _read(tokens: Sequence[str], given: str | list[str], _: Source) -> Any:
    """Return the rows of a file, or numbers and words, as the tokens of a type say."""
    texts, is_file = [given] if isinstance(given, str) else given, "AnyFrame" in tokens
    if is_file and Path(texts[0]).is_file():
        return table(texts[0])
    found = [value for text in texts for value in _values(tokens, text)]
    is_path = isinstance(found[0], str) and found[0] not in tokens
    if is_file and is_path and "Sequence" not in tokens:
        return table(found[0])  # which says that there is none
    # A single value is how many numbers there are to be, where that may be meant, if it can be.
    may_count = "int" in tokens and "Sequence" in tokens
    is_one = not found[1:] and (isinstance(found[0], int) or not may_count)
    return found[0] if is_one else found


def _values(tokens: Sequence[str], text: str) -> list[Any]:
    kind = next((_FIELDS[one] for one in tokens if one in _FIELDS), None)
    if kind is not None and "=" in text:
        return [_with_fields(kind, text)]
    parts = _pieces(text) if "Sequence" in tokens or "tuple" in tokens else [text]
    is_number = "int" in tokens or "float" in tokens
    found = [plain(part) if is_number else none_or(part) for part in parts]
    is_wrong = "tuple" in tokens and any(isinstance(one, str) for one in found)
    return [text] if is_wrong else found


def _with_fields(kind: type[specs.Draws | specs.Top], text: str) -> specs.Draws | specs.Top:
    """Return a value of a kind from a number and fields, such as ``1000,seed=1``."""
    first, *others = (one.name for one in fields(kind))
    number, *fields_given = _pieces(text)
    found: dict[str, Any] = {first: plain(number)}
    if isinstance(found[first], (str, bool)):
        allowed = f"such as 100,{others[0]}=..."
        raise OptionError(f"{text!r} does not begin with a number", allowed)
    for piece in fields_given:
        name, equals, value = piece.partition("=")
        if not (equals and value) or name not in others or name in found:
            raise OptionError(
                f"{text!r} has {piece!r} after its number",
                "each once of " + ", ".join(f"{other}=..." for other in others),
            )
        found[name] = plain(value)
    return kind(**found)


def _pieces(text: str) -> list[str]:
    return [piece.strip() for piece in text.split(",")]


def plain(text: str) -> Any:
    """Return a number, or whether it is true, or the text."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def none_or(text: str) -> str | None:
    """Return a word, or ``None`` for the word none, or None as in Python."""
    return None if text.lower() == "none" else text


# --- types with a grammar of their own ---------------------------------------------------------


def _held_at(text: str, _: Source) -> dict[str, float] | pl.DataFrame:
    """Return numbers by name, from a text such as ``threshold=0.5``, or a file's thresholds."""
    if Path(text).is_file():
        return table(text)
    found = {}
    for piece in _pieces(text):
        name, equals, value = piece.partition("=")
        if not (equals and name):
            allowed = "a number with its name, 'threshold=0.5', or a file of thresholds"
            raise OptionError(f"at={text!r} is no file, and names no number", allowed)
        found[name.strip()] = plain(value)
    return found


def _costs(texts: Sequence[str], _: Source) -> list[tuple[float, ...]]:
    return [tuple(map(plain, _pieces(text))) for text in texts]


def _targets(texts: Sequence[str], _: Source) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals:
            raise OptionError(
                f"points={text!r} is not an operating point",
                "a criterion and numbers, such as 'recall=0.9'",
            )
        found.setdefault(name.replace("-", "_"), []).extend(map(plain, _pieces(values)))
    return found


def _held(texts: Sequence[str], source: Source) -> list[Any] | str | pl.DataFrame:
    """Return thresholds as numbers, a column of the rows, or a file."""
    if not texts[1:] and texts[0] in source.schema:
        return texts[0]
    if not texts[1:] and Path(texts[0]).is_file():
        return table(texts[0])
    found = [plain(piece) for text in texts for piece in _pieces(text)]
    if words := [one for one in found if isinstance(one, str)]:
        allowed = "numbers, a column, or a file that points wrote"
        raise OptionError(f"threshold={words[0]!r} is not a number", allowed)
    return found


def columns(texts: Sequence[str], known: Iterable[str]) -> list[str]:
    """Return names of columns; commas separate them, unless they are part of a name."""
    known = {*known}
    return [name for text in texts for name in ([text] if text in known else _pieces(text))]


def _scores(texts: Sequence[str], source: Source) -> str | list[str] | dict[str, str]:
    """Return one score, several, or ``{name: column}`` if one is written as NAME=COLUMN."""
    texts = columns(texts, source.schema)
    pairs = [_named(text, source.schema) for text in texts]
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


def _facet(texts: Sequence[str], source: Source) -> list[str] | bool:
    """Return keys, or ``False`` for the word none."""
    found = columns(texts, source.schema)
    return found != ["none"] and found


def _segment(text: str, source: Source) -> str | dict[str, Any] | None:
    """Return a segment named as KEY=VALUE, or another text as it is."""
    key, equals, value = text.partition("=")
    if not equals:
        return none_or(text)
    return {key: from_text(value, source.schema[key]) if key in source.schema else value}


def table(path: str) -> pl.DataFrame:
    """Return the rows of a file."""
    with opened([path]) as file:
        return file.rows.collect()


_PERIOD = re.compile(r"[1-9]\d*(s|m|h|d|w|mo|q|y)")
_LONGEST_PERIOD = 6  # characters: 9999mo
_UNITS = "s, m (minutes), h, d, w, mo (months), q or y"
_WITHIN_A_DAY = ("s", "m", "h")
_TIMES = ("%H:%M:%S%.f", "%H:%M", "%H:%M:%S%.f%#z")
_FORMS: list[tuple[pl.Date | pl.Datetime, str]] = [
    (pl.Date(), "%Y-%m-%d"),
    *((pl.Datetime("us"), f"%Y-%m-%d{between}{time}") for time in _TIMES for between in "T "),
]
_DATES = "dates, or ISO text such as 2024-01-31 or 2024-01-31 08:15:00"


def _keys(texts: Sequence[str], source: Source) -> list[str | pl.Expr]:
    """Return keys: names of columns, and expressions where a period follows a name."""
    return [_key(text, source) for text in columns(texts, source.schema)]


def names_of_keys(by: Sequence[str | pl.Expr]) -> list[str]:
    """Return the names of keys."""
    return [key if isinstance(key, str) else key.meta.output_name() for key in by]


def _key(text: str, source: Source) -> str | pl.Expr:
    schema = source.schema
    name, colon, period = text.rpartition(":")
    found = _PERIOD.fullmatch(period)
    if text in schema or not colon:
        return text
    if name not in schema:  # the verb names the columns that are similar
        return name if found else text
    if found is None or len(period) > _LONGEST_PERIOD:
        raise OptionError(
            f"by={text!r} ends with {period!r}, which is not a period",
            f"a number and one of {_UNITS}",
            f"for example --by {name}:1w",
        )
    dtype, column = schema[name], named(name)
    if dtype == pl.String:
        with reading(source):
            dtype, form = _form(text, name, source)
        column = column.str.strptime(dtype, form)
    if dtype not in (pl.Date, pl.Datetime):
        raise ColumnError(f"by={text!r} cuts dates, and column {name!r} has dtype {dtype}", _DATES)
    if dtype == pl.Date and found[1] in _WITHIN_A_DAY:
        raise ColumnError(
            f"by={text!r} cuts days, and column {name!r} has dates without a time",
            "periods of whole days",
            f"--by {name}:1mo is a month" if found[1] == "m" else None,
        )
    return column.dt.truncate(period).alias(name)


def _form(text: str, name: str, source: Source) -> tuple[pl.Date | pl.Datetime, str]:
    column = named(name)
    first = pl.Series([first_value(source, name, column.is_not_null())], dtype=pl.String)
    fitting = (form for form in _FORMS if not first.str.strptime(*form, strict=False).has_nulls())
    dtype, form = next(fitting, _FORMS[0])
    is_unread = column.str.strptime(dtype, form, strict=False).is_null()
    unread = first_value(source, name, column.is_not_null() & is_unread)
    if unread is not None:
        raise ColumnError(
            f"by={text!r} cuts dates, and column {name!r} holds {unread!r}",
            f"{_DATES}, all in one form",
            "is this the right column?",
        )
    return dtype, form


_SEVERAL = "repeat it, or separate them by commas"
_GRAMMARS = {
    "IntoScores": Option(
        list[str],
        "COLUMN",
        f"For several models {_SEVERAL}; NAME=COLUMN names a model.",
        _scores,
    ),
    "IntoKeys": Option(list[str], "COLUMN[:PERIOD]", read=_keys),
    "float | Sequence[float] | IntoColumn | AnyFrame": Option(
        list[str],
        "NUMBER|COLUMN|FILE",
        "Or that of each segment: a column, or a file that points wrote for other rows. For "
        f"several numbers {_SEVERAL}.",
        _held,
    ),
    "tuple[float, float] | Sequence[tuple[float, float]]": Option(
        list[str], "FP,FN", "A pair is written as 1,10; repeat it for several.", _costs
    ),
    "tuple[float, float]": Option(list[str], "FP,FN", "Written as 1,10.", _costs),
    "Mapping[str, float] | AnyFrame": Option(
        str, "threshold=NUMBER|fpr=NUMBER|FILE", read=_held_at
    ),
    "Against": Option(
        str,
        "|".join([*get_args(specs.NamedAgainst), "KEY=VALUE"]),
        "Or a named segment.",
        _segment,
    ),
    "OperatingPoints": Option(
        list[str],
        "NAME=NUMBER",
        read=_targets,
        words=[f"{name}=" for name in get_args(specs.Criterion)],
    ),
    "Facet": Option(list[str], "COLUMN", "none draws all curves in one panel.", _facet),
}
# What is special about a parameter of this name, or of this type.
_METAVAR = {
    "ci": "LEVEL",
    "guarantee": "LEVEL",
    "over": "COLUMN",
    "baseline": "MODEL",
    "plan": "REFERENCE,LOOKS",
    "size": "WIDTH,HEIGHT",
    "date": "DATE",
    "str | Sequence[str]": "NAME|all",
}
# Where the documentation speaks of Python, or of what stands elsewhere in it.
_HELP = {
    "by": "Segments: one result per value. day:1w cuts a column of dates into weeks (s, m, h, d, "
    f"w, mo, q or y). For several keys {_SEVERAL}.",
    "ascending": "Lower scores mean more likely positive: distances, ranks.",
    "baseline": "Compare all other models with this one, instead of each with the earlier ones.",
    "bootstrap": "Resample so many data sets for the intervals: 1000, or 1000,seed=1 or "
    "1000,stratified=true, which keeps the sizes of the classes.",
    "permutations": "Draw so many permutations: 1000, or 1000,seed=1.",
    "top": "Only the area over this many of the highest rows: 100, or 100,normaliser=attainable, "
    "which divides it by the positives that fit, or 100,ties=expected, which cuts a tie.",
    "at": "The threshold of a measure that has one, threshold=0.5, or the false positive rate, "
    "fpr=0.1; or a file that points wrote for other rows. It must not be chosen on these rows.",
    "details": "Add the columns that are not shown at first, such as prevalence.",
    "measures": "Add measures to the scorecard by name, or all.",
    "iso_f1": "Draw lines of equal F1.",
    "size": "The size of a panel in pixels: 300,200, or 300 for a square.",
    "points": "Operating points to mark: recall=0.9, precision=0.5,0.9, f-beta=1 or "
    "predicted-rate=0.05. Repeat it for several; a report takes one.",
}

# How a sentence begins that is about a value, what names columns, and what is left out.
_OF_VALUE = ('``"', "``None``:", "A number ")
_ADDED = re.compile(r"^Add (?:[\w ]*``[^`]*``)+")  # columns, which may be called like parameters
_CITATION = re.compile(r" \([^()]*\b(?:19|20)\d\d\b[^()]*\)")

# Roles, and the verbs that they mean nothing to.
_ALL = {*frame_prc.__all__}
_UNUSED = {
    **dict.fromkeys(["frame", "path"], _ALL),
    "row": _ALL - {"compare_models"},
    "cluster": {"counts"},
    "strata": {"counts"},
    **dict.fromkeys(
        ["pos", "neg"], ("compare_models", "compare_segments", "find_segments", "influence")
    ),
    **dict.fromkeys(
        ["pos_squares", "neg_squares"],
        _ALL - {"average_precision", "counts", "heterogeneity", "summary"},
    ),
}


def parameters(verb: str) -> dict[str, Parameter]:
    """Return the parameters of a verb that mean something in a shell."""
    given = signature(getattr(frame_prc, verb)).parameters
    return {name: one for name, one in given.items() if verb not in _UNUSED.get(name, ())}


@cache
def options(verb: str) -> dict[str, Option]:
    """Return the options that are the parameters of a verb."""
    texts = described(getattr(frame_prc, verb).__doc__) | described(glossary.SECTION)
    return {
        name: _option(name, one.annotation, _plain(texts[name]))
        for name, one in parameters(verb).items()
    }


def _option(name: str, annotation: str, text: str) -> Option:
    kind = annotation.removesuffix(" | None")
    option = _GRAMMARS.get(kind) or _option_of(kind)
    help_text = _HELP.get(name) or " ".join(filter(None, [text, option.help]))
    metavar = _METAVAR.get(name) or _METAVAR.get(kind, option.metavar)
    return replace(option, help=help_text, metavar=metavar)


def described(doc: str | None) -> dict[str, str]:
    """Return what a docstring says of each parameter: first, and then of each of its values."""
    text = cleandoc(doc or "").partition("Parameters\n----------\n")[2]
    text = re.split(r"\n\n(?=\w+\n---)", text)[0]
    found: dict[str, str] = {}
    for entry in re.split(r"^(?=\S)", text, flags=re.MULTILINE)[1:]:
        names, _, said = entry.partition("\n")
        first, *others = re.split(r"(?<=\.\)|.\.) +(?=[A-Z`])", " ".join(said.split()))
        sentences = [first, *(one for one in others if one.startswith(_OF_VALUE))]
        found |= dict.fromkeys(names.split(", "), " ".join(sentences))
    return found


def _plain(text: str) -> str:
    text = _ADDED.sub(lambda found: found[0].replace("``", ""), _CITATION.sub("", text))
    text = re.sub(r":func:`(\w+)`", lambda found: command_name(found[1]), text)
    return re.sub(r"``(.+?)``", lambda found: _code(found[1]), text)


def _code(text: str) -> str:
    return FLAGS.get(text) or in_shell(text).strip('"')


# --- options of every command ------------------------------------------------------------------

_SOURCE = {
    "input_format": Option(
        str, "|".join(KINDS), "Format of the files; by default their suffix says it."
    ),
    "separator": Option(str, "CHARACTER", "Separator of the columns of CSV files."),
    "decimal_comma": Option(bool, help="CSV files have a decimal comma: 0,93."),
    "null_value": Option(
        list[str], "WORD", "A word that stands for a missing value in CSV files, such as NA."
    ),
    "text": Option(
        list[str], "COLUMN", "Columns of CSV files to read as text, so that 007 is not 7."
    ),
    "where": Option(
        list[str],
        "CONDITION",
        "Only rows that meet this condition, such as carrier=UA or 'distance>=500': a column, one "
        "of =, !=, <, <=, >, >=, and a value, none for missing ones. Repeat it for several.",
    ),
    "memory": Option(
        str,
        "SIZE",
        "Stay below this much memory, such as 2GB, at least 1GB: DuckDB has the exact results, "
        "with scratch files beside the output, or in TMPDIR. Needs the extra duckdb.",
    ),
}


def _file(text: str, default_text: str | None = None) -> dict[str, Option]:
    return {"output": Option(str, "FILE", text, default_text=default_text)}


_FILES = {
    **dict.fromkeys(DRAWN, _file("File to draw: .html, .svg or .png.")),
    "write_ggplot": _file(
        "Table to write: .tsv, .csv, .parquet or .arrow. The script is written beside it, as .R."
    ),
    "report": _file(
        "Page to write: .html, with its numbers beside it, as .json; or .json for them alone."
    )
    | {"format": Option(str, "json", "json prints the numbers.")},
}
_COLUMNS = "Write these columns of the result only, in this order."
_TABLE = _file("File to write; its suffix sets the format.", "standard output") | {
    "format": Option(
        str,
        "|".join(FORMATS),
        "Format of standard output.",
        default_text="table to a terminal, tsv to a pipe",
    ),
    "columns": Option(list[str], "COLUMN", _COLUMNS, default_text="all"),
}
_GATE = {
    "fail_under": Option(
        list[str],
        "CONDITION",
        "Exit with code 3 if a row meets this condition, such as 'average_precision<0.3': a "
        "column, one of <, <=, >, >=, and a number, or = and a word. Such rows are named on "
        "standard error. So are rows without a value, which do not fail, unless no row has one: "
        "that is an error. Repeat it for several.",
    ),
}
_DEBUG = {"debug": Option(bool, help="Show the traceback of an error.")}
# Verbs whose rows are not those of segments or models, which may fail the command.
_UNJUDGED = {*WRITTEN, "counts", "curve", "influence"}


def common_options(verb: str) -> dict[str, Option]:
    """Return the options of a command beside the parameters of its verb."""
    found = _SOURCE | _FILES.get(verb, _TABLE) | ({} if verb in _UNJUDGED else _GATE) | _DEBUG
    return {name: one for name, one in found.items() if name not in parameters(verb)}
