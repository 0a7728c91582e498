"""Engines besides Polars: how to recognise them, what each does in its own way, and what none does.

DuckDB and Spark can fail with a text of ours. Most backends of Ibis cannot: an Ibis table is
checked at the call. Nothing is imported for the user, who has imported the engine already.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import polars as pl

from frame_prc import exceptions
from frame_prc._request.hints import Extra
from frame_prc._request.roles import OF_COUNTS, Request

if TYPE_CHECKING:
    import narwhals as nw


# --- what differs in an engine -----------------------------------------------------------------

Frame: TypeAlias = "nw.LazyFrame[Any]"


# The rows with the score of a row, with it or a higher one, with it or a lower one, or all of them;
# a null is the lowest score.
Window: TypeAlias = Literal["ties", "down", "up", "whole"]
WindowSum: TypeAlias = tuple[str, Window, str]  # its name, its window and the column


@dataclass(frozen=True)
class Order:
    """A column to sort by; nulls are last."""

    column: str
    descending: bool = False


@dataclass(frozen=True, kw_only=True)
class Engine:
    """An engine whose frames take columns written in SQL: how errors name it, and what differs.

    Errors call its frames ``kind``; ``collected`` turns one, ``{}``, into a Polars frame, ``cast``
    makes numbers of a column, ``{}``, and ``second`` of the second values of lists. ``in_ranges``
    says that segments too large for one task are cut into ranges of scores, and ``streams`` that
    windows of all rows read them in their order, one after the other.

    ``error`` is the function for failing, which a row with an invalid value calls; only whether
    ``pos_label=`` occurs needs a second pass. ``array`` is a list, and ``each`` makes rows of it.
    ``up`` and ``whole`` say how sums of these windows are written.
    """

    kind: str
    extra: Extra
    collected: str
    cast: str
    second: str
    in_ranges: bool = False
    streams: bool = False
    error: str = ""
    array: str = ""
    each: str = ""
    ordered: bool = False
    up: str = "{up}"
    whole: str = "{whole}"

    def refuse(self, native: Any) -> None:
        """Raise an error if no verb can run on this frame."""

    def type_name(self, native: Any, column: str) -> str:
        found = dict(zip(native.columns, native.dtypes, strict=True))[column]
        return str(found[1] if isinstance(found, tuple) else found)  # Spark has pairs

    def checked(self, rows: Frame, checks: Any, used: Sequence[str]) -> tuple[Frame, Frame | None]:
        """Fail in the first row that breaks one of the `Checks`, once ``used`` are computed.

        The second frame, for `finished`, has one row: the ``problem`` of all rows as text, or null.
        """
        others = [name for name in rows.columns if name not in used]
        held = [f"{self._unless_problem(name)} AS {name}" for name in used]
        marked = rows.with_columns(problem=checks.row_problem())
        return project(marked, *others, *held), checks.label_problem(rows)

    def repeat(self, frame: Frame, name: str, times: int, where: str | None = None) -> Frame:
        """Repeat rows (only those ``where`` a column is true), numbered from 0 in a new column."""
        numbers = self.array.format(", ".join(map(str, range(times))))
        alone = self.array.format("0")
        some = f"CASE WHEN {where or 'true'} THEN {numbers} ELSE {alone} END"
        return project(frame, "*", f"{self.each}({some}) AS {name}")

    def finished(
        self, frame: Frame, keys: Sequence[str], order: Sequence[Order], problem: Frame | None
    ) -> Any:
        """Return the engine's own frame, sorted if its frames keep their order; null keys first."""
        if problem is not None:
            frame = self._fail_if(frame, problem)
        native = frame.to_native()
        if not self.ordered or not (keys or order):
            return native
        quoted = (key.replace('"', '""') for key in keys)
        sorted_by = [f'"{key}" NULLS FIRST' for key in quoted]
        sorted_by += [f"{o.column} {'DESC' if o.descending else 'ASC'} NULLS LAST" for o in order]
        return native.order(", ".join(sorted_by))

    def windows(
        self, frame: Frame, within: Sequence[str], score: str, sums: Sequence[WindowSum]
    ) -> Frame:
        """Add sums over windows of the rows that are alike in some columns."""
        alike = f"PARTITION BY {', '.join(within)}"
        down = f"{alike} ORDER BY {score} DESC NULLS LAST"
        windows = {
            "alike": alike,
            "down": down,
            "ties": f"{down} RANGE BETWEEN CURRENT ROW AND CURRENT ROW",
            "up": f"{alike} ORDER BY {score} ASC NULLS FIRST",
            "whole": f"{down} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
        }

        def written(window: Window, of: str) -> str:
            text = {"up": self.up, "whole": self.whole}.get(window, f"{{{window}}}")
            return text.format(**{n: f"sum({of}) OVER ({rows})" for n, rows in windows.items()})

        return project(frame, "*", *(f"{written(window, of)} AS {n}" for n, window, of in sums))

    def _fail_if(self, frame: Frame, problem: Frame) -> Frame:
        """Fail if the only row of another frame has a text in ``problem``.

        It is joined to each row, so that a part fails too, and added to what may be empty.
        """
        import narwhals as nw  # noqa: PLC0415 - only with an engine's frame at hand

        native = frame.join(problem, how="cross").to_native()
        joined: Frame = nw.from_native(native.filter(self._unless_problem("true")))
        left_out: Frame = nw.from_native(problem.to_native().filter(self._unless_problem("false")))
        # A union takes columns by their place.
        nothing = project(left_out, *(f"NULL AS none_{i}" for i in range(len(frame.columns))))
        rows = joined.select(*frame.columns).to_native()
        both: Frame = nw.from_native(rows.union(nothing.to_native()))
        return both

    def _unless_problem(self, value: str) -> str:
        return f"CASE WHEN problem IS NULL THEN {value} ELSE {self.error}(problem) END"


