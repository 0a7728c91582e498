"""Optional packages: whether they are installed, and how to install them.

This package is not on an index, so its extras can only be installed from a checkout. Hints name the
packages of an extra instead, which can be installed from anywhere.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal, TypeAlias

from frame_prc.exceptions import OptionError

Extra: TypeAlias = Literal["cli", "duckdb", "ibis", "pandas", "spark"]

# The packages of each extra: an import may fail for any of them.
PACKAGES: dict[Extra, tuple[str, ...]] = {
    "cli": ("altair", "jinja2", "rich", "typer", "vl-convert-python"),
    "duckdb": ("duckdb", "narwhals", "pyarrow"),
    "ibis": ("ibis-framework", "narwhals", "pyarrow", "'sqlglot<28'"),
    "pandas": ("pandas", "pyarrow"),
    "spark": ("narwhals", "pyspark"),
}


def install_hint(extra: Extra) -> str:
    """Return the command that installs the packages of an extra."""
    return _install(*PACKAGES[extra])


def check_installed(module: str, name: str, need: str) -> None:
    """Raise an error if an optional package is missing, before anything is read."""
    if find_spec(module) is None:
        raise OptionError(f"{need} needs {name}, which is not installed", hint=_install(name))


def check_numpy(need: str = "a bootstrap") -> None:
    """Raise an error if NumPy is missing, before anything is read."""
    check_installed("numpy", "NumPy", need)


def _install(*names: str) -> str:
    return f"pip install {' '.join(names).lower()}"
