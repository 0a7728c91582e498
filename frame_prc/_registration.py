"""Put ``prc`` on frames of Polars and pandas.

The verbs are imported when they are first used, so that importing the package takes no time.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from itertools import dropwhile, islice
from types import ModuleType
from typing import TYPE_CHECKING, Any

import polars as pl
from polars.dataframe.group_by import GroupBy
from polars.lazyframe.group_by import LazyGroupBy

if TYPE_CHECKING:
    from frame_prc.namespace import PrcExpr, PrcFrame


def verbs_of_frame(frame: Any) -> PrcFrame:
    """Return the verbs of a frame as methods: what ``frame.prc`` is."""
    from frame_prc.namespace import PrcFrame  # noqa: PLC0415 - at the first use

    return PrcFrame(frame)


def verbs_of_expression(score: pl.Expr) -> PrcExpr:
    """Return the aggregates of a score: what ``pl.col("score").prc`` is."""
    from frame_prc.namespace import PrcExpr  # noqa: PLC0415 - at the first use

    return PrcExpr(score)


def register() -> None:
    """Add ``prc`` to Polars frames and expressions, and to pandas frames once these exist."""
    for kind, name, methods in (
        (pl.DataFrame, "dataframe", verbs_of_frame),
        (pl.LazyFrame, "lazyframe", verbs_of_frame),
        (pl.Expr, "expr", verbs_of_expression),
    ):
        if getattr(kind, "prc", None) is not methods:  # a reload finds it there
            getattr(pl.api, f"register_{name}_namespace")("prc")(methods)
    _refuse_groups(GroupBy, LazyGroupBy)
    if not any(type(finder) is _AfterPandas for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterPandas())
    if sys.modules.get("pandas") is not None:
        with suppress(Exception):  # waits for another thread's import of pandas, which may fail
            import_module("pandas")
        _register_pandas()


def _register_pandas() -> None:
    """Add ``prc`` to pandas frames, if the import of pandas is far enough for that."""
    extensions = getattr(getattr(sys.modules.get("pandas"), "api", None), "extensions", None)
    if extensions is not None and not _pandas_has_verbs():
        extensions.register_dataframe_accessor("prc")(verbs_of_frame)
        _refuse_groups(sys.modules["pandas"].api.typing.DataFrameGroupBy)


def _refuse_groups(*kinds: Any) -> None:
    """Let ``prc`` of grouped frames, which has no registration, say that ``by=`` groups."""
    for kind in kinds:
        kind.prc = property(verbs_of_frame)


def _pandas_has_verbs() -> bool:
    kind = getattr(sys.modules.get("pandas"), "DataFrame", None)
    return getattr(kind, "prc", None) is verbs_of_frame


class _AfterPandas(MetaPathFinder):
    """Registers the pandas accessor when pandas is imported, without importing it.

    It handles all modules of pandas, since another thread may have found pandas itself already. It
    is never removed: a thread that is iterating over the finders would skip one.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != "pandas" or _pandas_has_verbs():
            return None
        later = islice(dropwhile(lambda finder: finder is not self, [*sys.meta_path]), 1, None)
        for finder in later:
            # Python passes over finders without this method too.
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find and find(fullname, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    spec.loader = _Registering(spec.loader)
                return spec
        return None


class _Registering(Loader):
    """Loads a module of pandas with another loader, and then registers the accessor.

    It wraps the other loader without changing it, since many modules may share one loader.
    """

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        _register_pandas()
