"""What an import does: to pandas, to threads that import, and without pandas."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

pytestmark = pytest.mark.thorough


def run(code: str) -> str:
    """Run code in a new interpreter, for a minute at most, and return what it prints."""
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(  # noqa: S603
        command, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


USE = "print(pandas.DataFrame({'t': [1, 0], 's': [2, 1]}).prc.counts('t', 's')['pos'].tolist())"


def test_import_brings_no_other_package_along():
    code = """
        import sys, polars
        before = set(sys.modules)
        import frame_prc
        new = {name.partition(".")[0] for name in set(sys.modules) - before}
        print(sorted(new - sys.stdlib_module_names))
    """
    assert run(inspect.cleandoc(code)) == "['frame_prc']"


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("import frame_prc, pandas", id="pandas second"),
        pytest.param(
            "import frame_prc; from pandas import DataFrame; import pandas", id="from pandas"
        ),
        pytest.param(
            "import frame_prc, importlib, pandas; importlib.reload(frame_prc)",
            id="package reloaded after",
        ),
        pytest.param(
            "import sys, frame_prc, pandas\n"
            "for name in [n for n in sys.modules if n.partition('.')[0] == 'pandas']:\n"
            "    del sys.modules[name]\n"
            "import pandas",
            id="imported anew",
        ),
    ],
)
def test_pandas_has_the_verbs_however_it_is_imported(code):
    assert run(f"{code}\n{USE}") == "[1, 0]"


# Whoever looks for the module waits there, until the other thread waits as well, or is done.
MEANWHILE = """
import importlib, sys, threading, time
import polars as pl
class Halt:
    def find_spec(self, name, path=None, target=None):
        if name == halted and not inside.is_set():
            inside.set()
            go_on.wait(30)
inside, go_on = threading.Event(), threading.Event()
sys.meta_path.insert(0, Halt())
def begin(package):
    thread = threading.Thread(target=importlib.import_module, args=[package], daemon=True)
    thread.start()
    assert inside.wait(30)
    threading.Timer(0.2, go_on.set).start()
    return thread
"""


@pytest.mark.parametrize("halted", ["pandas", "pandas.util._print_versions"])
def test_package_may_be_imported_while_a_thread_imports_pandas(halted):
    # The other thread begins when nothing but the registration is left to do.
    code = f"""
register = pl.api.register_expr_namespace
def register_meanwhile(name):
    global thread
    thread = begin("pandas")
    return register(name)
pl.api.register_expr_namespace = register_meanwhile
import frame_prc
thread.join()
import pandas
{USE}
"""
    assert run(f"halted = {halted!r}\n{MEANWHILE}{code}") == "[1, 0]"


def test_a_table_needs_no_code_of_pictures_pages_or_other_tables():
    code = """
import sys, polars as pl, frame_prc
pl.DataFrame({"t": [1, 0], "s": [2, 1]}).prc.average_precision("t", "s", ci=0.95)
rooms = [name.split(".")[1:] for name in sys.modules if name.startswith("frame_prc.")]
print(*sorted(parts[1] for parts in rooms if parts[0] == "_tables" and parts[1:]))
print(*sorted({parts[0] for parts in rooms} & {"_charts", "_ggplot", "_report", "cli"}))
"""
    assert run(code) == "areas"  # nothing of the other rooms


def test_many_threads_may_use_a_verb_first():
    code = """
import sys, threading
import frame_prc, polars as pl
sys.setswitchinterval(1e-5)
df, found = pl.DataFrame({"t": [1, 0], "s": [2, 1]}), []
def use(place):
    start.wait()
    counts = frame_prc.counts(df, "t", "s") if place % 2 else df.prc.counts("t", "s")
    found.append(counts["pos"].to_list())
start = threading.Barrier(16)
threads = [threading.Thread(target=use, args=[place]) for place in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(found == 16 * [[1, 0]])
"""
    assert run(code) == "True"


@pytest.mark.parametrize(
    ("package", "halted"),
    [
        ("frame_prc", "frame_prc._registration"),
        ("frame_prc.namespace", "frame_prc.evaluation.verbs"),
    ],
)
def test_pandas_may_be_imported_while_a_thread_imports_the_package(package, halted):
    code = f"""
thread = begin({package!r})
import pandas
thread.join()
{USE}
"""
    assert run(f"halted = {halted!r}\n{MEANWHILE}{code}") == "[1, 0]"


def test_package_may_be_imported_inside_the_import_of_pandas():
    code = f"""
import sys
class Meddling:
    def find_spec(self, name, path=None, target=None):
        if name == "pandas.core.frame":
            import frame_prc
sys.meta_path.insert(0, Meddling())
import pandas
{USE}
"""
    assert run(code) == "[1, 0]"


def test_many_threads_may_import_both():
    code = f"""
import importlib, sys, threading
sys.setswitchinterval(1e-5)
start, failed = threading.Barrier(16), []
def load(package):
    start.wait()
    try:
        importlib.import_module(package)
    except BaseException as error:
        failed.append(repr(error))
threads = [threading.Thread(target=load, args=[p]) for p in ["pandas", "frame_prc"] * 8]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failed, failed
import pandas
{USE}
"""
    assert run(code) == "[1, 0]"


def test_looking_for_pandas_does_no_harm():
    code = """
import sys, importlib.util, zipfile, tempfile
import frame_prc
spec = importlib.util.find_spec("pandas")
assert spec.origin.endswith("__init__.py"), spec
assert "DataFrame" in spec.loader.get_source("pandas")
assert not [name for name in sys.modules if name.partition(".")[0] == "pandas"]
# A zip file has one loader for all that is in it.
with tempfile.TemporaryDirectory() as folder:
    with zipfile.ZipFile(f"{folder}/all.zip", "w") as file:
        file.writestr("pandas/__init__.py", "")
        file.writestr("beside.py", "name = __name__")
    sys.path.insert(0, f"{folder}/all.zip")
    import pandas, beside
    assert pandas.__loader__ is pandas.__spec__.loader is beside.__loader__
print(beside.name)
"""
    assert run(code) == "beside"


@pytest.mark.parametrize("known", ["types.ModuleType('a')", "None"])
def test_packages_that_are_not_imported_to_their_end_do_no_harm(known):
    code = f"""
import sys, types
import polars as pl, frame_prc
for module in ("pandas", "duckdb", "pyspark.sql"):
    sys.modules[module] = {known}
print(pl.DataFrame({{"t": [1, 0], "s": [2, 1]}}).prc.counts("t", "s")["pos"].to_list())
try:
    frame_prc.counts([1], "t", "s")
except frame_prc.FrameError as error:
    print(str(error).partition(".")[0])
"""
    assert run(code).splitlines() == ["[1, 0]", "cannot evaluate a frame of type list"]


BLOCKED = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pandas", "pyarrow", "numpy"):
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Blocker())
"""
HALTED = "import sys; sys.modules['pandas'] = None\n"


@pytest.mark.parametrize("without_pandas", [BLOCKED, HALTED], ids=["blocked", "halted"])
def test_package_works_without_pandas(without_pandas):
    code = """
import polars as pl, frame_prc
rows = pl.DataFrame({"t": [1, 0], "s": [2, 1]})
print(rows.prc.curve("t", "s").height, rows.lazy().prc.counts("t", "s").collect().height)
try:
    import pandas
except ImportError:
    print("no pandas")
"""
    assert run(without_pandas + code) == "3 2\nno pandas"
