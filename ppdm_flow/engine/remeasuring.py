"""The figures of a finished run, measured again."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ppdm_flow.core.lineage import UNTOLD
from ppdm_flow.core.requirements import TOLERANCE, ItemsetBreach
from ppdm_flow.core.results import RequirementResult
from ppdm_flow.core.successive import Successive
from ppdm_flow.engine.hashing import sha256
from ppdm_flow.engine.judge_files import judge
from ppdm_flow.engine.judging import RELEASED, WITHHELD
from ppdm_flow.plan.definition import Plan, ReleaseNode
from ppdm_flow.plan.document import document
from ppdm_flow.plan.pictures.wording import derived


@dataclass(frozen=True, slots=True)
class Remeasured:
    """``differences`` are requirements that came out otherwise; ``same_input`` says whether it is the run's own data.

    ``skipped`` are the releases whose files the run did not keep, ``unknown`` the requirements that a file and the data
    alone do not tell of: on randomized sets that other steps changed before, or dropped some of, on generated rows, and
    on columns that steps made of their attributes, which ``columns`` tells by release.
    """

    same_input: bool
    requirements: int
    differences: tuple[str, ...]
    skipped: tuple[str, ...]
    unknown: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether everything came out as it was."""
        return self.same_input and not self.differences

    @property
    def lines(self) -> list[str]:
        """The outcome for people."""
        found = [] if self.same_input else ["the data given is not the data of this run: its hash differs"]
        found += [f"measured otherwise: {d}" for d in self.differences]
        found += [f"not measured again: release `{n}` was withheld and not kept" for n in self.skipped]
        found += [f"not measured again: {n}: only the run itself can tell" for n in self.unknown]
        found += [
            f"release `{n}`: the run alone tells what is behind its columns: {told}" for n, told in self.columns.items()
        ]
        if not self.differences and self.requirements:
            found.append(f"{self.requirements} requirements measured again, with the same outcome")
        return found


def remeasure(run_dir: Path, manifest: Mapping[str, Any], data: Path, plan: Plan) -> Remeasured:
    """Audit every release that the run kept, and compare each requirement with the run's own report."""
    same = sha256(data) == manifest["digests"]["input"]
    before = _reported(run_dir)
    differences: list[str] = []
    skipped: list[str] = []
    unknown: list[str] = []
    columns: dict[str, str] = {}
    released = {node["name"]: node for node in document(plan)["releases"]}
    count = 0
    for release in plan.releases:
        file = _kept(run_dir, release)
        if file is None:
            skipped.append(release.name)
            continue
        report = judge(plan, data, file, release.name)
        untold = {f.subject for f in report.findings if f.code == UNTOLD}
        hidden = [
            r for r in report.requirements if r.id in untold or (r.measured is None and _hidden(plan, release, r))
        ]
        if untold:
            columns[release.name] = "; ".join(derived(released[release.name]))
        unknown += list(dict.fromkeys(f"{r.id} on {release.name}" for r in hidden))
        shown = [r for r in report.requirements if r not in hidden]
        count += len(shown)
        differences += _differences(shown, release, before)
    names = {release.name for release in plan.releases}
    unknown += dict.fromkeys(f"{id_} on {on}" for id_, on, _ in before if on not in names)
    return Remeasured(same, count, tuple(differences), tuple(skipped), tuple(unknown), columns)


def _hidden(plan: Plan, release: ReleaseNode, result: RequirementResult) -> bool:
    """Whether a result is on earlier releases as well, or on sets that were randomized after another change."""
    requirement = result.id
    if any(isinstance(r, Successive) and r.id == requirement for r in plan.requirements):
        return True
    if plan.ledger is not None and result.metric.startswith(f"{requirement}.cumulative_"):
        return True
    about = {r.attribute for r in plan.requirements if isinstance(r, ItemsetBreach) and r.id == requirement}
    names = {a.name for a in release.attributes if a.source in about} | about
    steps = [s.effect for s in plan.upstream(release.input)]
    changing = [e for e in steps if names & e.changes.keys()]
    return bool(about) and (len(changing) > 1 or any(e.rows == "fewer" for e in steps))


def _kept(run_dir: Path, release: ReleaseNode) -> Path | None:
    for folder in (RELEASED, WITHHELD):
        file = run_dir / folder / release.name / release.path
        if file.is_file():
            return file
    return None


def _reported(run_dir: Path) -> dict[tuple[str, str, str], Mapping[str, Any]]:
    found = json.loads((run_dir / "report.json").read_text(encoding="utf-8"))
    return {(r["id"], r["release"], r["metric"]): r for r in found["requirements"]}


def _differences(
    results: Sequence[RequirementResult],
    release: ReleaseNode,
    before: Mapping[tuple[str, str, str], Mapping[str, Any]],
) -> list[str]:
    found = []
    for result in results:
        earlier = before.get((result.id, release.name, result.metric))
        name = f"{result.id} on {release.name}"
        if earlier is None:
            found.append(f"{name}: the run's report does not have it")
        elif earlier["holds"] != result.holds or not _same(earlier["measured"], result.measured):
            found.append(f"{name}: {earlier['measured']} then, {result.measured} now")
    return found


def _same(before: float | None, now: float | None) -> bool:
    if before is None or now is None:
        return before is now
    return math.isclose(before, now, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
