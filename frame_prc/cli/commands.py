"""The commands: each calls a verb on the rows of files, and prints or writes the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any

import polars as pl

import frame_prc
from frame_prc._files import scratch_folder
from frame_prc._request.class_values import from_text
from frame_prc.cli import charts, errors, gate, memory, output, reports
from frame_prc.cli import input as _input
from frame_prc.cli.counting import counts
from frame_prc.cli.dates import keys, names
from frame_prc.cli.options import (
    COMPARE_MODELS,
    DEBUG,
    FOR_R,
    GATE,
    HETEROGENEITY,
    OPTIONS,
    PICTURE,
    PLOT,
    PLOT_SUMMARY,
    REPORT,
    REPORT_FILES,
    RESULT,
    SOURCE,
    Option,
    columns,
    numbers,
    scores,
    segment,
)
from frame_prc.cli.passes import Passes
from frame_prc.cli.reading import check_numbers
from frame_prc.cli.source import Dialect, Source
from frame_prc.cli.wanted import Wanted
from frame_prc.cli.work import Progress, done

Values = dict[str, Any]

# Columns that identify a row, besides the keys: a wide table repeats them in each block.
_IDENTIFYING = ("level", "model", "model", "baseline", "method", "target", "criterion")
_JUDGED = (
    "average_precision",
    "summary",
    "compare_models",
    "compare_segments",
    "heterogeneity",
    "operating_points",
)

# Roles, and the verbs that they mean nothing to.
_WITH_SQUARES = {"average_precision", "counts", "heterogeneity", "summary"}
_COMPARISONS = {"compare_models", "compare_segments"}
_UNUSED = {
    "cluster": {"counts"},
    "pos": _COMPARISONS,
    "neg": _COMPARISONS,
    "row": {*frame_prc.__all__} - {"compare_models"},
    "pos_squares": {*frame_prc.__all__} - _WITH_SQUARES,
    "neg_squares": {*frame_prc.__all__} - _WITH_SQUARES,
}


@dataclass(frozen=True)
class Command:
    """A command that calls a verb; its options are the verb's parameters.

    ``own`` are options that differ from those of the same name of other commands.
    """

    name: str
    verb: str
    example: str
    own: dict[str, Option] = field(default_factory=dict)

    @property
    def help(self) -> str:
        """What the verb does, in the words of its own documentation."""
        return (getattr(frame_prc, self.verb).__doc__ or "").partition("\n")[0]

    @property
    def other_name(self) -> str | None:
        """The name of the verb, if the command is called by a shorter one."""
        verb = self.verb.replace("_", "-")
        return None if verb == self.name else verb

    @property
    def draws(self) -> bool:
        """Whether the result is a chart, and not a table."""
        return self.verb in {"plot", "plot_summary"}

    @property
    def judges(self) -> bool:
        """Whether the result has one row per segment or model, which may fail the command."""
        return self.verb in _JUDGED

    @property
    def writes(self) -> bool:
        """Whether the verb itself writes the result."""
        return self.verb in {"write_ggplot", "report"}

    def options(self) -> dict[str, Option]:
        """Return the options that come from the verb's parameters."""
        options = OPTIONS | self.own
        return {name: options[name] for name in self._parameters()}

    def function(self) -> Callable[..., int]:
        """Return a function with a parameter for every option, from which Typer makes a command."""

        def run(**options: Any) -> int:
            return execute(self, options)

        parameters = self._signature()
        also = f"Also called {self.other_name}.\n\n" if self.other_name else ""
        run.__doc__ = f"{self.help}\n\n{also}\b\nExample:\n  {self.example}"
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        return run

    def _signature(self) -> list[Parameter]:
        defaults = self._parameters()
        own = [option.parameter(name, defaults[name]) for name, option in self.options().items()]
        common = SOURCE | self._result_options() | (GATE if self.judges else {}) | DEBUG
        others = [
            option.parameter(name, False if option.kind is bool else None)
            for name, option in common.items()
        ]
        return [_paths(), *own, *others]

    def _result_options(self) -> dict[str, Option]:
        """Return the options that say where the result goes."""
        own = {"plot": PICTURE, "plot_summary": PICTURE, "write_ggplot": FOR_R}
        return (own | {"report": REPORT_FILES}).get(self.verb, RESULT)

    def _parameters(self) -> dict[str, Any]:
        verb = signature(getattr(frame_prc, self.verb))
        return {
            name: None if p.default is Parameter.empty else p.default
            for name, p in verb.parameters.items()
            if name not in {"frame", "path"} and self.verb not in _UNUSED.get(name, ())
        }


