"""Precision-recall curves and average precision per segment, as a dataframe verb.

Importing the package puts ``prc`` on Polars frames and expressions and on pandas frames::

    df.prc.average_precision("late", "score", by="carrier")

Several verbs share the roles of the columns, and one sort, through an evaluation::

    ev = df.prc.evaluate("late", ["old", "new"], by="carrier", cluster="day", ci=0.95)
    ev.summary()
    ev.plot()

Every verb is also a typed function, such as ``frame_prc.average_precision(df, "late", "score")``.
"""

import sys
from typing import TYPE_CHECKING

from frame_prc import _registration
from frame_prc.exceptions import (
    ColumnError,
    DataError,
    FileError,
    FrameError,
    OptionError,
    ParameterError,
    PrcError,
)

if TYPE_CHECKING:
    from frame_prc.evaluation.verbs import *

__all__ = [
    "ColumnError",
    "DataError",
    "Draws",
    "Evaluation",
    "FileError",
    "FrameError",
    "OptionError",
    "ParameterError",
    "PrcError",
    "Top",
    "auc",
    "average",
    "average_precision",
    "average_precision_expr",
    "band",
    "compare_models",
    "compare_segments",
    "counts",
    "curve",
    "evaluate",
    "find_segments",
    "heterogeneity",
    "influence",
    "iso_f1",
    "merge_counts",
    "monitor",
    "one_vs_rest",
    "operating_points",
    "plot",
    "plot_scores",
    "plot_summary",
    "plot_table",
    "prediction_powered",
    "quantile_thresholds",
    "reliability",
    "report",
    "sample_size",
    "sample_to_label",
    "shrunk",
    "summary",
    "summary_to_matplotlib",
    "threshold_table",
    "to_matplotlib",
    "write_ggplot",
]

__version__ = "0.1.0"

_registration.register()


if not TYPE_CHECKING:  # for a type checker, any other name would be one of the package

    def __getattr__(name: str) -> object:
        """Return a verb, which is imported when it is first used."""
        if name not in __all__:
            from frame_prc._request.hints import no_attribute  # noqa: PLC0415 - only for an error

            raise no_attribute(f"module {__name__!r}", name, __all__, sys.modules[__name__])
        from frame_prc.evaluation import verbs  # noqa: PLC0415 - at the first use

        found = getattr(verbs, name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
