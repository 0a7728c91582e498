"""What holds for every test."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from frame_prc import PrcError, _ranking

# What no error may show: names of ours, and what other libraries or Python say of objects.
FOREIGN = re.compile(
    r"\b(by_\d|score_\d|rank_key|suspect|slot|pos_squares_\w+)\b|\n"
    r"|polars\.exceptions|narwhals| at 0x|<class|Traceback"
)


@pytest.fixture(autouse=True, scope="session")
def look_at_values():
    """Narrow the rank key of frames in memory, as is worth it from some thousand rows on.

    Lazy frames show the plan that does not look, on the same rows.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_ranking, "_WORTH_A_LOOK", 0)
        yield


@pytest.fixture(autouse=True, scope="session")
def spark_is_small_and_quiet():
    """Start every Spark of these tests with settings of ours, in processes of its own as well."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_CONF_DIR", str(Path(__file__).parent / "spark"))
        yield


@pytest.fixture(autouse=True, scope="session")
def every_error_reads_well():
    """Read every error that any test meets, whatever the test itself asks of its text."""
    make = PrcError.__init__

    def make_and_read(self: PrcError, *args: object, **kwargs: object) -> None:
        make(self, *args, **kwargs)
        text = str(self)
        assert text.endswith((".", "?")), text
        assert not FOREIGN.search(text), text

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PrcError, "__init__", make_and_read)
        yield


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Write down which tests are skipped, for a run that has what they need."""
    if report.skipped and (file := os.environ.get("SKIPPED")):
        with Path(file).open("a", encoding="utf-8") as skipped:
            skipped.write(f"{report.nodeid}\n")
