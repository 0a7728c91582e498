"""The commands: each calls a verb on the rows of files, and prints or writes the result."""

from __future__ import annotations

import logging
import math
import operator
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from inspect import Parameter, Signature
from logging.handlers import BufferingHandler
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import polars as pl

import frame_prc
from frame_prc._files import scratch_folder
from frame_prc._lazy import named
from frame_prc._request.specs import OF_MARGIN, OF_WATCH, STATUSES
from frame_prc._request.values import from_text
from frame_prc.cli import calls, errors, files, output
from frame_prc.cli.calls import Call, Progress
from frame_prc.cli.options import columns, common_options, names_of_keys, options, parameters
from frame_prc.exceptions import ColumnError, DataError, OptionError, nearest

# --- conditions under which a command fails ----------------------------------------------------

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {**files.COMPARISONS, "=": operator.eq}
_ALLOWED = "a column, one of <, <=, >, >=, and a number, or a column of text, = and a word"
_HINT = "for example --fail-under 'average_precision<0.3', in quotes"
_INTERVAL = ("std_error", "ci_low", "ci_high")
_DIGITS = (4, 6, 9, 17)  # 17 are always enough
_NAMED = 3  # rows without a value

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Condition:
    """A column of the result, an operator, a number or a word, and the text that has them."""

    text: str
    column: str
    sign: str
    limit: float | str

    def is_met(self, value: float | str) -> bool:
        """Return whether a value meets the condition."""
        return _OPERATORS[self.sign](value, self.limit)

    def shown(self, value: float | str) -> str:
        """Return a value with four digits, or more if it takes more to meet the condition."""
        if isinstance(value, (int, str)):
            return str(value)
        texts = (f"{value:.{digits}g}" for digits in _DIGITS)
        return next(text for text in texts if self.is_met(float(text)))


def _condition(text: str) -> Condition:
    what = f"--fail-under {text!r}"
    column, sign, word = files.condition_in(text, what, _OPERATORS, _ALLOWED, _HINT)
    limit = word if sign == "=" else from_text(word, pl.Float64())
    if not word or (sign != "=" and not (isinstance(limit, float) and math.isfinite(limit))):
        raise OptionError(f"{what}: {word!r} is not a number", _ALLOWED, _HINT)
    return Condition(text, column, sign, limit)


# The words of columns, of which a misspelt one would never be met.
_WORDS = {
    "status": (*STATUSES,),
    "conclusion": (*OF_WATCH, *OF_MARGIN),
}


def check_columns(asked: Sequence[Condition], schema: Mapping[str, pl.DataType]) -> None:
    """Refuse a condition on a column that the result does not have, or that is not numeric."""
    for condition in asked:
        name, is_word, limit = condition.column, condition.sign == "=", condition.limit
        fitting = [
            name
            for name, dtype in schema.items()
            if (dtype == pl.String if is_word else dtype.is_numeric())
        ]
        if name not in schema:
            raise ColumnError(
                f"--fail-under names {name!r}, which is not a column of the result",
                hint="--ci 0.95 adds it" if name in _INTERVAL else nearest(name, fitting),
            )
        if name not in fitting:
            raise ColumnError(
                f"--fail-under names {name!r}, which has dtype {schema[name]}",
                "a column of text" if is_word else "a numeric column",
                nearest(name, fitting),
            )
        known = _WORDS.get(name)
        if is_word and known is not None and limit not in known:
            raise OptionError(
                f"--fail-under {condition.text!r}: {limit!r} is no {name}",
                ", ".join(map(repr, known)),
                nearest(str(limit), known),
            )


def is_passed(frame: pl.DataFrame, asked: Sequence[Condition], keys: Sequence[str]) -> bool:
    """Return whether no row meets a condition; name those that do on standard error."""
    rows = frame.to_dicts()
    keys = [name for name in frame.columns if name in keys]
    failed = [_report(rows, condition, keys) for condition in asked]
    return not any(failed)


def _report(rows: Sequence[Row], condition: Condition, keys: Sequence[str]) -> bool:
    name = condition.column
    if all(map(_is_missing, (row[name] for row in rows))):
        raise DataError(
            f"no row has a value of {name!r}, which --fail-under {condition.text!r} judges",
            hint="the column status, where there is one, says why",
        )
    failed = unjudged = 0
    for row in rows:
        value = row[name]
        if _is_missing(value):
            unjudged += 1
            status = f" ({row['status']})" if row.get("status") else ""
            if unjudged <= _NAMED:
                _say(f"{_who(row, keys)}: {name} has no value{status} and was not judged")
        elif condition.is_met(value):
            failed += 1
            _say(f"{_who(row, keys)}: {name} is {condition.shown(value)}")
    if unjudged > _NAMED:
        _say(f"{unjudged - _NAMED} more rows have no value of {name} and were not judged")
    if failed:
        _say(f"{failed} of {len(rows)} rows failed --fail-under {condition.text!r}")
    return failed > 0


