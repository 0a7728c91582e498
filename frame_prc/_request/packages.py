"""Optional packages: what is checked for, and how to install what is missing.

No index has this package, so its extras install from a checkout alone; hints name the packages that
an extra brings, which install from anywhere.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Literal, TypeAlias

from frame_prc.exceptions import OptionError

Extra: TypeAlias = Literal["cli", "duckdb", "pandas", "spark"]

# What each extra brings, for imports that may fail for any of it.
PACKAGES: dict[Extra, tuple[str, ...]] = {
    "cli": ("altair", "rich", "typer", "vl-convert-python"),
    "duckdb": ("duckdb", "narwhals", "pyarrow"),
    "pandas": ("pandas", "pyarrow"),
    "spark": ("narwhals", "pyspark"),
}


def install_hint(extra: Extra) -> str:
    """Return the command that installs what an extra brings."""
    return _install(*PACKAGES[extra])


def check_installed(module: str, name: str, need: str) -> None:
    """Refuse what an optional package is needed for and not there, before anything is read."""
    if find_spec(module) is None:
        raise OptionError(f"{need} needs {name}, which is not installed", hint=_install(name))


def check_numpy() -> None:
    """Refuse to resample without NumPy, before anything is read."""
    check_installed("numpy", "NumPy", "a bootstrap")


def _install(*names: str) -> str:
    return f"pip install {' '.join(names).lower()}"
