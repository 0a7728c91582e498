"""What holds for every page of these tests."""

from quick_altair import altair_is_quick

__all__ = ["altair_is_quick"]
