"""Reading a chart: its layers, the rows they draw, and its words."""

from __future__ import annotations

import io

import polars as pl

# Ranked 0.9 + | 0.4 + - | 0.2 -: average precision (1 + 2/3) / 2.
ROWS = pl.DataFrame({"late": [True, False, True, False], "score": [0.9, 0.4, 0.4, 0.2]})
# Two segments, of which the south has 2/3 positives and the average precision (1 + 2/3) / 2.
REGIONS = pl.DataFrame(
    {
        "region": ["north"] * 4 + ["south"] * 3,
        "late": [True, False, True, False, True, False, True],
        "old": [0.9, 0.4, 0.4, 0.2, 0.9, 0.8, 0.7],
        "new": [0.9, 0.4, 0.8, 0.2, 0.9, 0.1, 0.7],
    }
)


# --- reading a chart ---------------------------------------------------------------------------


_LAST = []


def specification(chart):
    """Return a chart as a dictionary, made once for all that a test reads of one chart.

    Altair takes as long for that as for the chart itself. Nobody changes a chart that was made.
    """
    if not _LAST or _LAST[0] is not chart:
        _LAST[:] = chart, chart.to_dict(validate=False)
    return _LAST[1]


def read(spec, data, transform=()):
    """Return rows of a data set as they are, or from text, with what is looked up."""
    rows = spec["datasets"][data["name"]]
    if isinstance(rows, str):
        kinds = {
            n: pl.Float64 if k == "number" else pl.String
            for n, k in data["format"]["parse"].items()
        }
        rows = pl.read_csv(io.StringIO(rows), schema=kinds).to_dicts()
    for step in transform:
        if "lookup" in step:
            known = {row["line"]: row for row in spec["datasets"][step["from"]["data"]["name"]]}
            rows = [row | known[row["line"]] for row in rows]
    return rows


def views(spec, data=None, transform=(), axes=None):
    """Yield every layer with the rows it draws."""
    data, transform = spec.get("data", data), [*transform, *spec.get("transform", ())]
    parts = [
        part for kind in ("layer", "concat", "hconcat", "vconcat") for part in spec.get(kind, [])
    ] + ([spec["spec"]] if "spec" in spec else [])
    for part in parts:
        part["datasets"] = spec["datasets"]
        yield from views(part, data, transform, spec.get("encoding", axes))
    if not parts:
        encoding = {
            channel: (axes or {}).get(channel, {}) | one if "field" in one else one
            for channel, one in spec["encoding"].items()
        }
        yield spec | {"encoding": encoding}, read(spec, data, transform)


def drawn(chart, mark, *columns):
    """Return the layers of a mark whose rows have these columns, with the rows."""
    return [
        (view, rows)
        for view, rows in views(specification(chart))
        if view["mark"]["type"] == mark and rows and set(columns) <= set(rows[0])
    ]


def lines(chart):
    """Return the rows of each panel's lines of precision over recall."""
    return [rows for view, rows in drawn(chart, "line", "threshold") if is_over(view, "recall")]


def drawn_digits(table):
    """Return a table with the five digits that charts have."""
    return table.with_columns(pl.selectors.float().round_sig_figs(5))


def is_over(view, column):
    return view["encoding"]["x"]["field"] == column


def of(rows, *columns):
    return [{name: row[name] for name in columns} for row in rows]


def words(chart):
    """Return all that stands above the panels."""
    spec = specification(chart)
    panels = [part for part in spec.get("concat", []) if "title" in part]
    titles = [spec["title"], *(part["title"] for part in panels)]
    return [line for t in titles for line in (t["text"], *t.get("subtitle", []))]


def row_count(chart):
    """Return the number of rows of all data sets; of text, that of its lines."""
    data = specification(chart)["datasets"].values()
    return sum(len(rows.splitlines()) if isinstance(rows, str) else len(rows) for rows in data)


def legend(chart):
    return drawn(chart, "line", "threshold")[0][0]["encoding"]["color"]["scale"]["domain"]


# --- panels and legends ------------------------------------------------------------------------


def segments(count, **keys):
    """Return rows of so many segments, all alike."""
    of_one = pl.DataFrame({"late": [True, False], "old": [0.9, 0.1], "new": [0.1, 0.9]})
    return pl.concat(of_one.with_columns(segment=pl.lit(i), **keys) for i in range(count))


# --- summaries ---------------------------------------------------------------------------------


WHOLE = "all rows"


def order(chart, value="average_precision"):
    """Return the names of the segments, top down."""
    first, *names = drawn(chart, "circle", value)[0][0]["encoding"]["y"]["sort"]
    return names if first == WHOLE and names else [first, *names]


def of_segments(rows):
    return [row for row in rows if row["name"] != WHOLE]
