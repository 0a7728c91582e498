"""Formulas whose digits would be lost if they were written as they are read."""

from __future__ import annotations

from decimal import Decimal, localcontext

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frame_prc._formulas import minus_log1p


@given(st.floats(1e-12, 1e3) | st.floats(0.05, 0.2))
def test_growth_minus_its_logarithm_keeps_its_digits(growth):
    with localcontext(prec=60):
        exact = Decimal(growth) - (1 + Decimal(growth)).ln()
    found = pl.select(minus_log1p(pl.lit(growth))).item()
    assert found == pytest.approx(float(exact), rel=4e-15)
