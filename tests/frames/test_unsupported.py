"""Frames of packages that are not supported: the error names the conversion.

The packages are too heavy to install; what is known of their frames is the module of the class.
"""

from __future__ import annotations

import datetime as dt

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

import frame_prc

ROWS = pl.DataFrame({"truth": [True, False], "score": [0.9, 0.2]})
FRAMES = {
    "modin.pandas.dataframe": r"modin\.pandas\.io\.to_pandas\(frame\) gives a pandas frame",
    "dask.dataframe.dask_expr._collection": r"frame\.compute\(\) gives a pandas frame",
    "dask_expr._collection": r"frame\.compute\(\) gives a pandas frame",
    "vaex.dataframe": r"frame\.to_arrow_table\(\) gives an Arrow table",
    "cudf.core.dataframe": r"frame\.to_arrow\(\) gives an Arrow table",
    "daft.dataframe.dataframe": r"frame\.to_arrow\(\) gives an Arrow table",
    "pyspark.pandas.frame": r"frame\.to_spark\(\) gives a PySpark DataFrame",
    "sqlframe.duckdb.dataframe": r"frame\.toArrow\(\) gives an Arrow table",
    "another.package": r"pl\.DataFrame\({'truth': y, 'score': s}\) makes one",
}


def frame_of(module: str, **members) -> object:
    """Return an instance of a subclass, as users make them, of a package's ``DataFrame``."""
    kind = type("DataFrame", (), {"__module__": module, **members})
    return type("Mine", (kind,), {})()


def stream(_, requested_schema=None):
    return ROWS.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(("module", "says"), FRAMES.items(), ids=FRAMES)
def test_frames_of_other_packages_are_refused_with_a_way_out(module, says):
    for verb in (frame_prc.counts, frame_prc.plot):
        with pytest.raises(frame_prc.FrameError, match=f"cannot evaluate.* Hint: {says}"):
            verb(frame_of(module), "truth", "score")


DAYS = ROWS.with_columns(day=dt.datetime(2026, 1, 1), place=0)
GROUPED = {
    "groupby": (DAYS.to_pandas(), lambda df: df.groupby("truth")),
    "column of groupby": (DAYS.to_pandas(), lambda df: df.groupby("truth")["score"]),
    "resample": (DAYS.to_pandas(), lambda df: df.resample("D", on="day")),
    "rolling": (DAYS.to_pandas(), lambda df: df.rolling(2)),
    "expanding": (DAYS.to_pandas(), lambda df: df.expanding()),
    "ewm": (DAYS.to_pandas(), lambda df: df.ewm(1)),
    "rolling groupby": (DAYS.to_pandas(), lambda df: df.groupby("truth").rolling(2)),
    "group_by": (DAYS, lambda df: df.group_by("truth")),
    "group_by_dynamic": (DAYS, lambda df: df.group_by_dynamic("day", every="1d")),
    "rolling of Polars": (DAYS, lambda df: df.rolling("place", period="2i")),
    "lazy group_by": (DAYS.lazy(), lambda df: df.group_by("truth")),
    "Narwhals": (nw.from_native(DAYS), lambda df: df.group_by("truth")),
}


@pytest.mark.parametrize(("frame", "grouped"), GROUPED.values(), ids=GROUPED)
def test_groups_and_windows_are_keys_in_by(frame, grouped):
    says = r"pass the frame itself, and the keys in by=.*by=pl\.col\('date'\)\.dt\.truncate"
    for verb in (frame_prc.evaluate, frame_prc.average_precision, frame_prc.plot):
        with pytest.raises(frame_prc.FrameError, match=says):
            verb(grouped(frame), "truth", "score")


@pytest.mark.parametrize("module", ["pyspark.sql.group", "ibis.expr.types.groupby"])
def test_groups_of_engines_get_no_expression_of_polars(module):
    grouped = type("GroupedData", (), {"__module__": module})()
    with pytest.raises(frame_prc.FrameError, match=r"by=\['region', 'device'\]\.$"):
        frame_prc.average_precision(grouped, "truth", "score")


@pytest.mark.parametrize("package", ["modin", "dask", "vaex"])
def test_frames_that_would_be_copied_unnoticed_are_refused_although_they_are_streams(package):
    frame = frame_of(f"{package}.dataframe", __arrow_c_stream__=stream)
    with pytest.raises(frame_prc.FrameError, match="cannot evaluate a frame"):
        frame_prc.counts(frame, "truth", "score")


def test_frames_of_cudf_come_back_by_its_constructor():
    def from_arrow(kind, table):
        made = kind()
        made.table = table
        return made

    members = {"__arrow_c_stream__": stream, "from_arrow": classmethod(from_arrow)}
    frame = frame_of("cudf.core.dataframe", **members)
    result = frame_prc.counts(frame, "truth", "score")
    assert type(result) is type(frame)
    assert result.table.equals(frame_prc.counts(ROWS.to_arrow(), "truth", "score"))


@pytest.mark.parametrize("make", [list, tuple, np.array, pl.Series, pd.Series])
@pytest.mark.parametrize("verb", ["average_precision", "evaluate", "plot"])
def test_arrays_as_other_libraries_take_them_are_told_how_to_become_a_frame(make, verb):
    truth, score = make([1, 0, 1]), make([0.9, 0.8, 0.7])
    says = (
        r"a frame of type .*(list|tuple|ndarray|Series)\. .*\{'truth': y, 'score': s\}\) makes one"
    )
    with pytest.raises(frame_prc.FrameError, match=says):
        getattr(frame_prc, verb)(truth, score)
