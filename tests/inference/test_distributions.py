"""Tails and quantiles of distributions: against SciPy, and against closed forms."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from frame_prc._inference.distributions import (
    beta_quantile,
    binomial_cdf,
    chi_square_p_value,
    clopper_low,
    student_p_value,
    student_quantile,
)

PRECISE = {"rel": 1e-9, "abs": 1e-300}
DEGREES = [0.5, 1, 1.7, 2, 3, 9, 39, 40, 41, 250, 1e4, 1e6]


@pytest.mark.parametrize("degrees", DEGREES)
def test_p_value_of_t_is_that_of_scipy(degrees):
    at = [1e-3, 0.1, 0.7, 1, 1.5, 2, 4, 12, 100]
    expected = 2 * stats.t.sf(at, degrees)
    assert [student_p_value(t, degrees) for t in at] == pytest.approx(expected, **PRECISE)
    assert [student_p_value(-t, degrees) for t in at] == [student_p_value(t, degrees) for t in at]


@pytest.mark.parametrize("degrees", DEGREES)
def test_quantile_of_t_is_that_of_scipy(degrees):
    levels = [0.1, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 1 - 1e-9]
    expected = [-stats.t.ppf((1 - level) / 2, degrees) for level in levels]
    found = [student_quantile(level, degrees) for level in levels]
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("degrees", [1, 2, 3, 10, 99, 1000, 1e5])
def test_p_value_of_chi_square_is_that_of_scipy(degrees):
    at = [degrees * ratio for ratio in (1e-6, 0.01, 0.3, 0.9, 1, 1.05, 1.3, 3)]
    expected = stats.chi2.sf(at, degrees)
    assert [chi_square_p_value(q, degrees) for q in at] == pytest.approx(expected, **PRECISE)


@given(st.floats(0.05, 1e5), st.floats(0.05, 1e5), st.floats(1e-6, 1 - 1e-6))
def test_quantile_of_beta_is_that_of_scipy(a, b, p):
    assert stats.beta.cdf(beta_quantile(p, a, b), a, b) == pytest.approx(p, rel=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.9, 1.0])
def test_distribution_of_binomial_is_that_of_scipy(share):
    for k, n in [(-1, 5), (0, 5), (3, 5), (5, 5), (0, 0), (15, 1000), (900, 1000)]:
        expected = stats.binom.cdf(k, n, share)
        assert binomial_cdf(k, n, share) == pytest.approx(expected, **PRECISE), (k, n)


@pytest.mark.parametrize(("hits", "misses"), [(0, 0), (0, 5), (5, 0), (3, 17), (4000, 1)])
def test_exact_limits_are_those_of_scipy(hits, misses):
    n = hits + misses
    known = stats.binomtest(hits, n).proportion_ci(0.9, "exact") if n else (0.0, 1.0)
    found = (clopper_low(hits, misses, 0.05), 1 - clopper_low(misses, hits, 0.05))
    assert found == pytest.approx(tuple(known), rel=1e-9)


@given(st.floats(0, 1e6))
def test_one_and_two_degrees_have_closed_forms(t):
    # Of Cauchy's distribution, of t with 2 degrees, and of an exponential one.
    assert student_p_value(t, 1) == pytest.approx(1 - 2 / math.pi * math.atan(t), abs=1e-14)
    assert student_p_value(t, 2) == pytest.approx(1 - t / math.sqrt(2 + t * t), abs=1e-14)
    assert chi_square_p_value(t, 2) == pytest.approx(math.exp(-t / 2), rel=1e-12, abs=1e-300)


@given(st.floats(0.01, 0.999), st.floats(0.5, 1e5))
def test_quantile_is_the_inverse_of_the_p_value(level, degrees):
    found = student_p_value(student_quantile(level, degrees), degrees)
    assert found == pytest.approx(1 - level, rel=1e-9)


def test_the_ends_are_exact():
    assert student_p_value(0.0, 5) == 1.0
    assert student_p_value(1e200, 5) == 0.0
    assert chi_square_p_value(0.0, 5) == 1.0


def test_what_is_not_a_number_stays_so_and_does_not_run_on():
    nan = math.nan
    found = [student_p_value(1.0, nan), student_quantile(0.95, nan), chi_square_p_value(nan, 2)]
    assert all(map(math.isnan, found))
