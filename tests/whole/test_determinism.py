"""The same rows give the same bytes, in any order, by any number of threads, many at once."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import polars as pl
import pytest
from kinds import VERBS
from polars.testing import assert_frame_equal

import frame_prc

pytestmark = pytest.mark.thorough

# What a process of its own does: whole numbers to the byte, floats to twelve digits. Left alone,
# Polars makes row groups of a file as large as the number of its threads suggests.
PROGRAM = """
import sys
import polars as pl
import frame_prc

rows, folder = pl.scan_parquet(sys.argv[1]), sys.argv[2]
even = {"row_group_size": 50_000}
asked = {"truth": "truth", "score": "score", "by": ["segment", "day"]}
frame_prc.counts(rows, **asked).sink_parquet(folder + "/counts.parquet", **even)
frame_prc.counts(rows, **asked, thresholds=50).sink_parquet(folder + "/bins.parquet", **even)
frame_prc.curve(rows, **asked).select(
    "segment", "day", "threshold", "tp", "fp", "fn", "tn"
).sink_parquet(folder + "/curve.parquet", **even)
frame_prc.summary(rows, **asked, weight="weight").sink_parquet(folder + "/summary.parquet")
"""


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    """Return more rows than a morsel of the engine holds, with ties, in segments of all sizes."""
    n = 300_000
    place = pl.int_range(n)
    return pl.select(
        segment=(place * 7919 % 1009).sqrt().cast(pl.Int64).cast(pl.String),
        day=pl.date(2026, 1, 1) + pl.duration(days=place % 7),
        truth=(place * 104_729 % 13) < 3,
        score=(place * 15_485_863 % 65_537) / 65_537,
        weight=1 + (place % 17) / 7,
    )


def written(rows: pl.DataFrame, folder: Path, threads: int) -> dict[str, str]:
    """Write the results of a process with so many threads, and return a digest of each file."""
    folder.mkdir()
    rows.write_parquet(folder / "rows.parquet", row_group_size=50_000)
    environment = {**os.environ, "POLARS_MAX_THREADS": str(threads)}
    command = [sys.executable, "-c", PROGRAM, str(folder / "rows.parquet"), str(folder)]
    subprocess.run(command, env=environment, check=True)  # noqa: S603
    names = ("counts", "bins", "curve")
    files = {name: (folder / f"{name}.parquet").read_bytes() for name in names}
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def test_threads_and_row_order_change_no_byte(rows, tmp_path):
    expected = written(rows, tmp_path / "one", 1)
    summary = pl.read_parquet(tmp_path / "one" / "summary.parquet")
    shuffled = rows.sample(fraction=1, shuffle=True, seed=1)
    assert written(shuffled, tmp_path / "eight", 8) == expected
    other = pl.read_parquet(tmp_path / "eight" / "summary.parquet")
    assert_frame_equal(other, summary, rel_tol=1e-12, abs_tol=1e-12)


def test_weights_of_tied_rows_have_the_same_digits_in_every_call(rows):
    tied = rows.with_columns(pl.col("score").round(2), weight=pl.col("weight") ** 9)
    asked = {"truth": "truth", "score": "score", "by": "segment", "weight": "weight"}
    first, *others = (frame_prc.average_precision(tied, **asked) for _ in range(6))
    for found in others:
        assert_frame_equal(found, first, check_exact=True)


@pytest.mark.parametrize("verb", VERBS)
def test_many_threads_at_once_get_what_one_gets(rows, verb):
    parts = [rows.filter(pl.col("day").dt.day() == day).head(2_000) for day in range(1, 8)]

    def ask(part: pl.DataFrame) -> pl.DataFrame:
        return getattr(part.prc, verb)("truth", "score", by="segment", **VERBS[verb])

    expected = [ask(part) for part in parts]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, parts * 3))
    for place, result in enumerate(found):
        assert_frame_equal(result, expected[place % len(parts)], rel_tol=1e-12, abs_tol=1e-12)


def test_processes_get_what_one_gets(rows):
    verb = partial(frame_prc.average_precision, truth="truth", score="score", by="segment")
    parts = [rows.filter(pl.col("day").dt.day() == day) for day in range(1, 4)]
    # Forked processes would share the locks of Polars' threads.
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(verb, parts))
    for result, part in zip(found, parts, strict=True):
        assert_frame_equal(result, verb(part), rel_tol=1e-12, abs_tol=1e-12)