def _is_missing(value: float | str | None) -> bool:
    return value is None or value != value  # noqa: PLR0124 - NaN


def _who(row: Row, keys: Sequence[str]) -> str:
    return ", ".join(f"{key}={_shown(row[key])}" for key in keys) or "all rows"


def _shown(value: object) -> str:
    if value is None:
        return "null"
    return repr(value) if isinstance(value, str) else str(value)


def _say(text: str) -> None:
    print(f"frame-prc: {text}", file=sys.stderr)


# --- commands ----------------------------------------------------------------------------------

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
    conditions: Sequence[Condition]

    def call(self, call: Call) -> Call:
        """Ask for all columns if one is named that is not shown at first."""
        if call.parameters.get("details") is not False or not (self.columns or self.conditions):
            return call
        shown = call(call.source.rows).collect_schema()
        judged = [condition.column for condition in self.conditions]
        named_columns = [*columns(self.columns, shown), *judged]
        return call if {*named_columns} <= {*shown} else call.but(details=True)

    def of(self, result: pl.LazyFrame) -> pl.LazyFrame:
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
        check_columns(self.conditions, result.collect_schema())
        shown = self.of(result)
        if self.path is not None and not self.conditions:
            output.save(shown, self.path)
            return None
        frame = result.collect()
        if self.path is not None:
            output.save(self.of(frame.lazy()), self.path)
        return frame


def execute(command: Command, given: Values) -> int:
    """Run a command; the exit code is not 0 if a row meets a condition of ``--fail-under``."""
    verb, path, form = command.verb, given["output"], given.get("format")
    output.check(verb, path, form)
    conditions = [_condition(text) for text in given.get("fail_under") or ()]
    shown = () if "columns" in options(verb) else given.get("columns") or ()
    wanted = _Wanted(path, shown, conditions)
    budget = None if given["memory"] is None else calls.budget(given["memory"], verb)
    with (
        nullcontext() if budget is None else scratch_folder(path) as folder,
        _opened(given, budget, folder) as opened_source,
    ):
        source = files.with_rows_where(opened_source, given["where"] or ())
        asked = arguments(verb, given, source)
        output.check_not_source(path, source.paths)
        files.check_numbers(source, asked)
        progress = Progress(f"reading {source}")

        def work(source: files.Source) -> pl.DataFrame | None:
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

        with _notes() as notes:
            frame = calls.done(lambda: files.read_by(work, source), progress)
    for note in notes:
        _say(note.getMessage())
    if frame is None:
        return errors.SUCCESS
    several = "measure" in frame.columns and frame["measure"].n_unique() > 1
    of_measure = ["measure"] if several else []
    identifying = [*_IDENTIFYING, *of_measure, *names_of_keys(asked["by"] or ())]
    if path is None:
        output.show(wanted.of(frame.lazy()).collect(), form, identifying)
    judged = _new_rows(frame, asked)
    judges = conditions and (judged.height or verb not in _MAYBE_EMPTY)
    failed = judges and not is_passed(judged, conditions, identifying)
    return errors.FAILED if failed else errors.SUCCESS


def _new_rows(frame: pl.DataFrame, asked: Values) -> pl.DataFrame:
    """Return the rows that no state had: what an earlier call has judged is not judged again."""
    state = asked.get("state")
    if state is None:
        return frame
    keys = [name for name in names_of_keys(asked["by"] or ()) if name in state.columns]
    return frame.join(state.select(keys), on=keys, how="anti", nulls_equal=True)


@contextmanager
def _notes() -> Iterator[list[logging.LogRecord]]:
    log, held = logging.getLogger("frame_prc"), BufferingHandler(sys.maxsize)
    level = log.level
    log.addHandler(held)
    log.setLevel(logging.INFO)
    try:
        yield held.buffer
    finally:
        log.removeHandler(held)
        log.setLevel(level)


def _opened(
    given: Values, budget: int | None, folder: Path | None
) -> AbstractContextManager[files.Source]:
    if calls.is_named(given["paths"]):
        if given["where"]:
            raise OptionError(
                "where= is given with a table",
                "where= with files",
                "a view of the table may have fewer rows: duckdb:///FILE::VIEW",
            )
        return calls.opened(given["paths"], budget, folder)
    return files.opened(
        given["paths"],
        given["input_format"],
        given["separator"],
        given["text"] or (),
        decimal_comma=given["decimal_comma"],
        null_values=given["null_value"] or None,
    )


def arguments(verb: str, given: Values, source: files.Source) -> dict[str, Any]:
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
