"""What every verb of an evaluation builds on: its rows, read and checked once, and its results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, Generic, Self, TypeVar, cast

import polars as pl

from frame_prc._curves.given_thresholds import GivenThresholds
from frame_prc._engines.engine import (
    OF_LONG_DATA,
    Engine,
    check_request,
    class_of,
    engine_of,
    in_words_of,
)
from frame_prc._frames.border import (
    FrameT,
    Source,
    check_frame,
    is_frame,
    scan_all,
    source_of,
    takes_narwhals,
    unwrapped,
    wrapped,
)
from frame_prc._frames.pandas_frames import Labels
from frame_prc._request.hints import column_hint, install_hint, is_of_engine, refuses_unknown
from frame_prc._request.options import calibration, confidence, is_list, is_number
from frame_prc._request.roles import (
    THRESHOLD,
    Request,
    check_one_grouping,
    check_option,
    names_of,
    request,
)
from frame_prc._request.specs import MODEL, Calibration, IntoColumn
from frame_prc._rows.columns import (
    Columns,
    check_key_names,
    collected,
    resolve,
    selected,
)
from frame_prc._rows.reshaped import (
    PLACEHOLDERS,
    models_of,
    of_models,
    put_side_by_side,
    side_by_side_columns,
    wide_schema,
)
from frame_prc._rows.rows import Rows, computed, read
from frame_prc._rows.rules import SUMS
from frame_prc._rows.table import Table
from frame_prc.evaluation.glossary import with_options
from frame_prc.exceptions import (
    ColumnError,
    FrameError,
    OptionError,
    PrcError,
    nearest,
    shown,
    type_name,
)

KeptT = TypeVar("KeptT")


def kept(make: Callable[[Any], KeptT]) -> KeptT:
    """Return a property of an evaluation that is made at its first use.

    Threads that come at once may each make it, but all get the first: none waits for another,
    which may itself wait for the threads of Polars.
    """
    name = make.__name__

    def get(self: Any) -> Any:
        if name not in self._kept:
            self._kept.setdefault(name, make(self))
        return self._kept[name]

    return cast("KeptT", property(get))


@dataclass(frozen=True, eq=False)
class Evaluated(Generic[FrameT]):
    """A frame with the roles of its columns, and what is kept of it between verbs.

    Of a frame in memory, the rows are read and checked once, and sorted once for all verbs that
    need the same order. A lazy frame is read anew at each collect. Copies and pickles keep nothing.

    Parameters
    ----------
    frame
        The caller's frame.
    roles
        The parameters of :func:`frame_prc.evaluate`, as given.
    level
        The level of intervals where a verb is given none.
    reused
        Whether more than one verb may be called, so that keeping pays.
    conditions
        What holds for the rows that are evaluated, of those of the frame.
    """

    frame: FrameT
    roles: Mapping[str, Any]
    level: float | None = None
    reused: bool = True
    conditions: tuple[pl.Expr, ...] = ()
    _kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.frame, self.roles, self.level, self.reused, self.conditions)

    @kept
    def _native(self) -> Any:
        return unwrapped(self.frame)

    @kept
    def _request(self) -> Request:
        """Return the roles, checked against each other."""
        try:
            return request(**self._labels.in_roles(self.roles))
        except PrcError:
            # Arrays in place of columns mean that there is no frame, which is said first.
            check_frame(self._native, engines=True)
            raise

    @kept
    def _labels(self) -> Labels:
        return Labels(self._native)

    @kept
    def _engine(self) -> Engine | None:
        return engine_of(self._native)

    def _level(self, ci: Any) -> float:
        """Return the level of an interval that a verb always has: its own, or the evaluation's."""
        return confidence(self._given_level(ci))

    def _level_beside(self, ci: Any) -> float:
        """Return the level of intervals that stand beside other columns: ``None`` hides them."""
        return self._level(OF_EVALUATION_OR_95 if ci is None else ci)

    def _level_or_none(self, ci: Any, *, has_interval: bool = True) -> float | None:
        """Return the level of an interval if one is asked for.

        That of the evaluation is for the verbs and options that have an interval.
        """
        given = self._given_level(ci) if has_interval or not isinstance(ci, Level) else None
        return None if given is None else confidence(given)

    def _given_level(self, ci: Any) -> Any:
        if not isinstance(ci, Level):
            return ci
        return ci.default if self.level is None else self.level

    # --- rows ----------------------------------------------------------------------------------

    @kept
    def _source(self) -> Source:
        return self._read_frame(self._request)

    def _names(self, asked: Request) -> set[str] | None:
        """Return the columns that a request reads, or ``None`` where all may be needed."""
        names, conditions = asked.column_names(), names_of(self.conditions)
        return None if names is None or conditions is None else names | conditions

    def _read_frame(self, asked: Request) -> Source:
        if engine := self._engine:
            return source_of(engine_plans(engine).empty(engine, self._native, asked), None)
        source = source_of(self._native, self._names(asked), asked.amount_names())
        for condition in self.conditions:
            _check_condition(condition, source.lf)
            source = source.where(condition)
        return source

    def _changed(self, **fields: Any) -> Self:
        """Return an evaluation with other fields, which are checked now."""
        evaluation: Any = self
        changed: Self = replace(evaluation, **fields)
        changed._check()
        return changed

    def _check(self) -> None:
        """Raise the first error that roles, columns or dtypes have."""
        with in_words_of(self._native):
            _ = self._request if self._engine else self._columns

    @kept
    def _columns(self) -> Columns:
        return resolve(self._source.lf, self._request)

    def _rows(self) -> Rows:
        """Return the rows; of a frame in memory they are kept."""
        if engine := self._engine:  # where they may change from call to call
            there = engine_plans(engine).rows_elsewhere
            found: Rows = there(engine, self._native, self._columns, self._source.values)
            return found
        if not self._source.in_memory:
            return read(self._source.lf, self._columns, in_memory=False)
        return self._kept_rows

    @kept
    def _kept_rows(self) -> Rows:
        rows = read(self._source.lf, self._columns, in_memory=True)
        return replace(rows, kept={}) if self.reused else rows

    def _rows_in_memory(self, outputs: Collection[str]) -> Rows:
        """Return rows in memory, for what looks at them more than once; here lazy ones are read."""
        check_one_grouping(self._request)
        columns, lf = self._columns, self._source.lf
        check_key_names(columns, outputs)
        if self._source.in_memory:
            rows = self._rows()
            return replace(rows, kept={}) if rows.kept is None else rows
        found, columns = collected(lf, columns)
        return replace(read(found.lazy(), columns, in_memory=True), kept={})

    # --- results -------------------------------------------------------------------------------

    def _table(
        self,
        table: Table,
        asked: Request | None = None,
        *,
        details: bool = True,
        limits: bool = True,
    ) -> FrameT:
        """Return a table as the evaluation's kind of frame; ``asked`` has a role of its own."""
        self._check_runs(table)
        reserved = self._reserved(table, details=details)
        if asked is not None and asked.threshold is not None:
            source = self._read_frame(asked)
            rows = read(source.lf, resolve(source.lf, asked), in_memory=source.in_memory)
        else:
            source, rows = self._source, self._rows()
            columns = rows.columns if asked is None else replace(rows.columns, request=asked)
            rows = replace(rows, columns=columns)
        check_key_names(rows.columns, reserved)
        made = [*reserved, *rows.columns.request.made_keys]
        found = table.finished(rows, details=details)
        return self._like_frame(source.result(found if limits else table.unlimited(found), made))

    def _table_of_models(
        self,
        make: Callable[[Request, str | None], Table],
        baseline: str | None,
        **shown: bool,
    ) -> FrameT:
        """Return the table that ``make`` makes from a request with the models, and the baseline."""
        asked = self._request
        if asked.model is not None:
            return self._table_by_model(make, baseline, **shown)
        wide = replace(asked, side_by_side=True)
        return self._table(make(asked, baseline), wide, **shown)

    def _table_by_model(
        self,
        make: Callable[[Request, str | None], Table],
        baseline: str | None,
        *,
        details: bool = True,
        limits: bool = True,
    ) -> FrameT:
        """Return the table that compares the models of long data, each with rows of its own.

        These are known once the rows are read, so it is a step of the plan. The table for two
        models that stand for them tells the columns and their dtypes.
        """
        if engine := self._engine:
            check_request(engine, self._request, {OF_LONG_DATA: True})
        sample = make(of_models(self._request, PLACEHOLDERS), None)
        reserved, source = self._reserved(sample, details=details), self._source
        made = [*reserved, *replace(self._request, side_by_side=True).made_keys]
        check_key_names(self._columns, reserved)
        long, columns = selected(source.lf, self._columns)
        empty = side_by_side_columns(columns, PLACEHOLDERS)
        check_key_names(empty, reserved)
        nothing = pl.LazyFrame(schema=wide_schema(long.collect_schema(), columns, empty))
        rows_of_none = read(nothing, empty, in_memory=False)
        schema = sample.finished(rows_of_none, details=details).collect_schema()

        def compared(found: pl.DataFrame) -> pl.DataFrame:
            models = models_of(found, columns)
            if not models:
                return pl.DataFrame(schema=schema)
            wide, moved = put_side_by_side(found, columns, models)
            rows = read(wide.lazy(), moved, in_memory=True)
            table = make(moved.request, baseline).finished(rows, details=details)
            return table.collect(engine="in-memory")

        if source.in_memory:
            planned = compared(computed(long)).lazy()
        else:
            planned = long.map_batches(compared, schema=schema)
        return self._like_frame(
            source.result(planned if limits else sample.unlimited(planned), made)
        )

    def _like_frame(self, result: Any) -> FrameT:
        """Return a result as Narwhals, if the frame is, and with the labels that keys have."""
        return cast("FrameT", wrapped(self._labels.back(result), self.frame))

    def _reserved(self, table: Table, *, details: bool) -> list[str]:
        """Return the names that no key may have."""
        columns = self._columns_of(table, details=details)
        needed = table.computed(columns) if table.of_all_rows else ()
        public = (name for name in needed if not name.startswith("\0"))
        return [*dict.fromkeys([*table.reserved, *columns, *public])]

    def _columns_of(self, table: Table, *, details: bool) -> list[str]:
        check_option("details", details, (True, False))
        return table.columns(self._request.missing, details=details)

    # --- engines -------------------------------------------------------------------------------

    def _check_runs(self, table: Table) -> None:
        """Refuse a table that does not run inside the engine of the frame."""
        engine = self._engine
        if engine is None or not table.runs_inside:
            self._check_frame()
        else:
            check_request(engine, self._request, table.only_in_polars())

    def _check_frame(self, *, takes_counts: bool = True) -> None:
        """Refuse the frame of an engine for a verb that does not run there."""
        needs_rows = any(self.roles.get(role) is not None for role in ("cluster", "strata"))
        check_frame(self._native, takes_counts=takes_counts and not needs_rows)

    def _plans(self, engine: Engine, refused: Mapping[str, bool]) -> Any:
        """Return the module that plans verbs inside an engine, if the request can run there."""
        check_request(engine, self._request, refused)
        return engine_plans(engine)

    def _inside(
        self, engine: Engine, table: Table, refused: Mapping[str, bool], *, details: bool = True
    ) -> FrameT:
        """Return a table that is computed inside an engine, as a frame of it."""
        made = self._plans(engine, refused).curves.computed
        outputs = self._columns_of(table, details=details)
        return self._like_frame(made(engine, self._native, self._request, table, outputs))

    def _table_of_counts(self, table: Table, engine: Engine, **shown: bool) -> FrameT:
        """Return a table that rests on the counts of an engine's frame, which are collected."""
        found = self._of_counts(engine)._table(table, None, **shown)  # noqa: SLF001 - its own class
        return self._like_frame(found)

    def _of_counts(self, engine: Engine) -> Evaluated[pl.DataFrame]:
        """Return an evaluation of the counts of an engine's frame, which are collected."""
        from frame_prc._curves.curve import Counts

        asked = self._request
        plans = self._plans(engine, {"cluster": asked.cluster is not None})
        counted = plans.curves.computed(engine, self._native, asked, Counts(), ())
        counts = plans.estimates.in_polars(counted)
        made = [THRESHOLD, *SUMS, *([MODEL] if asked.several_models else [])]
        roles: dict[str, Any] = {
            "score": THRESHOLD,
            **{name: name for name in SUMS},
            "by": [name for name in counts.columns if name not in made] or None,
            "model": MODEL if asked.several_models else None,
            "missing": "raise" if asked.missing == "drop" else asked.missing,
            "ascending": asked.ascending,
        }
        return Evaluated(counts, roles)


