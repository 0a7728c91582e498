"""Differences judged against the largest loss that does not matter."""

from __future__ import annotations

import polars as pl
import pytest
from kinds import every_kind, every_polars_kind

import frame_prc
from frame_prc import OptionError


def two_models(n=600, better=1.0):
    """Return rows of which `new` ranks better than `old` by as much as asked."""
    row = pl.int_range(n, eager=True)
    frame = pl.DataFrame({"row": row, "truth": row * 7 % 11 < 4})
    noise = pl.col("row") * 7919 % 601 / 601
    other = pl.col("row") * 104729 % 607 / 607
    return frame.with_columns(
        region=pl.col("row") % 2,
        old=(noise + 0.3 * pl.col("truth")) / 2,
        new=(noise + 0.1 * other + 0.3 * better * pl.col("truth")) / 2,
    )


def compared(kind, df, **asked):
    table = frame_prc.compare_models(kind.make(df), "truth", ["old", "new"], **asked)
    return kind.rows(table)


@every_kind
@pytest.mark.parametrize(
    ("better", "margin", "concluded"),
    [(2.0, 0.01, "better"), (0.99, 0.05, "not worse"), (0.9, 0.001, "worse"), (1.02, 0, "undec")],
)
def test_the_conclusion_is_that_of_the_limits(kind, better, margin, concluded):
    df = two_models(better=better)
    [row] = compared(kind, df, margin=margin, details=True).iter_rows(named=True)
    low, high = row["ci_low"], row["ci_high"]
    if low > 0:
        expected = "better"
    elif low > -margin:
        expected = "not worse"
    else:
        expected = "worse" if high < 0 else "undecided"
    assert row["conclusion"] == expected
    assert expected.startswith(concluded)
    assert (row["p_margin"] < 0.025) == (low > -margin)


@every_kind
def test_of_a_loss_lower_is_better(kind):
    df = two_models(better=2.0)
    [row] = compared(kind, df, measure="brier", margin=0.01).iter_rows(named=True)
    assert (row["ci_high"] < 0) == (row["conclusion"] == "better")
    [turned] = kind.rows(
        frame_prc.compare_models(
            kind.make(df), "truth", ["new", "old"], measure="brier", margin=0.01
        )
    ).iter_rows(named=True)
    assert {row["conclusion"], turned["conclusion"]} == {"better", "worse"}


@every_kind
@pytest.mark.parametrize(
    ("name", "sign", "power"),
    [("brier", 1, 1), ("mcc", -1, 1), ("log_loss", 1, 1), ("log_loss", 1, 6)],
)
def test_the_p_value_of_a_larger_loss_is_that_of_the_limit_on_its_side(kind, name, sign, power):
    """A measure may have another range than 0 to 1, and the lower value may be the better one."""
    df, at = two_models(better=0.95), {"threshold": 0.3} if name == "mcc" else None
    df = df.with_columns(pl.col("new") ** power)
    [plain] = compared(kind, df, measure=name, at=at).iter_rows(named=True)
    limit = plain["ci_low"] if sign < 0 else plain["ci_high"]
    assert limit * sign > (1 if power > 1 else 0)
    for share, is_within in ((1.005, True), (0.995, False)):
        margin = abs(limit) * share
        [row] = compared(kind, df, measure=name, at=at, margin=margin, details=True).iter_rows(
            named=True
        )
        assert (row["p_margin"] < 0.025) == is_within
        assert row["p_margin"] == pytest.approx(0.025, rel=0.2)


@every_kind
def test_few_rows_decide_nothing_and_adjusted_p_values_do(kind):
    df = two_models(better=2.0)
    few = df.filter(~pl.col("truth") | (pl.col("row") < 30))
    assert compared(kind, few, margin=0.9)["conclusion"].to_list() == ["undecided"]
    table = compared(kind, df, by="region", margin=0.01, adjust="holm", details=True)
    is_sure = table["p_adjusted"] < 0.05
    assert ((table["conclusion"] == "better") == is_sure).all()
    shown = compared(kind, df, by="region", margin=0.01, adjust="holm")
    assert "ci_low" not in shown.columns
    excludes_0 = (shown["ci_low_adjusted"] > 0) | (shown["ci_high_adjusted"] < 0)
    assert (excludes_0 == is_sure).all()
    segments = frame_prc.compare_segments(
        kind.make(df), "truth", "new", by="region", against={"region": 0}, margin=0.2
    )
    assert kind.rows(segments)["conclusion"].to_list()[0] == "undecided"  # itself
    perfect = df.with_columns(new=pl.col("truth") + pl.col("row") / 1000)
    segments = frame_prc.compare_segments(
        kind.make(perfect), "truth", "new", by="region", against={"region": 0}, margin=0.2
    )
    itself, other = kind.rows(segments).iter_rows(named=True)
    assert (itself["ci_low"], itself["conclusion"]) == (None, "undecided")
    assert (other["difference"], other["conclusion"]) == (0, "not worse")


@every_polars_kind
@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"margin": 5}, "margin=5 is not a difference. .* Hint: 5 % is margin=0.05"),
        ({"margin": 1, "measure": "brier"}, "margin=1 is not a difference. .* below 1"),
        ({"margin": -0.1, "measure": "log_loss"}, "margin=-0.1 is not .* 0 or more, such as"),
        ({"margin": 0.1, "measure": "mean_score"}, "neither a higher value nor a lower one is"),
        ({"margin": 0.1, "over": "region", "by": "region"}, "margin= is given with over="),
    ],
)
def test_what_is_no_margin_is_refused(kind, asked, says):
    with pytest.raises(OptionError, match=says):
        compared(kind, two_models(), **asked)
