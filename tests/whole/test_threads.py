"""Calls from many threads, and in spawned processes, come back and give what they give alone.

``CALLS=2000 pytest tests/whole/test_threads.py`` makes so many in each of 16 threads; by default
there are a few. A call that hangs ends its process, which shows what each thread was at.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from checkout import TESTS

pytestmark = pytest.mark.thorough

CALLS = int(os.environ.get("CALLS", "4"))
SUPPORT = TESTS / "support"


@pytest.mark.parametrize("how", ["threads", "processes"])
def test_calls_at_once_come_back_and_give_what_they_give_alone(how):
    command = [sys.executable, str(SUPPORT / "many_at_once.py"), how, str(CALLS), "7"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert result.returncode == 0, result.stdout + result.stderr
    assert "calls came back" in result.stdout


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_a_call_in_a_step_of_a_plan_comes_back(engine, threads):
    command = [sys.executable, str(SUPPORT / "inside_a_plan.py"), engine]
    environment = {**os.environ, "POLARS_MAX_THREADS": str(threads)}
    result = subprocess.run(  # noqa: S603
        command, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "calls came back" in result.stdout
