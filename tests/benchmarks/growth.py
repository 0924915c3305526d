"""What costs grow with: each verb and plugin along its dimensions, at two sizes of which one is four times the other.

    python tests/benchmarks/growth.py [PATTERN ...] [--json FILE] [--list]

Each row is one process of `ppdm-flow` with all that it does, in CPU time, which a busy machine changes least. What the
same verb takes for the smallest input is taken off. The exponent is that of a power of the size: 1 for work that grows
as its input. What grows faster than `HIGHEST` is named, and the exit code is 1 unless `KNOWN` gives the reason.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import math
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
from measuring import Row, Sheet, Spent, flow, timed

HIGHEST = 1.3
LEAST_SECONDS = 0.4
"""What the larger size has to take above the start, for an exponent to mean something."""
FACTOR = 4
SEED = 7
KNOWN = {
    "policy/attributes *": "each of many labels by class says of which of the others it tells",
    "columns/suppress cells": "sets of columns, of which 4,096 are tried at most",
    "columns/lkc": "the sets of columns grow as their square",
    "columns/special_uniques": "the sets of three columns grow as their cube",
    "columns/full_domain": "nodes of the lattice are exact up to two million, and grow exponentially",
    "items/km m=3": "triples of the items of a basket",
}
"""Patterns of cases that grow faster, and why."""

Document = dict[str, Any]
Built = Iterator[tuple[str, tuple[str | Path, ...]]]


@dataclass(frozen=True)
class Case:
    """``build`` writes the inputs of a size into a folder and yields the commands, each with a word for it."""

    name: str
    small: int
    build: Callable[[Path, int], Built]


CASES: list[Case] = []


def case(name: str, small: int) -> Callable[[Callable[[Path, int], Built]], None]:
    return lambda build: CASES.append(Case(name, small, build))


# Inputs.


def names(prefix: str, count: int) -> np.ndarray[Any, Any]:
    return np.array([f"{prefix}{i:0{len(str(count))}d}" for i in range(count)])


def people(folder: Path, rows: int, *, persons: int = 0, zips: int = 100, diseases: int = 20, holes: float = 0) -> None:
    draw = np.random.default_rng(SEED)
    columns = {
        "pid": names("P", persons or rows)[draw.integers(0, persons, rows) if persons else np.arange(rows)],
        "age": draw.integers(0, 100, rows).astype(str),
        "zip": names("z", zips)[draw.integers(0, zips, rows)],
        "sex": np.array(["f", "m"])[draw.integers(0, 2, rows)],
        "job": names("job", 20)[draw.integers(0, 20, rows)],
        "born": np.datetime_as_string(np.datetime64("1930-01-01") + draw.integers(0, 30_000, rows), unit="D"),
        "disease": names("d", diseases)[draw.integers(0, diseases, rows)],
        "income": np.char.mod("%.2f", draw.lognormal(10, 1, rows)),
        "turnover": draw.integers(0, 10**6, rows).astype(str),
        "outcome": np.array(["yes", "no"])[draw.integers(0, 2, rows)],
    }
    lost = {name: draw.random(rows) < holes for name in ("age", "zip", "sex", "job")} if holes else {}
    write(folder / "d.csv", {name: pa.array(values, mask=lost.get(name)) for name, values in columns.items()})


def write(path: Path, columns: Mapping[str, Any]) -> None:
    pc.write_csv(pa.table({name: pa.array(values) for name, values in columns.items()}), path)


def wide(folder: Path, columns: int, rows: int = 8_000) -> Document:
    draw = np.random.default_rng(SEED)
    table = {f"c{i}": names("v", 4)[draw.integers(0, 4, rows)] for i in range(columns)}
    write(folder / "d.csv", {**table, "disease": names("d", 8)[draw.integers(0, 8, rows)]})
    hierarchy = {"levels": {v: [f"w{int(v[1:]) // 2}"] for v in names("v", 4)}}
    attributes: Document = {f"c{i}": {"role": "quasi_identifier", "hierarchy": hierarchy} for i in range(columns)}
    return {**attributes, "disease": {"role": "sensitive"}}


def baskets(folder: Path, rows: int, length: int, items: int) -> None:
    draw = np.random.default_rng(SEED)
    chances = 1 / np.arange(1, items + 1)
    with (folder / "b.dat").open("w") as file:
        for size in np.maximum(1, draw.poisson(length, rows)):
            chosen = draw.choice(items, size, p=chances / chances.sum())
            file.write(" ".join(map(str, sorted(set(chosen.tolist())))) + "\n")


ATTRIBUTES: Document = {
    "pid": {"role": "identifier"},
    "age": {"role": "quasi_identifier", "type": "integer", "hierarchy": {"intervals": [0, 20, 40, 60, 80, 100]}},
    "zip": {"role": "quasi_identifier", "hierarchy": {"prefix": [2, 1]}},
    "sex": {"role": "quasi_identifier"},
    "job": {"role": "quasi_identifier", "hierarchy": {"levels": {f"job{i:02d}": [f"g{i // 5}"] for i in range(20)}}},
    "born": {"role": "insensitive", "type": "date"},
    "disease": {"role": "sensitive"},
    "income": {"role": "insensitive", "type": "float"},
    "turnover": {"role": "insensitive", "type": "integer"},
    "outcome": {"role": "target"},
}
COARSE: Document = {
    "coarse": {"use": "generalize", "with": {"attributes": {"age": {}, "zip": {"level": 1}, "job": {"level": 1}}}}
}
K: Document = {"k_anonymity": {"k": 5}}


def policy(folder: Path, file: str = "p.yaml", **sections: Any) -> None:
    """Write a policy; JSON is YAML."""
    document = {
        "version": 1,
        "name": "p",
        "source": {"path": "d.csv"},
        "attributes": ATTRIBUTES,
        "steps": COARSE,
        "releases": {"out": {"path": "out.csv"}},
        **sections,
    }
    (folder / file).write_text(json.dumps({k: v for k, v in document.items() if v is not None}, indent=1) + "\n")


def run(*more: str) -> tuple[str, tuple[str, ...]]:
    return "run", ("run", "p.yaml", "--out", "runs", "-q", *more)


def compared(folder: Path, *verbs: str) -> Built:
    """Compare the policy with a stricter one of the same form."""
    text = (folder / "p.yaml").read_text()
    for old, new in (
        ('"k": 5', '"k": 6'),
        ('"l": 2', '"l": 3'),
        ('"min": 1', '"min": 2'),
        ('"default": 2', '"default": 3'),
    ):
        text = text.replace(old, new)
    (folder / "q.yaml").write_text(text)
    words = {
        "check": ("check", "p.yaml"),
        "show": ("show", "p.yaml", "--origin"),
        "plan": ("plan", "p.yaml", "--format", "json"),
        "diff": ("diff", "p.yaml", "q.yaml"),
    }
    for verb in verbs or words:
        yield verb, words[verb]


# Plugins along the rows.


def of_rows(name: str, small: int = 10_000, *, persons: bool = False, holes: float = 0, **sections: Any) -> None:
    @case(f"rows/{name}", small)
    def build(folder: Path, rows: int) -> Built:
        people(folder, rows, persons=rows // 4 if persons else 0, holes=holes)
        policy(folder, **{"privacy": K, **sections})
        yield run()


def roles(**changed: Document) -> Document:
    return {**ATTRIBUTES, **changed}


def step(use: str, **params: Any) -> Document:
    return {"steps": {**COARSE, "s": {"use": use, "with": params}}}


SENSITIVE_NUMBER = roles(income={"role": "sensitive", "type": "float"})
ORDERED: Document = {**K, "t_closeness": {"income": {"t": 0.4, "distance": "ordered"}}}
TEMPLATE: Document = {"t": {"channel": ["age", "sex", "job"], "sensitive": {"disease": ["d01"]}, "confidence": 0.3}}

of_rows("generalize")
of_rows("mondrian", steps={"s": {"use": "mondrian"}})
of_rows("mondrian ordered", attributes=SENSITIVE_NUMBER, privacy=ORDERED, steps={"s": {"use": "mondrian"}})
of_rows("full_domain", steps={"s": {"use": "full_domain_recoding", "with": {"suppression": 0.05}}})
of_rows(
    "full_domain ordered", attributes=SENSITIVE_NUMBER, privacy=ORDERED, steps={"s": {"use": "full_domain_recoding"}}
)
of_rows("suppress rows", steps={"s": {"use": "suppress", "with": {"small": "rows"}}})
of_rows("progressive", privacy={"templates": TEMPLATE}, steps={"s": {"use": "progressive_disclosure"}})
of_rows("microaggregation", **step("microaggregation", attributes=["income", "turnover"], k=5))
of_rows("add_noise", **step("add_noise", attributes=["income", "turnover"], scale=0.2))
of_rows("rank_swap", **step("rank_swap", attributes=["income", "turnover"], percent=3))
of_rows("shuffle_values", **step("shuffle_values", attributes=["income"], given=["turnover"]))
of_rows("pram", **step("pram", attribute="disease", retain=0.8))
of_rows("swap", **step("swap", attributes=["disease"], within=["age"]))
of_rows("class ids", **step("assign_class_id", attributes=["age", "zip", "sex", "job"]))
of_rows("round", **step("round_values", attributes=["turnover"], base=100))
of_rows("top_bottom", **step("top_bottom_code", attributes=["income"], top={"quantile": 0.99}))
of_rows("krimp", 2_500, privacy={}, **step("krimp_generator", min_support={"ratio": 0.01}))
of_rows("l_diversity", privacy={**K, "l_diversity": {"disease": {"l": 2}}, "alpha_k": {"disease": {"alpha": 0.9}}})
of_rows("t_closeness", privacy={"t_closeness": {"disease": {"t": 0.4, "distance": "equal"}}})
of_rows("lkc", privacy={"lkc": {"l": 2, "k": 5, "c": 0.9, "sensitive": {"disease": ["d01"]}}})
of_rows(
    "dominance",
    attributes=roles(turnover={"role": "sensitive", "type": "integer"}),
    privacy={"dominance": {"turnover": {"n": 2, "share": 0.99}}},
)
of_rows(
    "dominance wildcard",
    5_000,
    holes=0.1,
    nulls="wildcard",
    steps={},
    attributes=roles(turnover={"role": "sensitive", "type": "integer"}),
    privacy={"dominance": {"turnover": {"n": 2, "share": 0.99}}},
)
of_rows("wildcard", holes=0.1, nulls="wildcard", steps={}, privacy={**K, "l_diversity": {"disease": {"l": 2}}})
of_rows(
    "people",
    persons=True,
    attributes=roles(pid={"role": "subject"}),
    people={"known_rows": 1},
    **step("drop", attributes=["pid", "income", "turnover", "born"]),
)
for audit, params in {
    "classification_error": {"target": "outcome"},
    "synthetic_training": {"target": "outcome"},
    "closest_record": {},
    "singling_out": {},
    "membership_inference": {},
    "propensity": {"rows": 20_000},
    "marginals": {"ways": 3},
    "distributions": {},
    "homogeneity": {},
    "special_uniques": {"size": 3},
}.items():
    of_rows(audit, audits={"a": {"use": audit, "with": params}})


# Columns, values, sets of items.


def of_columns(name: str, small: int, steps: Document, privacy: Document) -> None:
    @case(f"columns/{name}", small)
    def build(folder: Path, columns: int) -> Built:
        policy(folder, attributes=wide(folder, columns), steps=steps, privacy=privacy)
        yield run()


of_columns("mondrian", 20, {"s": {"use": "mondrian"}}, K)
of_columns("distributions", 40, {"s": {"use": "drop", "with": {"attributes": ["disease"]}}}, {})
of_columns("suppress cells", 3, {"s": {"use": "suppress", "with": {"small": "cells"}}}, K)
of_columns("full_domain", 4, {"s": {"use": "full_domain_recoding", "with": {"suppression": 0.05}}}, K)
of_columns("lkc", 10, {}, {"lkc": {"l": 2, "k": 5, "c": 0.9, "sensitive": {"disease": ["d1"]}}})
of_columns("special_uniques", 5, {}, {"special_uniques": {"size": 3, "max_share": 0.9}})


@case("values/perturbation", 2_000)
def _(folder: Path, values: int) -> Built:
    people(folder, 20_000, diseases=values)
    domain = names("d", values).tolist()
    policy(
        folder,
        attributes=roles(disease={"role": "sensitive", "domain": domain}),
        privacy={"sensitivities": {"disease": {"values": {v: {"r1": 0.01, "r2": 0.9} for v in domain}}}},
        steps={"s": {"use": "fine_grain_perturbation", "with": {"attribute": "disease"}}},
    )
    yield run()


@case("values/hierarchy", 25_000)
def _(folder: Path, values: int) -> Built:
    people(folder, 100_000, zips=values)
    lines = (f"{v};g{i // 10};h{i // 100};*\n" for i, v in enumerate(names("z", values)))
    (folder / "h.csv").write_text("".join(lines))
    policy(folder, attributes=roles(zip={"role": "quasi_identifier", "hierarchy": {"csv": "h.csv"}}), privacy=K)
    yield run()
    yield "hierarchy", ("hierarchy", "d.csv", "--attribute", "zip", "--by", "order", "--fanout", "4", "-o", "o.csv")
    yield "profile", ("profile", "d.csv")


@case("values/regression", 100)
def _(folder: Path, values: int) -> Built:
    people(folder, 20_000, zips=values)
    attributes = roles(zip={"role": "insensitive"})
    steps: Document = {"c": {"use": "generalize", "with": {"attributes": {"age": {}, "job": {"level": 1}}}}}
    logistic = {"regression": "outcome", "model": "logistic", "positive": "yes", "on": ["zip", "age"]}
    analyses = {"w": {"regression": "income", "on": ["zip", "job"]}, "o": logistic}
    policy(folder, attributes=attributes, steps=steps, analyses=analyses)
    yield run()


def of_items(name: str, small: int, shape: Callable[[int], tuple[int, int, int]], **sections: Any) -> None:
    @case(f"items/{name}", small)
    def build(folder: Path, size: int) -> Built:
        rows, length, items = shape(size)
        baskets(folder, rows, length, items)
        source = {"path": "b.dat", "format": "transactions"}
        releases = {"out": {"path": "out.parquet"}}
        (folder / "h.csv").write_text("".join(f"{i};c{i // 10};*\n" for i in range(items)))
        basket = {"role": "items", "hierarchy": {"csv": "h.csv"}}
        policy(folder, source=source, attributes={"basket": basket}, releases=releases, **sections)
        yield run()


KM: Document = {"km_anonymity": {"k": 5, "m": 2}}
of_items("apriori", 2_500, lambda n: (n, 8, 500), privacy=KM, steps={"s": {"use": "apriori_anonymization"}})
of_items(
    "limit",
    10_000,
    lambda n: (n, 8, 500),
    privacy={},
    steps={"s": {"use": "limit_items", "with": {"max": 10, "longer": "truncate"}}},
)
of_items("km", 20, lambda n: (2_000, n, 500), privacy=KM, steps={})
of_items("km m=3", 10, lambda n: (2_000, n, 500), privacy={"km_anonymity": {"k": 5, "m": 3}}, steps={})


@case("items/mine", 5_000)
def _(folder: Path, rows: int) -> Built:
    baskets(folder, rows, 12, 200)
    yield "mine", ("mine", "b.dat", "--min-support", "0.002", "--max-length", "3", "--format", "csv", "-o", "o.csv")


@case("items/itemsets", 1)
def _(folder: Path, share: int) -> Built:
    baskets(folder, 20_000, 12, 200)
    support = str(800 // share)
    yield "mine", ("mine", "b.dat", "--min-support", support, "--max-length", "3", "--format", "csv", "-o", "o.csv")


# What a policy has many of, for the verbs that read it.


@case("policy/attributes", 250)
def _(folder: Path, count: int) -> Built:
    given = ("quasi_identifier", "insensitive", "sensitive")
    attributes = {f"a{i}": {"role": given[i % 3]} for i in range(count)}
    diverse = {f"a{i}": {"l": 2} for i in range(2, count, 3)}
    policy(folder, attributes=attributes, privacy={**K, "l_diversity": diverse}, steps={"m": {"use": "mondrian"}})
    yield from compared(folder)


@case("policy/misspelled names", 400)
def _(folder: Path, count: int) -> Built:
    attributes = {f"a{i}": {"role": "quasi_identifier"} for i in range(count)}
    steps: Document = {"s": {"use": "generalize", "with": {"attributes": {f"c{i}": {} for i in range(count)}}}}
    policy(
        folder, attributes=attributes, privacy={"l_diversity": {f"b{i}": {"l": 2} for i in range(count)}}, steps=steps
    )
    yield from compared(folder, "check")


@case("policy/steps", 100)
def _(folder: Path, count: int) -> Built:
    rounded = {"use": "generalize", "with": {"attributes": {"income": {"round": 10}}}}
    policy(folder, privacy=K, steps={f"s{i}": rounded for i in range(count)})
    yield from compared(folder)


@case("policy/releases", 64)
def _(folder: Path, count: int) -> Built:
    policy(folder, privacy=K, releases={f"r{i}": {"path": f"r{i}.csv"} for i in range(count)})
    yield from compared(folder)


@case("policy/templates", 250)
def _(folder: Path, count: int) -> Built:
    domain = names("d", count).tolist()
    templates = {f"t{i}": {**TEMPLATE["t"], "sensitive": {"disease": [v]}} for i, v in enumerate(domain)}
    attributes = roles(disease={"role": "sensitive", "domain": domain})
    policy(
        folder,
        attributes=attributes,
        privacy={**K, "templates": templates},
        steps={"s": {"use": "progressive_disclosure"}},
    )
    yield from compared(folder)


@case("policy/params", 250)
def _(folder: Path, count: int) -> Built:
    attributes = {**ATTRIBUTES, **{f"a{i}": {"role": "sensitive"} for i in range(count)}}
    params = {f"p{i}": {"type": "integer", "default": 2} for i in range(count)}
    diverse = {f"a{i}": {"l": f"${{params.p{i}}}"} for i in range(count)}
    policy(folder, attributes=attributes, params=params, privacy={"l_diversity": diverse})
    yield from compared(folder)


@case("policy/floors", 250)
def _(folder: Path, count: int) -> Built:
    attributes = {**ATTRIBUTES, **{f"a{i}": {"role": "sensitive"} for i in range(count)}}
    diverse = {f"a{i}": {"l": 3} for i in range(count)}
    floors = {f"privacy.l_diversity.a{i}.l": ">= 2" for i in range(count)}
    policy(folder, "t.yaml", attributes=attributes, privacy={"l_diversity": diverse}, floors=floors, releases=None)
    small: Document = {"version": 1, "name": "p", "extends": "t.yaml", "releases": {"out": {"path": "out.csv"}}}
    for file, more in (("p.yaml", {}), ("q.yaml", {"privacy": K})):
        (folder / file).write_text(json.dumps({**small, **more}))
    yield "check", ("check", "p.yaml")
    yield "show", ("show", "p.yaml", "--origin")
    yield "diff", ("diff", "p.yaml", "q.yaml")


@case("policy/gates", 160)
def _(folder: Path, count: int) -> Built:
    audits = {f"c{i}": {"use": "class_sizes"} for i in range(count)}
    gates = {f"g{i}": {"metric": f"c{i}.classes", "min": 1} for i in range(count)}
    policy(folder, privacy=K, audits=audits, gates=gates)
    yield from compared(folder)


# What a run has many of, and the verbs that read it.


@case("run/steps", 8)
def _(folder: Path, count: int) -> Built:
    people(folder, 10_000)
    rounded = {"use": "generalize", "with": {"attributes": {"income": {"round": 10}}}}
    policy(folder, privacy=K, steps={**COARSE, **{f"s{i}": rounded for i in range(count)}})
    yield run()


@case("run/releases", 8)
def _(folder: Path, count: int) -> Built:
    people(folder, 5_000)
    releases = {f"r{i}": {"path": f"r{i}.csv"} for i in range(count)}
    policy(folder, privacy={**K, "l_diversity": {"disease": {"l": 2}}}, releases=releases)
    yield run()
    made = next((folder / "runs" / "p").iterdir())
    yield "verify", ("verify", made, "--data", "d.csv", "--policy-folder", ".")
    yield "report", ("report", made, "--format", "html", "-o", "x.html")


@case("run/templates", 100)
def _(folder: Path, count: int) -> Built:
    people(folder, 10_000, diseases=count)
    templates = {f"t{i}": {**TEMPLATE["t"], "sensitive": {"disease": [v]}} for i, v in enumerate(names("d", count))}
    policy(folder, privacy={"templates": templates}, steps={"s": {"use": "progressive_disclosure"}})
    yield run()


@case("run/audits", 10)
def _(folder: Path, count: int) -> Built:
    people(folder, 10_000)
    policy(folder, privacy=K, audits={f"c{i}": {"use": "homogeneity"} for i in range(count)})
    yield run()


@case("verbs/sweep", 8)
def _(folder: Path, count: int) -> Built:
    people(folder, 2_000)
    policy(folder, privacy=K, steps={"s": {"use": "suppress", "with": {"small": "rows"}}})
    yield "sweep", ("sweep", "p.yaml", "--over", f"privacy.k_anonymity.k=2..{count + 1}", "--workers", "1")


@case("verbs/audit", 10_000)
def _(folder: Path, rows: int) -> Built:
    people(folder, rows)
    policy(folder, privacy=K)
    table = pc.read_csv(folder / "d.csv")
    pc.write_csv(table.drop_columns(["pid"]), folder / "r.csv")
    yield "audit", ("audit", "p.yaml", "--original", "d.csv", "--released", "r.csv")


# Measuring.

NO_FAULT = (0, 1)
"""Exit codes of an answer: withheld, errors that `check` found, and a weaker policy are 1."""


def exponent(small: Spent, large: Spent, start: float) -> float | None:
    """Return the exponent of growth above the start; None where there is too little to tell."""
    if large.cpu - start < LEAST_SECONDS:
        return None
    return math.log((large.cpu - start) / max(small.cpu - start, 0.05)) / math.log(FACTOR)


def start_of(verb: str, starts: dict[str, float], folder: Path) -> float:
    """Return the CPU time of a verb on the smallest input."""
    if verb not in starts:
        people(folder, 50)
        policy(folder, privacy={})
        words = {"run": run()[1], "check": ("check", "p.yaml"), "diff": ("diff", "p.yaml", "p.yaml")}
        starts[verb] = timed(*flow(*words.get(verb, ("show", "p.yaml"))), cwd=folder, answers=NO_FAULT).cpu
    return starts[verb]


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("patterns", nargs="*", default=["*"], metavar="PATTERN", help="of the names of cases")
    words.add_argument("--json", type=Path)
    words.add_argument("--list", action="store_true", help="the names of the cases")
    chosen = words.parse_args()
    cases = [each for each in CASES if any(fnmatch.fnmatch(each.name, p) for p in chosen.patterns)]
    if chosen.list:
        print(*(each.name for each in cases), sep="\n")
        return
    sheet, starts, steep = Sheet(wide=44), dict[str, float](), dict[str, float]()
    sheet.head()
    for each in cases:
        spent: dict[str, Spent] = {}
        for size in (each.small, each.small * FACTOR):
            with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as other:
                for word, command in each.build(Path(name), size):
                    took = timed(*flow(*command), cwd=Path(name), answers=NO_FAULT)
                    label = each.name if word == "run" else f"{each.name} {word}"
                    smaller, spent[word] = spent.get(word), took
                    grown = None if smaller is None else exponent(smaller, took, start_of(word, starts, Path(other)))
                    if grown is not None and grown > HIGHEST:
                        steep[label] = grown
                    base = "" if grown is None else "exponent"
                    sheet.add(Row(f"{label} {size}", size, took.seconds, took.peak_mb, base, grown, took.cpu))
    sheet.write(chosen.json)
    sys.exit(int(report(steep)))


def report(steep: Mapping[str, float]) -> bool:
    """Print what grows faster than it should; return whether some of it is new."""
    new = False
    for label, grown in steep.items():
        why = next((reason for pattern, reason in KNOWN.items() if fnmatch.fnmatch(label, pattern)), "")
        print(f"{label} grows with exponent {grown:.2f}: {why or 'NEW'}")
        new = new or not why
    return new


if __name__ == "__main__":
    main()