def _paths() -> Parameter:
    import typer  # noqa: PLC0415

    argument = typer.Argument(
        help="Parquet, CSV, TSV, Arrow or NDJSON files, globs of them, or - for standard input.",
        metavar="FILE...",
    )
    return Parameter("paths", Parameter.KEYWORD_ONLY, annotation=Annotated[list[str], argument])


COMMANDS = [
    Command(
        "ap",
        "average_precision",
        "frame-prc ap rows.parquet -t late -s score -b carrier",
    ),
    Command(
        "curve",
        "curve",
        "frame-prc curve rows.csv -t late -s score --keep corners -o curve.tsv",
        {
            "calibrate": Option(float, "Add the precision at this prevalence.", "SHARE"),
            "over": Option(str, "With --recalls, the mean curve over this key of --by.", "COLUMN"),
        },
    ),
    Command(
        "summary",
        "summary",
        "frame-prc summary rows.csv -t outcome -s score -b region --pos-label yes --overall",
    ),
    Command(
        "compare-models",
        "compare_models",
        "frame-prc compare-models rows.parquet -t late -s new -s old -b carrier --adjust holm",
        COMPARE_MODELS,
    ),
    Command(
        "compare-segments",
        "compare_segments",
        "frame-prc compare-segments rows.parquet -t late -s score -b carrier --adjust holm",
    ),
    Command(
        "heterogeneity",
        "heterogeneity",
        "frame-prc heterogeneity rows.parquet -t late -s score -b carrier",
        HETEROGENEITY,
    ),
    Command(
        "points",
        "operating_points",
        "frame-prc points rows.parquet -t late -s score -b carrier --recall 0.9 --f-beta 1",
    ),
    Command(
        "counts",
        "counts",
        "frame-prc counts '2024-*.parquet' -t late -s score --thresholds 200 -o counts.parquet",
    ),
    Command(
        "plot",
        "plot",
        "frame-prc plot rows.parquet -t late -s old -s new -b carrier -o curves.html",
        PLOT,
    ),
    Command(
        "plot-summary",
        "plot_summary",
        "frame-prc plot-summary rows.parquet -t late -s old -s new -b carrier -o summary.html",
        PLOT_SUMMARY,
    ),
    Command(
        "ggplot",
        "write_ggplot",
        "frame-prc ggplot rows.parquet -t late -s old -s new -b carrier -o curves.tsv",
        {"title": PLOT["title"]},
    ),
    Command(
        "report",
        "report",
        "frame-prc report rows.parquet -t late -s old -s new -b carrier -o report.html",
        REPORT,
    ),
]


def execute(command: Command, options: Values) -> int:
    """Run a command: check the options, read the files, compute, and print or write the result.

    The exit code is not 0 if a row meets a condition of ``--fail-under``.
    """
    path, form = options["output"], options.get("format")
    _check_output(command, path, form)
    conditions = gate.conditions(options.get("fail_under") or ())
    wanted = Wanted(path, options.get("columns"), conditions)
    budget = None if options["memory"] is None else memory.size(options["memory"])
    if budget is not None:
        memory.check_verb(command.verb)
    dialect = Dialect(
        options["separator"],
        options["decimal_comma"],
        options["null_value"] or (),
        options["text"] or (),
    )
    with (
        scratch_folder(path) if budget is not None else nullcontext() as folder,
        _input.opened(options["paths"], options["input_format"], dialect) as (source, rows),
    ):
        parameters = arguments(command, options, source, rows)
        output.check_not_source(path, source.paths)
        check_numbers(source, rows, parameters)
        progress = Progress(f"reading {source}")

        def work(source: Source, rows: pl.LazyFrame) -> pl.DataFrame | None:
            asked = _with_details(command, rows, parameters, wanted)
            if budget is not None and folder is not None:
                passes = Passes(command.verb, asked, budget, folder, progress)
                if (result := passes.result(source, rows)) is not None:
                    return _table(result, wanted)
            return _result(command, source, rows, asked, wanted, progress)

        frame = done(lambda: _input.read_by(work, source, rows), progress)
    if frame is None:
        return errors.SUCCESS
    identifying = [*_IDENTIFYING, *names(parameters["by"] or ())]
    if path is None:
        output.show(wanted.of(frame.lazy()).collect(), form, identifying)
    if conditions and not gate.is_passed(frame, conditions, identifying):
        return errors.FAILED
    return errors.SUCCESS


