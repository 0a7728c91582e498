"""pandas at the border: what Polars can hold comes in, and keys go out with the dtype they had."""

from __future__ import annotations

import sys
from collections.abc import Collection
from datetime import datetime, time
from typing import TYPE_CHECKING, Any

import polars as pl
import polars.selectors as cs

from frame_prc._engines import class_of
from frame_prc._request import BIN_END
from frame_prc.exceptions import ColumnError, FrameError, type_name

if TYPE_CHECKING:
    import pandas as pd

_FIRST, _SOME = 1000, 4  # values that an error looks at, and types that it lists

_BITS = (8, 16, 32, 64)


def is_pandas(frame: object) -> bool:
    """Return whether this is a pandas ``DataFrame``."""
    return isinstance(frame, class_of("pandas", "DataFrame"))


def read_pandas(chosen: pd.DataFrame, amounts: Collection[str]) -> pl.DataFrame:
    """Return chosen columns as Polars has them, missing values as nulls but for the ``amounts``."""
    source = _from_pandas(_with_labels(chosen))
    missing_as_nan = cs.float() - cs.by_name(*amounts, require_all=False)
    return source.with_columns(missing_as_nan.fill_nan(None))


def back_to_pandas(rows: pl.DataFrame, chosen: pd.DataFrame, schema: pl.Schema) -> pd.DataFrame:
    """Return a result as pandas; ``schema`` is that of the chosen columns in Polars."""
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


def chosen_columns(frame: pd.DataFrame, columns: Collection[str] | None) -> pd.DataFrame:
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
            hint="pip install 'frame-prc[pandas]', or pip install pyarrow",
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
