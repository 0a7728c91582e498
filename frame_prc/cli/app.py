"""The program: its commands, its demonstration, and its error messages."""

from __future__ import annotations

import shlex
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from inspect import Parameter, Signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, get_args

import polars as pl
import typer
import typer.main

import frame_prc
from frame_prc._files import scratch_folder
from frame_prc._lazy import named
from frame_prc._request.hints import parameter_name
from frame_prc._request.specs import Criterion
from frame_prc._request.values import from_text
from frame_prc.cli import calls, errors, gate, output
from frame_prc.cli.calls import Call, Progress
from frame_prc.cli.files import Source, check_numbers, opened, read_by
from frame_prc.cli.options import common_options, options, parameters
from frame_prc.cli.output import show_text
from frame_prc.cli.values import columns, names_of_keys
from frame_prc.exceptions import ColumnError, FileError, OptionError, PrcError, nearest

Values = Mapping[str, Any]

# Columns that identify a row, besides the keys: a wide table repeats them in each block.
_IDENTIFYING = ("level", "segment", "model", "baseline", "method", "target", "criterion")

# Verbs that may find nothing, which no condition can fail.
_MAYBE_EMPTY = ("find_segments", "monitor")


@dataclass(frozen=True)
class Command:
    """A command that calls a verb; its options are the verb's parameters."""

    verb: str
    arguments: str  # of an example

    @property
    def name(self) -> str:
        """The name of the command."""
        return errors.command_name(self.verb)

    @property
    def example(self) -> str:
        """A command line."""
        return f"frame-prc {self.name} {self.arguments}"

    @property
    def other_name(self) -> str | None:
        """The name of the verb, if the command is called by a shorter one."""
        verb = self.verb.replace("_", "-")
        return None if verb == self.name else verb

    def function(self) -> Callable[..., int]:
        """Return a function with a parameter for every option, from which Typer makes a command."""

        def run(**options: Any) -> int:
            return execute(self, options)

        signature = Signature(self._parameters())
        about = (getattr(frame_prc, self.verb).__doc__ or "").partition("\n")[0]
        also = f"Also called {self.other_name}.\n\n" if self.other_name else ""
        run.__doc__ = f"{about}\n\n{also}\b\nExample:\n  {self.example}"
        run.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
        run.__signature__ = signature  # type: ignore[attr-defined]
        return run

    def _parameters(self) -> list[Parameter]:
        given, common = parameters(self.verb), common_options(self.verb).items()
        return [
            _paths(),
            *(one.parameter(name, given[name].default) for name, one in options(self.verb).items()),
            *(one.parameter(name, False if one.kind is bool else None) for name, one in common),
        ]


def _paths() -> Parameter:
    import typer  # noqa: PLC0415

    argument = typer.Argument(
        help="Parquet, CSV, TSV, Arrow or NDJSON files, globs of them, or - for standard input; or "
        "a table: duckdb:///FILE::TABLE, delta://FOLDER or iceberg://FOLDER.",
        metavar="FILE...",
    )
    return Parameter("paths", Parameter.KEYWORD_ONLY, annotation=Annotated[list[str], argument])


COMMANDS = [Command(verb, arguments) for verb, arguments in errors.EXAMPLES.items()]


@dataclass(frozen=True)
class _Wanted:
    """The file of a result, its columns as given, and the conditions under which it fails."""

    path: str | None
    columns: Sequence[str]
    conditions: Sequence[gate.Condition]

    def call(self, call: Call) -> Call:
        """Ask for all columns if one is named that is not shown at first."""
        if call.parameters.get("details") is not False or not (self.columns or self.conditions):
            return call
        shown = call(call.source.rows).collect_schema()
        judged = [condition.column for condition in self.conditions]
        named_columns = [*columns(self.columns, shown), *judged]
        return call if {*named_columns} <= {*shown} else call.but(details=True)

    def of(self, result: pl.LazyFrame) -> pl.LazyFrame:
        """Return the columns that are wanted of a result."""
        known = result.collect_schema()
        wanted = columns(self.columns, known) or list(known)
        for name in wanted:
            if name not in known:
                raise ColumnError(
                    f"--columns names {name!r}, which is not a column of the result",
                    ", ".join(known),
                    nearest(name, known),
                )
            if wanted.count(name) > 1:
                raise OptionError(f"--columns names {name!r} twice", "each column once")
        return result.select(map(named, wanted))

    def table(self, result: pl.LazyFrame) -> pl.DataFrame | None:
        """Return a table to print or to judge; write its columns to the path, if there is one."""
        gate.check_columns(self.conditions, result.collect_schema())
        shown = self.of(result)
        if self.path is not None and not self.conditions:
            output.save(shown, self.path)
            return None
        frame = result.collect()
        if self.path is not None:
            output.save(self.of(frame.lazy()), self.path)
        return frame