def _check_output(command: Command, path: str | None, form: str | None) -> None:
    if command.draws:
        charts.check(path)
    elif command.verb == "report":
        reports.check(path, form)
    elif command.writes:  # the verb checks the path itself
        output.check_given(path, "the file for R to read", "-o curves.tsv")
    else:
        output.check(path, form)


def arguments(command: Command, options: Values, source: Source, rows: pl.LazyFrame) -> Values:
    """Return the verb's parameters."""
    schema = rows.collect_schema()
    parameters: Values = {
        name: option.parse(options[name]) if options[name] not in (None, []) else None
        for name, option in command.options().items()
    }
    if parameters.get("score"):
        parameters["score"] = scores(parameters["score"], schema)
    if parameters.get("by"):
        parameters["by"] = keys(parameters["by"], source, rows, schema)
    if parameters.get("facet"):
        parameters["facet"] = columns(parameters["facet"], schema)
    if parameters.get("facet") == ["none"]:
        parameters["facet"] = False
    if parameters.get("against"):
        parameters["against"] = segment(parameters["against"], schema)
    if command.verb == "operating_points" and parameters["threshold"]:
        parameters["threshold"] = _thresholds(parameters["threshold"], schema)
    if parameters.get("pos_label") and parameters["truth"] in schema:
        parameters["pos_label"] = from_text(parameters["pos_label"], schema[parameters["truth"]])
    return parameters


def _with_details(
    command: Command, rows: pl.LazyFrame, parameters: Values, wanted: Wanted
) -> Values:
    """Ask for all columns if one is named that is not shown at first."""
    if parameters.get("details") is not False or not (wanted.columns or wanted.conditions):
        return parameters
    shown = getattr(frame_prc, command.verb)(rows, **parameters).collect_schema()
    return parameters if wanted.is_within(shown) else {**parameters, "details": True}


def _thresholds(
    texts: list[str], schema: Mapping[str, pl.DataType]
) -> list[float] | str | pl.DataFrame:
    """Return thresholds as numbers, a column of the rows, or a file."""
    if len(texts) == 1 and texts[0] in schema:
        return texts[0]
    if len(texts) == 1 and Path(texts[0]).is_file():
        with _input.opened(texts, None, Dialect()) as (_, rows):
            return rows.collect()
    return numbers(texts)


def _result(
    command: Command,
    source: Source,
    rows: pl.LazyFrame,
    parameters: Values,
    wanted: Wanted,
    progress: Progress,
) -> pl.DataFrame | None:
    """Return a table to print or to judge; write a result to the path, if there is one."""
    if command.verb == "report":
        reports.write(rows, wanted.path, parameters)
        return None
    if command.writes:
        frame_prc.write_ggplot(rows, wanted.path or "", **parameters)
        return None
    if command.verb == "counts":
        result = counts(source, rows, parameters, progress)
    else:
        result = getattr(frame_prc, command.verb)(rows, **parameters)
    if command.draws:
        charts.save(result, wanted.path or "")
        return None
    return _table(result, wanted)


def _table(result: pl.LazyFrame, wanted: Wanted) -> pl.DataFrame | None:
    """Return a table to print or to judge; write its columns to the path, if there is one."""
    gate.check_columns(wanted.conditions, result.collect_schema())
    shown = wanted.of(result)
    if wanted.path is not None and not wanted.conditions:
        output.save(shown, wanted.path)
        return None
    frame = result.collect()
    if wanted.path is not None:
        output.save(wanted.of(frame.lazy()), wanted.path)
    return frame
