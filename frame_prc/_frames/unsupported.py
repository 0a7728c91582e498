"""Frames of packages that are not supported, and how to convert them to one that is."""

from __future__ import annotations

import re

from frame_prc.exceptions import type_name

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
    """Return what to pass instead of a grouped frame, or of one of another package, if known."""
    if _GROUPED.search(type(frame).__name__):
        in_polars = type_name(frame).startswith(("pandas.", "polars.", "narwhals."))
        weeks = ", or by=pl.col('date').dt.truncate('1w') for weeks" if in_polars else ""
        return f"pass the frame itself, and the keys in by=: by=['region', 'device']{weeks}"
    return next((hint for start, hint in _WAYS_OUT.items() if is_of(frame, start)), None)


def is_refused(frame: object) -> bool:
    """Return whether a frame is refused even if it can be read as an Arrow stream."""
    return any(is_of(frame, start) for start in _REFUSED)


def is_of(frame: object, package: str) -> bool:
    """Return whether a class of a frame is defined in a package; it need not be imported."""
    modules = [kind.__module__ for kind in type(frame).__mro__]
    # dask_expr belongs to dask.
    return any(f"{module}.".startswith((f"{package}.", f"{package}_")) for module in modules)
