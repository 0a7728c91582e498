"""The options of the commands: those of a verb come from its signature and its documentation."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from inspect import Parameter, cleandoc, signature
from types import NoneType
from typing import Annotated, Any, get_args

import frame_prc
from frame_prc._charts import options as chart_options
from frame_prc._report import options as report_options
from frame_prc._report.options import Section
from frame_prc._request import specs
from frame_prc._request.specs import Criterion, MeasureName, NamedAgainst
from frame_prc.cli import values
from frame_prc.cli.errors import FLAGS, command_name, flag, in_shell
from frame_prc.cli.files import KINDS, Source
from frame_prc.cli.output import DRAWN, FORMATS, WRITTEN
from frame_prc.evaluation import glossary

_SHORT = {"truth": "-t", "score": "-s", "by": "-b", "weight": "-w", "output": "-o", "format": "-f"}
_SEVERAL = "repeat it, or separate them by commas"


@dataclass(frozen=True)
class Option:
    """One option of a command.

    Typer converts the text to the type ``kind``, and ``read``, or ``read_in``, which knows the
    source, that to the verb's parameter. Completion offers ``words``, by default those of the
    metavar.
    """

    kind: Any
    metavar: str | None = None
    help: str = ""
    read: Callable[[Any], Any] | None = None
    read_in: Callable[[Any, Source], Any] | None = None
    words: Sequence[str] = ()
    default_text: str | None = None

    def value(self, given: Any, source: Source) -> Any:
        """Return the verb's parameter."""
        if self.read_in is not None:
            return self.read_in(given, source)
        return given if self.read is None else self.read(given)

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


# By the type of a parameter. The help is what a shell needs to know beside the documentation.
_BY_TYPE: dict[str, Option] = {
    "bool": Option(bool),
    "bool | Sequence[float]": Option(bool),
    "int": Option(str, "INTEGER", read=values.plain),
    "float": Option(str, "NUMBER", read=values.plain),
    "str": Option(str, "TEXT"),
    "object": Option(str, "VALUE"),
    "IntoColumn": Option(str, "COLUMN"),
    "IntoScores": Option(
        list[str],
        "COLUMN",
        f"For several models {_SEVERAL}; NAME=COLUMN names a model.",
        read_in=values.scores,
    ),
    "IntoKeys": Option(list[str], "COLUMN[:PERIOD]", read_in=values.keys),
    "float | Sequence[float]": Option(
        list[str], "NUMBER", f"For several {_SEVERAL}.", values.numbers
    ),
    "float | Sequence[float] | AnyFrame": Option(
        list[str],
        "NUMBER|FILE",
        f"For several numbers {_SEVERAL}; or a file that points wrote.",
        values.numbers_or_file,
    ),
    "float | Top | Sequence[float | Top]": Option(
        list[str],
        "NUMBER",
        f"For several {_SEVERAL}; 100,ties=expected cuts a tie.",
        values.row_numbers,
    ),
    "tuple[int, int]": Option(str, "REFERENCE,LOOKS", read=values.integers),
    "AnyFrame": Option(str, "FILE", read=values.table),
    "int | tuple[int, int]": Option(str, "WIDTH,HEIGHT", read=values.integers),
    "int | Sequence[float]": Option(
        list[str], "NUMBER|LIST", "A list is written as 0.1,0.5,0.9.", values.count_or_numbers
    ),
    "float | Literal['highest', 'pooled']": Option(str, "SHARE|highest|pooled", read=values.plain),
    "float | Literal['highest', 'pooled'] | AnyFrame": Option(
        str, "SHARE|highest|pooled|FILE", read=values.reference
    ),
    "float | Literal['auto']": Option(str, "NUMBER|auto", read=values.plain),
    "MeasureName | Sequence[MeasureName]": Option(
        list[str], "|".join(get_args(MeasureName)), read=values.words
    ),
    "str | Sequence[str]": Option(list[str], "NAME|all", read=values.words),
    "Section | Sequence[Section]": Option(
        list[str], "|".join(get_args(Section)), f"For several {_SEVERAL}.", values.words
    ),
    "str | dt.date": Option(str, "DATE"),
    "Keep": Option(str, "all|corners|NUMBER", read=values.plain),
    "float | Sequence[float] | IntoColumn | AnyFrame": Option(
        list[str],
        "NUMBER|COLUMN|FILE",
        "Or that of each segment: a column, or a file that points wrote for other rows. For "
        f"several numbers {_SEVERAL}.",
        read_in=values.held,
    ),
    "tuple[float, float] | Sequence[tuple[float, float]]": Option(
        list[str], "FP,FN", "A pair is written as 1,10; repeat it for several.", values.costs
    ),
    "tuple[float, float]": Option(list[str], "FP,FN", "Written as 1,10.", values.costs),
    "int | Draws": Option(str, "NUMBER", read=values.draws),
    "float | Top": Option(str, "NUMBER", read=values.top),
    "Mapping[str, float] | AnyFrame": Option(
        str, "threshold=NUMBER|fpr=NUMBER|FILE", read=values.held_at
    ),
    "Against": Option(
        str,
        "|".join([*get_args(NamedAgainst), "KEY=VALUE"]),
        "Or a named segment.",
        read_in=values.segment,
    ),
    "OperatingPoints": Option(
        list[str],
        "NAME=NUMBER",
        read=values.targets,
        words=[f"{name}=" for name in get_args(Criterion)],
    ),
    "Facet": Option(
        list[str], "COLUMN", "none draws all curves in one panel.", read_in=values.facet
    ),
}
# What is special about a parameter of this name.
_BY_NAME: dict[str, dict[str, Any]] = {
    "ci": {"metavar": "LEVEL"},
    "guarantee": {"metavar": "LEVEL"},
    "over": {"metavar": "COLUMN"},
    "baseline": {"metavar": "MODEL"},
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
    option = _BY_TYPE.get(kind) or Option(str, "|".join(_words(ALIASES[kind])), read=values.none_or)
    help_text = _HELP.get(name) or " ".join(filter(None, [text, option.help]))
    return replace(option, help=help_text, **_BY_NAME.get(name, {}))


# The types of options by name, such as those that take one of a few words.
ALIASES = vars(specs) | vars(chart_options) | vars(report_options)


def _words(kind: Any) -> list[str]:
    if kind is NoneType:
        return ["none"]
    parts = [[one] if isinstance(one, str) else _words(one) for one in get_args(kind)]
    return [word for part in parts for word in part]


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
