"""Average precision per carrier on Spark: computed by its executors, whatever the size.

Run it as ``python examples/spark.py [TABLE]`` with ``pip install '.[spark]'`` and Java 17
or newer. ``TABLE`` is a Parquet file or folder, wherever Spark can read it; without it these are
the flights beside this script.

The same file runs on a cluster, where the session is the cluster's and nothing here changes::

    spark-submit --master yarn --archives environment.tar.gz examples/spark.py s3://.../scores

(any master will do; the driver alone needs this package, Narwhals and Polars, the executors none).
On Databricks, ``%pip install`` the package in a notebook and call ``tables(spark.table("scores"))``
with the notebook's own ``spark``; a Spark Connect or serverless session takes the same calls.

A result is a DataFrame like any other: lazy, without an order until ``orderBy``, to be joined or
written. Each action reads the source about three times (to find where large segments are cut, to
add up each range of scores, and for the counts), so a source that is costly to compute, or that
gives other rows when it is computed again, is cached or written first. Where several results are
wanted, the counts are what to cache: see ``tables``.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import frame_prc

FLIGHTS = Path(__file__).parent / "data" / "flights.parquet"
MODELS = ["logistic", "boosting"]


def session() -> Any:
    """Return the cluster's session, or a local one on two cores."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        sys.exit(
            "Spark needs Java 17 or newer, and there is none. Hint: apt install openjdk-17-jre"
        )
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415 - an extra, asked for by name
    except ImportError as error:
        sys.exit(f"Spark is not installed: {error}. Hint: pip install '.[spark]'")
    builder = SparkSession.builder.appName("frame_prc")
    if "SPARK_ENV_LOADED" not in os.environ:  # spark-submit sets it, and chooses the master
        builder = builder.master("local[2]").config("spark.sql.shuffle.partitions", "4")
    return builder.getOrCreate()


def tables(flights: Any) -> tuple[Any, Any]:
    """Return the average precision per model and carrier, and the corners of the curves."""
    counts = frame_prc.counts(flights, "late", MODELS, by="carrier").cache()
    counted: dict[str, Any] = {
        "score": "threshold",
        "pos": "pos",
        "neg": "neg",
        "by": ["model", "carrier"],
    }
    table = frame_prc.average_precision(counts, **counted)
    curves = frame_prc.curve(counts, **counted, keep="corners")
    return table, curves


def main(source: str) -> None:
    """Print the table, and how many points draw the curves."""
    spark = session()
    table, curves = tables(spark.read.parquet(source))
    table.orderBy("model", "carrier").show(100)
    print(f"{curves.count()} points draw the curves")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(FLIGHTS))
