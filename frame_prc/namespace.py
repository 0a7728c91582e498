"""The verbs as methods: ``frame.prc`` on Polars and pandas frames, and ``pl.col(...).prc``."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import cleandoc
from typing import Any, NoReturn

import polars as pl

from frame_prc._request.hints import name_hint, refuses_unknown
from frame_prc.evaluation import verbs
from frame_prc.exceptions import message

_NAMES = sorted(verb.__name__ for verb in verbs.OF_FRAMES)


class PrcFrame:
    """Precision-recall verbs of a frame.

    For example::

        df.prc.average_precision("truth", "score", by="region")  # one row per segment
        df.prc.curve("truth", "score", by="region")  # one row per threshold
        df.prc.plot("truth", "score", by="region")  # a picture

    Or name the roles once, for several verbs::

        ev = df.prc.evaluate("truth", "score", by="region", ci=0.95)
        ev.average_precision()
        ev.plot()

    ``help(df.prc.curve)`` explains one of them, with an example. For a type checker, which does not
    know ``df.prc``, ``frame_prc.evaluate(df, ...)`` is typed.

    The verbs::

    """

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def __repr__(self) -> str:
        return f"<prc of a {type(self.frame).__qualname__}: {', '.join(_NAMES)}>"

    def __getattr__(self, name: str) -> NoReturn:
        text = message(f"prc has no verb {name!r}", ", ".join(_NAMES), name_hint(name, _NAMES))
        raise AttributeError(text, name=name, obj=self)


def _method(verb: Callable[..., Any]) -> Callable[..., Any]:
    """Return a verb as a method, with the verb's own signature and docstring."""

    @wraps(verb)
    def call(self: PrcFrame, *args: Any, **kwargs: Any) -> Any:
        return verb(self.frame, *args, **kwargs)

    return call


_lines = [cleandoc(PrcFrame.__doc__ or ""), ""]
for _verb in verbs.OF_FRAMES:
    setattr(PrcFrame, _verb.__name__, _method(_verb))
    _first = (_verb.__doc__ or "").partition("\n")[0].replace("``", "`")
    _lines.append(f"    {_verb.__name__:<20} {_first}")
PrcFrame.__doc__ = "\n".join(_lines)


class PrcExpr:
    """Aggregates of a score expression: ``pl.col("score").prc.average_precision("truth")``."""

    def __init__(self, score: pl.Expr) -> None:
        self._score = score

    @refuses_unknown
    def average_precision(
        self,
        truth: str | pl.Expr,
        weight: str | pl.Expr | None = None,
        *,
        ascending: bool = False,
    ) -> pl.Expr:
        """Average precision of this score; see :func:`frame_prc.average_precision_expr`."""
        return verbs.average_precision_expr(truth, self._score, weight, ascending=ascending)
