"""Average precision per carrier on Spark, computed by the executors at any size.

Run it as ``python examples/spark.py [TABLE]`` after ``pip install '.[spark]'``, with Java 17 or
newer; ``TABLE`` is a Parquet file or folder. The same file runs on a cluster::

    spark-submit --master yarn --archives environment.tar.gz examples/spark.py s3://.../scores

Only the driver needs this package. On Databricks call ``tables(spark.table("scores"))``. Results
are lazy and unordered. The source is read at the call, for a sample that tells where to cut large
segments, and again by each action: cache it, or as here the counts, if it is costly to compute.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import frame_prc

FLIGHTS = Path(__file__).parent / "data" / "flights.parquet"


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
    if "SPARK_ENV_LOADED" not in os.environ:  # set by spark-submit, which chooses the master
        builder = builder.master("local[2]").config("spark.sql.shuffle.partitions", "4")
    return builder.getOrCreate()


def tables(flights: Any) -> tuple[Any, Any]:
    """Return the average precision per model and carrier, and the corners of the curves."""
    counts = frame_prc.counts(flights, "late", ["logistic", "boosting"], by="carrier").cache()
    keys = ["model", "carrier"]
    ev = frame_prc.evaluate(counts, score="threshold", pos="pos", neg="neg", by=keys)
    return ev.average_precision(), ev.curve(keep="corners")


def main(source: str) -> None:
    """Print the table, and the number of points in the curves."""
    spark = session()
    table, curves = tables(spark.read.parquet(source))
    table.orderBy("model", "carrier").show(100)
    print(f"{curves.count()} points draw the curves")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else str(FLIGHTS))
