"""The border: frames of any kind become lazy here, and results become that kind again."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, TypeVar, cast

import polars as pl

from frame_prc._engines.engine import VERBS, class_of, engine_of, refuse_engine
from frame_prc._execution import run
from frame_prc._frames import pandas_frames
from frame_prc._frames.arrow_frames import back_to_arrow, is_arrow, is_of, read_arrow
from frame_prc._rows.rows import computed
from frame_prc.exceptions import FrameError, type_name

if TYPE_CHECKING:
    import duckdb
    import ibis.expr.types
    import narwhals as nw
    import pandas as pd
    import pyspark.sql

    from frame_prc._frames.arrow_frames import ArrowStream

    AnyFrame: TypeAlias = (
        pl.DataFrame
        | pl.LazyFrame
        | pd.DataFrame
        | ArrowStream
        | nw.DataFrame[Any]
        | nw.LazyFrame[Any]
        | duckdb.DuckDBPyRelation
        | pyspark.sql.DataFrame
        | ibis.expr.types.Table
    )


# --- packages that are not supported -----------------------------------------------------------

# By the beginning of the module that defines the class, longest first.
_WAYS_OUT = {
    "pyspark.pandas": "frame.to_spark() gives a PySpark DataFrame",
    "modin": "modin.pandas.io.to_pandas(frame) gives a pandas frame",
    "dask": "frame.compute() gives a pandas frame",
    "vaex": "frame.to_arrow_table() gives an Arrow table",
    "cudf": "frame.to_arrow() gives an Arrow table",
    "daft": "frame.to_arrow() gives an Arrow table",
    "sqlframe": "frame.toArrow() gives an Arrow table",
}
# Packages whose frames would be read without a word about their size, or through pandas.
_REFUSED = ("modin", "dask", "vaex")

# Words in the names of classes that hold a frame in groups or windows, of any package.
_GROUPED = re.compile("Group|Resampl|Rolling|Expanding|Window")


def way_out(frame: object) -> str | None:
    if _GROUPED.search(type(frame).__name__):
        in_polars = type_name(frame).startswith(("pandas.", "polars.", "narwhals."))
        weeks = ", or by=pl.col('date').dt.truncate('1w') for weeks" if in_polars else ""
        return f"pass the frame itself, and the keys in by=: by=['region', 'device']{weeks}"
    return next((hint for start, hint in _WAYS_OUT.items() if is_of(frame, start)), None)


# --- frames of any kind ------------------------------------------------------------------------

FrameT = TypeVar("FrameT", bound="AnyFrame")
MemoryT = TypeVar("MemoryT", pl.DataFrame, "pd.DataFrame", "nw.DataFrame[Any]")
FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


@dataclass(frozen=True)
class Source:
    """A frame of any known kind as Polars reads it, and the way back to its kind."""

    lf: pl.LazyFrame
    values: pl.DataFrame | None
    back: Callable[[pl.DataFrame, Collection[str]], Any]

    @property
    def in_memory(self) -> bool:
        return self.values is not None

    def where(self, condition: pl.Expr) -> Source:
        lf = self.lf.filter(condition)
        values = None if self.values is None else computed(lf)
        return Source(lf if values is None else values.lazy(), values, self.back)

    def result(self, planned: pl.LazyFrame, outputs: Collection[str]) -> Any:
        if self.values is None:
            return planned
        return self.back(run(planned, self.values.height), outputs)


def source_of(
    frame: AnyFrame, columns: Collection[str] | None, amounts: Collection[str] = ()
) -> Source:
    if isinstance(frame, pl.LazyFrame):
        return Source(frame, None, lambda rows, _: rows)
    if isinstance(frame, pl.DataFrame):
        return Source(frame.lazy(), frame, lambda rows, _: rows)
    if pandas_frames.is_pandas(frame):
        chosen = pandas_frames.chosen_columns(cast("pd.DataFrame", frame), columns)
        values = pandas_frames.read_pandas(chosen, amounts)
        return Source(values.lazy(), values, partial(pandas_frames.back_to_pandas, chosen, values))
    values = read_arrow(frame, columns)
    return Source(values.lazy(), values, partial(back_to_arrow, frame, values))


def apply_all(
    frames: Sequence[FrameT], plan: Callable[..., pl.LazyFrame], outputs: Collection[str]
) -> FrameT:
    """Run a plan, which may look at frames ``in_memory``, on several frames of one kind."""
    kinds = sorted({type_name(frame) for frame in frames})
    if len(kinds) > 1:
        raise FrameError(
            f"the frames are of different kinds: {' and '.join(kinds)}", "frames of one kind"
        )
    sources = [_whole(frame) for frame in frames]
    first = sources[0]
    planned = plan([source.lf for source in sources], in_memory=first.in_memory)
    return cast("FrameT", first.result(planned, outputs))


def scan(
    frame: AnyFrame, columns: Collection[str] | None, amounts: Collection[str] = ()
) -> pl.LazyFrame:
    return source_of(frame, columns, amounts).lf


def scan_all(frame: AnyFrame) -> pl.LazyFrame:
    """Return the whole frame as a lazy one; of pandas also the named levels of its index."""
    return _whole(frame).lf


def _whole(frame: AnyFrame) -> Source:
    if pandas_frames.is_pandas(frame):
        frame = pandas_frames.with_levels(cast("pd.DataFrame", frame))
    return source_of(frame, None)


def is_frame(value: object) -> TypeGuard[AnyFrame]:
    if isinstance(value, (pl.DataFrame, pl.LazyFrame)) or pandas_frames.is_pandas(value):
        return True
    # Relations of DuckDB and frames of Modin may be Arrow streams too.
    is_refused = any(is_of(value, start) for start in _REFUSED)
    return is_arrow(value) and engine_of(value) is None and not is_refused


def check_frame(
    frame: object, *, engines: bool = False, takes_counts: bool = True, is_result: bool = False
) -> None:
    if engines and engine_of(frame):
        return
    refuse_engine(frame, takes_counts=takes_counts)
    if is_result and not is_frame(frame):
        told = f"plot_table() is given a value of type {type_name(frame)}"
        raise FrameError(told, "a table that a verb returned, such as that of summary()")
    if not is_frame(frame):
        raise FrameError(
            f"cannot evaluate a frame of type {type_name(frame)}",
            "a Polars DataFrame or LazyFrame, a pandas DataFrame, an Arrow table, or a Narwhals "
            f"frame of one of these, as the first argument; for {VERBS} also a DuckDB relation, a "
            "PySpark DataFrame or an Ibis table",
            way_out(frame)
            or "pl.DataFrame({'truth': y, 'score': s}) makes one from lists or arrays",
        )


def held(frame: Any) -> Any:
    """Return a frame of the same columns, which stays as it is if the other is changed in place."""
    native = unwrapped(frame)
    if isinstance(native, pl.DataFrame):
        return wrapped(native.clone(), frame)
    if pandas_frames.is_pandas(native):
        return wrapped(native.copy(deep=False), frame)
    return frame


# --- Narwhals: verbs get the frame inside, and give a frame back as Narwhals ---------------------


def takes_narwhals(verb: FunctionT) -> FunctionT:
    """Return a verb that also takes Narwhals frames; its result is one if the first frame is."""

    @wraps(verb)
    def call(*args: Any, **named: Any) -> Any:
        first = args[0] if args else named.get("frame")
        native = {name: unwrapped(value) for name, value in named.items()}
        result = verb(*map(unwrapped, args), **native)
        return wrapped(result, first)

    return cast("FunctionT", call)


def _is_narwhals(value: object) -> bool:
    if not hasattr(type(value), "to_native"):
        return False
    # The classes of narwhals.stable are subclasses of these.
    return isinstance(value, (class_of("narwhals", "DataFrame"), class_of("narwhals", "LazyFrame")))


def unwrapped(value: Any) -> Any:
    return value.to_native() if _is_narwhals(value) else value


def wrapped(result: Any, like: object) -> Any:
    """Return a frame as Narwhals of the same version as another one, if that is Narwhals."""
    if not _is_narwhals(like) or not (is_frame(result) or engine_of(result)):
        return result
    module = sys.modules[type(like).__module__]  # narwhals.stable.v1, or narwhals.dataframe
    version = module if hasattr(module, "from_native") else sys.modules["narwhals"]
    return version.from_native(result)
