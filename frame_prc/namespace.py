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
from typing import Any, Concatenate, Generic, NoReturn, ParamSpec, Protocol, TypeVar, cast

import polars as pl

from frame_prc import verbs
from frame_prc._engines.engine import class_of
from frame_prc._frames.border import FrameT, check_frame
from frame_prc._frames.narwhals_frames import unwrapped
from frame_prc._request.near_misses import refuses_unknown

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)

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


class _FrameMethod(Protocol[P]):
    """What a type checker sees of a verb whose result is a frame of the same kind."""

    def __get__(self, accessor: PrcFrame[FrameT], owner: Any = None) -> Callable[P, FrameT]: ...


class _Method(Protocol[P, R_co]):
    """What a type checker sees of any other verb."""

    def __get__(self, accessor: PrcFrame[Any], owner: Any = None) -> Callable[P, R_co]: ...


def _frame_method(verb: Callable[Concatenate[Any, P], Any]) -> _FrameMethod[P]:
    """Return a verb as a method, with the verb's own signature and docstring."""
    return cast("_FrameMethod[P]", _method(verb))


def _method(verb: Callable[Concatenate[Any, P], R_co]) -> _Method[P, R_co]:
    """Return a verb as a method, with the verb's own signature and docstring."""

    @wraps(verb)
    def call(self: Any, *args: P.args, **kwargs: P.kwargs) -> R_co:
        return verb(self.frame, *args, **kwargs)

    return cast("_Method[P, R_co]", call)


class PrcFrame(Generic[FrameT]):
    """Precision-recall verbs of a frame.

    For example::

        df.prc.average_precision("truth", "score", by="region")  # one row per segment
        df.prc.curve("truth", "score", by="region")  # one row per threshold
        df.prc.plot("truth", "score", by="region")  # a picture

    The verbs::

        average_precision    Average precision of each segment, with its interval.
        curve                Precision and recall at every threshold of each segment.
        summary              Scorecard of each segment: area, interval, chance level.
        compare              Compare models, or segments with each other or with chance.
        heterogeneity        How far segments differ, and how much of it is sampling.
        operating_points     Best threshold of each segment for a target, or given ones.
        counts               Positives and negatives at each score, or in each bin.
        plot                 Draw the precision-recall curve of each segment and model.
        plot_summary         Draw the average precision of each segment.
        write_ggplot         Write a table for R, and the ggplot2 script that draws it.
        report               Write one HTML page to send, and its numbers as JSON.
        auc                  Area under the curve of each segment, by one or several methods.
        band                 Precision on a grid of recalls, with a band around each curve.
        one_vs_rest          Turn one score column per class into one long frame with a key `label`.
        quantile_thresholds  Thresholds that divide the rows into about equal parts.

    ``help(df.prc.curve)`` explains one of them, with an example. For a type checker, which does not
    know ``df.prc``, ``frame_prc.on(df)`` is the same.
    """

    def __init__(self, frame: FrameT) -> None:
        self.frame = frame

    def __repr__(self) -> str:
        return f"<prc of a {type(self.frame).__qualname__}: {', '.join(_verbs())}>"

    def __getattr__(self, name: str) -> NoReturn:
        meant = _ALSO_CALLED.get(name) or " or ".join(get_close_matches(name, _verbs()))
        hint = f" Hint: did you mean {meant}?" if meant else ""
        raise AttributeError(
            f"prc has no verb {name!r}. Allowed: {', '.join(_verbs())}.{hint}", name=name, obj=self
        )

    counts = _frame_method(verbs.counts)
    curve = _frame_method(verbs.curve)
    average_precision = _frame_method(verbs.average_precision)
    auc = _frame_method(verbs.auc)
    compare = _frame_method(verbs.compare)
    heterogeneity = _frame_method(verbs.heterogeneity)
    operating_points = _frame_method(verbs.operating_points)
    band = _frame_method(verbs.band)
    summary = _frame_method(verbs.summary)
    plot = _method(verbs.plot)
    plot_summary = _method(verbs.plot_summary)
    one_vs_rest = _frame_method(verbs.one_vs_rest)
    quantile_thresholds = _method(verbs.quantile_thresholds)
    write_ggplot = _method(verbs.write_ggplot)
    report = _method(verbs.report)


def on(frame: FrameT) -> PrcFrame[FrameT]:
    """Verbs of a frame, as methods that a type checker knows.

    It is ``frame.prc``, which type checkers and some editors do not know, and also works for frames
    without ``.prc``, such as DuckDB relations.

    Parameters
    ----------
    frame
        A frame of any kind that the verbs take.

    Returns
    -------
    PrcFrame
        An object whose methods are the verbs.

    Raises
    ------
    FrameError
        If it is not such a frame.

    Examples
    --------
    >>> import polars as pl, frame_prc
    >>> df = pl.DataFrame({"truth": [1, 0, 1], "score": [0.9, 0.8, 0.7]})
    >>> frame_prc.on(df).counts("truth", "score")
    shape: (3, 3)
    ┌───────────┬─────┬─────┐
    │ threshold ┆ pos ┆ neg │
    │ ---       ┆ --- ┆ --- │
    │ f64       ┆ i64 ┆ i64 │
    ╞═══════════╪═════╪═════╡
    │ 0.9       ┆ 1   ┆ 0   │
    │ 0.8       ┆ 0   ┆ 1   │
    │ 0.7       ┆ 1   ┆ 0   │
    └───────────┴─────┴─────┘
    """
    check_frame(unwrapped(frame), engines=True)
    return PrcFrame(frame)


def _verbs() -> list[str]:
    return sorted(name for name in vars(PrcFrame) if not name.startswith("_"))


class PrcExpr:
    """Aggregates of a score expression: ``pl.col("score").prc.average_precision("truth")``."""

    def __init__(self, score: pl.Expr) -> None:
        self._score = score

    @refuses_unknown
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
