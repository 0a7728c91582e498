"""Ibis tables, and so every warehouse that Ibis reaches: results are Ibis expressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from frame_prc._engines.operations import Engine, Frame, Order
from frame_prc.exceptions import DataError, FrameError

if TYPE_CHECKING:
    from frame_prc._engines.checks import Checks


@dataclass(frozen=True, kw_only=True)
class IbisEngine(Engine):
    """Ibis, which writes the SQL of its backends.

    A query of most of them cannot fail with a text of ours, so rows are checked at the call, by one
    aggregate query that reads the table once. The results are not computed.
    """

    def refuse(self, native: Any) -> None:
        """Refuse tables without a connection to check their values by, and without windows."""
        import ibis  # noqa: PLC0415 - only with an Ibis table at hand

        try:
            backend = native.get_backend()
        except ibis.IbisError as error:
            raise FrameError(
                f"{self.kind} without a connection has no values to check",
                "a table of one connection",
                "to compile a result, call ibis.to_sql(result.unbind(), dialect=...)",
            ) from error
        if backend.name == "polars":
            raise FrameError(
                "Ibis has no running sums in its Polars backend",
                "a table of another backend, or a Polars frame",
                "table.to_polars() returns a Polars frame",
            )

    def type_name(self, native: Any, column: str) -> str:
        """Return what Ibis calls the type of a column."""
        return str(native.schema()[column])

    def checked(
        self,
        rows: Frame,
        checks: Checks,
        used: Sequence[str],  # noqa: ARG002 - all columns are checked now
    ) -> tuple[Frame, Frame | None]:
        """Raise an error now if a row breaks a rule."""
        if totals := checks.totals():
            checks.raise_first(_first_row(rows.select(**totals)))
        return rows, None

    def repeat(self, frame: Frame, name: str, times: int, where: str | None = None) -> Frame:
        """Join each row with the numbers."""
        import narwhals as nw  # noqa: PLC0415 - only with an engine's frame at hand

        from frame_prc._engines.ibis_spelling import numbers  # noqa: PLC0415 - imports Ibis

        repeated = frame.join(nw.from_native(numbers(name, times)), how="cross")
        if where is None:
            return repeated
        return repeated.filter((nw.col(name) == 0) | nw.col(where))

    def finished(
        self,
        frame: Frame,
        keys: Sequence[str],
        order: Sequence[Order],
        problem: Frame | None,
    ) -> Any:
        """Return an Ibis table, sorted; raise an error now if there is a problem."""
        import ibis  # noqa: PLC0415 - only with an Ibis table at hand

        from frame_prc._engines.ibis_spelling import spelled  # noqa: PLC0415 - imports Ibis

        if problem is not None and (error := _first_row(problem)["problem"]):
            raise DataError(f"{error}")
        native = spelled(frame.to_native())
        sorted_by = [ibis.asc(key, nulls_first=True) for key in keys]
        sorted_by += [(ibis.desc if o.descending else ibis.asc)(o.column) for o in order]
        return native.order_by(*sorted_by) if sorted_by else native


IBIS = IbisEngine(
    kind="an Ibis table",
    extra="ibis",
    collected="table.to_polars()",
    cast="table.mutate(number=table.{}.cast('float64'))",
    second="table.mutate(number=table.{}[1])",
)


def _first_row(frame: Frame) -> dict[str, Any]:
    """Compute the only row of a frame."""
    from frame_prc._engines.ibis_spelling import spelled  # noqa: PLC0415 - imports Ibis

    row: dict[str, Any] = spelled(frame.to_native()).to_pyarrow().to_pylist()[0]
    return row
