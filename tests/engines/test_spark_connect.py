"""The tests of engines on Spark Connect, for which a process has to be of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import optional
import pytest
from checkout import TESTS

FILES = ("test_rows.py", "test_errors.py", "test_sums_and_ranges.py")
# What a session asks of Spark that is not a query: the rest of these files is the same plans.
TESTED = ("segments_are_those", "counts_may_be_binned", "rank_in_their_own_dtype", "bad_values")
TESTED += ("sums",)


@pytest.mark.thorough
def test_spark_connect_does_what_the_other_engines_do():
    for name in ("narwhals", "pyspark", "grpc_status"):
        optional.require_module(name)
    optional.require_program("java")
    # One process has either a classic session or, with this variable, one of Spark Connect.
    environment = os.environ | {"SPARK_REMOTE": "local[2]"}
    for name in ("SKIPPED", "PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT"):
        environment.pop(name, None)
    options = ["-q", "-n", "0", "-W", "ignore", "-p", "no:cacheprovider"]
    options += ["-k", f"Spark and ({' or '.join(TESTED)})", "-m", "not benchmark"]  # of both layers
    files = [str(TESTS / "engines" / file) for file in FILES]
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "pytest", *options, *files],
        capture_output=True,
        text=True,
        check=False,
        cwd=TESTS.parent,
        env=environment,
    )
    assert done.returncode == 0, done.stdout
