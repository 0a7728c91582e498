"""Programmes that need more than the tests do, and tests that only a run of benchmarks collects."""

import re
from pathlib import Path

import pytest

collect_ignore = ["spark_skew.py"]  # the extra spark


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave these tests alone unless asked for: what they compare depends on a measurement."""
    asked = re.search(r"(?<!not )benchmark", config.option.markexpr)
    return True if collection_path.suffix == ".py" and not asked else None
