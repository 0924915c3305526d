"""Verifies a finished run: its files by their hashes and, with the data at hand, its figures as well."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ppdm_flow.core.clock import Clock, utc_today
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.file_sets import without_values
from ppdm_flow.core.results import HELD, RELEASED, WITHHELD
from ppdm_flow.core.waivers import day
from ppdm_flow.engine import manifest
from ppdm_flow.engine.candidates.unpublished import is_held, is_unpublished
from ppdm_flow.engine.evidence.places import compare
from ppdm_flow.engine.evidence.signatures import EvidenceOutcome, evidence_of
from ppdm_flow.engine.held.publication import publication_fault
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.engine.manifest import Manifest, ManifestWaiver
from ppdm_flow.evidence.signers import Signers
from ppdm_flow.plan.definition import Plan

if TYPE_CHECKING:
    from ppdm_flow.engine.verify.remeasuring import RemeasureResult

NOT_PUBLISHED = "not published"
_UNFINISHED = f"{NOT_PUBLISHED}: the run goes on, or was ended before it could publish anything"
_GONE = f"{NOT_PUBLISHED}: there is no folder `{RELEASED}`, or another one in its place"
PlanLoader = Callable[[Path, Path | None], Plan]
"""Compiles the policy that a run kept, for the columns of the data."""

POLICY = "policy.resolved.yaml"
REPORT = "report.json"
PLAN = "plan.json"


@dataclass(frozen=True, slots=True)
class VerifyOutcome:
    """The differences from the manifest. ``remeasured`` is None where no data was given.

    ``project`` is the SHA-256 of the project file that bound the policy, empty without one; ``project_note`` says how
    that goes with the one that binds policies where the run is.
    """

    run_dir: Path
    verdict: str
    files: int
    changed: tuple[str, ...]
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    remeasured: RemeasureResult | None = None
    contradictions: tuple[str, ...] = ()
    used_waivers: tuple[VerifiedWaiver, ...] = ()
    requirements: tuple[str, ...] = ()
    evidence: EvidenceOutcome = field(default_factory=EvidenceOutcome)
    project: str = ""
    project_note: str = ""

    @property
    def unchanged(self) -> bool:
        """Whether every file is as it was, and none lies beside them but evidence."""
        return not (self.changed or self.missing or self.extra or self.contradictions)

    @property
    def holds(self) -> bool:
        """Whether everything is as it was, and signed where that was asked for."""
        measured = self.remeasured is None or self.remeasured.holds
        return self.unchanged and measured and self.evidence.holds

    @property
    def exit_status(self) -> int:
        """0 as it was, 4 as it was and held for approvals, 1 not as it was."""
        return 1 if not self.holds else 4 if self.verdict == HELD else 0

    @property
    def text(self) -> str:
        """The outcome for people, a line a fact."""
        lines = [f"changed: {n}" for n in self.changed]
        lines += [f"missing: {n}" for n in self.missing]
        lines += [f"not in the manifest: {n}" for n in self.extra]
        lines += self.contradictions
        lines += [f"project file: {self.project_note}"] if self.project_note else []
        lines += [f"waiver `{grant.name}`: {grant.text}" for grant in self.used_waivers]
        lines += self.evidence.lines
        lines += self.remeasured.lines if self.remeasured else []
        state = "is as it was" if self.holds else "is NOT as it was"
        if not self.holds and self.unchanged and not self.evidence.faults and self.evidence.listed:
            state = "is as it was, and NOT signed as it has to be"
        return "\n".join([*lines, f"{self.run_dir.name} ({self.verdict}) {state}: {self.files} files hashed"])


def verify(
    run_dir: Path,
    data: Path | None,
    plan_loader: PlanLoader,
    clock: Clock = utc_today,
    *,
    signers: Signers | None = None,
    now: Callable[[], datetime] = utc_now,
) -> VerifyOutcome:
    """Hash every file of a run again; with ``data``, make and audit its releases again.

    The hashes show that nothing was changed by itself. A person who also rewrites the manifest can make them fit. Then
    only making and measuring the releases again shows it, or a manifest that was kept elsewhere. Waivers are checked
    against the day of ``clock``, and signatures against ``signers`` and the time ``now``.

    A directory that was not published is no release. Raises UsageError where ``run_dir`` is no run's directory,
    DataError where ``data`` does not fit.
    """
    if is_unpublished(run_dir.resolve()):
        return VerifyOutcome(run_dir, NOT_PUBLISHED, 0, (), (), (), contradictions=(_UNFINISHED,))
    known = _manifest(run_dir)
    files = compare(run_dir, known)
    changed, missing, extra = _shown(files.changed), _shown(files.missing), _shown(files.extra)
    remeasured = None
    if data is not None and not (missing or changed):
        remeasured = _remeasured(run_dir, known, data, plan_loader(run_dir / POLICY, data))
    against = _contradictions(run_dir, known, files.same)
    verdict, granted = effective_verdict(run_dir, known), used_waivers(known, clock())
    evidence = EvidenceOutcome()
    if files.evidence or signers is not None:
        evidence = evidence_of(run_dir, signers, now())
    return VerifyOutcome(
        run_dir,
        verdict,
        files.present,
        changed,
        missing,
        extra,
        remeasured,
        against,
        granted,
        evidence=evidence,
        project=known.get("project", {}).get("sha256", ""),
    )


def _remeasured(run_dir: Path, known: Manifest, data: Path, plan: Plan) -> RemeasureResult:
    from ppdm_flow.engine.verify.remeasuring import remeasure, remeasure_tables  # noqa: PLC0415  # heavy; hashes need none of it

    measure_run = remeasure_tables if plan.tables else remeasure
    return measure_run(run_dir, known, data, plan)


def _shown(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of files without the values in names of folders, sorted."""
    return tuple(sorted(without_values(name) for name in names))


