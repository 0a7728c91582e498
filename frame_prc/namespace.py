"""The verbs as methods: ``frame.prc`` on Polars and pandas frames, and ``pl.col(...).prc``."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, Generic, NoReturn, ParamSpec, Protocol, TypeVar, cast

import polars as pl

from frame_prc._frames.border import FrameT
from frame_prc._request.hints import name_hint, refuses_unknown
from frame_prc.evaluation import verbs
from frame_prc.evaluation.evaluation import Evaluation
from frame_prc.exceptions import message

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


class _FrameMethod(Protocol[P]):
    """What a type checker sees of a verb whose result is a frame of the same kind."""

    def __get__(self, accessor: PrcFrame[FrameT], owner: Any = None) -> Callable[P, FrameT]: ...


class _Method(Protocol[P, R_co]):
    """What a type checker sees of any other verb."""

    def __get__(self, accessor: PrcFrame[Any], owner: Any = None) -> Callable[P, R_co]: ...


class _Evaluate(Protocol):
    """What a type checker sees of ``evaluate``."""

    def __get__(
        self, accessor: PrcFrame[FrameT], owner: Any = None
    ) -> Callable[..., Evaluation[FrameT]]: ...


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

    Or name the roles once, for several verbs::

        ev = df.prc.evaluate("truth", "score", by="region", ci=0.95)
        ev.average_precision()
        ev.plot()

    The verbs::

        evaluate             Name truth, scores and segments once, for all verbs that follow.
        average_precision    Average precision of each segment, with its interval.
        average              Mean of a measure over a key: over queries, users, folds or labels.
        curve                Precision and recall at every threshold of each segment.
        summary              Scorecard of each segment: area, interval, lift and measures by name.
        compare_models       Compare models on the same rows, each with earlier ones or a baseline.
        compare_segments     Compare each segment with the others, all rows, another one, or chance.
        heterogeneity        How far segments differ, and how much of it is sampling.
        shrunk               How good each segment probably is, small ones included.
        find_segments        Segments that nobody named: where the model is worse, or better.
        monitor              Weeks in order against a reference, with one error for all looks.
        sample_size          How many rows an interval so narrow, or so small a difference, needs.
        influence            How far each row moves a measure of its segment.
        operating_points     Best threshold of each segment for a target, or given ones.
        threshold_table      Thresholds by steps, with the alerts, hits and false alarms of each.
        reliability          How often rows of like probabilities are positive.
        counts               Positives and negatives at each score, or in each bin.
        plot                 Draw the precision-recall curve of each segment and model.
        plot_scores          Draw how the scores of either class are spread.
        plot_summary         Draw the average precision of each segment.
        write_ggplot         Write a table for R, and the ggplot2 script that draws it.
        report               Write one HTML page to send, and its numbers as JSON.
        to_matplotlib        Draw the curve of each segment and model on your Matplotlib axes.
        summary_to_matplotlib Draw the average precision of each segment on your Matplotlib axes.
        plot_table           Draw a table that a verb returned: intervals, periods, thresholds.
        auc                  Area under the curve of each segment, by one or several methods.
        band                 Precision on a grid of recalls, with a pointwise or simultaneous band.
        prediction_powered   Measure from few labels, narrowed by a judge's label of all rows.
        one_vs_rest          Turn one score column per class into one long frame with a key `label`.
        quantile_thresholds  Thresholds that divide the rows into about equal parts.
        sample_to_label      Rows to label, most of them at high scores, with the weight of each.

    ``help(df.prc.curve)`` explains one of them, with an example. For a type checker, which does not
    know ``df.prc``, ``frame_prc.evaluate(df, ...)`` is typed.
    """

    def __init__(self, frame: FrameT) -> None:
        self.frame = frame

    def __repr__(self) -> str:
        return f"<prc of a {type(self.frame).__qualname__}: {', '.join(_verbs())}>"

    def __getattr__(self, name: str) -> NoReturn:
        text = message(f"prc has no verb {name!r}", ", ".join(_verbs()), name_hint(name, _verbs()))
        raise AttributeError(text, name=name, obj=self)

    evaluate = cast("_Evaluate", _method(verbs.evaluate))
    counts = _frame_method(verbs.counts)
    curve = _frame_method(verbs.curve)
    average = _frame_method(verbs.average)
    average_precision = _frame_method(verbs.average_precision)
    auc = _frame_method(verbs.auc)
    compare_models = _frame_method(verbs.compare_models)
    compare_segments = _frame_method(verbs.compare_segments)
    heterogeneity = _frame_method(verbs.heterogeneity)
    shrunk = _frame_method(verbs.shrunk)
    find_segments = _frame_method(verbs.find_segments)
    monitor = _frame_method(verbs.monitor)
    sample_size = _frame_method(verbs.sample_size)
    influence = _frame_method(verbs.influence)
    prediction_powered = _frame_method(verbs.prediction_powered)
    operating_points = _frame_method(verbs.operating_points)
    band = _frame_method(verbs.band)
    summary = _frame_method(verbs.summary)
    reliability = _frame_method(verbs.reliability)
    threshold_table = _frame_method(verbs.threshold_table)
    plot = _method(verbs.plot)
    plot_scores = _method(verbs.plot_scores)
    plot_summary = _method(verbs.plot_summary)
    plot_table = _method(verbs.plot_table)
    # A type checker fears that a property of a line were called "frame".
    to_matplotlib = _method(verbs.to_matplotlib)  # type: ignore[arg-type]
    summary_to_matplotlib = _method(verbs.summary_to_matplotlib)  # type: ignore[arg-type]
    one_vs_rest = _frame_method(verbs.one_vs_rest)
    quantile_thresholds = _method(verbs.quantile_thresholds)
    sample_to_label = _frame_method(verbs.sample_to_label)
    write_ggplot = _method(verbs.write_ggplot)
    report = _method(verbs.report)


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