def project(frame: Frame, *columns: str) -> Frame:
    import narwhals as nw  # noqa: PLC0415 - only with an engine's frame at hand

    native = frame.to_native()
    if hasattr(native, "selectExpr"):
        chosen = native.selectExpr(*columns)
    else:
        chosen = native.project(", ".join(columns))
    result: Frame = nw.from_native(chosen)
    return result


# What DuckDB and Spark write around a text of ours that a query fails with.
_RAISED = re.compile(
    r"(?:Invalid Input Error: |\[USER_RAISED_EXCEPTION\] )"
    r"(.*?)[.?] Allowed: (.*?)(?:\. Hint: (.*?))?[.]?(?: SQLSTATE.*)?",
    re.DOTALL,
)


@contextmanager
def errors_of_ours() -> Iterator[None]:
    """Raise the error of a row that a query fails with as the error that Polars frames get."""
    try:
        yield
    except Exception as error:
        found = _RAISED.fullmatch(str(error))
        if found is None:
            raise
        what, allowed, hint = found.groups()
        raise exceptions.DataError(what, allowed, hint) from error


DUCKDB = Engine(
    kind="a DuckDB relation",
    extra="duckdb",
    collected="{}.pl()",
    cast="relation.project('*, CAST({} AS DOUBLE) AS number')",
    second="relation.project('*, {}[2] AS number')",
    error="error",
    array="[{}]",
    each="unnest",
    ordered=True,
    whole="{alike}",
    streams=True,
)
SPARK = Engine(
    kind="a PySpark DataFrame",
    extra="spark",
    collected="pl.from_arrow({}.toArrow())",
    cast="frame.selectExpr('*', 'CAST({} AS DOUBLE) AS number')",
    second="frame.selectExpr('*', '{}[1] AS number')",
    in_ranges=True,
    error="raise_error",
    array="array({})",
    each="explode",
    # Windows of one order take one sort and one pass. A sum is added up from row to row, so that
    # what is below the last row that adds to it is exactly 0.
    up="{whole} - {down} + {ties}",
)