def effective_verdict(run_dir: Path, known: Manifest) -> str:
    """Return what became of a run: one that was held is released once its releases are out."""
    verdict = str(known["verdict"])
    return RELEASED if verdict == HELD and not is_held(run_dir) else verdict


def _contradictions(run_dir: Path, known: manifest.Manifest, files: frozenset[str]) -> tuple[str, ...]:
    """Return where the manifest's verdict is not that of the report, or not that of the folders."""
    verdict = known["verdict"]
    contradictions = list(_approval(run_dir, known, files))
    folder = run_dir / RELEASED
    if effective_verdict(run_dir, known) == RELEASED and (folder.is_symlink() or not folder.is_dir()):
        contradictions.append(_GONE)
    if REPORT in files and (said := _verdict(run_dir / REPORT)) != verdict:
        contradictions.append(f"the manifest says {verdict}, and `{REPORT}` says {said}")
    if REPORT in files and not agrees(run_dir / REPORT, known):
        contradictions.append(f"the manifest and `{REPORT}` name different waivers")
    folders = {name.partition("/")[0] for name in files if "/" in name}
    if folders & {RELEASED, WITHHELD} and verdict not in folders and verdict != HELD:
        contradictions.append(f"the manifest says {verdict}, and there is no folder `{verdict}`")
    if verdict == WITHHELD and RELEASED in folders:
        contradictions.append(f"the manifest says {verdict}, and there is a folder `{RELEASED}`")
    return tuple(contradictions)


def _approval(run_dir: Path, known: Manifest, files: frozenset[str]) -> Iterator[str]:
    """Yield where a run that people have to approve is published otherwise than by their approval."""
    verdict, held = known["verdict"], is_held(run_dir)
    if verdict == HELD and not held and (run_dir / RELEASED).is_dir():
        fault = publication_fault(run_dir)
        if fault:
            yield fault
    if not held and os.path.lexists(run_dir / HELD):
        yield f"there are both folders, `{HELD}` and `{RELEASED}`, or another thing in place of one"
    if held and verdict != HELD:
        yield f"the manifest says {verdict}, and there is a folder `{HELD}`"
    if verdict == RELEASED and PLAN in files and _asks_for_approvals(run_dir / PLAN):
        yield f"the manifest says {verdict}, and `{PLAN}` asks for approvals: nobody can have approved it"


def _asks_for_approvals(plan: Path) -> bool:
    try:
        return json.loads(plan.read_text(encoding="utf-8")).get("approvals") is not None
    except (OSError, ValueError, AttributeError):
        return True


def _verdict(report: Path) -> str:
    try:
        return str(json.loads(report.read_text(encoding="utf-8"))["verdict"])
    except (OSError, ValueError, KeyError, TypeError):
        return "nothing"


def _manifest(run_dir: Path) -> manifest.Manifest:
    path = run_dir / manifest.NAME
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        entries = document["files"].values()
        good = document["version"] == manifest.VERSION and all(isinstance(e["sha256"], str) for e in entries)
        good = good and readable(document)
    except OSError:
        text = f"`{run_dir}` holds no `{manifest.NAME}`"
        raise UsageError(Diagnostic("PPF750", text, help="give the directory that `ppdm-flow run` printed")) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        good = False
    if not good or not isinstance(document.get("verdict"), str):
        raise UsageError(Diagnostic("PPF750", f"`{path}` is damaged, or of a version that this program does not know"))
    return cast("manifest.Manifest", document)


@dataclass(frozen=True, slots=True)
class VerifiedWaiver:
    """A waiver that a finished run needed, described as of today."""

    name: str
    text: str
    expired: bool = False


def used_waivers(manifest: Manifest, today: date) -> tuple[VerifiedWaiver, ...]:
    """Return the waivers that the run needed. If one of them has expired, the run would be withheld today."""
    return tuple(_used_waiver(each, today) for each in manifest.get("waivers", ()) if each["covers"])


def _used_waiver(each: ManifestWaiver, today: date) -> VerifiedWaiver:
    until, covers = date.fromisoformat(each["until"]), ", ".join(each["covers"])
    left = (until - today).days
    if left < 0:
        return VerifiedWaiver(each["name"], f"has expired since ({until}): {covers} would count today", expired=True)
    return VerifiedWaiver(each["name"], f"counts until {until} ({left} days left): {covers}")


def readable(manifest: Manifest) -> bool:
    """Whether the waivers of a manifest are as this program writes them."""
    waivers = manifest.get("waivers", [])
    return isinstance(waivers, list) and all(_is_complete(each) for each in waivers)


def _is_complete(each: Any) -> bool:
    if not isinstance(each, Mapping) or not all(isinstance(each.get(key), str) for key in ("name", "of", "until")):
        return False
    covers = each.get("covers")
    return day(each["until"]) is not None and isinstance(covers, list) and all(isinstance(c, str) for c in covers)


def agrees(report: Path, manifest: Manifest) -> bool:
    """Whether a run's report names the same waivers as its manifest."""
    try:
        waivers = json.loads(report.read_text(encoding="utf-8")).get("waivers", [])
        said = [{key: each[key] for key in ("name", "of", "until", "covers")} for each in waivers]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
    return said == list(manifest.get("waivers", []))
