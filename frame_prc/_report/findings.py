"""What a report says in sentences: which model is better, which segments differ, which are small.

A sentence says that something is so only where a test shows it, and otherwise that it is not shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from frame_prc._report.evaluation import Evaluation
from frame_prc._report.model_findings import better_models, on_models, on_models_by_segment
from frame_prc._report.segment_findings import (
    name_of_model,
    on_segments,
    on_sizes,
    on_spread,
)


@dataclass(frozen=True)
class Finding:
    """A sentence or two, what they are about, and the models they are of, if there are several."""

    about: str
    text: str
    models: str = ""


def findings(found: Evaluation) -> list[Finding]:
    """Return the findings of a report."""
    return list(_findings(found))


def _findings(found: Evaluation) -> Iterator[Finding]:
    """Yield findings; on segments, those of the best model, or of all that may be the best."""
    yield Finding("models", on_models(found))
    if found.segments.height < 2:  # noqa: PLR2004
        return
    for pair, text in on_models_by_segment(found):
        yield Finding("models by segment", text, pair)
    models = better_models(found)
    names = [name_of_model(found, model) for model in models]
    spreads = [(name, on_spread(found, m)) for m, name in zip(models, names, strict=True)]
    yield from (Finding("spread", text, name) for name, text in spreads if text is not None)
    for model, name in zip(models, names, strict=True):
        yield Finding("segments", on_segments(found, model), name)
    yield Finding("sizes", on_sizes(found))
