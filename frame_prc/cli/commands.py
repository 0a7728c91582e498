"""The commands: which verb each calls, on what, and what becomes of the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

import polars as pl

import frame_prc
from frame_prc.cli import charts as _charts
from frame_prc.cli import counting as _counting
from frame_prc.cli import input as _input
from frame_prc.cli import output as _output
from frame_prc.cli.input import Dialect, Source
from frame_prc.cli.parameters import (
    DEBUG,
    FOR_R,
    OPTIONS,
    PICTURE,
    PLOT,
    RESULT,
    SOURCE,
    Option,
    columns,
    label,
    scores,
)
from frame_prc.cli.work import Progress, done

Given = dict[str, Any]

# Columns that say which row is which, beside the keys.
_IDENTIFYING = ("level", "model", "model_a", "model_b", "method", "criterion", "target")


@dataclass(frozen=True)
class Command:
    """A command that calls a verb; its options are the verb's parameters.

    ``own`` are options that mean something else than those of other commands do.
    """

    name: str
    verb: str
    help: str
    example: str
    own: dict[str, Option] = field(default_factory=dict)

    @property
    def draws(self) -> bool:
        """Whether the result is a picture, and not a table."""
        return self.verb == "plot"

    @property
    def writes(self) -> bool:
        """Whether the verb writes its result itself."""
        return self.verb == "write_ggplot"

    def options(self) -> dict[str, Option]:
        """Return the options that come from the verb's parameters."""
        options = OPTIONS | self.own
        return {name: options[name] for name in self._parameters()}

    def function(self) -> Callable[..., None]:
        """Return a function with a parameter for every option, from which Typer makes a command."""

        def run(**given: Any) -> None:
            execute(self, given)

        parameters = self._signature()
        run.__doc__ = f"{self.help}\n\n\b\nExample:\n  {self.example}"
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        return run

    def _signature(self) -> list[Parameter]:
        defaults = self._parameters()
        own = [option.parameter(name, defaults[name]) for name, option in self.options().items()]
        result = PICTURE if self.draws else FOR_R if self.writes else RESULT
        common = SOURCE | result | DEBUG
        none = [option.parameter(n, _nothing(option)) for n, option in common.items()]
        return [_paths(), *own, *none]

    def _parameters(self) -> dict[str, Any]:
        verb = signature(getattr(frame_prc, self.verb))
        return {
            name: None if p.default is Parameter.empty else p.default
            for name, p in verb.parameters.items()
            if name not in {"frame", "path"}
        }


def _nothing(option: Option) -> Any:
    return False if option.kind is bool else None


def _paths() -> Parameter:
    import typer  # noqa: PLC0415

    told = typer.Argument(
        help="Parquet, CSV, TSV, Arrow or NDJSON files, globs of them, or - for standard input.",
        metavar="FILE...",
    )
    return Parameter("paths", Parameter.KEYWORD_ONLY, annotation=Annotated[list[str], told])


COMMANDS = [
    Command(
        "ap",
        "average_precision",
        "Average precision of each segment.",
        "frame-prc ap rows.parquet -t late -s score -b carrier",
    ),
    Command(
        "curve",
        "curve",
        "Precision and recall at every threshold of each segment.",
        "frame-prc curve rows.csv -t late -s score --keep corners -o curve.tsv",
    ),
    Command(
        "summary",
        "summary",
        "Scorecard of each segment: its size, average precision, interval, chance level.",
        "frame-prc summary rows.csv -t outcome -s score -b region --pos-label yes --overall",
    ),
    Command(
        "compare",
        "compare",
        "Which of several models is better, on the same rows: the first less the second.",
        "frame-prc compare rows.parquet -t late -s new -s old -b carrier --adjust holm",
    ),
    Command(
        "points",
        "operating_points",
        "The best threshold for a recall, a precision, an F score, or a share of the rows.",
        "frame-prc points rows.parquet -t late -s score -b carrier --recall .9 --f-beta 1",
    ),
    Command(
        "counts",
        "counts",
        "Positives and negatives at each score or in each bin; they add up.",
        "frame-prc counts '2024-*.parquet' -t late -s score --thresholds 200 -o counts.parquet",
    ),
    Command(
        "plot",
        "plot",
        "Draw the curves into an HTML, SVG or PNG file.",
        "frame-prc plot rows.parquet -t late -s old -s new -b carrier -o curves.html",
        PLOT,
    ),
    Command(
        "ggplot",
        "write_ggplot",
        "Write the curves for R, and beside them the ggplot2 script that draws them.",
        "frame-prc ggplot rows.parquet -t late -s old -s new -b carrier -o curves.tsv",
        {"title": PLOT["title"]},
    ),
]


def execute(command: Command, given: Given) -> None:
    """Run a command: check what can be checked, then read, compute, and write."""
    output, form = given["output"], given.get("format")
    if command.draws:
        _charts.check(output)
    elif command.writes:
        # The verb checks the place.
        _output.check_given(output, "the file for R to read", "-o curves.tsv")
    else:
        _output.check(output, form)
    dialect = Dialect(
        given["separator"], given["decimal_comma"], given["null_value"] or (), given["text"] or ()
    )
    with _input.opened(given["paths"], given["input_format"], dialect) as (source, rows):
        asked = arguments(command, given, rows.collect_schema())
        _output.check_other(output, source.paths)
        _input.check_numbers(source, rows, asked)
        progress = Progress(f"reading {source}")

        def work(source: Source, rows: pl.LazyFrame) -> pl.DataFrame | None:
            return _result(command, source, rows, asked, output, progress)

        frame = done(lambda: _input.read_by(work, source, rows), progress)
    if frame is not None:
        _output.show(frame, form, [*_IDENTIFYING, *(asked["by"] or ())])


def arguments(command: Command, given: Given, schema: Mapping[str, pl.DataType]) -> Given:
    """Return what a verb is called with."""
    asked: Given = {
        name: option.parse(given[name]) if given[name] not in (None, []) else None
        for name, option in command.options().items()
    }
    if asked.get("score"):
        asked["score"] = scores(asked["score"], schema)
    for name in ("by", "facet"):
        if asked.get(name):
            asked[name] = columns(asked[name], schema)
    if asked.get("facet") == ["none"]:
        asked["facet"] = False
    if asked.get("pos_label") and asked["truth"] in schema:
        asked["pos_label"] = label(asked["pos_label"], schema[asked["truth"]])
    return asked


def _result(
    command: Command,
    source: Source,
    rows: pl.LazyFrame,
    asked: Given,
    output: str | None,
    progress: Progress,
) -> pl.DataFrame | None:
    """Return a result to be shown, or write it."""
    if command.writes:
        frame_prc.write_ggplot(rows, output or "", **asked)
        return None
    if command.verb == "counts":
        result = _counting.counts(source, rows, asked, progress)
    else:
        result = getattr(frame_prc, command.verb)(rows, **asked)
    if output is None:
        return result.collect()
    (_charts if command.draws else _output).save(result, output)
    return None
