"""The border: any frame comes in, becomes lazy once, and goes out as the kind it was."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from datetime import datetime, time
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar, cast

import polars as pl
import polars.selectors as cs

from frame_prc._engines import VERBS, engine_of, refuse_engine
from frame_prc._packages import install_hint
from frame_prc._request import BIN_END
from frame_prc.exceptions import ColumnError, FrameError, type_name

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import pyspark.sql

    AnyFrame: TypeAlias = (
        pl.DataFrame | pl.LazyFrame | pd.DataFrame | duckdb.DuckDBPyRelation | pyspark.sql.DataFrame
    )

_SMALL = 200_000  # rows
_FIRST, _SOME = 1000, 4  # values that an error looks at, and types that it lists

FrameT = TypeVar("FrameT", bound="AnyFrame")

_BITS = (8, 16, 32, 64)


class Plan(Protocol):
    """From the lazy input to the lazy result; ``in_memory`` says that a look at it is free."""

    def __call__(self, lf: pl.LazyFrame, *, in_memory: bool) -> pl.LazyFrame: ...


class PlanOfSeveral(Protocol):
    """The same of several inputs."""

    def __call__(self, frames: list[pl.LazyFrame], *, in_memory: bool) -> pl.LazyFrame: ...


def apply(
    frame: FrameT, plan: Plan, columns: Collection[str] | None, amounts: Collection[str]
) -> FrameT:
    """Run a lazy plan on a frame of any known kind and return the result as the same kind.

    Parameters
    ----------
    frame
        Polars ``DataFrame`` or ``LazyFrame``, or pandas ``DataFrame``.
    plan
        What to do.
    columns
        The columns the plan can read, where that is known without the schema; only these are
        converted from pandas. ``None`` converts all.
    amounts
        The columns in which NaN is an error; in all others pandas uses it for a missing value.
    """
    if isinstance(frame, pl.LazyFrame):
        return cast("FrameT", plan(frame, in_memory=False))
    if isinstance(frame, pl.DataFrame):
        return cast("FrameT", _run(frame, plan))
    return cast("FrameT", _apply_pandas(cast("pd.DataFrame", frame), plan, columns, amounts))


def apply_all(frames: Sequence[FrameT], plan: PlanOfSeveral) -> FrameT:
    """Run a lazy plan on several frames of one kind and return the result as the same kind."""
    kinds = sorted({type_name(frame) for frame in frames})
    if len(kinds) > 1:
        raise FrameError(
            f"the frames are of different kinds: {' and '.join(kinds)}", "frames of one kind"
        )
    first: Any = frames[0]
    if isinstance(first, pl.LazyFrame):
        return cast("FrameT", plan(cast("list[pl.LazyFrame]", [*frames]), in_memory=False))
    sources = [scan(frame, None) for frame in frames]
    rows = plan(sources, in_memory=True).collect()
    if isinstance(first, pl.DataFrame):
        return cast("FrameT", rows)
    return cast("FrameT", _back_to_pandas(rows, _chosen(first, None), sources[0].collect_schema()))


def scan(
    frame: AnyFrame, columns: Collection[str] | None, amounts: Collection[str] = ()
) -> pl.LazyFrame:
    """Return a frame of any known kind as a lazy one; of pandas only these columns, if named.

    As in :func:`apply`, NaN is no missing value in the ``amounts``.
    """
    if isinstance(frame, (pl.LazyFrame, pl.DataFrame)):
        return frame.lazy()
    return _read_pandas(_chosen(cast("pd.DataFrame", frame), columns), amounts).lazy()


def _run(frame: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    # The streaming engine takes longer to start than a small frame takes to compute.
    engine: Literal["auto", "in-memory"] = "in-memory" if frame.height < _SMALL else "auto"
    return plan(frame.lazy(), in_memory=True).collect(engine=engine)


def check_frame(frame: object, *, engines: bool = False, takes_counts: bool = True) -> None:
    """Refuse what is no frame of a known kind; ``engines`` says that theirs are welcome."""
    if engines and engine_of(frame):
        return
    refuse_engine(frame, takes_counts=takes_counts)
    if not isinstance(frame, (pl.DataFrame, pl.LazyFrame)) and not _is_pandas(frame):
        raise FrameError(
            f"cannot evaluate a frame of type {type_name(frame)}",
            "a Polars DataFrame or LazyFrame, or a pandas DataFrame, as the first argument; for "
            f"{VERBS} also a DuckDB relation or a PySpark DataFrame",
            "pl.DataFrame({'truth': y, 'score': s}) makes one from lists or arrays",
        )


def _is_pandas(frame: object) -> bool:
    # Looked up, never imported: who has a pandas frame has imported pandas already.
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(frame, pandas.DataFrame)


def _apply_pandas(
    frame: pd.DataFrame, plan: Plan, columns: Collection[str] | None, amounts: Collection[str]
) -> pd.DataFrame:
    chosen = _chosen(frame, columns)
    source = _read_pandas(chosen, amounts)
    return _back_to_pandas(_run(source, plan), chosen, source.schema)


def _read_pandas(chosen: pd.DataFrame, amounts: Collection[str]) -> pl.DataFrame:
    source = _from_pandas(_with_labels(chosen))
    missing_as_nan = cs.float() - cs.by_name(*amounts, require_all=False)
    return source.with_columns(missing_as_nan.fill_nan(None))


def _back_to_pandas(rows: pl.DataFrame, chosen: pd.DataFrame, schema: pl.Schema) -> pd.DataFrame:
    out = rows.to_pandas()
    # A key leaves with the pandas dtype it came with: category, nullable, tz, str or object.
    for name, dtype in rows.schema.items():
        if schema.get(name) == dtype:
            out[name] = _to_pandas(rows[name], chosen[name])
        elif _is_lost(rows[name]):
            out[name] = _with_nulls(rows[name], "boolean" if dtype == pl.Boolean else str(dtype))
    return out


def _with_labels(frame: pd.DataFrame) -> pd.DataFrame:
    """Name the categories that Arrow does not know, such as intervals and periods."""
    labels = {}
    for name, column in frame.items():
        if _needs_labels(column.dtype):
            categories = column.astype("category").cat
            labels[str(name)] = categories.rename_categories(list(map(str, categories.categories)))
    return frame.assign(**labels)


def _needs_labels(dtype: Any) -> bool:
    categories = getattr(dtype, "categories", None)
    kind = str(dtype if categories is None else categories.dtype)
    return kind.startswith(("interval", "period"))


def _to_pandas(key: pl.Series, source: pd.Series[Any]) -> Any:
    if _needs_labels(source.dtype):
        categories = source.astype("category").dtype
        codes = key.to_physical().cast(pl.Int64).fill_null(-1).to_list()
        pandas = sys.modules["pandas"]
        return pandas.Categorical.from_codes(codes, dtype=categories).astype(source.dtype)
    if _is_lost(key):
        return _with_nulls(key, _nullable(source.dtype))
    if key.dtype == pl.Date and source.dtype == object:
        return _with_nulls(key, object)  # of days pandas itself would make moments
    if isinstance(key.dtype, (pl.Categorical, pl.Enum)) and not hasattr(source.dtype, "categories"):
        key = key.cast(pl.String)  # Arrow's dictionaries take texts, and no categories in order
    return key.to_pandas().astype(source.dtype)


def _is_lost(column: pl.Series) -> bool:
    """Say whether pandas casts a column through floats, as it does with integers and nulls."""
    whole = column.dtype.is_integer() or column.dtype == pl.Boolean
    return whole and column.null_count() > 0


def _with_nulls(column: pl.Series, dtype: Any) -> Any:
    return sys.modules["pandas"].array(column.to_list(), dtype=dtype)


def _nullable(dtype: Any) -> Any:
    """Return the pandas dtype that holds nulls beside the values of a NumPy dtype."""
    names = {
        "bool": "boolean",
        **{f"{u}int{n}": f"{u.upper()}Int{n}" for u in ("", "u") for n in _BITS},
    }
    return names.get(str(dtype), dtype)


def _chosen(frame: pd.DataFrame, columns: Collection[str] | None) -> pd.DataFrame:
    """Return the columns that will be read; converting the others could be slow, or fail."""
    names = [str(name) for name in frame.columns]
    wanted = set(names if columns is None else columns)
    wanted -= {BIN_END} - set(names)  # which counts may have
    for name in wanted:
        if "\0" in name:
            raise ColumnError(
                f"the pandas frame has a column named {name!r}",
                "names without the character NUL",
                "rename it",
            )
        if names.count(name) > 1:
            raise ColumnError(
                f"the pandas frame has {names.count(name)} columns named {name!r}",
                "one column of each name",
                "rename them",
            )
    if not wanted <= set(names):
        # The schema alone is enough to say which name is wrong, and what is near it.
        once = [place for place, name in enumerate(names) if names.index(name) == place]
        return frame.iloc[:0, once].set_axis([names[place] for place in once], axis=1)
    places = [place for place, name in enumerate(names) if name in wanted]
    return frame.iloc[:, places].set_axis([names[place] for place in places], axis=1)


def _from_pandas(frame: pd.DataFrame) -> pl.DataFrame:
    # In a column of Python objects None, NaN and NA all say missing; Arrow takes only None.
    objects = {str(n): frame[n] for n, dtype in frame.dtypes.items() if str(dtype) == "object"}
    none = {name: _moments(column.where(column.notna(), None)) for name, column in objects.items()}
    clean = frame.assign(**none)
    try:
        _check_objects(clean)
        source = pl.from_pandas(clean, nan_to_null=False)
    except ImportError as error:
        raise FrameError(
            f"a pandas frame needs a package that is not installed: {error}",
            hint=install_hint("pandas"),
        ) from error
    except FrameError:
        raise
    except Exception as error:
        raise _conversion_error(_unconverted(clean)) from error
    source.columns = [str(name) for name in frame.columns]  # an empty name gets another there
    for name, column in none.items():
        if source[name].dtype == pl.Binary and not _holds(column, "bytes", "empty"):
            raise _conversion_error(_described(name, column))  # a UUID would come back as bytes
    return source.with_columns(_category_orders(frame))


def _unconverted(frame: pd.DataFrame) -> str:
    """Name the first column that does not convert to Polars, and what is in it."""
    for name, column in frame.items():
        try:
            pl.from_pandas(column.to_frame())
        except Exception:  # whatever Arrow says of it
            return _described(str(name), column)
    return "its columns do, but not together"


def _described(name: str, column: pd.Series[Any]) -> str:
    kinds = sorted({type_name(value) for value in column.head(_FIRST)})
    of = f" with values of type {', '.join(kinds[:_SOME])}" if kinds else ""
    return f"column {name!r} has dtype {column.dtype}{of}"


def _conversion_error(what: str) -> FrameError:
    return FrameError(
        f"the pandas frame does not convert to Polars: {what}",
        hint="cast it, for example with .astype(str), or .astype(float) if it holds numbers",
    )


def _holds(column: pd.Series[Any], *kinds: str) -> bool:
    """Return whether pandas infers one of these kinds of values."""
    kind: str = sys.modules["pandas"].api.types.infer_dtype(column, skipna=True)
    return kind.startswith(kinds)


def _check_objects(frame: pd.DataFrame) -> None:
    """Refuse values of Python that would come to Polars as others, or end in a panic."""
    for name, column in frame.items():
        if _is_mixed(column):
            reason = "days among moments, or some of them in a time zone"
        elif _is_too_long(column):
            reason = "more than 38 digits"
        else:
            continue
        raise _conversion_error(f"{_described(str(name), column)}: {reason}")


def _is_mixed(column: pd.Series[Any]) -> bool:
    """Return whether Arrow would take some moments for others, as a datetime for its day."""
    if str(column.dtype) != "object" or not _holds(column, "date", "time"):
        return False
    values = [value for value in column if value is not None]
    kinds = {(isinstance(v, datetime), getattr(v, "tzinfo", None) is not None) for v in values}
    return len(kinds) > 1 or any(isinstance(v, time) and v.tzinfo is not None for v in values)


def _is_too_long(column: pd.Series[Any]) -> bool:
    """Return whether a column holds decimals with more digits than those of Polars have."""
    if str(column.dtype) != "object":
        return str(column.dtype).startswith("decimal256")
    if not _holds(column, "decimal"):
        return False
    import pyarrow as pa  # noqa: PLC0415 - comes with the extra for pandas

    return bool(pa.types.is_decimal256(pa.array(column).type))


def _moments(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column of moments as such: as Python objects Arrow would cut off nanoseconds."""
    return column.infer_objects() if _holds(column, "datetime", "timedelta") else column


def _category_orders(frame: pd.DataFrame) -> list[pl.Expr]:
    """Cast pandas categories of strings to an Enum, which sorts in their order."""
    orders = {
        str(name): list(dtype.categories)
        for name, dtype in frame.dtypes.items()
        if hasattr(dtype, "categories")
    }
    return [
        pl.col(name).cast(pl.Enum(order))
        for name, order in orders.items()
        if all(isinstance(category, str) for category in order)
    ]