@dataclass(frozen=True, kw_only=True)
class IbisEngine(Engine):
    """Ibis, whose backends cannot fail with a text of ours: rows are checked at the call."""

    def refuse(self, native: Any) -> None:
        """Refuse tables without a connection to check their values by, and without windows."""
        import ibis  # noqa: PLC0415 - only with an Ibis table at hand

        try:
            backend = native.get_backend()
        except ibis.IbisError as error:
            raise exceptions.FrameError(
                f"{self.kind} without a connection has no values to check",
                "a table of one connection",
                "to compile a result, call ibis.to_sql(result.unbind(), dialect=...)",
            ) from error
        if backend.name == "polars":
            raise exceptions.FrameError(
                "Ibis has no running sums in its Polars backend",
                "a table of another backend, or a Polars frame",
                "table.to_polars() returns a Polars frame",
            )

    def type_name(self, native: Any, column: str) -> str:
        return str(native.schema()[column])

    def checked(
        self,
        rows: Frame,
        checks: Any,
        used: Sequence[str],  # noqa: ARG002 - all columns are checked now
    ) -> tuple[Frame, Frame | None]:
        if totals := checks.totals():
            checks.raise_first(_first_row(rows.select(**totals)))
        return rows, None

    def repeat(self, frame: Frame, name: str, times: int, where: str | None = None) -> Frame:
        import narwhals as nw  # noqa: PLC0415 - only with an engine's frame at hand

        from frame_prc._engines.ibis_spelling import numbers  # noqa: PLC0415 - imports Ibis

        repeated = frame.join(nw.from_native(numbers(name, times)), how="cross")
        if where is None:
            return repeated
        return repeated.filter((nw.col(name) == 0) | nw.col(where))

    def windows(
        self, frame: Frame, within: Sequence[str], score: str, sums: Sequence[WindowSum]
    ) -> Frame:
        import ibis  # noqa: PLC0415 - only with an Ibis table at hand
        import narwhals as nw  # noqa: PLC0415 - only with an engine's frame at hand

        down, up = ibis.desc(score, nulls_first=False), ibis.asc(score, nulls_first=True)
        alike = partial(ibis.range_window, group_by=list(within))
        windows = {
            "down": alike(following=0, order_by=down),
            "ties": alike(preceding=0, following=0, order_by=down),
            "up": alike(following=0, order_by=up),
            "whole": ibis.window(group_by=list(within)),
        }
        native = frame.to_native()
        added = {name: native[of].sum().over(windows[window]) for name, window, of in sums}
        result: Frame = nw.from_native(native.mutate(**added))
        return result

    def finished(
        self, frame: Frame, keys: Sequence[str], order: Sequence[Order], problem: Frame | None
    ) -> Any:
        import ibis  # noqa: PLC0415 - only with an Ibis table at hand

        from frame_prc._engines.ibis_spelling import spelled  # noqa: PLC0415 - imports Ibis

        if problem is not None and (error := _first_row(problem)["problem"]):
            raise exceptions.DataError(f"{error}")
        native = spelled(frame.to_native())
        sorted_by = [ibis.asc(key, nulls_first=True) for key in keys]
        sorted_by += [(ibis.desc if o.descending else ibis.asc)(o.column) for o in order]
        return native.order_by(*sorted_by) if sorted_by else native


IBIS = IbisEngine(
    kind="an Ibis table",
    extra="ibis",
    collected="{}.to_polars()",
    cast="table.mutate(number=table.{}.cast('float64'))",
    second="table.mutate(number=table.{}[1])",
)


def _first_row(frame: Frame) -> dict[str, Any]:
    from frame_prc._engines.ibis_spelling import spelled  # noqa: PLC0415 - imports Ibis

    row: dict[str, Any] = spelled(frame.to_native()).to_pyarrow().to_pylist()[0]
    return row


# --- frames of engines, and what does not run inside them --------------------------------------

_UNKNOWN = (pl.Object, pl.Unknown, pl.Null)

RUN_INSIDE = (
    "counts", "curve", "average_precision", "average", "auc", "operating_points", "summary",
    "threshold_table", "reliability", "compare_models", "compare_segments", "heterogeneity",
    "shrunk", "sample_size",
)  # fmt: skip
VERBS = f"{', '.join(RUN_INSIDE[:-1])} and {RUN_INSIDE[-1]}"


_CLASSES = (
    ("duckdb", "DuckDBPyRelation", DUCKDB),
    ("pyspark.sql", "DataFrame", SPARK),  # of Spark Connect too
    ("ibis.expr.types", "Table", IBIS),
)


def engine_of(frame: object) -> Engine | None:
    if isinstance(frame, (pl.DataFrame, pl.LazyFrame)):
        return None
    for module, name, engine in _CLASSES:
        if isinstance(frame, class_of(module, name)):
            return engine
    return None


def class_of(module: str, name: str) -> Any:
    """Return a class of a package, or ``()`` if that is not imported, maybe not yet by a thread."""
    return getattr(sys.modules.get(module), name, ())


# What a hint says in Polars of a column that the caller has to make.
_IN_POLARS = re.compile(r"\bpl\.(col|lit)\b|\.alias\(")


