"""What holds for every test."""

from __future__ import annotations

import gc
import os
import re
import zlib
from pathlib import Path

# Tests run in processes beside each other, of which one thread each keeps all cores busy. Those of
# threads start processes of their own.
os.environ.setdefault("POLARS_MAX_THREADS", "1")

import polars as pl
import pytest
from checkout import TESTS
from kinds import FRAMES, Kind, looking
from layers import layers

from frame_prc import PrcError

# What no error may show: names of ours, and what other libraries or Python say of objects.
FOREIGN = re.compile(
    r"\b(by_\d|key_\d|score_\d|rank_key|suspect|slot|pos_squares_\w+)\b|\n"
    r"|polars\.exceptions|narwhals(?!\.(?:Expr|Series|GroupBy))| at 0x|<class|Traceback"
)


@pytest.fixture(autouse=True)
def look_at_values(request):
    """Look at the values of small frames as a test's kind says; without one, in half of the tests.

    Which half depends on nothing but a test's name.
    """
    given = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    if isinstance(kind := given.get("kind"), Kind):
        looks = kind.looks
    else:
        looks = zlib.crc32(request.node.name.encode()) % 2 == 0
    with looking(looks=looks):
        yield


@pytest.fixture(autouse=True, scope="session")
def spark_is_small_and_quiet():
    """Start every Spark of these tests with settings of ours, in processes of its own as well."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_CONF_DIR", str(TESTS / "support" / "spark"))
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


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Look for no garbage among the tests, here and ever after: a fifth of collecting them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a value that holds expressions without their address, which differs between runs."""
    text = str(val) if isinstance(val, (pl.Expr, list, tuple, dict)) else ""
    return re.sub(r" at 0x\w+", "", text) if " at 0x" in text else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Share the combinations of a test's parameters between the layers (see `layers`)."""
    size = int(os.environ.get("TOGETHER", "2"))
    products: dict[str, list[pytest.Function]] = {}
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            products.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out: set[pytest.Item] = set()
    for name, product in products.items():
        product.sort(key=lambda item: item.nodeid)  # whatever order they were shuffled into
        slow = [
            of_engine(item) or item.get_closest_marker("thorough") is not None for item in product
        ]
        found = layers(name, [item.callspec.params for item in product], slow, size)
        for place, item in enumerate(product):
            if place in found.second:
                item.add_marker("thorough")
            elif place not in found.first:
                left_out.add(item)
    items[:] = sorted((item for item in items if item not in left_out), key=turn_of)
    config.hook.pytest_deselected(items=[*left_out])


def of_engine(item: pytest.Function) -> bool:
    """Whether a test of all kinds of frames is asked of an engine's, which its own room shows."""
    kind = item.callspec.params.get("kind")
    return isinstance(kind, Kind) and kind.name not in FRAMES and "engines" not in item.path.parts


def turn_of(item: pytest.Item) -> int:
    """Return when a test runs: one process takes the first ones, and no other has to start Spark.

    What takes minutes begins first, so that no process waits for another at the end.
    """
    stem = item.path.stem
    if stem in ("test_spark_connect", "test_spark_cluster"):
        return 0
    return 1 if "spark" in item.nodeid.lower() or stem == "test_sums_and_ranges" else 2


REMARKS = pytest.StashKey[list[str]]()


@pytest.fixture(scope="session")
def remarks(pytestconfig):
    """Return a list of what tests have to say at the end of a run."""
    return pytestconfig.stash.setdefault(REMARKS, [])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for remark in terminalreporter.config.stash.get(REMARKS, []):
        terminalreporter.write_line(remark)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Write down which tests are skipped, for a run that has what they need."""
    if report.skipped and (file := os.environ.get("SKIPPED")):
        with Path(file).open("a", encoding="utf-8") as skipped:
            skipped.write(f"{report.nodeid}\n")
