"""Programs that some tests need: skipped where they are missing, except where all must run."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest


def require_program(name: str) -> str:
    """Return the path of a program, or skip the test; with CI set, fail it."""
    path = shutil.which(name)
    return path or _missing(f"the program {name} is not installed")


def require_r_package(name: str) -> str:
    """Return the path of Rscript, or skip (with CI set, fail) where it lacks a package."""
    rscript = require_program("Rscript")
    found = subprocess.run(  # noqa: S603
        [rscript, "-e", f"library({name})"], capture_output=True, check=False
    )
    return rscript if found.returncode == 0 else _missing(f"the R package {name} is not installed")


def _missing(reason: str) -> str:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
