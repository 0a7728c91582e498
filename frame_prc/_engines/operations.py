"""What an engine besides Polars does in its own way; Narwhals does the rest.

``sql_text`` and ``ibis_tables`` are the engines; ``engine`` recognises their frames.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from frame_prc._request.packages import Extra

if TYPE_CHECKING:
    import narwhals as nw

    from frame_prc._engines.checks import Checks

Frame: TypeAlias = "nw.LazyFrame[Any]"


@dataclass(frozen=True)
class Order:
    """A column to sort by; nulls are last."""

    column: str
    descending: bool = False


@dataclass(frozen=True, kw_only=True)
class Engine(ABC):
    """An engine: how errors name it, and what differs in it.

    Parameters
    ----------
    kind
        What errors call its frames.
    extra
        The extra of this package that installs what it needs.
    collected
        The expression that turns one of its frames into a Polars frame.
    cast, second
        How a column of its own becomes a number, and how a list's second value does, with ``{}``
        for the name.
    in_ranges
        Whether segments too large for one task are cut into ranges of scores.
    streams
        Whether windows of all rows read them in their order, one after the other.
    """

    kind: str
    extra: Extra
    collected: str
    cast: str
    second: str
    in_ranges: bool = False
    streams: bool = False

    def refuse(self, native: Any) -> None:  # noqa: B027 - most engines refuse nothing
        """Raise an error if no verb can run on this frame."""

    def type_name(self, native: Any, column: str) -> str:
        """Return what the engine calls the type of a column."""
        found = dict(zip(native.columns, native.dtypes, strict=True))[column]
        return str(found[1] if isinstance(found, tuple) else found)  # Spark has pairs

    @abstractmethod
    def checked(
        self, rows: Frame, checks: Checks, used: Sequence[str]
    ) -> tuple[Frame, Frame | None]:
        """Check the values of rows; an error may come as late as the columns ``used`` are computed.

        Returns
        -------
        tuple[LazyFrame, LazyFrame | None]
            The rows, and what `finished` has to check beside them: one row, with an error as text,
            or null, in ``problem``.
        """

    @abstractmethod
    def repeat(self, frame: Frame, name: str, times: int, where: str | None = None) -> Frame:
        """Repeat rows, numbered from 0 in a new column.

        With ``where``, a Boolean column, only rows where it is true; others have the number 0.
        """

    @abstractmethod
    def finished(
        self, frame: Frame, keys: Sequence[str], order: Sequence[Order], problem: Frame | None
    ) -> Any:
        """Return the engine's own frame, sorted if its frames keep their order; null keys first."""
