"""Programmes that need more than the tests do."""

collect_ignore = ["spark_skew.py"]  # the extra spark
