"""The figures of a finished run, measured again."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ppdm_flow.core.requirements import TOLERANCE
from ppdm_flow.core.results import Report
from ppdm_flow.engine.hashing import sha256
from ppdm_flow.engine.judge_files import judge
from ppdm_flow.engine.judging import RELEASED, WITHHELD
from ppdm_flow.plan.definition import Plan, ReleaseNode


@dataclass(frozen=True, slots=True)
class Remeasured:
    """``differences`` are requirements that came out otherwise; ``same_input`` says whether it is the run's own data.

    ``skipped`` are the releases whose files the run did not keep.
    """

    same_input: bool
    requirements: int
    differences: tuple[str, ...]
    skipped: tuple[str, ...]

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
        if not self.differences and self.requirements:
            found.append(f"{self.requirements} requirements measured again, with the same outcome")
        return found


def remeasure(run_dir: Path, manifest: Mapping[str, Any], data: Path, plan: Plan) -> Remeasured:
    """Audit every release that the run kept, and compare each requirement with the run's own report."""
    same = sha256(data) == manifest["digests"]["input"]
    before = _reported(run_dir)
    differences: list[str] = []
    skipped: list[str] = []
    count = 0
    for release in plan.releases:
        file = _kept(run_dir, release)
        if file is None:
            skipped.append(release.name)
            continue
        report = judge(plan, data, file, release.name)
        count += len(report.requirements)
        differences += _differences(report, release, before)
    return Remeasured(same, count, tuple(differences), tuple(skipped))


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
    report: Report, release: ReleaseNode, before: Mapping[tuple[str, str, str], Mapping[str, Any]]
) -> list[str]:
    found = []
    for result in report.requirements:
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
