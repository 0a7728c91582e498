"""``frame.prc`` on Polars and pandas frames, and ``pl.col(...).prc``: the verbs as methods."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import polars as pl

from frame_prc import api

P = ParamSpec("P")
R = TypeVar("R")


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
        verbs = sorted(name for name in vars(PrcFrame) if not name.startswith("_"))
        return f"<prc of a {type(self.frame).__qualname__}: {', '.join(verbs)}>"

    counts = _method(api.counts)
    curve = _method(api.curve)
    average_precision = _method(api.average_precision)
    auc = _method(api.auc)
    compare = _method(api.compare)
    operating_points = _method(api.operating_points)
    band = _method(api.band)
    summary = _method(api.summary)
    plot = _method(api.plot)
    plot_summary = _method(api.plot_summary)
    one_vs_rest = _method(api.one_vs_rest)
    quantile_thresholds = _method(api.quantile_thresholds)
    write_ggplot = _method(api.write_ggplot)


class PrcExpr:
    """Aggregates of a score: ``pl.col("score").prc.average_precision("truth")``."""

    def __init__(self, score: pl.Expr) -> None:
        self._score = score

    def average_precision(
        self, truth: str | pl.Expr, weight: str | pl.Expr | None = None
    ) -> pl.Expr:
        """Average precision of this score; see :func:`frame_prc.average_precision_expr`."""
        return api.average_precision_expr(truth, self._score, weight)


def register() -> None:
    """Put ``prc`` on Polars frames and expressions, and on pandas frames when pandas is there."""
    pl.api.register_dataframe_namespace("prc")(PrcFrame)
    pl.api.register_lazyframe_namespace("prc")(PrcFrame)
    pl.api.register_expr_namespace("prc")(PrcExpr)
    if sys.modules.get("pandas") is not None:
        _register_pandas(sys.modules["pandas"])
    else:
        sys.meta_path.insert(0, _AfterPandas())


def _register_pandas(pandas: ModuleType) -> None:
    pandas.api.extensions.register_dataframe_accessor("prc")(PrcFrame)


class _AfterPandas(MetaPathFinder):
    """Registers the pandas accessor right after somebody imports pandas, and never imports it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "pandas":
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(fullname, path, target)
            if spec is not None:
                if spec.loader is not None:
                    self._register_after(spec.loader)
                return spec
        return None

    def _register_after(self, loader: Loader) -> None:
        load = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            load(module)
            _register_pandas(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)

        loader.exec_module = exec_module  # type: ignore[method-assign]
