"""Handing on to R: what is written, what R reads of it, and what it draws."""

from __future__ import annotations

import math
import os
import random
import re
import struct
import subprocess
from itertools import accumulate
from pathlib import Path

import optional
import polars as pl
import pytest
from kinds import every_kind
from polars.testing import assert_frame_equal
from pyarrow import ipc, parquet

import frame_prc

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


def in_r(table: Path, code: str, reader: str = "base", **environment: str) -> list[str]:
    """Return the lines that R code prints of ``curves``, read by a reader of the table's script."""
    rscript = optional.require_r_package(reader)
    # The functions of the script, without its picture.
    lines = [
        f'for (e in parse("{table.stem}.R")) if (grepl("function", deparse(e)[1])) eval(e)',
        f'curves <- restore({READERS[reader]}("{table.name}"))',
        code,
    ]
    program = table.with_name("program.R")
    program.write_text("\n".join(lines), encoding="ascii")
    return run(rscript, program.name, cwd=table.parent, **environment).splitlines()


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


def assert_is_picture(path: Path) -> None:
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", head[16:24])
    assert width >= 700
    assert height >= 500
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
        ("base", 'read.table("tsv.tsv", sep = "\t", header = TRUE)'),
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
    column = "as.character(curves[[1]])"
    assert texts_in_r(table, column, reader, LC_ALL=locale) == expected
    assert texts_in_r(table, "levels(curves[[1]])", reader, LC_ALL=locale) == expected[1:]
    assert os.listdir(folder).count("injected") == 0


def test_the_script_says_what_stands_for_null_and_how_keys_are_called(keys):
    folder, _ = keys
    script = (folder / "tsv.R").read_text(encoding="ascii")
    name = "X....system..touch.injected......"
    assert "# Missing is NA, <<<NA>>> in " + name in script
    assert re.search(rf"^#   {re.escape(name)}: factor, \"\\\"\); system", script, re.MULTILINE)


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_r_draws_hostile_keys(keys, locale, tmp_path):
    folder, _ = keys
    draw(folder / "tsv.R", tmp_path, LC_ALL=locale)
    assert_is_picture(folder / "tsv.png")
    assert os.listdir(tmp_path) == []
    assert "injected" not in os.listdir(folder)
