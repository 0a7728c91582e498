"""Numbers and keys as R reads them: bit for bit, in their order, whatever they are called."""

from __future__ import annotations

import datetime as dt
import math
import os
import re
import struct
from decimal import Decimal
from itertools import accumulate
from pathlib import Path

import optional
import polars as pl
import pytest
from ggplot_tables import (
    INJECTION,
    assert_is_picture,
    draw,
    in_r,
    new_random,
    run,
    texts_in_r,
)

DOUBLES = 10_000
KEYS = 200


text_suffixes = pytest.mark.parametrize("suffix", [".tsv", ".csv"])


def doubles_in_r(table: Path, columns: list[str]) -> list[list[float]]:
    """Return columns with every bit that they have in R."""
    code = 'for (name in c({})) writeBin(curves[[name]], paste0(name, ".bin"))'
    in_r(table, code.format(", ".join(f'"{name}"' for name in columns)))
    contents = [table.with_name(f"{name}.bin").read_bytes() for name in columns]
    return [list(struct.unpack(f"<{len(c) // 8}d", c)) for c in contents]


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
        asked = {"score": "s", "pos": "pos", "neg": "neg", "start": None, "keep": "all"}
        counts.prc.write_ggplot(folder / f"{suffix[1:]}{suffix}", **asked)
    tp, fp = list(accumulate(pos)), list(accumulate(neg))
    columns = {
        "threshold": thresholds,
        "tp": list(map(float, tp)),
        "fn": [float(tp[-1] - found) for found in tp],
        "precision": [t / (t + f) for t, f in zip(tp, fp, strict=True)],
        "recall": [found / tp[-1] for found in tp],
    }
    return folder, columns


@pytest.mark.thorough
@text_suffixes
def test_r_reads_numbers_bit_for_bit(numbers, suffix):
    folder, expected = numbers
    assert expected["tp"][-1] > 2**40
    found = doubles_in_r(folder / f"{suffix[1:]}{suffix}", list(expected))
    for name, column in zip(expected, found, strict=True):
        assert len(column) == DOUBLES
        assert same_bits(column, expected[name]), name


@pytest.mark.thorough
def test_r_reads_numbers_bit_for_bit_without_the_script(numbers):
    folder, expected = numbers
    rscript = optional.require_r_package("data.table")
    read = 'data.table::fread("tsv.tsv")'
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
        *("a\rb", "\r", "\r\n", "a\u240db", "\r\u240d", "\u240d\r", "'", "it's", "`x`"),
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
        *(
            "\x7f",
            "\x85",
            "\x01",
            "\x1a",
            "\x1b[31m",
            "a" * 5000,
            "-",
            "--",
            "+",
            "=1+1",
            "@",
            "~+~",
            INJECTION,
        ),
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


@pytest.mark.thorough
@pytest.mark.parametrize(("suffix", "locale"), [(".tsv", "C"), (".csv", "C.UTF-8")])
def test_r_reads_hostile_keys(keys, suffix, locale):
    folder, expected = keys
    table = folder / f"{suffix[1:]}{suffix}"
    keys_and_levels = "c(as.character(curves[[1]]), levels(curves[[1]]))"
    assert texts_in_r(table, keys_and_levels, LC_ALL=locale) == [*expected, *expected[1:]]
    assert os.listdir(folder).count("injected") == 0


def test_the_script_says_what_stands_for_null_and_how_keys_are_called(keys):
    folder, _ = keys
    script = (folder / "tsv.R").read_text(encoding="ascii")
    name = "X....system..touch.injected......"
    assert "# Missing values are NA, <<<NA>>> in " + name in script
    assert re.search(rf"^#   {re.escape(name)}: factor, \"\\\"\); system", script, re.MULTILINE)


@pytest.mark.thorough
def test_r_draws_hostile_keys(keys, tmp_path):
    folder, _ = keys
    draw(folder / "tsv.R", tmp_path, LC_ALL="C")
    assert_is_picture(folder / "tsv.png")
    assert os.listdir(tmp_path) == []
    assert "injected" not in os.listdir(folder)


FOLD = [dt.datetime(2024, 10, 27, hour, 30, 0, 250_001, dt.UTC) for hour in (0, 1)]  # both 02:30
NANOSECONDS = ["1970-01-01 00:00:00.000000001", "1970-01-01 00:00:00.000000002"]
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
    (pl.Series([1, 2]).cast(pl.Datetime("ns")), "factor", " ".join(NANOSECONDS)),
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
    rows = [pl.DataFrame({"k": k.reverse().extend_constant(None, 1)}) for k, _, _ in TYPES]
    return [
        frame.with_columns(t=1, s=0.5).prc.write_ggplot(
            folder / f"{place}.tsv", "t", "s", by="k", start=None
        )
        for place, frame in enumerate(rows)
    ]


@pytest.mark.thorough
def test_keys_keep_their_type_and_order(typed):
    code = """
    text <- switch(class(curves$k)[1],
      POSIXct = sprintf("%.0f", 1e6 * as.numeric(curves$k)),
      numeric = ifelse(is.infinite(curves$k), "Inf", sprintf("%.17g", curves$k)),
      as.character(curves$k)
    )
    cat(class(curves$k)[1], is.na(curves$k[1]), paste(text[-1], collapse = " "), "\\n")
    if (is.factor(curves$k)) cat("levels", paste(levels(curves$k), collapse = " "), "\\n")
    """
    lines = in_r([table for table, _ in typed], code)
    expected = []
    for _, kind, shown in TYPES:
        expected += [f"{kind} TRUE {shown} "]
        expected += [f"levels {shown} "] if kind == "factor" else []
    assert lines == expected


def test_the_script_says_the_types(typed):
    for (_, script), (_, kind, _) in zip(typed, TYPES, strict=True):
        assert f"#   k: {kind}\n" in script.read_text(encoding="ascii")


@pytest.mark.thorough
def test_names_are_legal_and_the_script_says_what_they_were(tmp_path):
    legal = {
        "tail number": "tail.number.1", "tail.number": "tail.number", "größe": "groe",
        "1st": "X1st", ".hidden": "X.hidden", "if": "if.", "日": "X", "月": "X.1",
        "a\n# b": "a...b", "T": "T.",
    }  # fmt: skip
    names = list(legal)
    rows = pl.DataFrame({name: ["x", "y"] for name in names}).with_columns(truth=1, s=0.5)
    table, script = rows.prc.write_ggplot(tmp_path / "t.tsv", "truth", "s", by=names)
    head = table.read_text(encoding="utf-8").partition("\n")[0].split("\t")
    assert head[: len(names)] == list(legal.values())
    are_legal = "cat(identical(names(curves), make.names(names(curves), unique = TRUE)))"
    assert in_r(table, are_legal) == ["TRUE"]
    text = script.read_text(encoding="ascii")
    assert "#   tail.number: factor\n" in text
    assert '#   tail.number.1: factor, "tail number" in the frame\n' in text
    assert '#   groe: factor, "gr\\u00f6\\u00dfe" in the frame\n' in text
    assert '#   a...b: factor, "a\\u000a# b" in the frame\n' in text
    draw(script, tmp_path)
