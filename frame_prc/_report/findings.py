"""What a report says in sentences: which model is better, which segments differ, which are small.

A sentence says that something is so only where a test shows it, and otherwise that it is not shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from frame_prc._report.evaluation import Evaluation
from frame_prc._report.model_findings import better_models, on_models, on_models_by_segment
from frame_prc._report.segment_findings import on_segments, on_sizes, on_spread


@dataclass(frozen=True)
class Finding:
    """A sentence or two, and what they are about."""

    about: str
    text: str


def findings(found: Evaluation) -> list[Finding]:
    """Return the findings of a report."""
    return [Finding(about, text) for about, text in _texts(found)]


def _texts(found: Evaluation) -> Iterator[tuple[str, str]]:
    """Yield sentences; of segments, those of the best model, or of all that may be the best."""
    yield "models", on_models(found)
    if found.segments.height < 2:  # noqa: PLR2004
        return
    yield from (("models by segment", text) for text in on_models_by_segment(found))
    models = better_models(found)
    spreads = dict.fromkeys(on_spread(found, model) for model in models)
    yield from (("spread", text) for text in spreads if text is not None)
    yield from (("segments", on_segments(found, model)) for model in models)
    yield "sizes", on_sizes(found)
