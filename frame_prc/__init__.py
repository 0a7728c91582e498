"""Precision-recall curves and average precision per segment, as a dataframe verb.

Importing the package puts ``prc`` on Polars frames and expressions and on pandas frames::

    df.prc.average_precision("late", "score", by="carrier")

Every verb is also a typed function, ``frame_prc.average_precision(df, "late", "score")``, and
``frame_prc.on(df)`` has them as typed methods.
"""

from frame_prc import namespace
from frame_prc.exceptions import (
    ColumnError,
    DataError,
    FileError,
    FrameError,
    OptionError,
    ParameterError,
    PrcError,
)
from frame_prc.namespace import on
from frame_prc.verbs import (
    auc,
    average_precision,
    average_precision_expr,
    band,
    compare,
    counts,
    curve,
    heterogeneity,
    iso_f1,
    merge_counts,
    one_vs_rest,
    operating_points,
    plot,
    plot_summary,
    quantile_thresholds,
    report,
    summary,
    write_ggplot,
)

__all__ = [
    "ColumnError",
    "DataError",
    "FileError",
    "FrameError",
    "OptionError",
    "ParameterError",
    "PrcError",
    "auc",
    "average_precision",
    "average_precision_expr",
    "band",
    "compare",
    "counts",
    "curve",
    "heterogeneity",
    "iso_f1",
    "merge_counts",
    "on",
    "one_vs_rest",
    "operating_points",
    "plot",
    "plot_summary",
    "quantile_thresholds",
    "report",
    "summary",
    "write_ggplot",
]

__version__ = "0.1.0"

namespace.register()
