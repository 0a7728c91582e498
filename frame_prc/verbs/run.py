"""How a verb runs: from any frame through its rows to a result of the same kind."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_prc._engines.engine import Engine, check_request
from frame_prc._frames.border import FrameT, apply, scan
from frame_prc._request.packages import install_hint
from frame_prc._request.roles import Request
from frame_prc._request.specs import (
    MODEL,
)
from frame_prc._rows.columns import collected, resolve, with_common_rows
from frame_prc._rows.rows import Rows, read
from frame_prc._rows.table import Table
from frame_prc.exceptions import FrameError

if TYPE_CHECKING:
    from frame_prc._frames.border import AnyFrame


def run(
    frame: FrameT,
    request: Request,
    table: Table,
) -> FrameT:
    """Return a table of a frame of any kind, as the same kind."""
    reserved = dict.fromkeys([*table.reserved, *table.columns(request.missing)])

    def plan(lf: pl.LazyFrame, *, in_memory: bool) -> pl.LazyFrame:
        return table.finished(read(lf, resolve(lf, request, reserved), in_memory=in_memory))

    made = [*reserved, *([MODEL] if request.several_models else [])]
    return apply(frame, plan, request.column_names(), request.amount_names(), made)


def engine_verbs(engine: Engine, asked: Request, **refused: bool) -> Any:
    """Return the module that plans verbs inside an engine, for a request that can run there."""
    check_request(engine, asked, **refused)
    try:
        from frame_prc._engines import plans  # noqa: PLC0415 - needs an extra
    except ImportError as error:
        raise FrameError(
            f"{engine.kind} needs a package that is not installed: {error}",
            hint=install_hint(engine.extra),
        ) from error
    return plans


def rows_in_memory(
    frame: AnyFrame, asked: Request, outputs: Collection[str], *, common_rows: bool = False
) -> Rows:
    """Return rows in memory, for what looks at them more than once: a lazy frame is read here.

    With ``common_rows``, ``missing="drop"`` drops the same rows for all models.
    """
    lf = scan(frame, asked.column_names(), asked.amount_names())
    columns = resolve(lf, asked, outputs)
    if common_rows and asked.missing == "drop":
        columns = with_common_rows(columns)
    if isinstance(frame, pl.LazyFrame):
        found, columns = collected(lf, columns)
        lf = found.lazy()
    return read(lf, columns, in_memory=True)