def _check_condition(condition: pl.Expr, lf: pl.LazyFrame) -> None:
    schema = lf.collect_schema()
    for name in condition.meta.root_names():
        if not name.startswith("^") and name not in schema:
            raise ColumnError(
                f"where() names {name!r}, which is not a column", hint=nearest(name, schema)
            )
    dtypes = lf.select(condition).collect_schema().dtypes()
    if dtypes != [pl.Boolean()]:
        raise ColumnError(
            f"where() has a condition of dtype {', '.join(map(str, dtypes))}",
            "one Boolean expression, such as pl.col('region') == 'north'",
        )


def engine_plans(engine: Engine) -> Any:
    """Return the module that plans verbs inside an engine."""
    try:
        from frame_prc._engines import plans  # needs an extra
    except ImportError as error:
        raise FrameError(
            f"{engine.kind} needs a package that is not installed: {error}",
            hint=install_hint(engine.extra),
        ) from error
    return plans


@dataclass(frozen=True)
class Level:
    """The level of an interval that a verb is not given: that of the evaluation, or this one."""

    default: float | None

    def __repr__(self) -> str:
        return "ev.level" if self.default is None else f"ev.level or {self.default}"


# Typed as what a caller may pass.
OF_EVALUATION: Any = Level(None)
OF_EVALUATION_OR_95: Any = Level(0.95)


