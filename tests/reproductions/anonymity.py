"""The modified anonymity model, and attacks on releases: the published tables and inferences.

    python tests/reproductions/anonymity.py [--only table1] [--json FILE] [--plot FILE.svg]

Of Table 1 the text states the one department that breaks it, and what it is meant to be: 20 students in groups of at
least two over masked roll number, age, grade and department. The four students of MET are as stated; the other sixteen
stand in for the rest, in groups that hold. The tables of the id recovery and of the cluster analysis (Figures 6 and 7)
are invented, since the paper does not print its own: what is reproduced is that all ids come back, and that clusters
and frequencies stay.

A part is a function that yields rows, under :func:`part`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from panels import Panel, svg

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import AuditOutcome
from ppdm_flow.core.roles import Role
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.sdk.anonymizer import StepContext
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.registry import load
from ppdm_flow.tables.counts import Counts, count
from ppdm_flow.tables.table import Table
from ppdm_flow.testing.conformance import run
from ppdm_flow.testing.view import InMemoryView

QI = Role.QUASI_IDENTIFIER


@dataclass(frozen=True)
class Row:
    id: str
    paper: float | None
    measured: float
    low: float
    high: float

    @classmethod
    def exact(cls, name: str, paper: float | None, measured: float) -> Row:
        return cls(name, paper, float(measured), float(measured), float(measured))


Columns = Mapping[str, Sequence[str]]
Part = Callable[[], Iterator[Row]]
PARTS: dict[str, Part] = {}


def part(name: str) -> Callable[[Part], Part]:
    """Register a part under the name that ``--only`` takes."""

    def register(function: Part) -> Part:
        PARTS[name] = function
        return function

    return register


def step(name: str, table: Table, roles: dict[str, Role] | None = None, **params: object) -> Table:
    """Carry out a step of the product on a small table."""
    spec = load("anonymizers", name)
    view = InMemoryView.of(table, roles or {})
    facts = {f.name: AttributeFacts(f.name, f.role, source=f.name) for f in view.schema}
    fitted = spec.load()(spec.params.model_validate(params)).fit(view, StepContext("step", facts, ()))
    return run(fitted.transform, table)[""]


@dataclass(frozen=True)
class Pairs:
    """Rows side by side: both tables are in the same order."""

    original: Table
    released: Table

    def pairs(self, original: Sequence[str], released: Sequence[str]) -> Iterator[tuple[Table, Table]]:
        yield self.original.select(original), self.released.select(released)

    def joint(self, original: str, released: str) -> Counts:
        both = {"original": self.original[original], "released": self.released[released]}
        return count(Table(both, self.original.rows), ["original", "released"])


def measured(
    name: str, original: Table, released: Table, order: np.ndarray | None = None, **params: object
) -> AuditOutcome:
    """Measure an audit of the product on a small table; ``order`` is how the released rows are shuffled."""
    spec = load("audits", name)
    roles = dict.fromkeys((*original.names, *released.names), QI)
    file = released if order is None else released.take(order)
    views = InMemoryView.of(original, roles), InMemoryView.of(file, roles)
    ctx = context(dict.fromkeys(released.names, QI), pairs=Pairs(original, released))
    return spec.load()(spec.params.model_validate(params)).measure(*views, ctx)


def context(roles: dict[str, Role], **more: object) -> AuditContext:
    facts = {name: AttributeFacts(name, role, source=name) for name, role in roles.items()}
    return AuditContext("public", facts, facts, **more)


STUDENTS = [
    *[("10604011", "20", "A", "MET"), ("10604012", "20", "A", "MET"), ("10604013", "20", "A", "MET")],
    ("10602014", "20", "A", "MET"),
    *[(f"106010{i}", "21", "B", "CSE") for i in range(21, 25)],
    *[(f"106030{i}", "20", "B", "ECE") for i in range(31, 36)],
    *[(f"106050{i}", "22", "C", "CIV") for i in range(41, 44)],
    *[(f"106070{i}", "21", "A", "EEE") for i in range(51, 55)],
]


@part("table1")
def table1() -> Iterator[Row]:
    """How many of 20 students stand alone in the table that is meant to be 2-anonymous."""
    names = ("roll_number", "age", "grade", "department")
    original = Table.of({n: [s[i] for s in STUDENTS] for i, n in enumerate(names)})
    released = step("mask", original, attributes={"roll_number": {"first": 6}})
    roles = dict.fromkeys(names, QI)
    requirement = KAnonymity.of("privacy.k_anonymity", k=2, attributes=names)
    audit = load("audits", "k_anonymity")
    views = InMemoryView.of(original, roles), InMemoryView.of(released, roles)
    found = audit.load()(audit.params()).measure(*views, context(roles, requirements=(requirement,)))
    below = next(f.value for name, f in found.figures.items() if name.endswith("rows_below"))
    yield Row.exact("table1.students", 20, len(original))
    yield Row.exact("table1.violations", 1, below)


def refused(value: str, **params: object) -> bool:
    """Whether an id is an error."""
    try:
        step("genetic_encode", Table.of({"id": [value]}), attribute="id", **params)
    except PluginError:
        return True
    return False


@part("ids")
def ids() -> Iterator[Row]:
    """The encoding of three ids, and how many of 500 an attacker turns back."""
    table = Table.of({"id": ["106", "257", "3000"]})
    codes = step("genetic_encode", table, attribute="id")["id"].texts()
    for name, paper, code in zip(("106", "257", "3000"), (1, 2232, 3434), codes, strict=True):
        yield Row.exact(f"ids.encoded.{name}", paper, int(code))
    yield Row.exact("ids.beyond_12_bits_refused", 1, refused("4096"))
    yield Row.exact("ids.beyond_12_bits_in_13", 0, refused("4096", width=13))
    rng = np.random.default_rng(0)
    whole = Table.of(
        {"id": [str(i) for i in rng.permutation(4096)[:500]], "age": [str(a) for a in rng.integers(18, 30, 500)]}
    )
    released = step("genetic_encode", whole, attribute="id")
    found = measured("id_recovery", whole, released, attribute="id").figures["recovered_ids"].value
    yield Row.exact("ids.recovered", 1.0, found)
    orders = [np.random.default_rng(seed).permutation(500) for seed in range(1, 11)]
    tried = [measured("id_recovery", whole, released, o, attribute="id").figures["recovered_ids"].value for o in orders]
    yield Row("ids.recovered.shuffled", None, float(np.mean(tried)), min(tried), max(tried))


SHARES: dict[str, list[tuple[float, float]]] = {}


@part("clusters")
def clusters() -> Iterator[Row]:
    """K-means before and after values changed places, within classes and overall."""
    rng = np.random.default_rng(0)
    group = rng.choice(3, 600, p=(0.5, 0.3, 0.2))
    table = Table.of(
        {
            "age": [str(a) for a in 18 + 6 * group + rng.integers(0, 4, 600)],
            "grade": [str(g) for g in 30 + 25 * group + rng.integers(-8, 9, 600)],
        }
    )
    classes = step("assign_class_id", table, attributes=["age"])
    for name, within in (("within", ["class_id"]), ("overall", [])):
        released = step("swap", classes, attributes=["grade"], within=within)
        chosen = {"attributes": ["age", "grade"], "clusters": 3, "within": "class_id"}
        outcome = measured("cluster_analysis", table, released, **chosen)
        for figure in ("class_frequency_change", "size_change", "agreement"):
            paper = 0.0 if (name, figure) == ("within", "class_frequency_change") else None
            yield Row.exact(f"clusters.{name}.{figure}", paper, outcome.figures[figure].value)
        for series in outcome.charts[0].series:
            kind = series.name if series.name == "original" else f"swapped {name}"
            SHARES[kind] = [(float(i + 1), y) for i, y in enumerate(series.y)]


BORN = ["1/21/76", "4/13/86", "2/28/76", "1/21/76", "4/13/86", "2/28/76"]
HOSPITAL = {
    "born": BORN,
    "sex": ["Male", "Female", "Male", "Male", "Female", "Female"],
    "zip": ["53715", "53715", "53703", "53703", "53706", "53706"],
    "disease": ["Heart Disease", "Hepatitis", "Bronchitis", "Broken Arm", "Flu", "Hang Nail"],
}
VOTERS = """name,born,sex,zip
Andre,1/21/76,Male,53715
Beth,1/10/81,Female,55410
Carol,10/1/44,Female,90210
Dan,2/21/84,Male,02174
Ellen,4/19/72,Female,02237
"""
PATIENTS = {
    "zip": ["476**"] * 3 + ["4790*"] * 3 + ["476**"] * 3,
    "age": ["2*"] * 3 + [">=40"] * 3 + ["3*"] * 3,
    "condition": ["Heart Disease"] * 3 + ["Flu", "Heart Disease", "Cancer"] + ["Heart Disease", "Cancer", "Cancer"],
}


def attacked(
    name: str,
    columns: dict[str, list[str]],
    secret: str,
    home: Path,
    original: dict[str, list[str]] | None = None,
    **params: object,
) -> AuditOutcome:
    """Carry out an attack of the product on a small release, of itself or of ``original``; values may be shown."""
    roles = {n: Role.SENSITIVE if n == secret else QI for n in columns}
    view = InMemoryView.of(Table.of(columns), roles)
    source = view if original is None else InMemoryView.of(Table.of(original), roles)
    spec = load("audits", name)
    ctx = context(roles, home=home, show_values=True)
    return spec.load()(spec.params.model_validate(params)).measure(source, view, ctx)


@part("hospital")
def hospital() -> Iterator[Row]:
    """Of five voters one is linked, Andre, who has heart disease; in a safe release nobody is."""
    safe = {**HOSPITAL, "born": ["*"] * 6, "sex": ["*"] * 6, "zip": ["537**"] * 6}
    with TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "voters.csv").write_text(VOTERS)
        for name, table, linked, learned in (("hospital", HOSPITAL, 1, 1), ("hospital.safe", safe, 0, 0)):
            found = attacked("linkage", table, "disease", home, HOSPITAL, external="voters.csv", identity="name")
            told = [f.text for f in found.findings if "(Andre: Heart Disease)" in f.text]
            yield Row.exact(f"{name}.linked", linked, found.figures["linked"].value)
            yield Row.exact(f"{name}.andre_has_heart_disease", learned, len(told))
        dan = {n: [*HOSPITAL[n], cell] for n, cell in zip(HOSPITAL, ("2/21/84", "Male", "02174", "Flu"), strict=True)}
        for zipcode, linked in (("02174", 2), ("2174", 1)):
            table = {**dan, "zip": [*HOSPITAL["zip"], zipcode]}
            found = attacked("linkage", table, "disease", home, external="voters.csv", identity="name")
            yield Row.exact(f"hospital.linked.dan_at_{zipcode}", linked, found.figures["linked"].value)


@part("inference")
def inference() -> Iterator[Row]:
    """Bob has heart disease; Carl, who cannot have it, has cancer; in 3-diverse classes neither is known."""
    bob = {"bob": {"known": {"zip": "47678", "age": "27"}}}
    carl = {"carl": {"known": {"zip": "47673", "age": "36"}, "never": {"condition": ["Heart Disease"]}}}
    safe = {**PATIENTS, "condition": ["Flu", "Heart Disease", "Cancer"] * 3}
    attacks = (
        ("homogeneity", "bob", "Heart Disease", bob),
        ("background_knowledge", "carl", "Cancer", carl),
    )
    for audit, who, what, targets in attacks:
        for suffix, table, known in (("", PATIENTS, 1), (".safe", safe, 0)):
            found = attacked(audit, table, "condition", Path(), targets=targets)
            told = [f.text for f in found.findings if f"`{who}`" in f.text and f"({what})" in f.text]
            yield Row.exact(f"{audit.partition('_')[0]}.{who}{suffix}", known, len(told))


def warned(name: str, original: Columns, released: Columns, home: Path, **params: object) -> bool:
    """Whether an attack on a release of the original's rows has something to say."""
    roles = {n: Role.SENSITIVE if n == "condition" else QI for n in original}
    before, after = Table.of(original), Table.of(released)
    spec = load("audits", name)
    ctx = context(roles, home=home, pairs=Pairs(before, after))
    views = InMemoryView.of(before, roles), InMemoryView.of(after, roles)
    return bool(spec.load()(spec.params.model_validate(params)).measure(*views, ctx).findings)


