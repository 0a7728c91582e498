"""DuckDB and Spark: their queries can fail with a text of ours, by a function in their SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from frame_prc._engines.operations import Engine, Frame, Order

if TYPE_CHECKING:
    from frame_prc._engines.checks import Checks


@dataclass(frozen=True, kw_only=True)
class SqlTextEngine(Engine):
    """An engine whose frames take columns written in SQL.

    A query cannot raise an error of ours when it runs. Instead a row with an invalid value calls
    the engine's own function for failing, with the error that Polars frames get, about that one
    row. Only whether ``pos_label=`` occurs needs a second pass over the truth: one row of totals
    beside the plan.

    Parameters
    ----------
    error
        The SQL function that fails with a text.
    array, each
        SQL of a list, and the function that makes a row of each of its elements.
    ordered
        Whether its frames keep their order.
    """

    error: str
    array: str
    each: str
    ordered: bool

    def checked(
        self, rows: Frame, checks: Checks, used: Sequence[str]
    ) -> tuple[Frame, Frame | None]:
        """Fail in the first row that breaks a rule, once the columns ``used`` are computed."""
        others = [name for name in rows.columns if name not in used]
        held = [f"{self._unless_problem(name)} AS {name}" for name in used]
        marked = rows.with_columns(problem=checks.row_problem())
        return project(marked, *others, *held), checks.label_problem(rows)

    def repeat(self, frame: Frame, name: str, times: int, where: str | None = None) -> Frame:
        """Make a row of each element of a list of numbers."""
        numbers = self.array.format(", ".join(map(str, range(times))))
        alone = self.array.format("0")
        some = f"CASE WHEN {where or 'true'} THEN {numbers} ELSE {alone} END"
        return project(frame, "*", f"{self.each}({some}) AS {name}")

    def finished(
        self, frame: Frame, keys: Sequence[str], order: Sequence[Order], problem: Frame | None
    ) -> Any:
        """Return a relation sorted, a Spark DataFrame as it is."""
        if problem is not None:
            frame = self._fail_if(frame, problem)
        native = frame.to_native()
        if not self.ordered or not (keys or order):
            return native
        sorted_by = [f"{_quoted(key)} NULLS FIRST" for key in keys]
        sorted_by += [f"{o.column} {'DESC' if o.descending else 'ASC'} NULLS LAST" for o in order]
        return native.order(", ".join(sorted_by))

    def _fail_if(self, frame: Frame, problem: Frame) -> Frame:
        """Fail if the only row of another frame has a text in ``problem``.

        That row is joined to each row, so that a part of the result fails too. An engine need not
        look at what it joins to no rows: so it is also added to the result, and left out.
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
    """Select columns written in SQL."""
    import narwhals as nw  # noqa: PLC0415 - only with an engine's frame at hand

    native = frame.to_native()
    if hasattr(native, "selectExpr"):
        chosen = native.selectExpr(*columns)
    else:
        chosen = native.project(", ".join(columns))
    result: Frame = nw.from_native(chosen)
    return result


def _quoted(name: str) -> str:
    return f'"{name.replace(chr(34), chr(34) * 2)}"'


DUCKDB = SqlTextEngine(
    kind="a DuckDB relation",
    extra="duckdb",
    collected="relation.pl()",
    cast="relation.project('*, CAST({} AS DOUBLE) AS number')",
    second="relation.project('*, {}[2] AS number')",
    error="error",
    array="[{}]",
    each="unnest",
    ordered=True,
    streams=True,
)
SPARK = SqlTextEngine(
    kind="a PySpark DataFrame",
    extra="spark",
    collected="pl.from_arrow(frame.toArrow())",
    cast="frame.selectExpr('*', 'CAST({} AS DOUBLE) AS number')",
    second="frame.selectExpr('*', '{}[1] AS number')",
    in_ranges=True,
    error="raise_error",
    array="array({})",
    each="explode",
    ordered=False,
)
