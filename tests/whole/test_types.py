"""The types that an editor shows: pyright agrees with mypy, which checks the same file in lint."""

from __future__ import annotations

import json
import subprocess
import sys

import optional
import pytest
from checkout import CHECKOUT, TESTS

pytestmark = pytest.mark.thorough

USAGE = TESTS / "whole" / "typed_usage.py"


@pytest.fixture
def errors(tmp_path):
    """Return a function that lists what pyright finds wrong in a file."""
    optional.require_module("basedpyright")

    def found(path) -> list[str]:
        config = tmp_path / "pyrightconfig.json"
        paths = {"include": [str(path)], "extraPaths": [str(CHECKOUT)]}
        config.write_text(json.dumps({"typeCheckingMode": "standard", **paths}))
        arguments = ["--outputjson", "--pythonpath", sys.executable, "--project", str(config)]
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-m", "basedpyright", *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        said = json.loads(done.stdout)
        assert said["summary"]["filesAnalyzed"] == 1
        return [one["message"] for one in said["generalDiagnostics"] if one["severity"] == "error"]

    return found


def test_pyright_sees_the_types_that_mypy_sees(errors):
    assert errors(USAGE) == []


def test_pyright_knows_the_options_of_a_method(errors, tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import polars as pl\n"
        "import frame_prc\n"
        "frame: pl.LazyFrame = frame_prc.evaluate(pl.DataFrame(), 't', 's').curve()\n"
        "frame_prc.evaluate(frame, 't', 's').curve(keep='corner')\n"
    )
    first, second = errors(wrong)
    assert '"DataFrame" is not assignable to "LazyFrame"' in first
    assert "corner" in second
