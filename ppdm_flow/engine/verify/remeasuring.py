"""The figures of a finished run, measured again."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ppdm_flow.core.file_sets import data_sha256
from ppdm_flow.core.lineage import UNTOLD
from ppdm_flow.core.phrases import counted, listed
from ppdm_flow.core.requirement import TOLERANCE
from ppdm_flow.core.results import HELD, RELEASED, WITHHELD, RequirementResult
from ppdm_flow.engine import manifest
from ppdm_flow.engine.judging.results import JudgedResults
from ppdm_flow.engine.verify.judge_files import judge
from ppdm_flow.engine.verify.remaking import DRAWN, RemakeResult, RemakeResults, remake
from ppdm_flow.plan.definition import Plan, ReleaseNode
from ppdm_flow.plan.document import document
from ppdm_flow.plan.pictures.wording import derived

_Key = tuple[str, str, str]
_SEVERAL = "it is about several releases, and not all of them could be made again"
_LEDGER = "it is held against other releases"
_CHANGED = "its file is not what the policy makes"


@dataclass(frozen=True, slots=True)
class RemeasureResult:
    """``differences`` are requirements that came out otherwise; ``same_input`` says whether it is the run's own data.

    ``made`` says of each release that could be made again whether it is the same (None: other versions made another
    one, which proves nothing), and in a sentence what that means.
    ``skipped`` are the releases whose files the run did not keep, ``unknown`` the requirements of which only the run
    could tell, each with the reason: on releases that cannot be made again, columns that steps made of their
    attributes, generated rows, or sets that other steps changed before they were randomized; and what is held against
    earlier releases. ``columns`` tells these columns by release. ``figures`` counts gates and other figures of the run
    that were computed again.
    """

    same_input: bool
    requirements: int
    differences: tuple[str, ...]
    skipped: tuple[str, ...]
    unknown: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    made: Mapping[str, tuple[bool | None, str]] = field(default_factory=dict)
    figures: int = 0

    @property
    def holds(self) -> bool:
        """Whether everything came out as it was."""
        return self.same_input and not self.differences and all(same is not False for same, _ in self.made.values())

    @property
    def lines(self) -> list[str]:
        """The outcome for people."""
        text_lines = [] if self.same_input else ["the data given is not the data of this run: its hash differs"]
        text_lines += [f"release `{n}`: {text}" for n, (_, text) in self.made.items()]
        text_lines += [f"measured otherwise: {d}" for d in self.differences]
        text_lines += [f"not measured again: release `{n}` was withheld and not kept" for n in self.skipped]
        text_lines += [
            f"not measured again: {n}: only the run itself can tell{_why(w)}" for n, w in self.unknown.items()
        ]
        text_lines += [
            f"release `{n}`: the run alone tells what is behind its columns: {text}" for n, text in self.columns.items()
        ]
        if not self.differences and self.requirements:
            text_lines.append(f"{counted(self.requirements, 'requirement')} measured again, with the same outcome")
        if not self.differences and self.figures:
            text_lines.append(f"{self.figures} gates and other figures computed again, with the same outcome")
        return text_lines


def remeasure(run_dir: Path, known: manifest.Manifest, data: Path, plan: Plan) -> RemeasureResult:
    """Measure every release that the run kept, and compare each requirement with the run's own report.

    Where the data is the run's own, its steps are carried out again: a release that comes out the same is measured as
    the run did it, with its rows paired. Any other is judged as a file. Raises DataError where that does not fit.
    """
    same = data_sha256(data) == known["digests"]["input"]
    return Remeasurement(run_dir, known, data, plan, same_input=same).outcome()


class Remeasurement:
    """What is found out while releases are measured again: all of the run, or those of ``releases``."""

    def __init__(
        self,
        run_dir: Path,
        known: manifest.Manifest,
        data: Path,
        plan: Plan,
        *,
        same_input: bool,
        releases: Collection[str] | None = None,
    ) -> None:
        self.plan = plan
        self.data = data
        self.report = json.loads((run_dir / "report.json").read_text(encoding="utf-8"))
        every = {(r["id"], r["release"], r["metric"]): r for r in self.report["requirements"]}
        self.before = {key: r for key, r in every.items() if releases is None or key[1] in releases}
        kept = {r.name: _kept(run_dir, r) for r in plan.releases}
        self.files = {name: file for name, file in kept.items() if file is not None}
        self.same_input = same_input
        self.others = _other_versions(known, plan)
        self.about = {node["name"]: node for node in document(plan)["releases"]}
        self.requirements = {r.id: r for r in plan.requirements}
        self.differences: list[str] = []
        self.unknown: dict[str, str] = {}
        self.columns: dict[str, str] = {}
        self.made: dict[str, tuple[bool | None, str]] = {}
        self.compared: set[_Key] = set()

    def outcome(self) -> RemeasureResult:
        """Make the releases again, measure them, and return what came of it."""
        again = self._made_again()
        for release in self.plan.releases:
            if release.name in self.files:
                self._release(release, again.releases[release.name])
        figures = 0 if again.run is None else self.whole_run(again.run, exact=again.exact)
        return self.result(figures)

    def result(self, figures: int = 0) -> RemeasureResult:
        """Return what was found out; what was not compared is not known."""
        skipped = tuple(n for n in self.about if n not in self.files)
        for id_, on, metric in self.before:
            if (id_, on, metric) not in self.compared and on not in skipped:
                why = _LEDGER if self._is_successive(id_, metric) else _SEVERAL
                self.unknown.setdefault(f"{id_} on {on}", why)
        return RemeasureResult(
            self.same_input,
            len(self.compared),
            tuple(dict.fromkeys(self.differences)),
            skipped,
            self.unknown,
            self.columns,
            self.made,
            figures,
        )

    def _made_again(self) -> RemakeResults:
        if self.same_input:
            return remake(self.plan, self.files, self.data)
        return RemakeResults({name: RemakeResult(None, "it is about other data") for name in self.files})

    def _release(self, release: ReleaseNode, remade: RemakeResult) -> None:
        """Measure one release: as it was made again, or its file as it is."""
        if remade.same is False and self.others:  # these may well be the cause: no proof of a change, and said
            self.made[release.name] = None, f"{_sentence(remade)}: {self.others}"
            remade = RemakeResult(None, f"other versions make another file: {self.others}")
        elif remade.same is not None:
            self.made[release.name] = remade.same, _sentence(remade)
        if remade.same is False:
            for id_, on, _ in self.before:
                if on == release.name:
                    self.unknown[f"{id_} on {on}"] = _CHANGED
        elif remade.tells(r for r in self.plan.requirements if not r.successive):
            self._compare(remade.results)
        else:
            self._judge(release, remade)

    def _judge(self, release: ReleaseNode, remade: RemakeResult) -> None:
        """Judge a file without the steps that led to it, and what needs them on the columns that were made again."""
        report = judge(self.plan, self.data, self.files[release.name], release.name)
        untold = {f.subject for f in report.findings if f.code == UNTOLD}
        outcome = self._told(remade)
        self._compare([r for r in remade.results if r.id in outcome])
        for result in report.requirements:
            name = f"{result.id} on {release.name}"
            if result.id in untold - outcome:
                self.unknown[name] = remade.why or DRAWN
            elif result.measured is None and _is_hidden(self.plan, release, result):
                self.unknown[name] = ""
            elif result.measured is None and self.plan.people is not None:  # whose a row is, the file does not say
                self.unknown[name] = remade.why or DRAWN
            elif result.id not in untold:
                self._compare([result])
        if untold - outcome:
            self.columns[release.name] = "; ".join(derived(self.about[release.name]))

    def _told(self, remade: RemakeResult) -> set[str]:
        """Return the requirements of which the columns tell that were made again."""
        if not remade.same or remade.target is None:
            return set()
        return {r.id for r in remade.results if remade.target.tells(self.requirements[r.id])}

    def _compare(self, results: Iterable[RequirementResult]) -> None:
        for result in results:
            name, key = f"{result.id} on {result.release}", (result.id, result.release, result.metric)
            earlier = self.before.get(key)
            if self._is_successive(result.id, result.metric):
                self.unknown[name] = _LEDGER
                continue
            self.compared.add(key)
            if earlier is None:
                self.differences.append(f"{name}: the run's report does not have it")
            elif earlier["holds"] != result.holds or not _same(earlier["measured"], result.measured):
                self.differences.append(f"{name}: {earlier['measured']} then, {result.measured} now")

    def whole_run(self, run: JudgedResults, *, exact: bool) -> int:
        """Compare what is about several releases, and gates and figures where the same versions computed them.

        Returns how many gates and figures these are.
        """
        self._compare(r for r in run.requirements if r.release not in self.about)
        if not exact or self.others or self.plan.ledger is not None:
            return 0
        then = {(g["id"], g["release"], g["metric"]): g for g in self.report.get("gates", ())}
        for gate in run.gates if then else ():
            earlier = then.get((gate.id, gate.release, gate.metric), {"holds": None, "measured": None})
            if earlier["holds"] != gate.holds or not _same(earlier["measured"], gate.measured):
                name = f"{gate.id} on {gate.release}" if gate.release else gate.id
                self.differences.append(f"{name}: {earlier['measured']} then, {gate.measured} now")
        figures = {n: v for n, v in self.report.get("metrics", {}).items() if n in run.metrics}
        for name, earlier in figures.items():
            now = run.metrics[name]
            if now.unit != "seconds" and not _same(earlier["value"], now.value):
                self.differences.append(f"figure {name}: {earlier['value']} then, {now.value} now")
        return len(then) + len(figures)

    def _is_successive(self, requirement: str, metric: str) -> bool:
        """Whether a figure is about earlier releases as well."""
        required = self.requirements.get(requirement)
        if required is not None and required.successive:
            return True
        return self.plan.ledger is not None and metric.startswith(f"{requirement}.cumulative_")


def _is_hidden(plan: Plan, release: ReleaseNode, result: RequirementResult) -> bool:
    """Whether a result is on sets that were randomized after another change, or some of which were dropped."""
    requirement = result.id
    about = {a for r in plan.requirements if r.id == requirement and r.needs_operator for a in r.secrets}
    names = {a.name for a in release.attributes if a.source in about} | about
    steps = [s.effect for s in plan.upstream(release.input)]
    changing = [e for e in steps if names & e.changes.keys()]
    return bool(about) and (len(changing) > 1 or any(e.rows == "fewer" for e in steps))


def _sentence(remade: RemakeResult) -> str:
    if remade.target is None or remade.target.reproducible:
        made = "make the same bytes" if remade.same else "do NOT make the bytes of this file"
        return f"its steps, carried out again, {made}"
    made = "the same rows" if remade.same else "NOT the rows of this file"
    if remade.target.complete:
        return f"its steps, carried out again, make {made}, whose order is drawn"
    names = listed([a.name for a in remade.target.made.attributes], 6)
    return f"its steps up to the first draw, carried out again, make {made} in {names}"


def _other_versions(known: manifest.Manifest, plan: Plan) -> str:
    """Return what made the run and is another now; empty where nothing is."""
    then, now = known.get("versions", {}), manifest.versions()
    differences = [f"{name} {then.get(name)} then, {now[name]} now" for name in now if then.get(name) != now[name]]
    if not differences and known["digests"].get("plan") != plan.digest:
        return "the plan was another one then: of other plugins, or of another policy"
    return ", ".join(differences)


def _why(reason: str) -> str:
    return f": {reason}" if reason else ""


def _kept(run_dir: Path, release: ReleaseNode) -> Path | None:
    for folder in (RELEASED, HELD, WITHHELD):
        file = run_dir / folder / release.name / release.path
        if file.exists():
            return file
    return None


def _same(before: float | None, now: float | None) -> bool:
    if before is None or now is None:
        return before is now
    return math.isclose(before, now, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
