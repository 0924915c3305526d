"""The product held against the reader: random policies of two releases, judged by both.

python -m adversary.reader.runs files 0 200   # in tests/; or: uniques, linked; with a ledger: ledger, kept
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import combinations
from typing import Any

from adversary.reader import figures
from adversary.reader.files import (
    NotVerified,
    PreparedFiles,
    ReleasedColumn,
    ReleasedFile,
    ReleasedRow,
    TruthExcluded,
    prepare,
)
from adversary.reader.lineage import PlaceLineage, lineage
from adversary.reader.policies import Case, random_case, random_linked_case, random_uniques_case
from adversary.reader.product import Outcome, run_linked_policy, run_policy
from adversary.reader.view import CandidateGroup

SLACK = 1e-6
MAKERS = {"files": random_case, "uniques": random_uniques_case, "linked": random_linked_case}


@dataclass(frozen=True)
class Judgement:
    """The figure of a requirement, None if it has none; ``alone`` tells whether one file by itself breaks it."""

    id: str
    holds: bool
    figure: float | None = None
    alone: bool = False
    reason: str = ""


@dataclass(frozen=True)
class Comparison:
    """A case with both verdicts, and the requirements about which they differ."""

    case: Case
    verdict: str
    judgements: tuple[Judgement, ...] = ()
    differing: tuple[Judgement, ...] = ()
    codes: tuple[str, ...] = ()
    differing_alone: tuple[str, ...] = ()
    """Figures of single files of maps that are not the product's."""
    by_people_alone: bool = False
    """Whether no two files of linked tables show an attribute in common but the person."""

    @property
    def is_harmless(self) -> bool:
        """Whether all requirements hold."""
        return all(j.holds for j in self.judgements)


def compare(case: Case) -> Comparison:
    """Run a case and judge it by both."""
    outcome = run_linked_policy(case.policy, case.tables) if case.tables else run_policy(case.policy, case.rows)
    if outcome.verdict == "refused":
        return Comparison(case, outcome.verdict, codes=outcome.codes)
    prepared = released_files(case, outcome)
    judgements, different = judge(case, prepared, outcome)
    passing: defaultdict[str, bool] = defaultdict(lambda: True)
    for result in outcome.measured:
        passing[result.id] &= result.passes
    differing = tuple(j for j in judgements if j.holds != passing[j.id])
    alone = _by_people_alone(case, prepared)
    return Comparison(case, outcome.verdict, tuple(judgements), differing, (), tuple(different), alone)


def _by_people_alone(case: Case, prepared: PreparedFiles) -> bool:
    shown = [{a.partition("@")[0] for c in f.columns for a in c.carries} - {"person"} for f in prepared.files]
    return bool(case.tables) and not any(one & other for one, other in combinations(shown, 2))


def released_files(case: Case, outcome: Outcome) -> PreparedFiles:
    """The files of a run as the reader sees them."""
    places = lineage(case.policy, outcome.hiding)
    source = [{n: v or None for n, v in row.items()} for row in case.rows]
    subject = next((n for n, a in attributes_of(case.policy).items() if a["role"] == "subject"), None)
    files = []
    for name in outcome.releases:
        table = places[case.policy["releases"][name]["from"]].source
        files.append(released_file(case.policy, outcome, name, places, _origins(case, table), linked=bool(case.tables)))
    return prepare(source, [f for f in files if f.rows], subject=subject)


def released_file(
    policy: Mapping[str, Any],
    outcome: Outcome,
    name: str,
    places: Mapping[str, PlaceLineage],
    origins: Sequence[tuple[int, ...]],
    *,
    linked: bool = False,
) -> ReleasedFile:
    """A file of a run; ``origins`` are, for each row of its table, the rows of the source that belong to it."""
    place, rows = places[policy["releases"][name]["from"]], outcome.releases[name]
    by_chance, gone = _left_out(policy, place, outcome)
    if linked:
        gone = set(range(len(origins))) - {i for i, _ in rows}
    absent = [origins[i] for i in sorted(gone)]
    columns = [_column(n, place, [cells[n] for _, cells in rows]) for n in (rows[0][1] if rows else {})]
    refers = policy.get("tables", {}).get(place.source, {}).get("refers", {})
    return ReleasedFile(
        name,
        columns,
        [ReleasedRow(origins[i], dict(cells)) for i, cells in rows],
        absent,
        place.present if absent else None,
        bool(by_chance),
        table=place.source,
        refers=tuple(refers.values()),
    )


