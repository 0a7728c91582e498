"""The verbs as methods: ``frame.prc`` on Polars and pandas frames, and ``pl.col(...).prc``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import wraps
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from itertools import dropwhile, islice
from types import ModuleType
from typing import Any, Concatenate, NoReturn, ParamSpec, TypeVar, cast

import polars as pl

from frame_prc import verbs
from frame_prc._engines.engine import class_of
from frame_prc._request.near_misses import verb

P = ParamSpec("P")
R = TypeVar("R")

# Other names of the verbs, from other libraries and the command line.
_ALSO_CALLED = {
    "ap": "average_precision",
    "average_precision_score": "average_precision",
    "pr_auc": "auc or average_precision",
    "pr_curve": "curve",
    "precision_recall_curve": "curve",
    "best_threshold": "operating_points",
    "confusion_matrix": "operating_points",
    "points": "operating_points",
    "ggplot": "write_ggplot",
    "merge_counts": "frame_prc.merge_counts(*frames)",
    "scorecard": "summary",
}


def _method(verb: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Return a verb as a method, with the verb's own signature and docstring."""

    @wraps(verb)
    def call(self: Any, *args: P.args, **kwargs: P.kwargs) -> R:
        return verb(self.frame, *args, **kwargs)

    return cast("Callable[Concatenate[Any, P], R]", call)


class PrcFrame:
    """Precision-recall verbs of a frame: ``frame.prc.curve("truth", "score", by="segment")``."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def __repr__(self) -> str:
        return f"<prc of a {type(self.frame).__qualname__}: {', '.join(_verbs())}>"

    def __getattr__(self, name: str) -> NoReturn:
        meant = _ALSO_CALLED.get(name) or " or ".join(get_close_matches(name, _verbs()))
        hint = f" Hint: did you mean {meant}?" if meant else ""
        raise AttributeError(
            f"prc has no verb {name!r}. Allowed: {', '.join(_verbs())}.{hint}", name=name, obj=self
        )

    counts = _method(verbs.counts)
    curve = _method(verbs.curve)
    average_precision = _method(verbs.average_precision)
    auc = _method(verbs.auc)
    compare = _method(verbs.compare)
    heterogeneity = _method(verbs.heterogeneity)
    operating_points = _method(verbs.operating_points)
    band = _method(verbs.band)
    summary = _method(verbs.summary)
    plot = _method(verbs.plot)
    plot_summary = _method(verbs.plot_summary)
    one_vs_rest = _method(verbs.one_vs_rest)
    quantile_thresholds = _method(verbs.quantile_thresholds)
    write_ggplot = _method(verbs.write_ggplot)


def _verbs() -> list[str]:
    return sorted(name for name in vars(PrcFrame) if not name.startswith("_"))


class PrcExpr:
    """Aggregates of a score expression: ``pl.col("score").prc.average_precision("truth")``."""

    def __init__(self, score: pl.Expr) -> None:
        self._score = score

    @verb
    def average_precision(
        self,
        truth: str | pl.Expr,
        weight: str | pl.Expr | None = None,
        *,
        ascending: bool = False,
    ) -> pl.Expr:
        """Average precision of this score; see :func:`frame_prc.average_precision_expr`."""
        return verbs.average_precision_expr(truth, self._score, weight, ascending=ascending)


def register() -> None:
    """Add ``prc`` to Polars frames and expressions, and to pandas frames once these exist."""
    for kind, name, methods in (
        (pl.DataFrame, "dataframe", PrcFrame),
        (pl.LazyFrame, "lazyframe", PrcFrame),
        (pl.Expr, "expr", PrcExpr),
    ):
        if getattr(kind, "prc", None) is not methods:  # a reload finds it there
            getattr(pl.api, f"register_{name}_namespace")("prc")(methods)
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
        extensions.register_dataframe_accessor("prc")(PrcFrame)


def _pandas_has_verbs() -> bool:
    return getattr(class_of("pandas", "DataFrame"), "prc", None) is PrcFrame


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
            spec = finder.find_spec(fullname, path, target)
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
