"""Engines besides Polars: how to recognise their frames, and the SQL in which they differ.

Nothing is imported for the user: whoever has a DuckDB relation or a PySpark DataFrame has imported
its package already. :mod:`frame_prc._engines.plans` plans what happens inside an engine.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from frame_prc._request.packages import Extra
from frame_prc._request.roles import OF_COUNTS, Request
from frame_prc.exceptions import FrameError, OptionError

if TYPE_CHECKING:
    import narwhals as nw

Frame: TypeAlias = "nw.LazyFrame[Any]"

VERBS = "counts, curve and average_precision"
_COUNTS_FIRST = (
    "frame_prc.counts(...) runs there; collect its result, and give it to the verb with "
    f"{OF_COUNTS}"
)


@dataclass(frozen=True)
class Engine:
    """An engine: how errors name it, its SQL, and how it runs a plan.

    Parameters
    ----------
    kind
        What errors call its frames.
    extra
        The extra of this package that installs what it needs.
    collected
        The expression that turns one of its frames into a Polars frame.
    error
        The SQL function that fails with a text.
    array, each
        SQL of a list, and the function that makes a row of each of its elements.
    in_ranges
        Whether large segments are cut into ranges of scores, so that no task sorts a whole one.
    ordered
        Whether its frames keep their order.
    """

    kind: str
    extra: Extra
    collected: str
    error: str
    array: str
    each: str
    in_ranges: bool
    ordered: bool

    def project(self, frame: Frame, *columns: str) -> Frame:
        """Select columns written in SQL."""
        import narwhals as nw  # noqa: PLC0415 - only with an engine's frame at hand

        native = frame.to_native()
        if hasattr(native, "selectExpr"):
            chosen = native.selectExpr(*columns)
        else:
            chosen = native.project(", ".join(columns))
        result: Frame = nw.from_native(chosen)
        return result

    def fail_in(self, frame: Frame, columns: Sequence[str]) -> Frame:
        """Fail where ``problem`` has a text, once these columns are computed."""
        others = [name for name in frame.columns if name not in (*columns, "problem")]
        checked = [f"{self._unless_problem(name)} AS {name}" for name in columns]
        return self.project(frame, *others, *checked)

    def fail_if(self, frame: Frame, problem: Frame) -> Frame:
        """Fail if the only row of another frame has a text in ``problem``."""
        import narwhals as nw  # noqa: PLC0415 - only with an engine's frame at hand

        joined = frame.join(problem, how="cross").to_native()
        checked: Frame = nw.from_native(joined.filter(self._unless_problem("true")))
        return checked

    def _unless_problem(self, value: str) -> str:
        return f"CASE WHEN problem IS NULL THEN {value} ELSE {self.error}(problem) END"

    def repeat(self, frame: Frame, name: str, times: int, where: str = "true") -> Frame:
        """Repeat rows where a condition holds, numbered from 0 in a new column; others have 0."""
        numbers = self.array.format(", ".join(map(str, range(times))))
        alone = self.array.format("0")
        repeated = f"{self.each}(CASE WHEN {where} THEN {numbers} ELSE {alone} END) AS {name}"
        return self.project(frame, "*", repeated)


DUCKDB = Engine(
    kind="a DuckDB relation",
    extra="duckdb",
    collected="relation.pl()",
    error="error",
    array="[{}]",
    each="unnest",
    in_ranges=False,
    ordered=True,
)
SPARK = Engine(
    kind="a PySpark DataFrame",
    extra="spark",
    collected="pl.from_arrow(frame.toArrow())",
    error="raise_error",
    array="array({})",
    each="explode",
    in_ranges=True,
    ordered=False,
)

_CLASSES = (
    ("duckdb", "DuckDBPyRelation", DUCKDB),
    ("pyspark.sql", "DataFrame", SPARK),  # of Spark Connect too
)


def engine_of(frame: object) -> Engine | None:
    """Return the engine that a frame belongs to, if any."""
    for module, name, engine in _CLASSES:
        if isinstance(frame, class_of(module, name)):
            return engine
    return None


def class_of(module: str, name: str) -> Any:
    """Return a class of a package, or an empty tuple of classes if the package is not imported.

    While another thread imports the package, the class may not be there yet.
    """
    return getattr(sys.modules.get(module), name, ())


def check_request(engine: Engine, request: Request, **refused: bool) -> None:
    """Refuse a request that cannot run inside an engine.

    Parameters
    ----------
    engine
        The engine.
    request
        The parameters that every verb shares.
    refused
        Parameters that only Polars frames support, and whether they are given.
    """
    for name, given in refused.items():
        if given:
            needs_rows = name == "squares" or (name == "ci" and _is_of_rows(request))
            raise OptionError(
                f"{name}= does not run inside {engine.kind}",
                f"calls without {name}=",
                _rows_first(engine) if needs_rows else _COUNTS_FIRST,
            )
    if request.groupings is not None:
        raise OptionError(
            f"by= is a list of groupings, which do not run inside {engine.kind}",
            "the keys of one grouping",
            _COUNTS_FIRST,
        )
    for role, item in _items(request):
        if isinstance(item, pl.Expr):
            raise OptionError(
                f"{role}= is a Polars expression, but the frame is {engine.kind}",
                "column names",
                "compute the column in the engine first",
            )


def _is_of_rows(request: Request) -> bool:
    """Return whether an interval needs the rows: the counts of an engine do not suffice."""
    return request.cluster is not None or not {"weight", "pos_squares"}.isdisjoint(request.classes)


def _rows_first(engine: Engine) -> str:
    return f"select the columns that it needs, and collect them with {engine.collected}"


def _items(request: Request) -> Iterator[tuple[str, object]]:
    yield from request.classes.items()
    yield from (("score", item) for item in request.models.values())
    yield from (("by", item) for item in request.keys)
    if request.model is not None:
        yield "model", request.model


def refuse_engine(frame: object, *, takes_counts: bool) -> None:
    """Refuse an engine's frame for a verb that only takes Polars and pandas frames."""
    if engine := engine_of(frame):
        raise FrameError(
            f"this verb does not run inside {engine.kind}",
            f"a Polars or pandas frame; {VERBS} also run inside {engine.kind}",
            _COUNTS_FIRST if takes_counts else _rows_first(engine),
        )
