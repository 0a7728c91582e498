"""How a verb runs: from any frame through its rows to a result of the same kind."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from frame_prc._engines.engine import check_request
from frame_prc._engines.operations import Engine
from frame_prc._frames.border import FrameT, apply, scan
from frame_prc._lazy import in_python
from frame_prc._request.packages import install_hint
from frame_prc._request.roles import Request, check_one_grouping
from frame_prc._rows.columns import collected, resolve, selected, with_common_rows
from frame_prc._rows.long import (
    PLACEHOLDERS,
    models_of,
    put_side_by_side,
    side_by_side_columns,
    wide_schema,
)
from frame_prc._rows.rows import Rows, computed, read
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

    made = [*reserved, *request.made_keys]
    return apply(frame, plan, request.column_names(), request.amount_names(), made)


def run_by_model(
    frame: FrameT, request: Request, sample: Table, make: Callable[[Request], Table]
) -> FrameT:
    """Return the table that compares the models of long data, each of which has rows of its own.

    ``make`` makes it from a request with the models, which are known once the rows are read. So it
    is a step of the plan. ``sample`` is the table for two models that stand for them: it tells the
    columns and their dtypes.
    """
    reserved = dict.fromkeys([*sample.reserved, *sample.columns(request.missing)])
    made = [*reserved, *replace(request, side_by_side=True).made_keys]

    def plan(lf: pl.LazyFrame, *, in_memory: bool) -> pl.LazyFrame:
        long, columns = selected(lf, resolve(lf, request, reserved))
        empty = side_by_side_columns(columns, PLACEHOLDERS)
        nothing = pl.LazyFrame(schema=wide_schema(long.collect_schema(), columns, empty))
        schema = sample.finished(read(nothing, empty, in_memory=False)).collect_schema()

        def compared(found: pl.DataFrame) -> pl.DataFrame:
            models = models_of(found, columns)
            if not models:
                return pl.DataFrame(schema=schema)
            wide, moved = put_side_by_side(found, columns, models)
            rows = read(wide.lazy(), moved, in_memory=True)
            return make(moved.request).finished(rows).collect(engine="in-memory")

        if in_memory:
            return compared(computed(long)).lazy()
        return in_python(long, compared, schema, in_memory=False)

    return apply(frame, plan, request.column_names(), request.amount_names(), made)


def engine_verbs(engine: Engine, asked: Request, refused: Mapping[str, bool]) -> Any:
    """Return the module that plans verbs inside an engine, for a request that can run there."""
    check_request(engine, asked, refused)
    return engine_plans(engine)


def engine_plans(engine: Engine) -> Any:
    """Return the module that plans verbs inside an engine."""
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
    check_one_grouping(asked)
    lf = scan(frame, asked.column_names(), asked.amount_names())
    columns = resolve(lf, asked, outputs)
    if common_rows and asked.missing == "drop":
        columns = with_common_rows(columns)
    if isinstance(frame, pl.LazyFrame):
        found, columns = collected(lf, columns)
        lf = found.lazy()
    return read(lf, columns, in_memory=True)
