"""What holds for every chart of these tests."""

from quick_altair import altair_is_quick

__all__ = ["altair_is_quick"]