def execute(command: Command, given: Values) -> int:
    """Run a command: check the options, read the files, compute, and print or write the result.

    The exit code is not 0 if a row meets a condition of ``--fail-under``.
    """
    verb, path, form = command.verb, given["output"], given.get("format")
    output.check(verb, path, form)
    conditions = gate.conditions(given.get("fail_under") or ())
    wanted = _Wanted(path, given.get("columns") or (), conditions)
    budget = None if given["memory"] is None else calls.budget(given["memory"], verb)
    with (
        nullcontext() if budget is None else scratch_folder(path) as folder,
        _opened(given, budget, folder) as source,
    ):
        asked = arguments(verb, given, source)
        output.check_not_source(path, source.paths)
        check_numbers(source, asked)
        progress = Progress(f"reading {source}")

        def work(source: Source) -> pl.DataFrame | None:
            call = Call(verb, asked, source)
            if isinstance(source, calls.Table):
                return wanted.table(source.result(wanted.call(call)))
            if verb in output.WRITTEN:
                _write(call, path)
                return None
            asked_for = wanted.call(call)
            if budget is not None and folder is not None:
                return wanted.table(calls.result(asked_for, budget, folder, progress))
            of_counts = verb == "counts"
            return wanted.table(
                calls.counted(call, progress) if of_counts else asked_for(source.rows)
            )

        frame = calls.done(lambda: read_by(work, source), progress)
    if frame is None:
        return errors.SUCCESS
    identifying = [*_IDENTIFYING, *names_of_keys(asked["by"] or ())]
    if path is None:
        output.show(wanted.of(frame.lazy()).collect(), form, identifying)
    judged = _new_rows(frame, asked)
    judges = conditions and (judged.height or verb not in _MAYBE_EMPTY)
    failed = judges and not gate.is_passed(judged, conditions, identifying)
    return errors.FAILED if failed else errors.SUCCESS


def _new_rows(frame: pl.DataFrame, asked: Values) -> pl.DataFrame:
    """Return the rows that no state had: what an earlier call has judged is not judged again."""
    state = asked.get("state")
    if state is None:
        return frame
    keys = [name for name in names_of_keys(asked["by"] or ()) if name in state.columns]
    return frame.join(state.select(keys), on=keys, how="anti", nulls_equal=True)


def _opened(
    given: Values, budget: int | None, folder: Path | None
) -> AbstractContextManager[Source]:
    if calls.is_named(given["paths"]):
        return calls.opened(given["paths"], budget, folder)
    return opened(
        given["paths"],
        given["input_format"],
        given["separator"],
        given["text"] or (),
        decimal_comma=given["decimal_comma"],
        null_values=given["null_value"] or None,
    )


def arguments(verb: str, given: Values, source: Source) -> dict[str, Any]:
    """Return the verb's parameters."""
    asked: dict[str, Any] = {
        name: option.value(given[name], source) if given[name] not in (None, []) else None
        for name, option in options(verb).items()
    }
    if asked["pos_label"] and asked["truth"] in source.schema:
        asked["pos_label"] = from_text(asked["pos_label"], source.schema[asked["truth"]])
    return asked


def _write(call: Call, path: str | None) -> None:
    """Write a picture, a table for R or a report; without a path, print the report's numbers."""
    rows = call.source.rows
    if path is not None and call.verb in output.DRAWN:
        output.save_chart(call(rows), path)
    elif path is not None:
        call(rows, path=path)
    else:
        with TemporaryDirectory(prefix="frame-prc-") as folder:
            [numbers] = call(rows, path=Path(folder) / "report.json")
            output.show_file(numbers)


# --- the demonstration -------------------------------------------------------------------------

_FLIGHTS = Path(__file__).with_name("flights.parquet")
# Flights of one day share its weather and each other's delays.
_COMMANDS = (
    "compare-models FLIGHTS -t late -s logistic -s boosting --cluster day -f table",
    "summary FLIGHTS -t late -s boosting -b carrier --cluster day --overall -f table",
    "plot FLIGHTS -t late -s logistic -s boosting -b carrier --cluster day -o FOLDER/flights.html",
    "ggplot FLIGHTS -t late -s logistic -s boosting -b carrier -o FOLDER/flights.tsv",
)
_BEFORE = """\
55,556 flights from New York: every third of July to December 2013. Which arrive at least 30 minutes
late? Of two models: which ranks them better, and how well does it rank those of each carrier?
"""
_AFTER = """
{html}
  shows the curves of both models in a browser, and
Rscript {script}
  draws them with R.
"""


