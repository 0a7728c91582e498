"""The version, the help and the examples in it, completion, and a package that is missing."""

from __future__ import annotations

import os
import re
import shlex

import polars as pl
import pytest
from command_line import ASKED, ROWS, process, python, run

import frame_prc
from frame_prc.cli.commands import COMMANDS


@pytest.mark.thorough
@pytest.mark.parametrize("package", ["typer"])
def test_a_missing_package_is_named_with_the_command_that_installs_it(package):
    code = f"import sys; sys.modules['{package}'] = None; import frame_prc.cli as c"
    packages = "altair jinja2 rich typer vl-convert-python"
    told = f"frame-prc: {package} is not installed. Hint: pip install {packages}.\n"
    assert python(f"{code}; sys.exit(c.main([]))") == (2, "", told)


@pytest.mark.thorough
def test_help_lists_the_commands_and_brings_no_other_package_along():
    code, out, _ = python(
        "import sys; from frame_prc.cli import main; code = main([]);"
        "print({'altair', 'numpy', 'pandas'} & {*sys.modules}); sys.exit(code)"
    )
    help_text, packages = out.strip().rsplit("\n", 1)
    assert (code, packages) == (0, "set()")
    names = re.findall(r"^  ([\w-]+)  +", help_text.partition("Commands:")[2], re.MULTILINE)
    assert names == [*(command.name for command in COMMANDS), "demo"]
    assert run("--version") == (0, f"frame-prc {frame_prc.__version__}\n", "")


@pytest.mark.thorough
@pytest.mark.parametrize(("words", "offered"), [("ap rows.csv --missing d", "drop")])
def test_a_shell_completes(words, offered):
    environment = os.environ | {
        "_FRAME_PRC_COMPLETE": "complete_bash",
        "COMP_WORDS": f"frame-prc {words}",
        "COMP_CWORD": str(len(words.split())),
    }
    code, out, err = process(env=environment)
    assert (code, out.split(), err) == (0, [offered], "")


@pytest.mark.thorough
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_the_example_of_a_command_runs(command):
    rows = pl.concat([ROWS] * 40).with_columns(
        carrier="region", old="score", new="other", outcome="said", origin="region",
        week=pl.int_range(pl.len()) % 12,
    )  # fmt: skip
    for name in ("rows.parquet", "2024-01.parquet", "2024-02.parquet"):
        rows.write_parquet(name)
    rows.write_csv("rows.csv")
    rows.with_columns(relevant="late", query="region").write_parquet("run.parquet")
    code, _, err = run(*shlex.split(command.example)[1:])
    assert code == 0
    assert not err or "with too few negatives" in err  # a search tells what it did not look at


def test_a_short_command_is_also_called_as_its_verb():
    for name, other in (("ap", "average-precision"), ("points", "operating-points")):
        assert f"Also called {other}." in run(name, "--help")[1]
        assert f" {other} " not in run("--help")[1]
        assert run(other, "--help")[1].startswith(f"Usage: frame-prc {other} ")
        options = ["rows.csv", *ASKED, *(["--recall", ".5"] if name == "points" else [])]
        assert run(other, *options) == run(name, *options)
        assert run(name, *options)[0] == 0