# --- what every verb does first ----------------------------------------------------------------

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


def verb(function: FunctionT) -> FunctionT:
    """Wrap a public function or method.

    It refuses unknown parameters, unwraps Narwhals frames, and its errors suit the frame.
    """
    is_method = "self" in function.__code__.co_varnames[:1]
    called = f"{function.__name__}()"
    native = takes_narwhals(refuses_unknown(function))

    @wraps(native)
    def call(*args: Any, **named: Any) -> Any:
        first: Any = args[0] if args else named.get("frame")
        inherits = is_method and first.level is not None and "ci" not in named
        with in_words_of(unwrapped(first.frame if is_method else first), called):
            try:
                return native(*args, **named)
            except OptionError as error:
                if inherits and error.what.startswith("ci="):
                    error.what += "; it is that of evaluate(), where this call names none"
                raise

    call.__doc__ = with_options(function)
    return cast("FunctionT", call)


# --- what a verb is given for each segment ------------------------------------------------------

_ALLOWED = "numbers for all segments, a column's name, or a frame with the keys and 'threshold'"
_ALLOWED_PREVALENCE = "a number, 'highest', 'pooled', or a frame with the keys and 'prevalence'"
_ALLOWED_STEPS = "numbers for all segments, or a frame with the keys and 'threshold'"
_ALLOWED_AT = "{'threshold': 0.5}, or a Polars or pandas frame with the keys and 'threshold'"


