"""Handing on to R: what is written, what R reads of it, and what it draws."""

from __future__ import annotations

import datetime as dt
import math
import os
import random
import re
import struct
import subprocess
import sys
from decimal import Decimal
from itertools import accumulate
from pathlib import Path

import optional
import polars as pl
import pytest
from kinds import every_kind
from polars.testing import assert_frame_equal
from pyarrow import ipc, parquet

import frame_prc
from frame_prc import ColumnError, DataError, FileError, FrameError, OptionError, PrcError

DOUBLES = 10_000
KEYS = 200
READERS = {
    "base": "read_curves",
    "readr": "read_with_readr",
    "data.table": "read_with_data_table",
}
INJECTION = '"); system("touch injected"); ("'

ROWS = pl.DataFrame(
    {
        "late": [True, False, True, False, False, True],
        "score": [0.9, 0.4, 0.4, 0.2, 0.7, 0.1],
        "origin": ["JFK", "JFK", "JFK", "JFK", None, None],
    }
)
# By hand: two segments, null first; precision 2/3 and average precision 1/2 + 1/2 * 2/3.
TABLE = """\
origin,threshold,tp,fp,fn,tn,precision,recall,average_precision
NA,Inf,0,0,1,1,1,0,0.5
NA,0.69999999999999996,0,1,1,0,0,0,0.5
NA,0.10000000000000001,1,1,0,0,0.5,1,0.5
"JFK",Inf,0,0,2,2,1,0,0.83333333333333326
"JFK",0.90000000000000002,1,0,1,2,1,0.5,0.83333333333333326
"JFK",0.40000000000000002,2,1,0,1,0.66666666666666663,1,0.83333333333333326
"JFK",0.20000000000000001,2,2,0,0,0.5,1,0.83333333333333326
"""
SUFFIXES = [".tsv", ".csv", ".parquet", ".arrow", ".feather"]
TEXT = {"null_values": "NA", "schema_overrides": {"threshold": pl.Float64}}
READ = {
    ".tsv": lambda path: pl.read_csv(path, separator="\t", **TEXT),
    ".csv": lambda path: pl.read_csv(path, **TEXT),
    ".parquet": pl.read_parquet,
    ".arrow": pl.read_ipc,
    ".feather": pl.read_ipc,
}

every_reader = pytest.mark.parametrize("reader", list(READERS))
every_suffix = pytest.mark.parametrize("suffix", SUFFIXES)
text_suffixes = pytest.mark.parametrize("suffix", [".tsv", ".csv"])


