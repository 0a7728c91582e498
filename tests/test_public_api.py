"""What users can rely on: names, signatures, documentation, and what an import does."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path
from types import FunctionType

import polars as pl
import pytest
from kinds import every_kind
from polars.testing import assert_frame_equal

import frame_prc

README = Path(__file__).parents[1] / "README.md"
VERBS = [
    "auc",
    "average_precision",
    "band",
    "compare",
    "counts",
    "curve",
    "one_vs_rest",
    "operating_points",
    "plot",
    "plot_summary",
    "quantile_thresholds",
    "summary",
    "write_ggplot",
]
ROWS = pl.DataFrame({"late": [True, False, True], "score": [0.9, 0.4, None]})

COMMON = (
    "frame, truth=None, score=None, *, by=None, weight=None, pos_label=None, missing='raise', "
    "pos=None, neg=None"
)
SIGNATURES = {
    "auc": f"({COMMON}, method='step', start='one', recall_range=None, standardised=False, "
    "thresholds=None)",
    "average_precision": f"({COMMON}, pos_squares=None, neg_squares=None, over=None, average=None, "
    "thresholds=None, bounds=False, ci=None, ci_method='influence', cluster=None, "
    "replicates=1000, stratified=False, seed=None)",
    "average_precision_expr": "(truth, score, weight=None)",
    "band": f"({COMMON}, recalls=101, ci=0.95, cluster=None, replicates=1000, stratified=False, "
    "seed=None)",
    "compare": "(frame, truth, score, *, by=None, weight=None, pos_label=None, missing='raise', "
    "ci=0.95, cluster=None, baseline=None, against=None, adjust=None)",
    "counts": f"({COMMON}, thresholds=None, pos_squares=None, neg_squares=None, squares=False)",
    "curve": f"({COMMON}, start='one', keep='all', envelope=False, gain=False, calibrate=None, "
    "thresholds=None, ci=None)",
    "iso_f1": "(f_scores=(0.2, 0.4, 0.6, 0.8), points=101)",
    "merge_counts": "(*frames)",
    "one_vs_rest": "(frame, truth, score, *, by=None, weight=None, row=None)",
    "operating_points": f"({COMMON}, recall=None, precision=None, threshold=None, f_beta=None, "
    "predicted_rate=None)",
    "plot": f"({COMMON}, start='one', ci=None, band=False, iso_f1=True, points=None, roc=False, "
    "threshold=None, facet=None, dark=False, title=None, width=None, height=None)",
    "plot_summary": f"({COMMON}, ci=0.95, baseline=None, dark=False, title=None, width=None)",
    "quantile_thresholds": "(frame, score, number)",
    "summary": f"({COMMON}, pos_squares=None, neg_squares=None, ci=0.95, overall=False)",
    "write_ggplot": f"({COMMON}, start='one', keep='corners', ci=None, title=None)".replace(
        "frame, ", "frame, path, "
    ),
}
# Parameters that mean something else than those of ``curve`` do.
OWN_WORDS = {
    "auc": {"missing", "start", "thresholds"},
    "average_precision": {"ci", "missing", "thresholds"},
    "band": {"ci"},
    "compare": {"ci", "missing", "score"},
    "counts": {"thresholds"},
    "operating_points": {"missing"},
    "summary": {"ci", "missing"},
    "write_ggplot": {"ci", "frame", "keep"},
}

every_verb = pytest.mark.parametrize("verb", VERBS)
with_readme = pytest.mark.skipif(not README.exists(), reason="the tests are not in a checkout")


def signature(function: object, *, skip: int = 0) -> str:
    """Return the names, kinds and defaults of the parameters."""
    bare = inspect.Parameter.empty
    parameters = [*inspect.signature(function).parameters.values()][skip:]
    return str(inspect.Signature([p.replace(annotation=bare) for p in parameters]))


def parameter_docs(function: object) -> dict[str, str]:
    """Return what a numpydoc docstring says of each parameter."""
    _, _, section = inspect.getdoc(function).partition("Parameters\n----------\n")
    section = re.split(r"\n\n\w+\n-+\n", section)[0]
    entries = re.split(r"^(?=\S)", section, flags=re.MULTILINE)[1:]
    heads = [entry.partition("\n") for entry in entries]
    return {name: text.strip() for head, _, text in heads for name in head.split(", ")}


def run(code: str) -> str:
    """Run code in a new interpreter, for a minute at most, and return what it prints."""
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(  # noqa: S603
        command, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# --- names ------------------------------------------------------------------------------------


def test_signatures_are_published_for_every_function():
    functions = [name for name in frame_prc.__all__ if inspect.isfunction(getattr(frame_prc, name))]
    assert functions == list(SIGNATURES)


def test_all_names_what_is_public():
    namespace = vars(frame_prc)
    public = [n for n, v in namespace.items() if isinstance(v, (type, FunctionType))]
    assert sorted(public) == sorted(frame_prc.__all__) == frame_prc.__all__


@every_kind
def test_namespace_has_the_verbs_and_nothing_else(kind):
    prc = kind.make(ROWS).prc
    methods = [
        name for name in dir(prc) if not name.startswith("_") and callable(getattr(prc, name))
    ]
    assert sorted(methods) == sorted(VERBS)
    frame = type(kind.make(ROWS)).__name__
    assert repr(prc) == f"<prc of a {frame}: {', '.join(sorted(VERBS))}>"


@every_kind
@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("ap", " Hint: did you mean average_precision"),
        ("pr_auc", " Hint: did you mean auc or average_precision"),
        ("sumary", " Hint: did you mean summary or plot_summary"),
        ("merge_counts", r" Hint: did you mean frame_prc.merge_counts\(\*frames\)"),
        ("xyz", ""),
    ],
)
def test_a_name_that_is_no_verb_is_told_which_are(kind, name, hint):
    prc = kind.make(ROWS).prc
    with pytest.raises(AttributeError, match=f"prc has no verb '{name}'. Allowed: .*{hint}[.?]$"):
        getattr(prc, name)
    assert not hasattr(prc, name)


@with_readme
def test_readme_lists_every_function():
    table = README.read_text(encoding="utf-8").partition("| verb |")[2].partition("\n\n")[0]
    listed = re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE)
    functions = [name for name in frame_prc.__all__ if inspect.isfunction(getattr(frame_prc, name))]
    assert sorted(listed) == sorted(functions)


@with_readme
@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("auc", {"missing": "drop"}),
        ("average_precision", {"missing": "drop", "ci": 0.9}),
        ("compare", {"score": ["score", "other"], "missing": "drop", "adjust": "bh"}),
        ("counts", {"squares": True}),
        ("curve", {"envelope": True, "ci": 0.9}),
        ("band", {"replicates": 2}),
        ("operating_points", {"recall": 0.5, "missing": "drop"}),
        ("summary", {}),
    ],
)
def test_readme_lists_the_columns_of_every_verb(verb, options):
    text = README.read_text(encoding="utf-8")
    row = re.search(rf"^\| `{verb}` \|[^|]*\|([^|]*)\|", text, flags=re.MULTILINE)[1]
    rows = ROWS.drop_nulls().with_columns(other=-pl.col("score"))
    result = getattr(frame_prc, verb)(rows, **{"truth": "late", "score": "score", **options})
    assert re.findall(r"\w+", row) == result.columns


@with_readme
@pytest.mark.parametrize(
    "asked",
    [{"truth": "lat", "score": "score"}, {"truth": "late", "score": "score", "weight": "w"}],
    ids=["column", "data"],
)
def test_readme_quotes_errors_word_for_word(asked):
    rows = ROWS.with_columns(score=0.5, w=pl.Series([-1.0, 1.0, float("nan")]))
    with pytest.raises(frame_prc.PrcError) as raised:
        rows.prc.curve(**asked)
    quoted = " ".join(README.read_text(encoding="utf-8").split())
    assert f"{raised.type.__name__}: {raised.value}" in quoted


# --- signatures and documentation --------------------------------------------------------------


@pytest.mark.parametrize(("name", "expected"), SIGNATURES.items())
def test_signature_is_the_published_one(name, expected):
    assert signature(getattr(frame_prc, name)) == expected


@every_kind
@every_verb
def test_method_has_the_signature_and_documentation_of_its_function(kind, verb):
    function, method = getattr(frame_prc, verb), getattr(kind.make(ROWS).prc, verb)
    assert signature(method) == signature(function, skip=1)
    assert method.__doc__ == function.__doc__
    assert method.__name__ == verb


def test_expression_method_takes_what_its_function_takes_after_the_score():
    method = pl.col("score").prc.average_precision
    assert signature(method) == SIGNATURES["average_precision_expr"].replace("score, ", "")


@pytest.mark.parametrize("name", SIGNATURES)
def test_every_parameter_is_documented_in_order(name):
    function = getattr(frame_prc, name)
    assert list(parameter_docs(function)) == list(inspect.signature(function).parameters)


@pytest.mark.parametrize(("verb", "own_words"), OWN_WORDS.items())
def test_shared_parameters_are_documented_in_the_same_words(verb, own_words):
    docs, others = (parameter_docs(getattr(frame_prc, name)) for name in (verb, "curve"))
    assert {name for name in docs.keys() & others.keys() if docs[name] != others[name]} == own_words


@pytest.mark.parametrize("parameter", ["missing", "thresholds"])
def test_verbs_with_one_row_per_segment_document_parameters_in_the_same_words(parameter):
    # A comparison drops rows for all models together, and bins that are to add up must cover.
    tables = [verb for verb in OWN_WORDS if verb not in {"compare", "counts"}]
    verbs = [verb for verb in tables if parameter in OWN_WORDS[verb]]
    assert len(verbs) > 1
    assert len({parameter_docs(getattr(frame_prc, verb))[parameter] for verb in verbs}) == 1


@pytest.mark.parametrize("name", SIGNATURES)
@pytest.mark.parametrize("section", ["Parameters", "Returns", "Examples"])
def test_documentation_is_complete(name, section):
    assert f"\n\n{section}\n{'-' * len(section)}\n" in inspect.getdoc(getattr(frame_prc, name))


def test_expression_method_gives_what_its_function_gives():
    rows = ROWS.drop_nulls().with_columns(w=2.0)
    assert_frame_equal(
        rows.select(pl.col("score").prc.average_precision("late", weight="w")),
        rows.select(frame_prc.average_precision_expr("late", "score", "w")),
    )


def test_package_says_that_it_is_typed():
    assert resources.files("frame_prc").joinpath("py.typed").is_file()


# --- what an import does -----------------------------------------------------------------------

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
        pytest.param("import pandas, frame_prc", id="pandas first"),
        pytest.param("import frame_prc, pandas", id="pandas second"),
        pytest.param(
            "import frame_prc; from pandas import DataFrame; import pandas", id="from pandas"
        ),
        pytest.param(
            "import frame_prc, importlib.util; importlib.util.find_spec('pandas'); import pandas",
            id="pandas looked for before",
        ),
        pytest.param(
            "import frame_prc, pandas, importlib; importlib.reload(pandas)", id="reloaded"
        ),
        pytest.param(
            "import frame_prc, importlib; importlib.reload(frame_prc); import pandas",
            id="package reloaded before",
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


@pytest.mark.parametrize(
    "halted", ["pandas", "pandas.core.frame", "pandas.io.api", "pandas.util._print_versions"]
)
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


@pytest.mark.parametrize("halted", ["frame_prc.verbs", "frame_prc._frames", "frame_prc.namespace"])
def test_pandas_may_be_imported_while_a_thread_imports_the_package(halted):
    code = f"""
thread = begin("frame_prc")
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
