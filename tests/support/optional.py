"""Programs and packages that some tests need: skipped where missing, except where all must run."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
from functools import cache
from types import ModuleType
from typing import NoReturn

import pytest


def is_left_out(name: str) -> bool:
    """Whether this run does without a program or a kind of frame: the variable WITHOUT says so."""
    return name in os.environ.get("WITHOUT", "").split()


def require_program(name: str) -> str:
    """Return the path of a program, or skip the test; with CI set, fail it."""
    path = None if is_left_out(name) else shutil.which(name)
    if path is None:
        missing(f"the program {name} is not installed")
    return path


def require_r_package(name: str) -> str:
    """Return the path of Rscript, or skip (with CI set, fail) where it lacks a package."""
    rscript = require_program("Rscript")
    if not _has_r_package(rscript, name):
        missing(f"the R package {name} is not installed")
    return rscript


@cache
def _has_r_package(rscript: str, name: str) -> bool:
    command = [rscript, "-e", f"library({name})"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603


def require_module(name: str) -> ModuleType:
    """Return a module, or skip (with CI set, fail) where its package is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing(f"the package {error.name} is not installed")


def missing(reason: str) -> NoReturn:
    """Skip the test, or fail it with CI set."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