@contextmanager
def in_words_of(frame: object, called: str = exceptions.THIS_VERB) -> Iterator[None]:
    """Raise errors about an engine's frame without expressions of Polars, which it refuses."""
    try:
        yield
    except exceptions.PrcError as error:
        exceptions.reword(error, exceptions.THIS_VERB, called)
        engine = engine_of(frame)
        if engine is None:
            raise
        hint = error.hint
        if hint is not None and _IN_POLARS.search(hint):
            start, example, _ = hint.partition(", as in ")
            column = re.search(r"column '(\w+)'", error.what)
            hint = start if example else compute_first(engine, column[1] if column else "score")
        allowed = error.allowed and error.allowed.replace(" or a Polars expression", "")
        if (allowed, hint) == (error.allowed, error.hint):
            raise
        raise type(error)(error.what, allowed, hint) from None


def compute_first(engine: Engine, column: str) -> str:
    return f"compute the column in the engine first, such as {engine.cast.format(column)}"


def check_types(
    engine: Engine, native: Any, dtypes: Mapping[str, pl.DataType], request: Request
) -> None:
    for role, name in _items(request):
        dtype = dtypes.get(name) if isinstance(name, str) else None
        is_list = isinstance(dtype, (pl.List, pl.Array)) and role != "truth"
        if role in ("by", "model") or not (is_list or dtype in _UNKNOWN):
            continue
        kind = engine.type_name(native, name)
        hint = engine.second.format(name) if is_list else compute_first(engine, name)
        if kind == "vector":  # of Spark's ML
            hint = f"frame.withColumn('number', pyspark.ml.functions.vector_to_array({name!r})[1])"
        raise exceptions.ColumnError(
            f"{role}= column {name!r} has type {kind}",
            "Boolean, or 0/1 numbers" if role == "truth" else "a numeric column",
            f"{hint} takes the second of its values, that of the positive class"
            if is_list or kind == "vector"
            else hint,
        )


def check_request(engine: Engine, request: Request, refused: Mapping[str, bool]) -> None:
    for name, given in {**refused, "strata": request.strata is not None}.items():
        if given:
            option = name if "=" in name else f"{name}="
            # Intervals of weighted rows too need these: the counts of an engine do not suffice.
            weighted = not {"weight", "pos_squares"}.isdisjoint(request.classes)
            of_rows = name.startswith(("ci", "guarantee")) and weighted
            of_rows = of_rows or name in _OF_ROWS or request.cluster is not None
            raise exceptions.OptionError(
                f"{option} does not run inside {engine.kind}",
                "calls without it",
                rows_first(engine) if of_rows else _counts_first(engine),
            )
    if request.groupings is not None:
        raise exceptions.OptionError(
            f"by= is a list of groupings, which do not run inside {engine.kind}",
            "the keys of one grouping",
            _counts_first(engine) if request.cluster is None else rows_first(engine),
        )
    for role, item in _items(request):
        if isinstance(item, pl.Expr):
            raise exceptions.OptionError(
                f"{role}= is a Polars expression, but the frame is {engine.kind}",
                "column names",
                compute_first(engine, "score"),
            )


# What counts do not suffice for.
HELD_BY_COLUMN = "threshold= as a column"
OF_LONG_DATA = "a comparison by model="
OF_DEPLOYED = "calibrate= with ci= or guarantee="
_OF_ROWS = (
    "strata",
    HELD_BY_COLUMN,
    OF_LONG_DATA,
    OF_DEPLOYED,
    "against='rest'",
    "against='overall'",
)


def _counts_first(engine: Engine) -> str:
    counts = engine.collected.format("frame_prc.counts(frame, ...)")
    return (
        f"collect its counts with your columns and keys, `counts = {counts}`; then call the verb "
        f"with `counts, {OF_COUNTS}, ...`, the keys (of several models also model='model') and the "
        "other options"
    )


def rows_first(engine: Engine) -> str:
    return (
        "select the columns that it needs, and collect them: "
        f"`rows = {engine.collected.format('frame')}`; then call the verb with `rows, ...`"
    )


def _items(request: Request) -> Iterator[tuple[str, Any]]:
    yield from request.classes.items()
    yield from (("score", item) for item in request.models.values())
    yield from (("by", item) for item in request.keys)
    if request.cluster is not None:
        yield "cluster", request.cluster
    if request.model is not None:
        yield "model", request.model


def refuse_engine(frame: object, *, takes_counts: bool) -> None:
    if engine := engine_of(frame):
        raise exceptions.FrameError(
            f"{exceptions.THIS_VERB} does not run inside {engine.kind}",
            f"a Polars or pandas frame; {VERBS} also run inside {engine.kind}",
            _counts_first(engine) if takes_counts else rows_first(engine),
        )