def given_reference(calibrate: Any) -> Calibration | None:
    """Return the prevalence that decisions are calibrated to, or a frame of those of segments."""
    frame = _scanned("calibrate", calibrate, _ALLOWED_PREVALENCE, "prevalence")
    return calibration(calibrate) if frame is None else Calibration(given=frame)


def given_at(at: Any) -> Any:
    """Return where measures are taken; of a frame of thresholds a lazy one."""
    frame = _scanned("at", at, _ALLOWED_AT, None)
    return at if frame is None else frame


def given_thresholds(
    threshold: Any,
) -> tuple[object, IntoColumn | None, GivenThresholds | None]:
    """Return thresholds as numbers for all segments, as a column of the rows, or as a frame."""
    if isinstance(threshold, (str, pl.Expr)):
        return None, threshold, GivenThresholds()
    frame = _scanned("threshold", threshold, _ALLOWED, "threshold")
    if frame is not None:
        return None, None, GivenThresholds(frame)
    _refuse_labels(threshold)
    return threshold, None, None


def given_steps(thresholds: Any) -> tuple[list[float], GivenThresholds | None]:
    """Return thresholds for all segments, or a frame of those of each."""
    frame = _scanned("thresholds", thresholds, _ALLOWED_STEPS, "threshold")
    if frame is not None:
        return [], GivenThresholds(frame, "thresholds")
    values = list(thresholds) if is_list(thresholds) else [thresholds]
    if not values or not all(map(is_number, values)):
        raise OptionError(
            f"thresholds={shown(thresholds)} does not hold numbers",
            _ALLOWED_STEPS,
            shell_hint="a file that frame-prc points wrote has the thresholds of segments",
        )
    return values, None


def _scanned(name: str, value: Any, allowed: str, column: str | None) -> pl.LazyFrame | None:
    """Return a frame that has a column, if it is one; refuse what an engine has, and a dict."""
    if value is None:
        return None
    if is_frame(value):
        return scan_all(value)
    if engine := engine_of(value):
        raise OptionError(
            f"{name}= is {engine.kind}",
            allowed,
            "collect it first, and also the frame if an engine has it: "
            f"`{engine.collected.format('chosen')}`",
        )
    hint = column_hint(value) if is_of_engine(value) else None
    if column is not None and isinstance(value, Mapping):
        hint = (
            f"for a dict of {column}s by region, pl.DataFrame({{'region': list({column}s), "
            f"'{column}': list({column}s.values())}})"
        )
    if hint is not None:
        raise OptionError(f"{name}= is of type {type_name(value)}", allowed, hint)
    return None


def _refuse_labels(threshold: Any) -> None:
    """Refuse a pandas Series whose labels would be lost: those of segments, for example."""
    is_series = isinstance(threshold, class_of("pandas", "Series"))
    if is_series and type(threshold.index).__name__ != "RangeIndex":
        raise OptionError(
            "threshold= is a pandas Series with labels",
            "numbers for all segments, or a frame with the keys and a column 'threshold'",
            "threshold=series.rename('threshold').reset_index() for a threshold per segment, and "
            "series.to_list() for numbers",
        )