def held(home: Path, columns: Columns) -> str:
    """Write another release."""
    lines = [",".join(columns), *map(",".join, zip(*columns.values(), strict=True))]
    (home / "other.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return "other.csv"


@part("releases")
def releases() -> Iterator[Row]:
    """Sweeney's attacks on two releases, each 4-anonymous: in one order, complementary, and with people who came later.

    The paper names the attacks and prints no table of them: the tables are invented.
    """
    rng = np.random.default_rng(0)
    people = {
        "zip": [f"{z}{x:04}" for z in (1, 2) for x in range(20)],
        "age": [f"{a}{x}" for _ in (1, 2) for a in (2, 3) for x in range(10)],
        "condition": ["Flu", "Cancer", "Ulcer", "Cold"] * 10,
    }
    by_zip = {**people, "zip": [z[0] + "****" for z in people["zip"]], "age": ["*"] * 40}
    with TemporaryDirectory() as folder:
        home = Path(folder)
        for name, order, paper in (("", np.arange(40), 1), (".safe", rng.permutation(40), 0)):
            other = held(home, {n: [cells[i] for i in order] for n, cells in by_zip.items()})
            yield Row.exact(
                f"unsorted.found{name}", paper, warned("unsorted_matching", people, by_zip, home, other=other)
            )
        crossing = {"zip": [f"{z}0000" for z in (1, 2) for _ in range(8)], "age": [f"{a}0" for a in (2, 3)] * 8,
                    "condition": ["Flu", "Cancer", "Ulcer", "Cold"] * 4}  # fmt: skip
        mine = {**crossing, "zip": ["*****"] * 16}
        for name, theirs, paper in (("", {**crossing, "age": ["*"] * 16}, 1), (".safe", mine, 0)):
            found = warned("complementary_release", crossing, mine, home, other=held(home, theirs), k=5)
            yield Row.exact(f"complementary.found{name}", paper, found)
        for name, theirs, paper in (("", {**crossing, "age": ["*"] * 16}, 1), (".safe", mine, 0)):
            before = {n: cells[:-3] for n, cells in theirs.items()}  # three people came since
            found = warned("complementary_release", crossing, mine, home, other=held(home, before), k=5)
            yield Row.exact(f"temporal.found{name}", paper, found)


def shown(row: Row) -> str:
    paper = "" if row.paper is None else f"{row.paper:.4f}"
    spread = f"{row.low:.4f} to {row.high:.4f}" if row.low < row.high else ""
    verdict = "" if row.paper is None else ("ok" if abs(row.paper - row.measured) < 5e-5 else "OFF")
    return f"{row.id:<40} {paper:>10} {row.measured:>10.4f}  {spread:<18} {verdict}"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, help="not needed: the tables are those printed in the papers")
    options.add_argument("--only", choices=tuple(PARTS))
    options.add_argument("--json", type=Path)
    options.add_argument("--plot", type=Path)
    chosen = options.parse_args()
    rows: list[Row] = []
    for name, function in PARTS.items():
        if chosen.only in (None, name):
            found = list(function())
            print(f"\n{'id':<40} {'paper':>10} {'measured':>10}")
            print("\n".join(map(shown, found)), flush=True)
            rows += found
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")
    if chosen.plot and SHARES:
        title = "Clusters before and after (as in Figures 6 and 7)"
        chosen.plot.write_text(svg([Panel(title, "cluster, largest first", "share of rows", SHARES, {})]))


if __name__ == "__main__":
    main()