def _origins(case: Case, table: str) -> list[tuple[int, ...]]:
    """The rows of the join for each row of a table."""
    if not case.tables:
        return [(i,) for i in range(len(case.rows))]
    return [
        tuple(k for k, joined in enumerate(case.rows) if all(joined[n] == v for n, v in row.items()))
        for row in case.tables[table]
    ]


def attributes_of(policy: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a policy, of all its tables."""
    tables = policy.get("tables", {"source": policy}).values()
    return {n: a for table in tables for n, a in table["attributes"].items()}


def judge(case: Case, prepared: PreparedFiles, outcome: Outcome) -> tuple[list[Judgement], list[str]]:
    """Judge each requirement of a policy; return the figures of single files that are not the product's as well."""
    judgements: list[Judgement] = []
    different: list[str] = []
    for requirement in requirements(case.policy):
        try:
            if requirement.kind == "special_uniques":
                judgements.append(_judge_uniques(case.policy, prepared, requirement))
                continue
            groups = find_requirement_groups(case.policy, prepared, requirement)
        except (NotVerified, TruthExcluded) as error:
            judgements.append(Judgement(requirement.id, holds=False, reason=f"{type(error).__name__}: {error}"))
            continue
        figure, holds = measure(requirement, groups)
        single = [g for g in groups if len(g.files) == 1]
        judgements.append(Judgement(requirement.id, holds, figure, not measure(requirement, single)[1]))
        if not case.tables and int(case.policy.get("people", {}).get("known_rows", 1)) == 1:
            different += _differing_alone(requirement, groups, prepared, outcome)
    return judgements, different


def _judge_uniques(policy: Mapping[str, Any], prepared: PreparedFiles, requirement: RequirementClause) -> Judgement:
    clause, more = requirement.clause, {"nulls": policy["nulls"], "apart": policy.get("recipients") == "apart"}
    share = figures.unique_share(prepared, clause["attributes"], int(clause["size"]), **more)
    return Judgement(requirement.id, share <= float(clause["max_share"]) + SLACK, share)


@dataclass(frozen=True)
class RequirementClause:
    """A requirement of a policy, with the attributes that may be known and the sensitive one."""

    id: str
    kind: str
    clause: Mapping[str, Any]
    known: tuple[str, ...]
    sensitive: str | None


def requirements(policy: Mapping[str, Any]) -> Iterator[RequirementClause]:
    """Every requirement of a policy."""
    known = tuple(n for n, a in attributes_of(policy).items() if a["role"] == "quasi_identifier")
    for kind, clauses in policy["privacy"].items():
        for name, clause in {"": clauses}.items() if kind in ("k_anonymity", "lkc") else clauses.items():
            s = next(iter(clause["sensitive"])) if "sensitive" in clause else name.rpartition(".")[2] or None
            id_ = f"privacy.{kind}.{name}".rstrip(".")
            yield RequirementClause(id_, kind, clause, tuple(clause.get("channel", known)), s)


def find_requirement_groups(
    policy: Mapping[str, Any], prepared: PreparedFiles, requirement: RequirementClause
) -> list[CandidateGroup]:
    """The groups on which a requirement is judged. Raises `NotVerified`."""
    known_rows = int(policy["people"]["known_rows"]) if "people" in policy else 1
    more: dict[str, Any] = {"known_rows": known_rows, "nulls": policy["nulls"]}
    more["apart"] = policy.get("recipients") == "apart"
    return figures.find_groups(prepared, requirement.known, requirement.sensitive, **more)


def _differing_alone(
    requirement: RequirementClause, groups: list[CandidateGroup], prepared: PreparedFiles, outcome: Outcome
) -> Iterator[str]:
    """Figures of single files that are not the product's, of files whose columns are maps of one attribute each."""
    plain = {
        f.name
        for f in prepared.files
        if all(c.kind == "map" and len(c.carries) == 1 and not c.hidden for c in f.columns if not c.virtual)
    }
    for result in outcome.measured:
        last = result.metric.removeprefix(f"{requirement.id}.")
        of_file = result.id == requirement.id and result.release in plain and "_" not in last and last != "columns"
        if not of_file or result.measured is None:
            continue
        figure = measure(requirement, [g for g in groups if g.files == (result.release,)])[0]
        if figure is not None and abs(figure - result.measured) > SLACK:
            yield f"{result.metric} of {result.release}: {figure} and not {result.measured}"


def measure(requirement: RequirementClause, groups: list[CandidateGroup]) -> tuple[float | None, bool]:
    """The figure of a requirement, and whether it holds."""
    kind, clause = requirement.kind, requirement.clause
    if kind == "k_anonymity":
        figure, bound, least = figures.smallest_size(groups), clause["k"], True
    elif kind == "l_diversity":
        figure, bound, least = _diversity(clause, groups), clause["l"], True
    elif kind == "alpha_k":
        figure, bound, least = figures.largest_share(groups, clause.get("values")), clause["alpha"], False
    elif kind == "templates":
        (values,) = clause["sensitive"].values()
        figure, bound, least = figures.largest_share(groups, values), clause["confidence"], False
    elif kind == "t_closeness":
        figure, bound, least = figures.worst_distribution(groups, figures.equal_distance), clause["t"], False
    elif kind == "delta_disclosure":
        figure, bound, least = figures.worst_distribution(groups, figures.log_ratio), clause["delta"], False
    else:
        figure, bound, least = figures.worst_distribution(groups, figures.relative_gain), clause["beta"], False
    if figure is None:
        return None, True
    return figure, figure >= float(bound) - SLACK if least else figure <= float(bound) + SLACK


def _diversity(clause: Mapping[str, Any], groups: list[CandidateGroup]) -> float | None:
    kind = clause.get("kind", "distinct")
    if kind == "distinct":
        return figures.smallest_distinct_l(groups)
    figure = figures.entropy_l if kind == "entropy" else figures.recursive_l(float(clause["c"]))
    return figures.worst_distribution(groups, figure, min)


def _column(name: str, place: PlaceLineage, cells: Collection[Any]) -> ReleasedColumn:
    """A released column. Labels may be two numbers in it; shown cells reveal classes if some are hidden."""
    plain = name if name in place.columns else name.removesuffix("_low").removesuffix("_high")
    column = place.columns[plain]
    hidden = column.hidden if column.hidden is not None and column.hidden.mark in cells else None
    return replace(column, name=name, hidden=hidden)


def _left_out(policy: Mapping[str, Any], place: PlaceLineage, outcome: Outcome) -> tuple[set[int], set[int]]:
    """The source rows that samples left out, and those that other steps did. Linked tables have neither here."""
    by_chance, gone = set[int](), set[int]()
    here = outcome.places.get(place.source, set())
    for step in place.steps:
        after = outcome.places.get(step, set())
        (by_chance if policy["steps"][step]["use"] == "sample" else gone).update(here - after)
        here = after
    return by_chance, gone


def family(comparison: Comparison, judgement: Judgement) -> str:
    """What a difference is about: which way, the requirement, one file or both, and the steps."""
    way = "withheld, and holds" if judgement.holds else "released, and does not hold"
    where = "" if judgement.holds else " in one file" if judgement.alone else " in both files"
    uses = sorted({s["use"] for s in comparison.case.policy["steps"].values()} - {"drop"})
    return f"{way}{where}: {judgement.id.split('.')[1]}; {judgement.reason or ' '.join(uses)}"


def main(kind: str, first: int, last: int) -> None:
    """Compare the cases of some numbers, and print what differs."""
    if kind in ("ledger", "kept"):
        import_module(f"adversary.reader.{kind}").main(first, last)  # which need all of this
        return
    verdicts: Counter[str] = Counter()
    families: defaultdict[str, list[int]] = defaultdict(list)
    for number in range(first, last):
        found = compare(MAKERS[kind](number))
        verdict = found.verdict if found.verdict == "refused" else f"{found.verdict}, harmless: {found.is_harmless}"
        verdicts[f"{verdict} {' '.join(found.codes)}".strip()] += 1
        if any(code.startswith("PPF9") for code in found.codes):
            print(number, *found.codes, flush=True)
        for judgement in found.differing:
            families[family(found, judgement)].append(number)
            bound = "nothing" if judgement.figure is None else f"{judgement.figure:.4g}"
            alone = "by people alone" if found.by_people_alone else ""
            print(number, found.verdict, family(found, judgement), "reader:", bound, alone, flush=True)
    for text, number in verdicts.most_common():
        print(number, text)
    for text, numbers in sorted(families.items(), key=lambda f: -len(f[1])):
        print(len(numbers), text, numbers[:6])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