def new_random(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    done = subprocess.run(  # noqa: S603
        list(map(str, command)),
        cwd=cwd,
        capture_output=True,
        check=False,
        env={**os.environ, **environment},
    )
    errors = done.stderr.decode(errors="replace")
    assert done.returncode == 0, errors
    assert "warning" not in errors.lower(), errors
    return done.stdout.decode()


def draw(script: Path, cwd: Path, *arguments: str | Path, **environment: str) -> None:
    run(optional.require_r_package("ggplot2"), script, *arguments, cwd=cwd, **environment)


def in_r(
    tables: Path | list[Path], code: str, reader: str = "base", **environment: str
) -> list[str]:
    """Return the lines that R code prints of ``curves``, each table read as its script says."""
    rscript = optional.require_r_package(reader)
    tables = tables if isinstance(tables, list) else [tables]
    lines = []
    for table in tables:
        # The functions of the script, without its picture.
        script = f'parse("{table.stem}.R")'
        lines += [f'for (e in {script}) if (grepl("function", deparse(e)[1])) eval(e)']
        lines += [f'curves <- restore({READERS[reader]}("{table.name}"))', code]
    program = tables[0].with_name("program.R")
    program.write_text("\n".join(lines), encoding="ascii")
    return run(rscript, program.name, cwd=program.parent, **environment).splitlines()


def doubles_in_r(table: Path, columns: list[str], reader: str) -> list[list[float]]:
    """Return columns with every bit that they have in R."""
    code = 'for (name in c({})) writeBin(curves[[name]], paste0(name, ".bin"))'
    in_r(table, code.format(", ".join(f'"{name}"' for name in columns)), reader)
    contents = [table.with_name(f"{name}.bin").read_bytes() for name in columns]
    return [list(struct.unpack(f"<{len(c) // 8}d", c)) for c in contents]


def texts_in_r(table: Path, vector: str, reader: str = "base", **environment: str) -> list:
    """Return a character vector of R; what is NA is None."""
    shown = 'ifelse(is.na(x), "NA", vapply(x, function(s) paste(charToRaw(s), collapse = ""), ""))'
    lines = in_r(table, f"x <- enc2utf8({vector}); writeLines({shown})", reader, **environment)
    return [None if line == "NA" else bytes.fromhex(line).decode() for line in lines]


def assert_is_picture(path: Path, height: int = 500) -> None:
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    columns, rows = struct.unpack(">II", head[16:24])
    assert columns >= 700
    assert rows >= height
    assert path.stat().st_size > 15_000  # of an empty one there is less


# --- what is written ---------------------------------------------------------------------------


@every_kind
def test_a_table_and_its_script_are_written(kind, tmp_path):
    table, script = kind.make(ROWS).prc.write_ggplot(
        tmp_path / "late.csv", "late", "score", by="origin"
    )
    assert (table, script) == (tmp_path / "late.csv", tmp_path / "late.R")
    assert table.read_text(encoding="utf-8") == TABLE
    assert sorted(os.listdir(tmp_path)) == ["late.R", "late.csv"]


@every_kind
def test_counts_give_the_same(kind, tmp_path):
    counted = ROWS.select("origin", "score", pos=pl.col("late").cast(pl.Int64)).with_columns(
        neg=1 - pl.col("pos")
    )
    frame_prc.write_ggplot(
        kind.make(counted), tmp_path / "late.csv", score="score", pos="pos", neg="neg", by="origin"
    )
    assert (tmp_path / "late.csv").read_text(encoding="utf-8") == TABLE


@every_kind
@every_suffix
def test_a_curve_gives_the_same_wherever_it_has_been(kind, suffix, tmp_path):
    frame_prc.write_ggplot(ROWS, tmp_path / f"a{suffix}", "late", "score", by="origin")
    read = READ[suffix](tmp_path / f"a{suffix}").drop("average_precision")
    shuffled = read.sample(fraction=1, shuffle=True, seed=7)
    frame_prc.write_ggplot(kind.make(shuffled), tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text(encoding="utf-8") == TABLE


@every_suffix
def test_every_format_has_the_same_table(suffix, tmp_path):
    table, _ = frame_prc.write_ggplot(ROWS, tmp_path / f"a{suffix}", "late", "score", by="origin")
    expected = READ[".csv"](TABLE.encode())
    assert_frame_equal(READ[suffix](table), expected, check_dtypes=False, check_exact=True)


def test_a_curve_of_one_segment_has_no_keys(tmp_path):
    frame_prc.write_ggplot(ROWS.drop_nulls(), tmp_path / "a.csv", "late", "score")
    one = "\n".join(line.partition(",")[2] for line in TABLE.splitlines() if "NA" not in line)
    assert (tmp_path / "a.csv").read_text(encoding="utf-8") == f"{one}\n"
    curve = frame_prc.curve(ROWS.drop_nulls(), "late", "score")
    frame_prc.write_ggplot(curve, tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_bytes() == (tmp_path / "a.csv").read_bytes()


def test_a_curve_knows_what_was_never_retrieved(tmp_path):
    rows = pl.DataFrame({"t": [1, 0, 1, 0], "s": [0.9, 0.5, None, None]})
    for path, *columns in (("a.tsv", "t", "s"), ("b.tsv",)):
        frame = rows if columns else rows.prc.curve("t", "s", missing="unretrieved")
        missing = {"missing": "unretrieved"} if columns else {}
        frame.prc.write_ggplot(tmp_path / path, *columns, **missing)
        areas = READ[".tsv"](tmp_path / path)["average_precision"]
        assert areas.to_list() == [0.5] * 3  # 1/2 found at precision 1


def test_a_thinned_curve_does_not_know_its_area_but_rows_do(tmp_path):
    rng = new_random(1)
    rows = pl.DataFrame(
        {"t": [rng.random() < 0.4 for _ in range(99)], "s": [rng.random() for _ in range(99)]}
    )
    rows.prc.write_ggplot(tmp_path / "rows.parquet", "t", "s", keep=5)
    rows.prc.curve("t", "s", keep=5).prc.write_ggplot(tmp_path / "curve.parquet")
    of_rows, of_curve = (pl.read_parquet(tmp_path / f"{n}.parquet") for n in ("rows", "curve"))
    assert of_rows.height == of_curve.height == 5
    truth, score = rows["t"].to_list(), rows["s"].to_list()
    ranks = [[s >= at for s in score] for at, t in zip(score, truth, strict=True) if t]
    exact = [sum(t for t, r in zip(truth, rank, strict=True) if r) / sum(rank) for rank in ranks]
    assert of_rows["average_precision"].to_list() == pytest.approx([sum(exact) / len(exact)] * 5)
    assert of_curve["average_precision"].to_list() == [None] * 5


def test_what_a_curve_has_beside_its_points_stays(tmp_path):
    curve = ROWS.prc.curve("late", "score", by="origin", envelope=True, ci=0.9)
    marked = curve.with_columns(note=pl.lit("a, b"))
    marked.prc.write_ggplot(tmp_path / "a.csv")
    marked.prc.write_ggplot(tmp_path / "a.parquet")
    for read in (READ[".csv"](tmp_path / "a.csv"), READ[".parquet"](tmp_path / "a.parquet")):
        assert_frame_equal(read.drop("average_precision"), marked)
    pl.read_parquet(tmp_path / "a.parquet").prc.write_ggplot(tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_bytes() == (tmp_path / "a.csv").read_bytes()


def test_an_interval_stands_beside_the_area_and_the_precision(tmp_path):
    table, _ = ROWS.prc.write_ggplot(tmp_path / "a.csv", "late", "score", ci=0.9)
    names = pl.read_csv(table).columns
    assert names[-5:-2] == ["precision_low", "precision_high", "average_precision"]
    assert names[-2:] == ["ci_low", "ci_high"]


def test_arrow_files_have_types_that_r_has(tmp_path):
    rows = ROWS.with_columns(
        pl.col("origin").cast(pl.Categorical), pl.col("score").cast(pl.Float32)
    )
    rows.prc.write_ggplot(tmp_path / "a.arrow", "late", "score", by="origin")
    rows.prc.write_ggplot(tmp_path / "a.parquet", "late", "score", by="origin")
    for schema in (
        ipc.open_file(tmp_path / "a.arrow").schema,
        parquet.read_schema(tmp_path / "a.parquet"),
    ):
        types = [str(field.type) for field in schema]
        assert types == ["large_string", "double", *["int64"] * 4, *["double"] * 3]


# --- numbers -----------------------------------------------------------------------------------


def hostile_doubles(count: int) -> list[float]:
    """Return distinct doubles of every kind: bit patterns, subnormals, shares, extremes."""
    rng = new_random(20)
    edges = [5e-324, -5e-324, 2.2250738585072014e-308, 2.225073858507201e-308, 0.1, 1e22, 1e23]
    edges += [1e308, -1e308, 1.7976931348623157e308, 9007199254740993.0, 1 / 3, math.inf, -math.inf]
    makers = [
        lambda: struct.unpack("<d", rng.randbytes(8))[0],
        lambda: struct.unpack("<d", rng.getrandbits(52).to_bytes(8, "little"))[0],
        lambda: rng.randint(1, 999) / rng.randint(1, 10**6),
        rng.random,
        lambda: rng.random() * 1.7e308,
        lambda: float(rng.getrandbits(rng.randint(1, 63))),
        lambda: round(rng.random(), rng.randint(1, 9)),
        lambda: struct.unpack("<f", struct.pack("<f", rng.random()))[0],
    ]
    found = dict.fromkeys(edges)
    while len(found) < count:
        value = rng.choice(makers)()
        if value and not math.isnan(value):
            found[value] = None
    return list(found)


def hostile_floats(count: int) -> list[float]:
    """Return distinct Float32 values, as doubles."""
    rng = new_random(21)
    found = {struct.unpack("<f", struct.pack("<f", 0.1))[0]: None}
    while len(found) < count:
        value = struct.unpack("<f", rng.randbytes(4))[0]
        if value and not math.isnan(value):
            found[value] = None
    return list(found)


def same_bits(found: list[float], expected: list[float]) -> bool:
    return struct.pack(f"<{len(found)}d", *found) == struct.pack(f"<{len(expected)}d", *expected)


@pytest.fixture(scope="module", params=["Float64", "Float32"])
def numbers(request, tmp_path_factory):
    """Return a folder with tables of hostile thresholds, and the columns R must read."""
    folder = tmp_path_factory.mktemp("numbers")
    maker = {"Float64": hostile_doubles, "Float32": hostile_floats}[request.param]
    thresholds = sorted(maker(DOUBLES), reverse=True)
    rng = new_random(22)
    # Beyond 2**31, where R's integers end.
    pos, neg = ([rng.randint(1, 10**9) for _ in thresholds] for _ in range(2))
    score = pl.Series(thresholds, dtype=getattr(pl, request.param))
    counts = pl.DataFrame({"s": score, "pos": pos, "neg": neg})
    for suffix in (".tsv", ".csv"):
        counts.prc.write_ggplot(
            folder / f"{suffix[1:]}{suffix}",
            score="s",
            pos="pos",
            neg="neg",
            start=None,
            keep="all",
        )
    tp, fp = list(accumulate(pos)), list(accumulate(neg))
    columns = {
        "threshold": thresholds,
        "tp": list(map(float, tp)),
        "fn": [float(tp[-1] - found) for found in tp],
        "precision": [t / (t + f) for t, f in zip(tp, fp, strict=True)],
        "recall": [found / tp[-1] for found in tp],
    }
    return folder, columns


@every_reader
@text_suffixes
def test_r_reads_numbers_bit_for_bit(numbers, suffix, reader):
    folder, expected = numbers
    assert expected["tp"][-1] > 2**40
    found = doubles_in_r(folder / f"{suffix[1:]}{suffix}", list(expected), reader)
    for name, column in zip(expected, found, strict=True):
        assert len(column) == DOUBLES
        assert same_bits(column, expected[name]), name


@pytest.mark.parametrize(
    ("package", "read"),
    [
        ("base", 'read.table("tsv.tsv", sep = "\\t", header = TRUE)'),
        ("data.table", 'data.table::fread("tsv.tsv")'),
    ],
)
def test_r_reads_numbers_bit_for_bit_without_the_script(numbers, package, read):
    folder, expected = numbers
    rscript = optional.require_r_package(package)
    names = "c('threshold', 'tp', 'precision')"
    write = f"for (n in {names}) writeBin(as.numeric(x[[n]]), paste0(n, '.raw'))"
    run(rscript, "-e", f"x <- {read}", "-e", write, cwd=folder)
    for name in ("threshold", "tp", "precision"):
        content = (folder / f"{name}.raw").read_bytes()
        assert same_bits(list(struct.unpack(f"<{DOUBLES}d", content)), expected[name])


# --- keys --------------------------------------------------------------------------------------


def hostile_keys(count: int) -> list[str]:
    """Return distinct texts that have gone wrong somewhere."""
    keys = [
        *("", " ", "  lead", "trail  ", "\u00a0", "\u200b", "\ufeffbom", "\u2028", "\u202eabc"),
        *("NA", "<NA>", "<<NA>>", "na", "N/A", "null", "NULL", "None", "NaN", "Inf", "-Inf", "nan"),
        *("TRUE", "T", "F", "false", "1", "001", "1e5", "0x1A", "1L", "2024-01-01", "12:30:00"),
        *("#", "#c", "a#b", "%", "%d", "%s", "a,b", ",", ";", "a\tb", "\t", "a\nb", "\n", "a\n\nb"),
        *(
            "a\rb",
            "\r",
            "\r\n",
            "a\u240db",
            "\r\u240d",
            "\u240d\r",
            "'",
            "it's",
            "`x`",
            "\x7f",
            "\x85",
        ),
        *('"', '""', '"""', 'a"b', 'a""b', '"quoted"', '",', '"\t"', "\\", "\\\\", "a\\", "\\n"),
        *('\\"', 'back\\"slash', "\\u0041", "{x}", "{{}}", "${x}", "$(x)", "(", ")", "[", "]]"),
        *(
            "é",
            "e\u0301",
            "größe",
            "日本",
            "مرحبا",
            "😀",
            "👩‍👩‍👧",
            "\ufffd",
            "\uffff",
            "\U0010ffff",
        ),
        *("\x01", "\x1a", "\x1b[31m", "a" * 5000, "-", "--", "+", "=1+1", "@", "~+~", INJECTION),
    ]
    rng = new_random(23)
    alphabet = "abAB01 \"'\\\t\n\r,;#%NAé日😀\u240d"
    found = dict.fromkeys(keys)
    while len(found) < count:
        found["".join(rng.choices(alphabet, k=rng.randint(1, 12)))] = None
    return list(found)


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """Return a folder with tables of hostile keys, and the keys in the order of their segments."""
    folder = tmp_path_factory.mktemp("keys")
    values = hostile_keys(KEYS)
    assert len(values) == KEYS
    rows = pl.DataFrame({INJECTION: [*values, None]}).with_columns(t=1, s=0.5)
    for suffix in (".tsv", ".csv"):
        rows.prc.write_ggplot(
            folder / f"{suffix[1:]}{suffix}", "t", "s", by=INJECTION, start=None, title=INJECTION
        )
    return folder, [None, *sorted(values, key=str.encode)]


@every_reader
@text_suffixes
@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_r_reads_hostile_keys(keys, suffix, reader, locale):
    folder, expected = keys
    table = folder / f"{suffix[1:]}{suffix}"
    keys_and_levels = "c(as.character(curves[[1]]), levels(curves[[1]]))"
    assert texts_in_r(table, keys_and_levels, reader, LC_ALL=locale) == [*expected, *expected[1:]]
    assert os.listdir(folder).count("injected") == 0


def test_the_script_says_what_stands_for_null_and_how_keys_are_called(keys):
    folder, _ = keys
    script = (folder / "tsv.R").read_text(encoding="ascii")
    name = "X....system..touch.injected......"
    assert "# Missing values are NA, <<<NA>>> in " + name in script
    assert re.search(rf"^#   {re.escape(name)}: factor, \"\\\"\); system", script, re.MULTILINE)


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_r_draws_hostile_keys(keys, locale, tmp_path):
    folder, _ = keys
    draw(folder / "tsv.R", tmp_path, LC_ALL=locale)
    assert_is_picture(folder / "tsv.png")
    assert os.listdir(tmp_path) == []
    assert "injected" not in os.listdir(folder)


FOLD = [dt.datetime(2024, 10, 27, hour, 30, 0, 250_001, dt.UTC) for hour in (0, 1)]  # both 02:30
BERLIN = pl.Series(FOLD).dt.convert_time_zone("Europe/Berlin")
TIMES = [dt.datetime(1969, 12, 31, 23, 59, 59, 999_999), dt.datetime(2024, 1, 1, 0, 0, 0, 1)]
EDGE = 2**31
LEVELS = pl.Enum(["low", "mid", "high"])
# Ascending keys, the class of R, and how R shows them: instants as microseconds.
TYPES = [
    (pl.Series([False, True]), "logical", "FALSE TRUE"),
    (pl.Series([-1, 1], dtype=pl.Int8), "integer", "-1 1"),
    (pl.Series([1 - EDGE, EDGE - 1]), "integer", "-2147483647 2147483647"),
    (pl.Series([-EDGE, EDGE]), "numeric", "-2147483648 2147483648"),
    (pl.Series([2**53 - 1, 2**53]), "numeric", "9007199254740991 9007199254740992"),
    (pl.Series([2**53, 2**53 + 1]), "factor", "9007199254740992 9007199254740993"),
    (pl.Series([9, 2**70], dtype=pl.Int128), "factor", "9 1180591620717411303424"),
    (pl.Series([0.1, math.inf], dtype=pl.Float32), "numeric", "0.10000000149011612 Inf"),
    (pl.Series([dt.date(1969, 12, 31), dt.date(2024, 2, 29)]), "Date", "1969-12-31 2024-02-29"),
    (pl.Series(TIMES), "POSIXct", "-1 1704067200000001"),
    (pl.Series([TIMES[1]], dtype=pl.Datetime("ms")), "POSIXct", "1704067200000000"),
    (BERLIN, "POSIXct", "1729989000250001 1729992600250001"),
    (pl.Series([dt.timedelta(hours=9), dt.timedelta(hours=10)]), "factor", "PT9H PT10H"),
    (pl.Series([dt.time(9), dt.time(10, 0, 1)]), "factor", "09:00:00 10:00:01"),
    (pl.Series([Decimal("9.10"), Decimal("10.00")]), "factor", "9.10 10.00"),
    (pl.Series(["10", "9"]), "factor", "10 9"),
    (pl.Series(["low", "high"], dtype=LEVELS), "factor", "low high"),
    (pl.Series(["a", "b"], dtype=pl.Categorical), "factor", "a b"),
    (pl.Series([b"a", b"\xff"]), "factor", "b'a' b'\\xff'"),
    (pl.Series([None, None]), "factor", ""),
]


@pytest.fixture(scope="module")
def typed(tmp_path_factory):
    """Return tables and scripts, each with a key of another type, descending and with a null."""
    folder = tmp_path_factory.mktemp("types")
    rows = [pl.DataFrame({"k": [*k.reverse(), None]}, schema={"k": k.dtype}) for k, _, _ in TYPES]
    return [
        frame.with_columns(t=1, s=0.5).prc.write_ggplot(
            folder / f"{place}.tsv", "t", "s", by="k", start=None
        )
        for place, frame in enumerate(rows)
    ]


@every_reader
def test_keys_keep_their_type_and_order(typed, reader):
    code = """
    text <- switch(class(curves$k)[1],
      POSIXct = sprintf("%.0f", 1e6 * as.numeric(curves$k)),
      numeric = ifelse(is.infinite(curves$k), "Inf", sprintf("%.17g", curves$k)),
      as.character(curves$k)
    )
    cat(class(curves$k)[1], is.na(curves$k[1]), paste(text[-1], collapse = " "), "\\n")
    if (is.factor(curves$k)) cat("levels", paste(levels(curves$k), collapse = " "), "\\n")
    """
    lines = in_r([table for table, _ in typed], code, reader)
    expected = []
    for _, kind, shown in TYPES:
        expected += [f"{kind} TRUE {shown} "]
        expected += [f"levels {shown} "] if kind == "factor" else []
    assert lines == expected


def test_the_script_says_the_types(typed):
    for (_, script), (_, kind, _) in zip(typed, TYPES, strict=True):
        assert f"#   k: {kind}\n" in script.read_text(encoding="ascii")


def test_a_datetime_of_nanoseconds_is_a_factor(tmp_path):
    key = pl.Series("k", [1, 2]).cast(pl.Datetime("ns"))
    rows = pl.DataFrame([key]).with_columns(t=1, s=0.5)
    table, _ = rows.prc.write_ggplot(tmp_path / "t.tsv", "t", "s", by="k", start=None)
    shown = ["1970-01-01 00:00:00.000000001", "1970-01-01 00:00:00.000000002"]
    assert texts_in_r(table, "levels(curves$k)") == shown


def test_a_datetime_keeps_its_zone(tmp_path):
    key = pl.Series("k", FOLD).dt.convert_time_zone("Europe/Berlin")
    rows = pl.DataFrame([key]).with_columns(t=1, s=0.5)
    table, _ = rows.prc.write_ggplot(tmp_path / "t.csv", "t", "s", by="k", start=None)
    shown = in_r(table, 'writeLines(c(attr(curves$k, "tzone"), format(curves$k, "%F %T %Z")))')
    assert shown == ["Europe/Berlin", "2024-10-27 02:30:00 CEST", "2024-10-27 02:30:00 CET"]


def test_names_are_legal_and_the_script_says_what_they_were(tmp_path):
    names = [
        "tail number",
        "tail.number",
        "größe",
        "1st",
        ".hidden",
        "if",
        "日",
        "月",
        "a\n# b",
        "T",
    ]
    rows = pl.DataFrame({name: ["x", "y"] for name in names}).with_columns(truth=1, s=0.5)
    table, script = rows.prc.write_ggplot(tmp_path / "t.tsv", "truth", "s", by=names)
    head = table.read_text(encoding="utf-8").partition("\n")[0].split("\t")
    assert head[: len(names)] == [
        *(
            "tail.number.1",
            "tail.number",
            "groe",
            "X1st",
            "X.hidden",
            "if.",
            "X",
            "X.1",
            "a...b",
            "T.",
        ),
    ]
    assert in_r(
        table, "cat(identical(names(curves), make.names(names(curves), unique = TRUE)))"
    ) == ["TRUE"]
    text = script.read_text(encoding="ascii")
    assert "#   tail.number: factor\n" in text
    assert '#   tail.number.1: factor, "tail number" in the frame\n' in text
    assert '#   groe: factor, "gr\\u00f6\\u00dfe" in the frame\n' in text
    assert '#   a...b: factor, "a\\u000a# b" in the frame\n' in text
    draw(script, tmp_path)


# --- what R draws --------------------------------------------------------------------------------


def some_rows(count: int = 400) -> pl.DataFrame:
    rng = new_random(3)
    return pl.DataFrame(
        {
            "t": [rng.random() < 0.3 for _ in range(count)],
            "a": [rng.random() for _ in range(count)],
            "b": [round(rng.random(), 1) for _ in range(count)],
            "k": [rng.choice(["x", "y", None]) for _ in range(count)],
            "day": [dt.date(2024, 1, rng.randint(1, 3)) for _ in range(count)],
            "big": [rng.random() < 0.5 for _ in range(count)],
            "w": [rng.random() for _ in range(count)],
        }
    )


@pytest.mark.parametrize(
    ("columns", "options"),
    [
        (("t", "a"), {}),
        (("t", "a"), {"ci": 0.9, "by": "day"}),
        (("t", ["a", "b"]), {"ci": 0.95}),
        (("t", ["a", "b"]), {"by": ["k", "big"], "keep": 20}),
        (("t", {f"model {i}": pl.col("a") ** i for i in range(1, 12)}), {"by": "k", "start": None}),
        (("t", "a"), {"weight": "w", "by": pl.col("day").dt.truncate("1d").cast(pl.Datetime)}),
        ((pl.col("t") & (pl.col("day").dt.day() > 1), "a"), {"by": "day", "ci": 0.9}),
        ((pl.lit(value=False), "a"), {"start": "first"}),
        ((pl.lit(value=True), "a"), {}),
    ],
)
def test_r_draws(columns, options, tmp_path):
    _, script = some_rows().prc.write_ggplot(tmp_path / "t.tsv", *columns, **options)
    draw(script, tmp_path)
    assert_is_picture(tmp_path / "t.png")


def test_r_draws_the_area_that_average_precision_sums(tmp_path):
    rows = some_rows()
    table, script = rows.prc.write_ggplot(tmp_path / "t.tsv", "t", ["a", "b"], by="k")
    program = tmp_path / "program.R"
    program.write_text(
        """
        source("t.R")
        layers <- lapply(plot$layers, function(layer) class(layer$geom)[1])
        steps <- layer_data(plot, which(layers == "GeomStep"))
        for (line in split(steps, list(steps$group, steps$PANEL), drop = TRUE)) {
          path <- ggplot2:::stairstep(line[order(line$x), ], direction = "vh")
          area <- sum(diff(path$x) * (head(path$y, -1) + tail(path$y, -1)) / 2)
          cat(sprintf("%.17g", area), "\\n")
        }
        """,
        encoding="ascii",
    )
    assert script.exists()
    rscript = optional.require_r_package("ggplot2")
    drawn = sorted(map(float, run(rscript, program.name, cwd=tmp_path).split()))
    expected = []
    for key in (None, "x", "y"):
        part = rows.filter(pl.col("k").eq_missing(pl.lit(key)))
        for score in ("a", "b"):
            truth, values = part["t"].to_list(), part[score].to_list()
            at = [[s >= v for s in values] for t, v in zip(truth, values, strict=True) if t]
            found = [
                sum(t for t, r in zip(truth, rank, strict=True) if r) / sum(rank) for rank in at
            ]
            expected.append(sum(found) / len(found))
    assert drawn == pytest.approx(sorted(expected), rel=1e-12)
    assert sorted(set(READ[".tsv"](table)["average_precision"])) == pytest.approx(sorted(expected))


def test_names_too_long_for_r_to_draw_keep_both_ends(tmp_path):
    names = [f"Department of Regional Sales and Operations, {place}" for place in ("East", "West")]
    rows = pl.DataFrame({"k": names * 2, "t": [1, 0, 0, 1], "s": [0.5, 0.2, 0.1, 0.3]})
    table, _ = rows.prc.write_ggplot(tmp_path / "t.tsv", "t", "s", by="k")
    shown = in_r(table, "writeLines(unique(show_key(curves$k)))")
    assert shown == ["Department of Regional...tions, East", "Department of Regional...tions, West"]


def test_the_script_takes_paths_and_runs_from_any_folder(tmp_path):
    folder, elsewhere = tmp_path / "a b's é", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    table, script = some_rows().prc.write_ggplot(folder / "the curve's é.tsv", "t", "a")
    draw(script, elsewhere)
    assert_is_picture(folder / "the curve's é.png")
    (folder / "the curve's é.png").unlink()
    draw(script, elsewhere, table, "mine.png")
    assert_is_picture(elsewhere / "mine.png")
    assert os.listdir(elsewhere) == ["mine.png"]
    assert len(os.listdir(folder)) == 2


def test_the_script_reads_another_table_of_the_same_kind(tmp_path):
    rows = pl.DataFrame({"k": ["NA", "b", None], "t": [1, 1, 1], "s": [0.5, 0.5, 0.5]})
    old, script = rows.prc.write_ggplot(tmp_path / "old.csv", "t", "s", by="k", start=None)
    more = rows.with_columns(k=pl.Series(["NA", "new", None]))
    new, _ = more.prc.write_ggplot(tmp_path / "new.csv", "t", "s", by="k", start=None)
    old.write_bytes(new.read_bytes())
    assert texts_in_r(old, "as.character(curves$k)") == [None, "NA", "new"]
    assert texts_in_r(old, "levels(curves$k)") == ["NA", "b", "new"]
    draw(script, tmp_path)


def test_texts_do_not_become_code(tmp_path):
    name = INJECTION.replace("/", "")
    rows = pl.DataFrame({name: [name, "#{x}"], "t": [1, 0], "s": [0.5, 0.2]})
    both = {name: "s", "other": pl.col("s") + 1}
    _, script = rows.prc.write_ggplot(
        tmp_path / f"{name}.csv", "t", both, by=name, title=f"{name}\n{name}"
    )
    draw(script, tmp_path)
    assert sorted(os.listdir(tmp_path)) == sorted(
        f"{name}.{suffix}" for suffix in ("csv", "R", "png")
    )


def test_a_table_without_rows_is_written_and_r_says_so(tmp_path):
    table, script = ROWS.head(0).prc.write_ggplot(tmp_path / "t.tsv", "late", "score", by="origin")
    assert READ[".tsv"](table).is_empty()
    rscript = optional.require_r_package("ggplot2")
    done = subprocess.run([rscript, script], capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 1
    assert "there is nothing to draw: the table has no rows" in done.stderr


def test_the_script_of_an_arrow_file_reads_it_by_arrow(tmp_path):
    functions = {".parquet": "read_parquet", ".arrow": "read_feather", ".feather": "read_feather"}
    for suffix, function in functions.items():
        _, script = ROWS.prc.write_ggplot(tmp_path / f"t{suffix}", "late", "score")
        text = script.read_text(encoding="ascii")
        assert f"read_curves <- function(path) arrow::{function}(path)\n" in text
        assert "with ggplot2 and arrow." in text


# --- plotnine ------------------------------------------------------------------------------------


def test_plotnine_draws_the_area_that_average_precision_sums():
    plotnine = optional.require_module("plotnine")
    rows = pl.DataFrame({"t": [1, 0, 1, 0, 0, 1], "s": [0.9, 0.4, 0.4, 0.2, 0.7, 0.1]})
    curve = rows.prc.curve("t", "s")
    steps = plotnine.geom_step(plotnine.aes("recall", "precision"), curve, direction="vh")
    figure = (plotnine.ggplot() + steps).draw()
    [line] = [line for line in figure.axes[0].lines if len(line.get_xdata()) > 2]
    x, y = line.get_xdata(), line.get_ydata()
    area = sum((b - a) * h for a, b, h in zip(x, x[1:], y[1:], strict=False))
    assert area == pytest.approx((1 + 2 / 4 + 3 / 6) / 3, rel=1e-12)


def test_plotnine_example_saves_a_picture(tmp_path):
    optional.require_module("plotnine")
    example = Path(__file__).parents[1] / "examples" / "plotnine_curves.py"
    run(sys.executable, "-W", "error", example, "out/p.png", cwd=tmp_path, MPLBACKEND="agg")
    assert_is_picture(tmp_path / "out" / "p.png", height=400)


# --- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "error", "said"),
    [
        ("late", FileError, "has no suffix. Allowed: .tsv, .csv, .parquet, .arrow, .feather."),
        ("t.xlsx", FileError, "has the suffix '.xlsx'. Allowed: .tsv"),
        ("t.tsv.gz", FileError, "has the suffix '.gz'"),
        ("no/t.tsv", FileError, "is not there"),
        ("folder.tsv", FileError, "is a folder"),
        ("script.tsv", FileError, "is a folder"),
        (3, OptionError, "path= is of type int. Allowed: the path of a file, as text."),
    ],
)
def test_a_bad_path_is_refused_before_anything_is_read(path, error, said, tmp_path):
    (tmp_path / "folder.tsv").mkdir()
    (tmp_path / "script.R").mkdir()
    frame = pl.scan_csv(tmp_path / "missing.csv")
    with pytest.raises(error, match=re.escape(said)) as caught:
        frame.prc.write_ggplot(path if path == 3 else tmp_path / path, "late", "score")
    assert isinstance(caught.value, PrcError)


def test_a_hint_says_that_the_path_comes_first():
    with pytest.raises(
        FileError, match=r"path comes before the columns: write_ggplot\('curves.tsv'"
    ):
        ROWS.prc.write_ggplot("late", "score")


def test_an_unwritable_folder_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # the superuser may write anywhere
    with pytest.raises(FileError, match="cannot be written: permission denied"):
        ROWS.prc.write_ggplot(tmp_path / "t.tsv", "late", "score")


@every_kind
@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ({"score": "score"}, OptionError, "truth= is not given"),
        ({"truth": "lat", "score": "score"}, ColumnError, "did you mean 'late'?"),
        ({"truth": "late", "score": "score", "keep": "some"}, OptionError, "keep='some'"),
        ({"truth": "late", "score": "score", "ci": 95}, OptionError, "95 % is ci=0.95"),
        ({"truth": "late", "score": "score", "title": 3}, OptionError, "title=3 is of type int"),
        ({}, ColumnError, "the frame is no curve: it has no column 'threshold'"),
        ({"by": "origin"}, OptionError, "by= is given without truth= and score="),
        ({"ci": 0.9}, OptionError, "ci= is given without truth= and score="),
        ({"keep": 200}, OptionError, "keep= is given without truth= and score="),
        ({"start": None}, OptionError, "start= is given without truth= and score="),
        ({"missing": "drop"}, OptionError, "missing= is given without truth= and score="),
    ],
)
def test_what_is_wrong_is_said_and_nothing_written(kind, asked, error, said, tmp_path):
    with pytest.raises(error, match=re.escape(said)):
        frame_prc.write_ggplot(kind.make(ROWS), tmp_path / "t.tsv", **asked)
    assert os.listdir(tmp_path) == []


@every_kind
def test_bad_values_leave_what_was_there(kind, tmp_path):
    (tmp_path / "t.tsv").write_text("old")
    frame = kind.make(ROWS.with_columns(score=pl.lit(None, pl.Float64)))
    with pytest.raises(DataError, match="score"):
        frame.prc.write_ggplot(tmp_path / "t.tsv", "late", "score")
    assert (tmp_path / "t.tsv").read_text() == "old"
    assert os.listdir(tmp_path) == ["t.tsv"]


def test_a_full_disk_leaves_both_files_as_they_were(tmp_path, monkeypatch):
    ROWS.prc.write_ggplot(tmp_path / "t.tsv", "late", "score")
    old = {path.name: path.read_text() for path in tmp_path.iterdir()}

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(FileError, match="No space left on device"):
        ROWS.prc.write_ggplot(tmp_path / "t.tsv", "late", "score", title="new")
    monkeypatch.undo()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == old


def test_a_curve_read_as_text_gets_a_hint(tmp_path):
    table, _ = ROWS.prc.write_ggplot(tmp_path / "t.csv", "late", "score")
    read = pl.read_csv(table)
    with pytest.raises(ColumnError, match=re.escape("schema_overrides={'threshold': pl.Float64}")):
        read.prc.write_ggplot(tmp_path / "u.csv")


def test_what_is_no_frame_is_refused(tmp_path):
    with pytest.raises(FrameError, match="cannot evaluate a frame of type list"):
        frame_prc.write_ggplot([1, 2], tmp_path / "t.tsv")


def test_a_script_of_somebody_else_stays_where_it_is(tmp_path):
    script = tmp_path / "curves.R"
    script.write_text("precious <- TRUE\n")
    with pytest.raises(FileError, match=r"curves.R' exists and was not written .* Hint: choose"):
        ROWS.prc.write_ggplot(tmp_path / "curves.tsv", "late", "score")
    assert script.read_text() == "precious <- TRUE\n"
    assert os.listdir(tmp_path) == ["curves.R"]


def test_a_script_of_ours_is_replaced(tmp_path):
    for _ in range(2):
        ROWS.prc.write_ggplot(tmp_path / "curves.tsv", "late", "score", title="second")
    assert "second" in (tmp_path / "curves.R").read_text()


def test_links_in_a_circle_and_paths_of_bytes_are_errors_of_ours(tmp_path):
    class Bytes:
        def __fspath__(self) -> bytes:
            return bytes(tmp_path / "curves.tsv")

    (tmp_path / "circle.tsv").symlink_to(tmp_path / "circle.tsv")
    with pytest.raises(FileError, match=r"circle.tsv' cannot be a file: .*Hint: another name"):
        ROWS.prc.write_ggplot(tmp_path / "circle.tsv", "late", "score")
    with pytest.raises(
        OptionError, match=r"path= is of type .*Bytes\. Allowed: the path of a file"
    ):
        ROWS.prc.write_ggplot(Bytes(), "late", "score")


def test_a_name_may_be_as_long_as_the_system_allows(tmp_path):
    table, script = ROWS.prc.write_ggplot(tmp_path / ("a" * 251 + ".tsv"), "late", "score")
    assert table.exists()
    assert script.exists()


def test_a_curve_may_have_amounts_that_are_whole_beside_others(tmp_path):
    rows = ROWS.with_columns(weight=pl.lit(1.0)).with_row_index()
    rows = rows.with_columns(weight=pl.when(pl.col("index") == 0).then(0.5).otherwise("weight"))
    asked = {"weight": "weight", "start": None}
    table, _ = rows.prc.write_ggplot(tmp_path / "curves.tsv", "late", "score", **asked)
    read = pl.read_csv(table, separator="\t")
    assert {read.schema["tp"], read.schema["fn"]} == {pl.Float64, pl.Int64}
    found = read.drop("average_precision").prc.plot_summary()
    assert found.to_dict()
    again, _ = read.drop("average_precision").prc.write_ggplot(tmp_path / "again.tsv")
    assert again.read_text() == table.read_text()


def test_a_key_of_a_curve_that_is_named_like_its_area_is_refused(tmp_path):
    curve = ROWS.rename({"origin": "average_precision"}).prc.curve(
        "late", "score", by="average_precision"
    )
    says = "key 'average_precision' of the curve has the name of a column that is added to it"
    with pytest.raises(ColumnError, match=says):
        curve.prc.write_ggplot(tmp_path / "curves.tsv")


@pytest.mark.parametrize("name", ["x\0.tsv", "a" * 300 + ".tsv", "\udcff.tsv"])
def test_a_name_that_no_file_can_have_is_an_error_of_ours(tmp_path, name):
    with pytest.raises(FileError, match=r"cannot be a file: .*Hint: another name"):
        ROWS.prc.write_ggplot(f"{tmp_path}/{name}", "late", "score")


def test_a_curve_whose_columns_are_in_another_order_is_refused(tmp_path):
    curve = ROWS.prc.curve("late", "score")
    turned = curve.select("tp", "threshold", pl.exclude("tp", "threshold"))
    with pytest.raises(ColumnError, match="column 'tp' of the curve comes before 'threshold'"):
        turned.prc.write_ggplot(tmp_path / "t.tsv")


def test_a_key_may_be_called_like_a_pattern(tmp_path):
    rows = ROWS.with_columns(pl.Series("^a$", ["x", "y"] * (ROWS.height // 2)), a=1)
    table, script = rows.prc.write_ggplot(tmp_path / "t.tsv", "late", "score", by="^a$")
    assert pl.read_csv(table, separator="\t")["X.a."].unique().sort().to_list() == ["x", "y"]
    assert "^a$" in script.read_text()
