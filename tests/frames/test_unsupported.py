"""Frames of packages that are not supported: the error names the conversion.

The packages are too heavy to install; what is known of their frames is the module of the class.
"""

from __future__ import annotations

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


def test_modules_with_a_name_that_begins_alike_are_others():
    with pytest.raises(frame_prc.FrameError, match=r"pl\.DataFrame\({"):
        frame_prc.counts(frame_of("daskworks.frame"), "truth", "score")
