"""Steps that make classes of people: time and memory beside the same step that counts rows.

    python tests/benchmarks/classes_of_people.py [--rows 10000,100000,1000000] [--steps mondrian,suppress] [--json FILE]

Each figure is one warm process that fits the step on a table in memory. ``k`` asks for k-anonymity with 0.3 people a
row; ``l`` for l-diversity and alpha beside it; in ``one`` a person more has 100,000 rows. The baseline is the same step
with the same requirements by rows, in a process of its own.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from measuring import Row, Sheet, timed

from ppdm_flow.core.attributes import AttributeFacts, HierarchySpec
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.people import PeopleCount
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.requirements.alpha_k.requirement import AlphaK
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.l_diversity.requirement import LDiversity
from ppdm_flow.sdk import registry
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.case import Case

SEED, HEAVY, G = 7, 100_000, ("age", "zip", "town")
TOWNS = tuple((f"t{i}", (f"r{i // 10}", "*")) for i in range(100))
AGES = tuple((str(i), (f"{i // 10}x", "*")) for i in range(90))
ZIPS = tuple((str(i), (f"{i // 10}x", f"{i // 100}xx", "*")) for i in range(1000))
STEPS: dict[str, dict[str, Any]] = {
    "mondrian": {},
    "relaxed": {"partitioning": "relaxed"},
    "suppress": {},
    "full_domain_recoding": {"suppression": 0.2},
    "microaggregation": {},
}
WHAT = ("k", "l", "one")


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--rows", default="10000,100000,1000000")
    words.add_argument("--steps", default="mondrian,relaxed,suppress,full_domain_recoding")
    words.add_argument("--json", type=Path)
    words.add_argument("--once", nargs=4, help=argparse.SUPPRESS)
    chosen = words.parse_args()
    if chosen.once:
        step, what, size, counted = chosen.once
        print(once(step, what, int(size), counted=counted == "people"))
        return
    sheet = Sheet()
    sheet.head()
    for row in rows(chosen.steps.split(","), [int(n) for n in chosen.rows.split(",")]):
        sheet.add(row)
    sheet.write(chosen.json)


def rows(steps: list[str], sizes: list[int]) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name:
        for step in steps:
            for what in WHAT if step != "suppress" else ("k", "one"):
                for counted in ("rows", "people"):
                    once(step, what, 1000, counted=counted == "people")
                for size in sizes:
                    base = 0.0
                    for counted in ("rows", "people"):
                        command = (sys.executable, Path(__file__).resolve(), "--once", step, what, str(size), counted)
                        spent = timed(*command, cwd=Path(name))
                        base = base or spent.seconds
                        ratio = spent.seconds / base
                        label = f"{step}.{what}.{counted}"
                        yield Row(label, size, spent.seconds, spent.peak_mb, "by rows", ratio, spent.cpu)


def once(step: str, what: str, size: int, *, counted: bool) -> str:
    numeric = step != "full_domain_recoding"
    age, zips, towns = (HierarchySpec(levels=levels) for levels in (AGES, ZIPS, TOWNS))
    number = AttributeType.INTEGER if numeric else AttributeType.TEXT
    facts = {
        "who": AttributeFacts("who", Role.SUBJECT),
        "age": AttributeFacts("age", Role.QUASI_IDENTIFIER, number, hierarchy=None if numeric else age),
        "zip": AttributeFacts("zip", Role.QUASI_IDENTIFIER, number, hierarchy=None if numeric else zips),
        "town": AttributeFacts("town", Role.QUASI_IDENTIFIER, hierarchy=towns),
        "ill": AttributeFacts("ill", Role.SENSITIVE),
    }
    case = Case(
        spec=registry.load("anonymizers", "mondrian" if step == "relaxed" else step),
        params=STEPS[step],
        table=table(size, heavy=what == "one"),
        facts=facts,
        requirements=tuple(asked(what)),
        people=PeopleCount("who", 1) if counted else None,
    )
    try:
        return str({name: figure.value for name, figure in case.fit().figures.items()})
    except PluginError as fault:
        return fault.diagnostics[0].message


def asked(what: str) -> Iterator[Requirement]:
    yield KAnonymity.of("privacy.k_anonymity", k=5, attributes=G)
    if what == "l":
        yield LDiversity.of("privacy.l_diversity", "ill", l=2, attributes=G)
        yield AlphaK.of("privacy.alpha_k", "ill", alpha=0.8, attributes=G)


def table(size: int, *, heavy: bool) -> Table:
    rng = np.random.default_rng(SEED)
    people = max(1, int(size * 0.3))
    person = rng.integers(0, people, size)
    if heavy:
        person = np.concatenate([person, np.full(HEAVY, people)])
    many = len(person)
    cells = {n: rng.integers(0, wide, people + 1) for n, wide in (("age", 90), ("zip", 1000), ("town", 100))}
    moved = rng.random(many) < (0.2 + 0.8 * (person == people))
    columns = {n: np.where(moved, rng.integers(0, own.max() + 1, many), own[person]) for n, own in cells.items()}
    columns["ill"] = (rng.random(many) ** 2 * 30).astype(np.int64)
    columns["who"] = person
    names = {"town": "t", "ill": "d", "who": "p"}
    return Table({n: column(codes, names.get(n, "")) for n, codes in columns.items()}, np.arange(many))


def column(codes: np.ndarray, mark: str) -> Column:
    texts = [f"{mark}{i}" for i in range(int(codes.max()) + 1)]
    return Column(codes.astype(np.int32), pa.array(texts, pa.string())).compact()


if __name__ == "__main__":
    main()
