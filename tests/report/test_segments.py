"""What a page says of segments: its sentences, the p-values of its table and its counts agree."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest

from frame_prc._report import page as page_module

MODELS = ["plain", "other"]
BELIEVED = ("ok", "few_scores")
ALPHA = 0.05


def drawn(seed):
    """Return rows of segments of any size and prevalence, in some of which a model is reversed."""
    rng = np.random.default_rng(seed)
    parts = []
    for number in range(rng.integers(3, 9)):
        size = int(rng.choice([15, 60, 300, 900]))
        rate = rng.choice([0.05, 0.2, 0.35, 0.6, 0.97], p=[0.15, 0.4, 0.25, 0.1, 0.1])
        truth = rng.random(size) < rate
        skills = rng.choice([-1.5, 0, 0.4, 1.2, 2.5], 2, p=[0.15, 0.1, 0.2, 0.35, 0.2])
        scores = {m: truth * s + rng.normal(size=size) for m, s in zip(MODELS, skills, strict=True)}
        parts.append(pl.DataFrame({"truth": truth, "k": f"s{number}", **scores}))
    return pl.concat(parts).sample(fraction=1, shuffle=True, seed=seed)


def report(frame, folder, models):
    """Return the numbers, the data of the page, and its text."""
    page, numbers = frame.prc.report(folder / "r.html", "truth", models, by="k")
    text = page.read_text(encoding="utf-8")
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text)[1]
    return json.loads(numbers.read_text(encoding="utf-8")), json.loads(data), text


def columns_of(data, label):
    """Return the columns of a label by the model, with the value and the words of each segment."""
    return {
        column.get("model"): dict(
            zip(data["names"], zip(column["values"], column["said"], strict=True), strict=True)
        )
        for column in data["columns"]
        if column["label"] == label
    }


@pytest.mark.parametrize(
    ("seed", "models"),
    [*((seed, MODELS) for seed in (0, 9, 15)), (2, MODELS[:1])],
)
def test_sentences_p_values_and_counts_of_segments_agree(tmp_path, seed, models, monkeypatch):
    monkeypatch.setattr(page_module, "specifications", lambda _: {})  # pictures take their time
    numbers, data, page = report(drawn(seed), tmp_path, models)
    [finding] = [one for one in numbers["findings"] if one["about"] == "segment"]
    pooled = [row for row in numbers["scorecard"] if row["level"] == "pooled"]
    best = max(pooled, key=lambda row: row["average_precision"])["model"]
    beside = columns_of(data, "Against the others")
    of_pairs = columns_of(data, "p of the difference")
    tests = {(row["model"], row["segment"]["k"]): row for row in numbers["against_others"]}
    pairs = {row["segment"]["k"]: row for row in numbers["differences"]}

    # A p-value is shown where its test counts; else the reason, never both, and never nothing.
    shown = {}
    for model in models:
        for name, (p, said) in beside[model if models[1:] else None].items():
            row = tests[model, name]
            assert p is None or (row["status"] in BELIEVED and p == row["p_adjusted"])
            side = "worse" if row["difference"] and row["difference"] < 0 else "better"
            shown[model, name] = "unjudged" if p is None else side if p < ALPHA else "open"
            assert said == {"open": ""}.get(shown[model, name], said)
            assert (said in ("worse", "better", "")) == (p is not None)
            assert said == side or p is None or p >= ALPHA
    for columns in of_pairs.values():
        for name, (p, said) in columns.items():
            row = pairs[name]
            counts = row["status"] in BELIEVED and row["p_adjusted"] is not None
            assert (p, said == "") == (row["p_adjusted"] if counts else None, counts)

    # The sentence on the best model has the segments and the counts of the table.
    text = page[page.index('<div class="answers">') : page.index('<details id="reasons">')]
    text = re.sub("<[^>]*>", "", text).replace("\N{NO-BREAK SPACE}", " ")
    own = [kind for (model, _), kind in shown.items() if model == best]
    unjudged = re.search(r"[Nn]one of the \d+ can be|(\d+) of \d+ cannot", text)
    said = 0 if unjudged is None else int(unjudged[1] or len(own))
    assert said == own.count("unjudged")
    for side in ("worse", "better"):
        named = re.search(rf"{best} is (?:worse in [^.;]*, )?{side} in ([^.;]*)", text)
        assert (named is not None) == (side in own)
    assert ("none shown by itself" in text) <= (not {"worse", "better"} & {*own})
    assert re.search(r"\b(no|No) k is shown to differ", text) is None or {*own} <= {
        "open",
        "unjudged",
    }
    if models[1:]:
        assert any(model in finding["text"] for model in models)
        _adds_up(text, len(own))

    # What is clearly below chance comes first, of any model; nothing else is called that.
    areas = {
        (row["model"], row["segment"]["k"]): row
        for row in numbers["scorecard"]
        if row["level"] == "segment"
    }
    said = set(re.findall(r"(plain|other) is below chance in (s\d)", finding["text"]))
    for key in said:
        assert (areas[key]["status"], areas[key]["n_pos"] >= 20) == ("below_chance", True)
    clear = {
        key
        for key, row in areas.items()
        if row["status"] == "below_chance" and row["n_pos"] >= 60 and row["n"] - row["n_pos"] >= 60
    }
    assert bool(said) >= bool(clear)
    if said:
        first = {data["names"][number] for number in data["order"][:1]}
        assert first <= {name for _, name in said}
        assert page.count("is below chance in") >= 1


def _adds_up(text, total):
    """The segments won, lost, undecided and not judged are all segments."""
    line = re.search(r"By k: \w+ beats \w+ in (.*?), loses in (.*?)((?:; \d+ [a-z ]+)*)\.", text)
    if line is None:
        assert re.search(r"By k: (no difference|\w+ beats \w+ in all)", text)
        return
    counts = [0 if one == "none" else _count(one) for one in line.groups()[:2]]
    rest = [int(number) for number in re.findall(r"; (\d+) ", line[3])]
    assert sum([*counts, *rest]) == total


def _count(names):
    return int(names) if names.isdigit() else len(names.split(" and "))
