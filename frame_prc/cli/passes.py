"""Exact results for more rows than fit in memory, some of the segments in each pass.

The rows are read three times: to check them, to find the sizes of the segments, and to write them
to a scratch folder, in parts of whole segments that fit in memory. The parts are in the order of
the result, so the results of the parts are the result, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import polars as pl

import frame_prc
from frame_prc._curves.calibration import effective_numbers, highest_odds, reference_of
from frame_prc._lazy import aggregated, concat, key_names, left_join, named
from frame_prc._request.roles import names_of
from frame_prc.cli import memory
from frame_prc.cli.counting import without_label
from frame_prc.cli.large_segments import Segment, pieces_of_large
from frame_prc.cli.output import naming
from frame_prc.cli.reading import reading
from frame_prc.cli.source import Source
from frame_prc.cli.work import Progress
from frame_prc.exceptions import OptionError

Parameters = Mapping[str, Any]

_ROLES = ("truth", "weight", "pos", "neg", "pos_squares", "neg_squares", "model", "cluster")
_BIN_ENDS = ("below", "above")
_PART = "part of frame_prc"


@dataclass(frozen=True)
class Passes:
    """What a verb is asked for, how many rows it can take at once, and where to write parts."""

    verb: str
    parameters: Parameters
    budget: int
    folder: Path
    progress: Progress

    def result(self, source: Source, rows: pl.LazyFrame) -> pl.LazyFrame | None:
        """Return the result, in files of the folder, or None if all rows fit in memory."""
        memory.check(self.parameters, pools=self.verb == "summary")
        columns = self._columns(rows.collect_schema())
        dtypes = rows.select(map(named, columns)).collect_schema()
        most = memory.rows_at_once(self.verb, self.budget, dtypes)
        self.progress.show_share("finding segments", 0)
        sizes = self._sizes(rows)
        if sizes["n"].sum() <= most:
            return None
        # The model is the first key. A part has one, since each has a prevalence of its own.
        models = sizes[key_names(1)[0]] if self.parameters.get("model") is not None else None
        sizes = sizes.with_columns(pl.Series(_PART, [*_parts(sizes["n"], models, most)]))
        amounts = sizes.group_by(_PART, maintain_order=True).agg(pl.sum("n"))["n"].to_list()
        totals = self._totals_of_parts(rows, sizes, models)
        # Reading may start again with other dtypes.
        folder = Path(mkdtemp(dir=self.folder))
        self._write_parts(source, columns, sizes.drop("n"), folder)
        pieces = self._pieces(amounts, most, dtypes, totals, folder)
        schema = self._call(pl.LazyFrame(schema=dtypes)).collect_schema()
        # Thresholds of several models have the common dtype of their scores.
        return concat([pl.scan_parquet(piece, glob=False).cast(schema) for piece in pieces])

    def _columns(self, schema: pl.Schema) -> list[str]:
        """Return the columns that the verb reads, in their order."""
        given = [self.parameters.get(role) for role in _ROLES]
        score, by = self.parameters.get("score"), self.parameters.get("by")
        scores = score.values() if isinstance(score, dict) else _listed(score)
        threshold = self.parameters.get("threshold")
        if isinstance(threshold, pl.DataFrame):
            raise OptionError(
                "memory= is given with a file of thresholds", "numbers, or a column of the rows"
            )
        others = [threshold] if isinstance(threshold, str) else []
        ends = [name for name in _BIN_ENDS if self.parameters.get("pos") is not None]
        items = [item for item in [*given, *scores, *_listed(by), *others] if item is not None]
        wanted = names_of([*items, *ends]) or set(schema)
        # An unknown name is an error of the verb, which knows the similar ones.
        self._call(pl.LazyFrame(schema=schema)).collect_schema()
        return [name for name in schema if name in wanted]

    def _keys(self) -> list[pl.Expr]:
        items = [*_listed(self.parameters.get("model")), *_listed(self.parameters.get("by"))]
        return [
            (named(item) if isinstance(item, str) else item).alias(name)
            for item, name in zip(items, key_names(len(items)), strict=True)
        ]

    def _sizes(self, rows: pl.LazyFrame) -> pl.DataFrame:
        """Return the segments in the order of the result, and their numbers of rows."""
        keys = self._keys()
        names = key_names(len(keys))
        counted = aggregated(rows.select(keys or pl.all()), names, n=pl.len().cast(pl.Int64))
        ordered = counted.sort(names) if names else counted
        return ordered.collect(engine="streaming")

    def _totals_of_parts(
        self, rows: pl.LazyFrame, sizes: pl.DataFrame, models: pl.Series | None
    ) -> list[pl.DataFrame]:
        """Return the positives and negatives of all segments of the model of each part."""
        totals, first = self._totals(rows), sizes[_PART].is_first_distinct()
        if models is None:
            return [totals] * int(first.sum())
        return [totals.filter(pl.col("model").eq_missing(model)) for model in models.filter(first)]

    def _totals(self, rows: pl.LazyFrame) -> pl.DataFrame:
        """Return the positives and negatives of each segment; invalid data raise an error here."""
        self.progress.show_share("checking rows", 0.1)
        lowest = float("inf") if self.parameters["ascending"] else float("-inf")
        asked = {**_common("counts", self.parameters), "thresholds": [lowest]}
        asked["squares"] = self.parameters.get("weight") is not None
        return frame_prc.counts(rows, **asked).collect(engine="streaming")

    def _write_parts(
        self, source: Source, columns: Sequence[str], parts: pl.DataFrame, folder: Path
    ) -> None:
        """Write the rows to a folder for each part, inside one for each slice of the source."""
        keys, slices = self._keys(), source.parts()
        names = key_names(len(keys))
        for number, piece in enumerate(slices):
            self.progress.show_share("dividing rows", 0.2 + 0.4 * number / len(slices))
            base = folder / f"rows_{number}"
            base.mkdir()
            numbered = left_join(
                piece.scan().with_columns(keys), parts.lazy(), names, in_order=False
            ).select(*map(named, columns), _PART)
            by_part = pl.PartitionBy(
                base, key=_PART, include_key=False, approximate_bytes_per_file=None
            )
            with reading(piece), naming(str(folder)):
                numbered.sink_parquet(by_part, compression="lz4", mkdir=True)

    def _pieces(
        self,
        amounts: list[int],
        most: int,
        dtypes: pl.Schema,
        totals: list[pl.DataFrame],
        folder: Path,
    ) -> Iterator[Path]:
        """Yield the files of the results, in order."""
        models = _models(self.parameters["score"])
        steps = [(model, part) for model in models for part in range(len(amounts))]
        for number, (model, part) in enumerate(steps):
            text = f"part {number + 1} of {len(steps)}"
            self.progress.show_share(text, 0.6 + 0.4 * number / len(steps))
            paths = sorted(folder.glob(f"rows_*/*={part}/*.parquet"))
            rows = pl.scan_parquet(paths, schema=dtypes, hive_partitioning=False, glob=False)
            asked = self._of_model(model, totals[part], dtypes)
            result = folder / f"result_{number}"
            with naming(str(folder)):
                if amounts[part] > most:
                    segment = Segment(self.verb, asked, rows, amounts[part], most)
                    yield from pieces_of_large(segment, result)
                else:
                    path = result.with_suffix(".parquet")
                    getattr(frame_prc, self.verb)(rows, **asked).sink_parquet(path)
                    yield path

    def _of_model(
        self, model: str | None, totals: pl.DataFrame, dtypes: pl.Schema
    ) -> dict[str, Any]:
        """Return the parameters for one model, and for a part in which a label may not occur."""
        asked = dict(without_label(self.parameters, dtypes))
        if model is not None:
            asked["score"] = {model: _by_model(asked["score"])[model]}
            totals = totals.filter(pl.col("model") == model)
        if self.verb == "summary" and asked.get("calibrate") in (None, "highest"):
            asked["calibrate"] = _highest_prevalence(totals)
        elif self.verb == "summary" and asked["calibrate"] == "pooled":
            asked["calibrate"] = _prevalence(totals)
        return asked

    def _call(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        result: pl.LazyFrame = getattr(frame_prc, self.verb)(rows, **self.parameters)
        return result


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _by_model(score: Any) -> dict[str, Any]:
    return score if isinstance(score, dict) else {name: name for name in score}


def _models(score: Any) -> list[str | None]:
    """Return the names of models, in the order of the result."""
    return [None] if isinstance(score, (str, pl.Expr)) else [*sorted(_by_model(score))]


def _common(verb: str, parameters: Parameters) -> dict[str, Any]:
    """Return the parameters that another verb has too."""
    known = signature(getattr(frame_prc, verb)).parameters
    return {name: value for name, value in parameters.items() if name in known}


def _parts(sizes: pl.Series, models: pl.Series | None, most: int) -> Iterator[int]:
    """Yield the number of the part of each segment; one with more rows has a part of its own."""
    part = filled = 0
    # Sorted by the model, whose segments begin where it is new.
    begins = [False] * len(sizes) if models is None else models.is_first_distinct()
    for size, is_new in zip(sizes, begins, strict=True):
        if filled and (is_new or filled + size > most):
            part, filled = part + 1, 0
        filled += size
        yield part


def _highest_prevalence(totals: pl.DataFrame) -> float | None:
    classes = {"pos": "positives", "neg": "negatives"}
    classes |= {f"{short}_squares": f"{name}_squares" for short, name in classes.items()}
    given = {name: pl.col(short) for short, name in classes.items() if short in totals.columns}
    sums = totals.select(**given)  # without the keys, which may have these names
    effective = effective_numbers(squares="positives_squares" in sums.columns)
    [_, prevalence] = sums.with_columns(**effective).select(reference_of(highest_odds())).row(0)
    return None if prevalence is None else float(prevalence)


def _prevalence(totals: pl.DataFrame) -> float | None:
    pos, neg = totals.select(pl.col("pos", "neg").sum()).row(0)
    return float(pos / (pos + neg)) if pos > 0 and neg > 0 else None
