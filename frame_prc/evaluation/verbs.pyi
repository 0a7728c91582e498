# Types of the one-liners, written by .ci/stubs from the methods of an evaluation.
import datetime as dt
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Unpack

from altair.typing import ChartType
from matplotlib.axes import Axes

from frame_prc._charts.on_axes import Drawn
from frame_prc._charts.options import Facet, Kind, OperatingPoints, Overlay, Sort
from frame_prc._frames.border import AnyFrame, FrameT
from frame_prc._report.options import Section
from frame_prc._request.specs import (
    Adjust,
    Against,
    ChartX,
    CiMethod,
    How,
    IntoColumn,
    IntoKeys,
    IntoScores,
    Keep,
    MeasureName,
    Method,
    OverLooks,
    PictureForR,
    Scale,
    SegmentsAre,
    SegmentsTest,
    Start,
    Strategy,
)
from frame_prc._request.specs import Draws as Draws
from frame_prc._request.specs import Top as Top
from frame_prc.evaluation.evaluation import Evaluation as Evaluation
from frame_prc.evaluation.evaluation import evaluate as evaluate
from frame_prc.evaluation.glossary import Roles
from frame_prc.evaluation.helpers import average_precision_expr as average_precision_expr
from frame_prc.evaluation.helpers import iso_f1 as iso_f1
from frame_prc.evaluation.helpers import merge_counts as merge_counts
from frame_prc.evaluation.helpers import one_vs_rest as one_vs_rest
from frame_prc.evaluation.helpers import plot_table as plot_table
from frame_prc.evaluation.helpers import quantile_thresholds as quantile_thresholds
from frame_prc.evaluation.helpers import sample_to_label as sample_to_label

OF_FRAMES: tuple[Callable[..., Any], ...]

