"""Spark on a cluster of two worker processes, one of which is killed in the middle of a query."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys

import optional
import pytest
from checkout import TESTS


@pytest.mark.thorough
def test_a_lost_executor_changes_nothing(tmp_path):
    optional.require_module("narwhals")
    optional.require_module("pyspark")
    optional.require_program("java")
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-W", "ignore", "lost_executor.py", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=TESTS / "support",
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=600)
    finally:
        # The driver's Java and the executors belong to this group.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, errors
    assert output == "2 executors\nrepeated tasks, equal results\n", errors