def demo(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to write.")] = Path(
        "frame-prc-demo"
    ),
    *,
    debug: Annotated[  # noqa: ARG001 - read from the arguments
        bool, typer.Option("--debug", help="Show the traceback of an error.")
    ] = False,
) -> None:
    """Compare models of flights; write a chart and a table for R.

    \b
    Example:
      frame-prc demo
    """  # noqa: D301 - Typer keeps the lines after it
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"the folder {str(folder)!r} cannot be created: {error.strerror}",
            hint="frame-prc demo FOLDER writes to another folder",
        ) from error
    # Full paths and a URL, which open wherever a browser or R is started.
    folder = folder.resolve()
    _print(_BEFORE)
    for command in _COMMANDS:
        arguments = [
            word.replace("FLIGHTS", str(_FLIGHTS)).replace("FOLDER", str(folder))
            for word in command.split()
        ]
        _print(f"$ {_NAME} {shlex.join(arguments)}")
        context.find_root().command(arguments, standalone_mode=False)
        _print()
    html, script = folder / "flights.html", folder / "flights.R"
    _print(_AFTER.format(html=html.as_uri(), script=shlex.quote(str(script))).strip())


def _print(text: str = "") -> None:
    show_text(lambda console: console.print(text, soft_wrap=True))


# --- commands ----------------------------------------------------------------------------------

_NAME = "frame-prc"
_HELP = """Precision-recall curves and average precision per segment, from files.

\b
Example:
  frame-prc summary rows.csv --truth outcome --score model --by region --pos-label yes

Exit codes: 0 success, 1 bad data, 2 bad usage, 3 a row met --fail-under.
"""


def run(arguments: Sequence[str]) -> int:
    """Run the command line; return its exit code."""
    arguments = list(arguments) or ["--help"]
    try:
        code = _program()(arguments, prog_name=_NAME, standalone_mode=False)
    except typer.Abort:  # raised by some versions of Typer on Ctrl-C
        return errors.INTERRUPTED
    except Exception as error:  # every error is reported in one line
        if "--debug" in arguments and not _is_usage(error):
            traceback.print_exc()
        code, text = _report(error, arguments)
        print(f"{_NAME}: {text}", file=sys.stderr)
    return code or errors.SUCCESS


def _is_usage(error: Exception) -> bool:
    # Typer's own errors, whose base class moved between versions.
    return hasattr(error, "format_message")


def _report(error: Exception, arguments: Sequence[str]) -> tuple[int, str]:
    """Return the exit code and the message of an error."""
    if _is_usage(error):
        clearer = _near_miss(error, arguments)
        text = errors.usage_line(error) if clearer is None else errors.line(clearer)
        return errors.BAD_USAGE, text
    if isinstance(error, PrcError):
        return errors.exit_code(error), errors.line(error)
    return errors.BAD_DATA, errors.unexpected_line(error)


@cache
def _program() -> Callable[..., Any]:
    """Return the program; to make it takes as long as to run a small command."""
    app = typer.Typer(
        help=_HELP,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(_main)
    for command in COMMANDS:
        function = command.function()
        app.command(command.name)(function)
        if command.other_name:
            app.command(command.other_name, hidden=True)(function)
    app.command("demo")(demo)
    return typer.main.get_command(app)


def _print_version(given: bool) -> None:  # noqa: FBT001
    if given:
        print(f"{_NAME} {frame_prc.__version__}")
        raise typer.Exit


def _main(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


_main.__doc__ = _HELP


# --- near misses -----------------------------------------------------------------------------


def _near_miss(error: Exception, arguments: Sequence[str]) -> OptionError | None:
    """Return a clearer error than Typer's, for names used in Python or in other libraries."""
    return _other_command(arguments[0]) or _other_option(error)


def _other_command(typed: str) -> OptionError | None:
    names = {command.verb: command.name for command in COMMANDS}
    meant, verb = names.get(typed, typed), typed.replace("-", "_")
    if meant != typed:
        return OptionError(f"no such command {typed!r}", hint=f"did you mean {meant!r}?")
    if verb in frame_prc.__all__ and verb not in names:
        hint = f"{verb} is only in Python: help(frame_prc.{verb})"
        return OptionError(f"no such command {typed!r}", hint=hint)
    return None


def _other_option(error: Exception) -> OptionError | None:
    typed, context = getattr(error, "option_name", None), getattr(error, "ctx", None)
    if typed is None or context is None or not typed.startswith("--"):
        return None
    name = typed[2:].replace("-", "_")
    hint = _option_hint(name, [parameter.name for parameter in context.command.params])
    return None if hint is None else OptionError(f"no such option: {typed}", hint=hint)


def _option_hint(name: str, own: Sequence[str]) -> str | None:
    meant = parameter_name(name, own)
    if name in own:
        return None
    if meant in own:
        return f"did you mean {meant}=?"
    if meant in get_args(Criterion) and "points" in own:
        return f"--points '{errors.flag(meant)[2:]}=NUMBER' marks such a point"
    commands = [command.name for command in COMMANDS if meant in parameters(command.verb)]
    return f"{meant}= is an option of {', '.join(commands)}" if commands else None
