"""The engines on which their tests are run."""

from __future__ import annotations

import engine_kinds
import optional
import pytest
from engine_kinds import IBIS, layered
from kinds import Kind

INFINITY = float("inf")


@pytest.fixture(params=layered("DuckDB", "Spark in ranges", *IBIS[:2]))
def kind(request, monkeypatch) -> Kind:
    """Return an engine; Spark in ranges cuts even the smallest segments into ranges of scores.

    It distributes rows before they are counted; ``test_spark_plans`` has the other way too. Ibis on
    DuckDB runs what DuckDB runs: it is asked for where Ibis itself is looked at.
    """

    if request.param in IBIS:
        return engine_kinds.ibis_kind(request.param.removeprefix("Ibis on "))
    if request.param == "DuckDB":
        return engine_kinds.duckdb_kind()
    if request.param == "Spark in ranges":
        ranges = optional.require_module("frame_prc._engines.spark_ranges")
        small = {"_RANGES": 4, "_SAMPLED": 1, "_FEWEST_SAMPLED": 1, "_MOST_PER_SCORE": INFINITY}
        for name, value in small.items():
            monkeypatch.setattr(ranges, name, value)
    return engine_kinds.spark_kind()
