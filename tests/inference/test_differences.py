"""The p-value of a difference: that of its interval, at whatever level it is looked for."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest

from frame_prc._inference.comparisons import Area, Difference

LEVELS = [0.5, 0.9, 0.95, 0.99, 0.9999]


@pytest.mark.parametrize("n_effective", [2, 2.5, 3, 4, 5, 6, 8, 40, 1000])
@pytest.mark.parametrize("error", [0.02, 0.03])
def test_it_does_not_depend_on_the_level_that_is_asked_for(n_effective, error):
    sides = (Area(area, 1 - area, error, n_effective) for area in (0.72, 0.6))
    difference = Difference(*sides, 0.12, 0.4, n_effective)
    found = [difference.p_value(level) for level in LEVELS]
    assert found == pytest.approx([found[0]] * len(LEVELS), rel=1e-6)
    # At this p the interval just ends at 0.
    assert difference.limits(1 - found[0])[0] == pytest.approx(0, abs=1e-4)
    normal = 2 * NormalDist().cdf(-0.12 / math.sqrt(0.8 * error**2))
    assert found[0] > normal
