"""How a verb runs: from any frame through its rows to a result of the same kind."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_prc._engines.engine import Engine, check_request
from frame_prc._frames.border import FrameT, apply, scan
from frame_prc._request.packages import install_hint
from frame_prc._request.roles import Request
from frame_prc._request.specs import (
    MODEL,
)
from frame_prc._rows import rows as _rows
from frame_prc._rows.columns import collected, resolve, with_common_rows
from frame_prc.exceptions import FrameError

if TYPE_CHECKING:
    from frame_prc._frames.border import AnyFrame


def run(
    frame: FrameT,
    request: Request,
    outputs: Collection[str],
    verb: Callable[[_rows.Rows], pl.LazyFrame],
) -> FrameT:
    """Run a verb on a frame of any kind, and return its result as the same kind."""

    def plan(lf: pl.LazyFrame, *, in_memory: bool) -> pl.LazyFrame:
        return verb(_rows.read(lf, resolve(lf, request, outputs), in_memory=in_memory))

    made = [*outputs, *([MODEL] if request.several_models else [])]
    return apply(frame, plan, request.column_names(), request.amount_names(), made)


def engine_verbs(engine: Engine, asked: Request, **refused: bool) -> Any:
    """Return the module that plans verbs inside an engine, for a request that can run there."""
    check_request(engine, asked, **refused)
    try:
        from frame_prc._engines import verbs as _engine_plan  # noqa: PLC0415 - needs an extra
    except ImportError as error:
        raise FrameError(
            f"{engine.kind} needs a package that is not installed: {error}",
            hint=install_hint(engine.extra),
        ) from error
    return _engine_plan


def rows_in_memory(
    frame: AnyFrame, asked: Request, outputs: Collection[str], *, common_rows: bool = False
) -> _rows.Rows:
    """Return rows in memory, for what looks at them more than once: a lazy frame is read here.

    With ``common_rows``, ``missing="drop"`` drops the same rows for all models.
    """
    lf = scan(frame, asked.column_names(), asked.amount_names())
    columns = resolve(lf, asked, outputs)
    if common_rows and asked.missing == "drop":
        columns = with_common_rows(columns)
    if isinstance(frame, pl.LazyFrame):
        read, columns = collected(lf, columns)
        lf = read.lazy()
    return _rows.read(lf, columns, in_memory=True)
