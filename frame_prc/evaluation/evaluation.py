"""The evaluation: a frame with its roles named once, and every verb as a method."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any, NoReturn, Unpack, overload

import polars as pl

from frame_prc._curves.logit_intervals import FEW_POSITIVES, FEW_SCORES
from frame_prc._frames.border import FrameT, MemoryT, check_frame, held, unwrapped
from frame_prc._inference.estimates import models_with_few_scores
from frame_prc._lazy import aggregated
from frame_prc._request.hints import condition_hint, no_attribute, refuses_unknown
from frame_prc._request.options import confidence
from frame_prc._request.roles import check_whole_strata, name_of, with_type
from frame_prc._request.specs import IntoColumn, IntoKeys, IntoScores
from frame_prc._rows.rows import Rows
from frame_prc.evaluation.base import engine_plans
from frame_prc.evaluation.glossary import PARAMETERS, Roles, with_roles
from frame_prc.evaluation.scripts import ScriptVerbs
from frame_prc.evaluation.searching import SearchVerbs
from frame_prc.evaluation.segments import SegmentVerbs
from frame_prc.exceptions import OptionError, PrcError, type_name

if TYPE_CHECKING:
    import duckdb
    import narwhals as nw

_FEW = 2  # scores; of so few rows, no model has more


class Evaluation(
    SegmentVerbs[FrameT],
    SearchVerbs[FrameT],
    ScriptVerbs[FrameT],
):
    """A frame whose truth, scores and segments are named once, with the verbs as methods.

    :func:`frame_prc.evaluate` makes one. Results are of the frame's kind. What the frame holds in
    memory is checked once and sorted once for all verbs, when the first of them is called; a lazy
    frame is read at each collect, and a table of an engine stays there. Methods may be called from
    several threads. Copies and pickles start anew.
    """

    if not TYPE_CHECKING:  # for a type checker, any other name would be one of the methods

        def __getattr__(self, name: str) -> NoReturn:
            """Say which verb or measure is meant by a name that is none."""
            names = [one for one in dir(type(self)) if not one.startswith("_")]
            raise no_attribute(f"{type(self).__name__!r} object", name, names, self)

    def where(self, condition: pl.Expr | Any) -> Evaluation[FrameT]:
        """Evaluate the rows for which a condition holds.

        Parameters
        ----------
        condition
            A Polars expression; for a table of an engine, what its own ``filter`` takes.

        Returns
        -------
        Evaluation
            The same roles and level, of these rows.

        Raises
        ------
        OptionError
            If the condition is not a Polars expression, of a frame that is not an engine's.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame({"late": [1, 0, 1], "score": [0.9, 0.8, 0.7], "day": [1, 2, 3]})
        >>> ev = df.prc.evaluate("late", "score")
        >>> ev.where(pl.col("day") < 3).counts()
        shape: (2, 3)
        ┌───────────┬─────┬─────┐
        │ threshold ┆ pos ┆ neg │
        │ ---       ┆ --- ┆ --- │
        │ f64       ┆ i64 ┆ i64 │
        ╞═══════════╪═════╪═════╡
        │ 0.9       ┆ 1   ┆ 0   │
        │ 0.8       ┆ 0   ┆ 1   │
        └───────────┴─────┴─────┘
        """
        check_whole_strata("where()", self.roles.get("strata"))
        if self._engine:
            return self._changed(frame=self._native.filter(condition))
        if not isinstance(condition, pl.Expr):
            raise OptionError(
                f"where() takes an expression, got {with_type(condition)}",
                "a Polars expression, for example pl.col('region') == 'north'",
                condition_hint(condition),
            )
        return self._changed(conditions=(*self.conditions, condition))

    def segments(self, by: IntoKeys | None = None) -> Evaluation[FrameT]:
        """Evaluate other segments of the same rows.

        Parameters
        ----------
        by
            Segment keys, as in :func:`frame_prc.evaluate`; ``None`` for all rows as one segment.

        Returns
        -------
        Evaluation
            The same rows, other roles and level, in these segments.

        Examples
        --------
        >>> import polars as pl
        >>> import frame_prc
        >>> df = pl.DataFrame({"late": [1, 0, 1], "score": [0.9, 0.8, 0.7], "day": [1, 1, 2]})
        >>> df.prc.evaluate("late", "score").segments("day").average_precision()
        shape: (2, 5)
        ┌─────┬─────┬───────┬───────────────────┬──────────────┐
        │ day ┆ n   ┆ n_pos ┆ average_precision ┆ status       │
        │ --- ┆ --- ┆ ---   ┆ ---               ┆ ---          │
        │ i64 ┆ i64 ┆ i64   ┆ f64               ┆ str          │
        ╞═════╪═════╪═══════╪═══════════════════╪══════════════╡
        │ 1   ┆ 2   ┆ 1     ┆ 1.0               ┆ ok           │
        │ 2   ┆ 1   ┆ 1     ┆ 1.0               ┆ no_negatives │
        └─────┴─────┴───────┴───────────────────┴──────────────┘
        """
        return self._changed(roles={**self.roles, "by": by})

    def pooled(self) -> Evaluation[FrameT]:
        """Evaluate all rows as one segment.

        Returns
        -------
        Evaluation
            ``ev.segments(None)``.
        """
        return self.segments(None)

    @overload
    def collect(self: Evaluation[MemoryT]) -> Evaluation[MemoryT]: ...

    @overload
    def collect(self: Evaluation[nw.LazyFrame[Any]]) -> Evaluation[nw.DataFrame[Any]]: ...

    @overload
    def collect(
        self: Evaluation[pl.LazyFrame] | Evaluation[duckdb.DuckDBPyRelation],
    ) -> Evaluation[pl.DataFrame]: ...

    @overload
    def collect(self) -> Evaluation[Any]: ...

    def collect(self) -> Evaluation[Any]:
        """Read the columns of a lazy frame or of an engine once, for all verbs that follow.

        Returns
        -------
        Evaluation
            The same roles and level, of a frame in memory. An evaluation that is in memory already
            returns itself.
        """
        names = self._names(self._request)
        if self._engine:
            frame = engine_plans(self._engine).estimates.in_polars(self._native, names)
        elif self._source.in_memory:
            return self
        else:
            lf = self._source.lf
            frame = (lf if names is None else lf.select(sorted(names))).collect()
        return self._changed(frame=self._like_frame(frame), conditions=())

    # --- what it shows ---------------------------------------------------------------------------

    def __repr__(self) -> str:
        facts = self._facts()
        width = max(map(len, facts))
        lines = [f"{name:<{width}}  {text}" for name, text in facts.items()]
        return "\n".join([f"Evaluation of a {type_name(self.frame)}", *lines])

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><th style='text-align: left'>{escape(name)}</th>"
            f"<td style='text-align: left'>{escape(text)}</td></tr>"
            for name, text in self._facts().items()
        )
        return f"<p>Evaluation of a {escape(type_name(self.frame))}</p><table>{rows}</table>"

    def _facts(self) -> dict[str, str]:
        """Return what a reader wants to know before the first number, by name."""
        try:
            asked, columns = self._request, None if self._engine else self._columns
            models = [name or name_of(score) for name, score in asked.models.items()]
            facts = {"model" if len(models) == 1 else "models": ", ".join(map(str, models))}
            keys = [*map(name_of, asked.keys)] if columns is None else [*columns.key_dtypes]
            if columns is None or not self._source.in_memory:
                facts["segments"] = f"by {', '.join(keys)}" if keys else "all rows"
                facts["rows"] = "not read yet"
            else:
                facts |= self._counted(keys)
        except PrcError as error:
            return {"error": str(error)}
        return facts | ({} if self.level is None else {"level": f"{self.level:g}"})

    def _counted(self, keys: list[str]) -> dict[str, str]:
        """Return how many segments, rows, positives and clusters there are, and what is short."""
        rows = self._rows()
        rows.check()
        positives = rows.amounts(rows.is_positive(), squares=False)
        sizes = {name: amount.sum() for name, amount in positives.items()}
        table = aggregated(rows.used(), rows.keys, **sizes).collect()
        models = table["key_0"].n_unique() if rows.columns.several_models and table.height else 1
        own = rows.keys[len(rows.model_keys) :]
        segments = table.group_by(own).agg(pl.min("pos", "neg")) if keys else table.head(1)
        pos, neg = (float(table[name].sum()) / max(models, 1) for name in ("pos", "neg"))
        share = f" ({pos / (pos + neg):.1%})" if pos + neg else ""
        facts = {
            "segments": f"{segments.height:,} by {', '.join(keys)}" if keys else "all rows",
            "rows": f"{pos + neg:,.0f}",
            "positives": f"{pos:,.0f}{share}",
        }
        if rows.n_dropped is not None:
            dropped = rows.frame.select(rows.n_dropped.sum()).collect().item() / max(models, 1)
            facts["left out"] = f"{dropped:,.0f} with missing values"
        if rows.columns.cluster is not None and rows.values is not None:
            count = rows.used().select(pl.col("cluster").n_unique()).collect().item()
            facts["clusters"] = f"{count:,} by {rows.columns.cluster.name}"
        for name, what in (("pos", "positives"), ("neg", "negatives")):
            short = (segments[name] < FEW_POSITIVES).sum()
            if short:
                facts[f"few {what}"] = (
                    f"{short:,} of {segments.height:,} have fewer than {FEW_POSITIVES}"
                )
        if names := self._with_few_scores(rows) if pos + neg > _FEW else []:
            facts["few scores"] = f"{', '.join(names)}: no more than {_FEW}, as of predictions"
        return facts

    def _with_few_scores(self, rows: Rows) -> list[str]:
        """Return the names of the models whose scores have at most two values."""
        few = models_with_few_scores(rows).filter(FEW_SCORES).collect()
        if rows.model_keys:
            return few[rows.model_keys[0]].cast(pl.String).fill_null("null").to_list()
        [(name, score)] = self._request.models.items()
        return [name or name_of(score)] * few.height


def evaluate(
    frame: FrameT,
    truth: IntoColumn | None = None,
    score: IntoScores | None = None,
    *,
    ci: float | None = None,
    **roles: Unpack[Roles],
) -> Evaluation[FrameT]:
    """Name truth, scores and segments once, for all verbs that follow.

    Parameters
    ----------
    ci
        The level of intervals, for example 0.95, where a verb is given no other one.

    Returns
    -------
    Evaluation
        An object with the verbs as methods, of a frame in memory as it is now: it is checked and
        sorted once, at the first verb. A lazy frame is read when a result is collected.

    Raises
    ------
    ColumnError, OptionError, FrameError
        Here, or at a verb: for parameters that are invalid or contradict each other, columns that
        do not exist or have the wrong dtype, and frames of an unknown kind.
    DataError
        If the data contain invalid values: at the call of a verb, of a lazy frame at ``collect``.

    Notes
    -----
    Of a DuckDB relation, a PySpark DataFrame or an Ibis table, columns are given by name, up to
    1,000 ``thresholds``. Counts, curves, points and areas without an interval are lazy frames of
    the same engine, others Polars frames: ``examples/guide/engines.md``.

    Examples
    --------
    >>> import polars as pl
    >>> import frame_prc
    >>> df = pl.DataFrame(
    ...     {
    ...         "region": ["north", "north", "north", "south", "south"],
    ...         "late": [True, False, True, False, True],
    ...         "old": [0.9, 0.8, 0.3, 0.6, 0.2],
    ...         "new": [0.7, 0.1, 0.5, 0.3, 0.4],
    ...     }
    ... )
    >>> ev = frame_prc.evaluate(df, "late", ["old", "new"], by="region")
    >>> ev
    Evaluation of a polars.DataFrame
    models         old, new
    segments       2 by region
    rows           5
    positives      3 (60.0%)
    few positives  2 of 2 have fewer than 20
    few negatives  2 of 2 have fewer than 20
    """
    check_frame(unwrapped(frame), engines=True)
    given = {"truth": truth, "score": score, **roles}
    ev = Evaluation(held(frame), given, None if ci is None else confidence(ci))
    ev._check()  # noqa: SLF001 - now, not at the first verb
    return ev


_frame, _, _, _ci, _ = signature(evaluate).parameters.values()
evaluate = refuses_unknown(evaluate, [_frame, *PARAMETERS, _ci])
evaluate.__doc__ = with_roles(evaluate.__doc__)
