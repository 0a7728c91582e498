"""The curve behind those of each panel: of all rows, or the mean of all segments."""

from __future__ import annotations

import pytest
from chart_reading import REGIONS, drawn, words

from frame_prc import OptionError

# Pooled by old: 0.9 ++ | 0.8 - | 0.7 + | 0.4 +- | 0.2 -, so of 4 positives and 3 negatives
# 0 false ones at recall 1/2, 1 at 3/4, and 2 at 1. North has 2 and 2, south 2 and 1.
OF_NEGATIVES = {0.5: 0 / 3, 0.75: 1 / 3, 1.0: 2 / 3}
ODDS = {"north": 1.0, "south": 0.5}
# The recall of the first point that reaches each, and the shares of negatives, north and south.
OF_EACH = {0.5: (0.5, 0, 0), 0.75: (1.0, 1 / 2, 1), 1.0: (1.0, 1 / 2, 1)}
ONE = {"truth": "late", "score": "old", "by": "region", "facet": "region"}


def at_recalls(rows):
    return {row["recall"]: row["precision"] for row in rows if row["recall"] in OF_NEGATIVES}


def overlays(chart):
    """Return the curve behind each panel; those of points have a threshold."""
    behind = [rows for _, rows in drawn(chart, "line", "recall", "precision")]
    return [rows for rows in behind if not {"threshold", "f_score"} & {*rows[0]}]


def precision(found, wrong, odds):
    return found / (found + wrong * odds)


def test_all_rows_are_drawn_at_the_prevalence_of_each_segment():
    chart = REGIONS.prc.plot(**ONE)
    for rows, odds in zip(overlays(chart), ODDS.values(), strict=True):
        wanted = {r: precision(r, wrong, odds) for r, wrong in OF_NEGATIVES.items()}
        assert at_recalls(rows) == pytest.approx(wanted, rel=1e-4)
    assert "Grey: all rows, as if they had the segment's share of positives." in " ".join(
        words(chart)
    )


def test_the_mean_of_segments_is_drawn_at_the_prevalence_of_each():
    chart = REGIONS.prc.plot(**ONE, overlay="mean")
    for rows, odds in zip(overlays(chart), ODDS.values(), strict=True):
        wanted = {
            r: sum(precision(reached, wrong, odds) for wrong in shares) / 2
            for r, (reached, *shares) in OF_EACH.items()
        }
        assert at_recalls(rows) == pytest.approx(wanted, rel=1e-4)
    assert "Grey: the mean of all segments, as if each had this segment's" in " ".join(words(chart))


def test_models_have_a_curve_each_on_request():
    asked = {"truth": "late", "score": ["old", "new"], "by": "region"}
    assert overlays(REGIONS.prc.plot(**asked)) == []
    chart = REGIONS.prc.plot(**asked, overlay="pooled")
    [north, _] = overlays(chart)
    assert {row["series"] for row in north} == {"old", "new"}
    assert at_recalls([row for row in north if row["series"] == "old"])[1.0] == pytest.approx(0.6)
    assert "Wide and faint: all rows, as if" in " ".join(words(chart))
    apart = REGIONS.prc.plot(**asked, facet=["model", "region"])
    assert len(overlays(apart)) == 4


@pytest.mark.parametrize("asked", [{"by": "region", "facet": False}, {}])
def test_without_a_panel_per_segment_it_is_refused(asked):
    with pytest.raises(OptionError, match="overlay='pooled' has no segment to stand behind"):
        REGIONS.prc.plot("late", "old", **asked, overlay="pooled")
    assert overlays(REGIONS.prc.plot("late", "old", **asked)) == []
