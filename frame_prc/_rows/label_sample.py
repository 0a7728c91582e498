"""Which rows to label: a sample that is dense at the top of the ranking, with its weights.

A row of rank r is drawn in proportion to ``1 / sqrt(r)``. Of rows that are rarer positives by the
same factor at each doubling of the rank, this is the allocation of Neyman (1934): in proportion to
the deviation of what each row may be. In simulations the average precision has .1 to .6 of the
variance that it has with as many rows drawn evenly. No weight is above twice that of an even draw.
The draw is systematic: a fixed number of rows, at even steps of the added probabilities along the
ranking, from a random start. So rows that follow one another in it are nearly a sample of their
part of the ranking: each few of them are a stratum.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from frame_prc._lazy import named
from frame_prc._request.roles import check_column, column_list, key_items
from frame_prc._request.specs import IntoColumn, IntoKeys
from frame_prc._rows.checks import check_of, with_checks
from frame_prc._rows.columns import Column, check_numeric, find_column, find_keys
from frame_prc._rows.rules import required_rule
from frame_prc.exceptions import ColumnError, OptionError

PROBABILITY, WEIGHT, STRATUM = COLUMNS = ("inclusion_probability", "weight", "stratum")
_ROW, _SEGMENT, _PART, _START = "\0row", "\0segment", "\0part", "\0start"
_PLACE, _REST = "\0place", "\0rest"
# Of so many rows the variance within a stratum is known, and little of that between is in it.
_ROWS_IN_STRATUM = 8
_GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True)
class LabelSample:
    """How many rows of each segment to draw by their scores, and the random start."""

    scores: Sequence[IntoColumn]
    number: int
    keys: Sequence[IntoColumn]
    ascending: bool
    seed: int | None


def asked_sample(
    score: IntoColumn | Sequence[IntoColumn],
    number: int,
    by: IntoKeys | None,
    *,
    ascending: bool,
    seed: int | None,
) -> LabelSample:
    """Return the sample that parameters ask for."""
    scores = column_list(score)
    if scores is None:
        check_column("score", score)
        scores = [score]
    if not scores:
        raise OptionError("score= names no column", "the column of a model, or those of several")
    return LabelSample(scores, number, key_items(by), ascending, seed)


def sampled(lf: pl.LazyFrame, asked: LabelSample, *, in_memory: bool) -> pl.LazyFrame:
    """Return the rows to label in the order they have, with their probability and weight."""
    schema = lf.collect_schema()
    for name in COLUMNS:
        if name in schema:
            raise ColumnError(
                f"the frame has a column {name!r}, which the sample adds",
                "a frame without it",
                f"rename it, or drop it first: drop({name!r})",
            )
    scores = [find_column(lf, "score", item, schema) for item in asked.scores]
    for column in scores:
        check_numeric("score", column)
    keys = [find_keys(lf, "by", item, schema)[0] for item in asked.keys]
    hint = "fill it in, or leave such rows out: they have no rank"
    rules = [required_rule("score", one, one.expression, hint) for one in scores]
    checked = with_checks(lf, lf, [check_of(rule) for rule in rules], in_memory=in_memory)
    segment = pl.struct(keys) if keys else pl.lit(value=True)
    part = _mean_part(scores, ascending=asked.ascending)
    ranked = (
        checked.with_row_index(_ROW)
        .with_columns(segment.alias(_SEGMENT))
        .with_columns(part.alias(_PART))
        .sort(_SEGMENT, _PART, _ROW, descending=[False, True, False])
        .with_columns(_starts(asked.seed).alias(_START))
    )
    drawn = _with_probability(ranked, asked.number).filter(_is_drawn())
    drawn = drawn.with_columns(_stratum()).with_columns(_numbered()).sort(_ROW)
    weight = (1 / pl.col(PROBABILITY)).alias(WEIGHT)
    return drawn.select(*map(named, schema), PROBABILITY, weight, STRATUM)


def _mean_part(scores: Sequence[Column], *, ascending: bool) -> pl.Expr:
    """Return what the probability of each row is a multiple of, in the mean of the models."""
    parts = []
    for column in scores:
        rank = column.expression.rank("max", descending=not ascending).over(_SEGMENT)
        parts.append(rank.cast(pl.Float64) ** -0.5)
    return pl.mean_horizontal(parts)


def _with_probability(ranked: pl.LazyFrame, number: int) -> pl.LazyFrame:
    """Add the probability of each row, whose sum in a segment is the number of rows to draw."""
    place = pl.int_range(pl.len()).over(_SEGMENT)
    rest = pl.col(_PART).cum_sum(reverse=True).over(_SEGMENT)
    left = number - pl.col(_PLACE)
    placed = ranked.with_columns(place.alias(_PLACE), rest.alias(_REST))
    certain = (left * pl.col(_PART) > pl.col(_REST)).sum().over(_SEGMENT)
    of_part = pl.when(pl.col(_PLACE) == certain).then(left / pl.col(_REST))
    drawn = of_part.max().over(_SEGMENT) * pl.col(_PART)
    is_certain = pl.col(_PLACE) < certain
    return placed.with_columns(
        pl.when(is_certain).then(1.0).otherwise(drawn).clip(upper_bound=1.0).alias(PROBABILITY)
    )


def _starts(seed: int | None) -> pl.Expr:
    """Return the random start of each segment, between 0 and 1."""
    start = random.Random(seed).random()  # noqa: S311 - a sample, not a secret
    return (start + _GOLDEN * pl.col(_SEGMENT).rle_id().cast(pl.Float64)) % 1


def _is_drawn() -> pl.Expr:
    """Return whether a step of the added probabilities is within a row."""
    steps = (pl.col(PROBABILITY).cum_sum() - pl.col(_START)).floor()
    return (steps > steps.shift(1, fill_value=-1.0)).over(_SEGMENT)


def _stratum() -> pl.Expr:
    """Return the place of the stratum of each drawn row in its segment; the last takes the rest."""
    place, rows = (one.over(_SEGMENT) for one in (pl.int_range(pl.len()), pl.len().cast(pl.Int64)))
    last = (rows // _ROWS_IN_STRATUM - 1).clip(lower_bound=0)
    return pl.min_horizontal(place // _ROWS_IN_STRATUM, last).alias(STRATUM)


def _numbered() -> pl.Expr:
    """Return a number of each stratum that no other segment has."""
    return pl.struct(_SEGMENT, STRATUM).rle_id().cast(pl.Int64).alias(STRATUM)