def auc(
    frame: FrameT,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    method: Method | Sequence[Method] = "step",
    start: Start = "one",
    recall_range: tuple[float, float] | None = None,
    standardised: bool = False,
    thresholds: int | Sequence[float] | None = None,
    calibrate: float | Literal["highest", "pooled"] | AnyFrame | None = None,
    top: float | Top | None = None,
    ci: float | None = None,
    bootstrap: int | Draws | None = None,
    details: bool = False,
    **roles: Unpack[Roles],
) -> FrameT: ...
def average(
    frame: FrameT,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    over: str,
    measure: MeasureName = "average_precision",
    how: How = "mean",
    ci: float | None = None,
    calibrate: float | Literal["highest", "pooled"] | None = None,
    at: Mapping[str, float] | AnyFrame | None = None,
    thresholds: int | Sequence[float] | None = None,
    top: float | Top | None = None,
    details: bool = False,
    **roles: Unpack[Roles],
) -> FrameT: ...
def average_precision(
    frame: FrameT,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    thresholds: int | Sequence[float] | None = None,
    bounds: bool = False,
    ci: float | None = None,
    ci_method: CiMethod = "influence",
    bootstrap: int | Draws | None = None,
    calibrate: float | Literal["highest", "pooled"] | AnyFrame | None = None,
    top: float | Top | None = None,
    details: bool = False,
    **roles: Unpack[Roles],
) -> FrameT: ...
def band(
    frame: FrameT,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    recalls: int | Sequence[float] = 101,
    ci: float = 0.95,
    simultaneous: bool = False,
    calibrate: float | Literal["highest", "pooled"] | AnyFrame | None = None,
    bootstrap: int | Draws = 1000,
    **roles: Unpack[Roles],
) -> FrameT: ...
def compare_models(
    frame: FrameT,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    ci: float | None = 0.95,
    baseline: str | None = None,
    measure: MeasureName | Sequence[MeasureName] | None = None,
    calibrate: float | Literal["highest", "pooled"] | None = None,
    at: Mapping[str, float] | AnyFrame | None = None,
    over: str | None = None,
    permutations: int | Draws | None = None,
    adjust: Adjust | None = None,
    margin: float | None = None,
    scale: Scale = "difference",
    details: bool = False,
    **roles: Unpack[Roles],
) -> FrameT: ...
def compare_segments(
    frame: FrameT,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    against: Against = "others",
    ci: float | None = 0.95,
    measure: MeasureName | Sequence[MeasureName] | None = None,
    calibrate: float | Literal["highest", "pooled"] | None = None,
    at: Mapping[str, float] | AnyFrame | None = None,
    permutations: int | Draws | None = None,
    adjust: Adjust | None = None,
    margin: float | None = None,
    scale: Scale = "difference",
    details: bool = False,
    **roles: Unpack[Roles],
) -> FrameT: ...
def counts(
    frame: FrameT,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    thresholds: int | Sequence[float] | None = None,
    squares: bool = False,
    **roles: Unpack[Roles],
) -> FrameT: ...
def curve(
    frame: FrameT,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    start: Start = "one",
    keep: Keep = "all",
    envelope: bool = False,
    gain: bool = False,
    calibrate: float | Literal["highest", "pooled"] | AnyFrame | None = None,
    thresholds: int | Sequence[float] | None = None,
    ci: float | None = None,
    recalls: int | Sequence[float] | None = None,
    over: str | None = None,
    **roles: Unpack[Roles],
) -> FrameT: ...
def find_segments(
    frame: FrameT,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    columns: IntoKeys | None = None,
    depth: int = 2,
    quantiles: int = 4,
    min_positives: int = 20,
    ci: float = 0.95,
    measure: MeasureName = "calibrated_average_precision",
    details: bool = False,
    **roles: Unpack[Roles],
) -> FrameT: ...
def heterogeneity(
    frame: FrameT,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    ci: float | None = 0.95,
    measure: MeasureName = "calibrated_average_precision",
    calibrate: float | Literal["highest", "pooled"] | None = None,
    at: Mapping[str, float] | AnyFrame | None = None,
    test: SegmentsTest | None = None,
    details: bool = False,
    **roles: Unpack[Roles],
) -> FrameT: ...
def influence(
    frame: FrameT,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    measures: MeasureName | Sequence[MeasureName] | None = None,
    at: Mapping[str, float] | AnyFrame | None = None,
    **roles: Unpack[Roles],
) -> FrameT: ...
def monitor(
    frame: FrameT,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    over: str,
    plan: tuple[int, int],
    ci: float = 0.95,
    measure: MeasureName = "average_precision",
    calibrate: float | None = None,
    at: Mapping[str, float] | AnyFrame | None = None,
    window: int = 1,
    adjust: OverLooks | None = None,
    state: AnyFrame | None = None,
    details: bool = False,
    **roles: Unpack[Roles],
) -> FrameT: ...
def operating_points(
    frame: FrameT,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    recall: float | Sequence[float] | None = None,
    precision: float | Sequence[float] | None = None,
    threshold: float | Sequence[float] | IntoColumn | AnyFrame | None = None,
    f_beta: float | Sequence[float] | None = None,
    predicted_rate: float | Sequence[float] | None = None,
    predicted_count: float | Top | Sequence[float | Top] | None = None,
    fpr: float | Sequence[float] | None = None,
    cost: tuple[float, float] | Sequence[tuple[float, float]] | None = None,
    joint: bool = False,
    guarantee: float | None = None,
    calibrate: float | Literal["highest", "pooled"] | AnyFrame | None = None,
    ci: float | None = None,
    details: bool = False,
    **roles: Unpack[Roles],
) -> FrameT: ...
def plot(
    frame: AnyFrame,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    x: ChartX = "recall",
    ci: float | None = None,
    band: bool = False,
    iso_f1: bool | Sequence[float] | None = None,
    points: OperatingPoints | None = None,
    calibrate: float | Literal["highest", "pooled"] | AnyFrame | None = None,
    roc: bool = False,
    facet: Facet = None,
    overlay: Overlay = "auto",
    y: float | Literal["auto"] = "auto",
    dark: bool = False,
    title: str | None = None,
    size: int | tuple[int, int] | None = None,
    **roles: Unpack[Roles],
) -> ChartType: ...
def plot_scores(
    frame: AnyFrame,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    bins: int = 50,
    dark: bool = False,
    title: str | None = None,
    size: int | tuple[int, int] | None = None,
    **roles: Unpack[Roles],
) -> ChartType: ...
def plot_summary(
    frame: AnyFrame,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    ci: float = 0.95,
    baseline: str | None = None,
    calibrate: float | Literal["highest", "pooled"] | None = "highest",
    sort: Sort = None,
    kind: Kind = "dots",
    dark: bool = False,
    title: str | None = None,
    width: int | None = None,
    **roles: Unpack[Roles],
) -> ChartType: ...
def prediction_powered(
    frame: FrameT,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    proxy: IntoColumn,
    ci: float = 0.95,
    measure: MeasureName = "average_precision",
    at: Mapping[str, float] | AnyFrame | None = None,
    details: bool = False,
    **roles: Unpack[Roles],
) -> FrameT: ...
def reliability(
    frame: FrameT,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    bins: int | Sequence[float] = 10,
    strategy: Strategy = "uniform",
    ci: float | None = 0.95,
    details: bool = False,
    **roles: Unpack[Roles],
) -> FrameT: ...
def report(
    frame: AnyFrame,
    path: str | os.PathLike[str],
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    ci: float = 0.95,
    baseline: str | None = None,
    calibrate: float | Literal["highest", "pooled"] | None = None,
    sections: Section | Sequence[Section] | None = None,
    points: OperatingPoints | None = None,
    title: str | None = None,
    note: str | None = None,
    date: str | dt.date | None = None,
    accent: str | None = None,
    **roles: Unpack[Roles],
) -> list[Path]: ...
def sample_size(
    frame: FrameT,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    width: float | None = None,
    difference: float | None = None,
    power: float = 0.8,
    ci: float = 0.95,
    baseline: str | None = None,
    measure: MeasureName | None = None,
    calibrate: float | Literal["highest", "pooled"] | None = None,
    at: Mapping[str, float] | AnyFrame | None = None,
    **roles: Unpack[Roles],
) -> FrameT: ...
def shrunk(
    frame: FrameT,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    ci: float | None = 0.95,
    measure: MeasureName = "calibrated_average_precision",
    calibrate: float | Literal["highest", "pooled"] | None = None,
    at: Mapping[str, float] | AnyFrame | None = None,
    below: float | None = None,
    details: bool = False,
    **roles: Unpack[Roles],
) -> FrameT: ...
def summary(
    frame: FrameT,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    ci: float | None = 0.95,
    calibrate: float | Literal["highest", "pooled"] | AnyFrame | None = None,
    overall: bool = False,
    segments: SegmentsAre = "fixed",
    measures: str | Sequence[str] | None = None,
    at: Mapping[str, float] | AnyFrame | None = None,
    shrink: bool = False,
    details: bool = False,
    **roles: Unpack[Roles],
) -> FrameT: ...
def summary_to_matplotlib(
    frame: AnyFrame,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    ax: Axes | None = None,
    ci: float = 0.95,
    calibrate: float | Literal["highest", "pooled"] | None = "highest",
    sort: Sort = None,
    **line: Any,
) -> Drawn: ...
def threshold_table(
    frame: FrameT,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    thresholds: float | Sequence[float] | AnyFrame | None = None,
    cost: tuple[float, float] | None = None,
    calibrate: float | Literal["highest", "pooled"] | AnyFrame | None = None,
    details: bool = False,
    **roles: Unpack[Roles],
) -> FrameT: ...
def to_matplotlib(
    frame: AnyFrame,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    ax: Axes | None = None,
    ci: float | None = None,
    **line: Any,
) -> Drawn: ...
def write_ggplot(
    frame: AnyFrame,
    path: str | os.PathLike[str],
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    kind: PictureForR = "curve",
    start: Start = "one",
    keep: Keep = "corners",
    ci: float | None = None,
    title: str | None = None,
    **roles: Unpack[Roles],
) -> tuple[Path, Path]: ...
