"""Verifying a finished run."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from ppdm_flow.api.buckets import copies_for
from ppdm_flow.api.own_data import own_data as own_data_of
from ppdm_flow.api.own_data import refuse_both
from ppdm_flow.api.report import REPORT, read
from ppdm_flow.core.addresses import is_bucket
from ppdm_flow.core.clock import Clock, utc_today
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import DataError, UsageError
from ppdm_flow.core.file_sets import without_values
from ppdm_flow.core.results import RELEASED
from ppdm_flow.core.texts import OPERATOR
from ppdm_flow.engine.approval.published import approval_faults
from ppdm_flow.engine.candidates.unpublished import PUBLICATION
from ppdm_flow.engine.evidence.signatures import EvidenceOutcome, SignatureResult
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.engine.verify.verify import POLICY, VerifyOutcome
from ppdm_flow.engine.verify.verify import verify as verify_run
from ppdm_flow.evidence.statement import text_of
from ppdm_flow.plan.definition import Plan
from ppdm_flow.policy import load
from ppdm_flow.policy.loaded import PolicyPath, Project
from ppdm_flow.policy.project_file import project_of
from ppdm_flow.policy.signers import read_signers
from ppdm_flow.report.verify import ComparedPoint, SignaturePoint, Verification


def verify(
    run: Path,
    data: Path | None = None,
    clock: Clock = utc_today,
    *,
    policy_folder: Path | None = None,
    own_data: bool = False,
    signers: Path | None = None,
    now: Callable[[], datetime] = utc_now,
) -> VerifyOutcome:
    """Hash every file of a run again; with ``data``, make and measure its releases again as well.

    ``clock`` tells the day, by which waivers may have expired since the run. ``policy_folder`` is where the files are
    that the policy names (hierarchies, keys, data): a run keeps none of them. With ``own_data`` the data is read again
    from the database, the object or the file that the policy names. ``signers`` is a list of signers, by default that
    of the project file above the run: then every signature has to count, as of ``now``, and every release has to have
    one.

    Both may be in an object store, from where they are copied. Raises UsageError where ``run`` is no run directory,
    PolicyError where the list of signers is none.
    """

    def plan(policy: Path, data: Path | None) -> Plan:
        original_plan = _plan(policy, data, _operator(policy, policy_folder))
        return original_plan if policy_folder is None else replace(original_plan, home=str(policy_folder.absolute()))

    refuse_both(data, own_data=own_data)
    project = None if is_bucket(run) else project_of(run.resolve() / POLICY)
    if signers is None and project is not None:
        signers = project.signers
    people = None if signers is None else read_signers(signers)
    with copies_for() as copies:
        place = copies.local_run(run)
        there = None if data is None else copies.local(data)
        if own_data and (place / POLICY).is_file():
            over = {**_own_source(place, run, policy_folder), **_operator(place / POLICY, policy_folder)}
            there = own_data_of(place / POLICY, {}, copies, over)
        outcome = verify_run(place, there, plan, clock, signers=people, now=now)
        note = project_note(outcome.project, project)
        return replace(_with_approvals(outcome, place), requirements=_requirements(outcome), project_note=note)


def _own_source(place: Path, run: Path, policy_folder: Path | None) -> dict[PolicyPath, str]:
    """Return the place of the policy's own file, to be read in place of a path that was relative to the policy.

    A run knows its policy's folder only as it was called then: without ``policy_folder``, the file is looked for beside
    the files that the report's requirements are in, as seen from here and from the folders above the run, and in these
    folders. Raises DataError where it is in none.
    """
    policy = load(place / POLICY).policy
    named = None if policy is None or policy.tables else policy.source.path
    if named is None or is_bucket(named) or Path(named).is_absolute():
        return {}
    if policy_folder is None:
        above = () if is_bucket(run) else run.resolve().parents
        report = read(place)
        files = [r["policy_span"]["file"] for r in (*report["requirements"], *report["gates"]) if r["policy_span"]]
        beside = dict.fromkeys(Path(file).parent for file in files if not file.startswith(("builtin:", "pkg:")))
        folders = [start / folder for start in (Path.cwd(), *above) for folder in beside] + [Path.cwd(), *above]
    else:
        folders = [policy_folder.absolute()]
    for folder in folders:
        if glob.glob(str(folder / named)):  # noqa: PTH207  # Path.glob takes no absolute pattern
            return {("source", "path"): str(folder / named)}
    where = "beside the policy" if policy_folder is None else f"in `{policy_folder}`"
    text = f"the policy's own data, `{without_values(named)}`, is not found {where}"
    advice = "give the folder of the policy with `--policy-folder`, or the data with `--data` in place of `--own-data`"
    raise DataError(Diagnostic("PPF701", text, help=advice))


def project_note(used: str, here: Project | None) -> str:
    """Return how the project file that a run was bound by, by its SHA-256, goes with the one above the run's folder."""
    if here is None:
        return f"one that is not here bound the policy, sha256 {used[:12]}…" if used else ""
    if not used:
        return f"none bound the policy, and here `{here.shown}` binds all: it was a copy elsewhere, or older than that"
    if used != here.sha256:
        return f"another content than that of `{here.shown}` bound the policy, sha256 {used[:12]}…"
    return f"`{here.shown}` bound the policy, as it is now"


def _with_approvals(outcome: VerifyOutcome, run: Path) -> VerifyOutcome:
    """Return the outcome with what is wrong with the approvals of a run that was held and is released."""
    if outcome.verdict != RELEASED or not (run / PUBLICATION).is_file():
        return outcome
    return replace(outcome, contradictions=(*outcome.contradictions, *approval_faults(run, read_signers)))


def verification(outcome: VerifyOutcome, *, data_given: bool) -> Verification:
    """Return what every form of the outcome is made from; ``data_given`` says whether data was given."""
    policy = outcome.run_dir.parent.name
    measured = _measured(outcome, data_given=data_given)
    points = (*_files(outcome), *_project(outcome), *_waivers(outcome), *_evidence(outcome.evidence), *measured)
    signatures = tuple(signature_point(each, listed=outcome.evidence.listed) for each in outcome.evidence.signatures)
    return Verification(
        outcome.run_dir.name, policy, outcome.verdict, points, outcome.text, signatures, outcome.exit_status
    )


def _files(outcome: VerifyOutcome) -> Iterator[ComparedPoint]:
    """Yield what the hashes and the folders tell."""
    for names, what in (
        (outcome.changed, "changed since the run"),
        (outcome.missing, "missing"),
        (outcome.extra, "not in the manifest"),
    ):
        yield from (ComparedPoint(f"file {name}", holds=False, text=what) for name in names)
    if not (outcome.changed or outcome.missing or outcome.extra):
        yield ComparedPoint("files", holds=True, text=f"{outcome.files} files hashed, none changed")
    for said in outcome.contradictions:
        yield ComparedPoint("verdict", holds=False, text=said)
    if not outcome.contradictions:
        yield ComparedPoint("verdict", holds=True, text=outcome.verdict)


def _project(outcome: VerifyOutcome) -> Iterator[ComparedPoint]:
    if outcome.project_note:
        yield ComparedPoint("project file", holds=None, text=outcome.project_note)


def _waivers(outcome: VerifyOutcome) -> Iterator[ComparedPoint]:
    """Yield the waivers that the release rests on: that one has expired since changes nothing of what happened."""
    for grant in outcome.used_waivers:
        yield ComparedPoint(f"waiver {grant.name}", holds=None, text=grant.text)


def _evidence(evidence: EvidenceOutcome) -> Iterator[ComparedPoint]:
    """Yield the signatures, and what is wrong with the files of evidence."""
    for name, fault in evidence.faults:
        yield ComparedPoint(f"file {name}", holds=False, text=fault)
    for each in evidence.signatures:
        if not each.damaged:
            name = f"signature {each.role} of {each.release}"
            yield ComparedPoint(
                name, holds=each.good if evidence.listed else None, text=each.text(listed=evidence.listed)
            )
    for release in evidence.unsigned:
        yield ComparedPoint(f"signatures of {release}", holds=False, text="nobody on the list signed this release")


def signature_point(each: SignatureResult, *, listed: bool) -> SignaturePoint:
    """Return a signature for every form; ``listed`` says whether there was a list of signers."""
    counts = each.good if listed or each.damaged else None
    signed = "" if each.signed is None else text_of(each.signed)
    fault = each.fault if listed or each.damaged else ""
    return SignaturePoint(each.file, each.release, each.role, each.signer or "", each.key_id, signed, counts, fault)


def _measured(outcome: VerifyOutcome, *, data_given: bool) -> Iterator[ComparedPoint]:
    """Yield the requirements: the same as then, not the same, or not measured again."""
    remeasured = outcome.remeasured
    names = outcome.requirements
    if remeasured is None:
        why = "not measured again: files are not as they were" if data_given else "not measured again: `--data` does it"
        yield from (ComparedPoint(name, holds=None, text=why) for name in names)
        return
    if not remeasured.same_input:
        yield ComparedPoint("input", holds=False, text="the data given is not the data of this run: its hash differs")
    differences = [text.partition(": ") for text in remeasured.differences]
    differing = {name: said for name, _, said in differences}
    for name in dict.fromkeys((*names, *differing)):
        if name in differing:
            yield ComparedPoint(name, holds=False, text=f"measured otherwise: {differing[name]}")
        elif name in remeasured.unknown or name.rpartition(" on ")[2] in remeasured.skipped:
            reason = remeasured.unknown.get(name)
            text = "not measured again: only the run itself had what it takes"
            yield ComparedPoint(name, holds=None, text=f"{text}: {reason}" if reason else text)
        else:
            yield ComparedPoint(name, holds=True, text="measured again, with the same outcome")
    for release, (same, text) in remeasured.made.items():
        yield ComparedPoint(f"steps of {release}", holds=same, text=text)
    for release, columns in remeasured.columns.items():
        yield ComparedPoint(
            f"columns of {release}", holds=None, text=f"the run alone tells what is behind them: {columns}"
        )


def _requirements(outcome: VerifyOutcome) -> tuple[str, ...]:
    if REPORT in (*outcome.missing, *outcome.changed):
        return ()
    try:
        results = read(outcome.run_dir)["requirements"]
        return tuple(dict.fromkeys(f"{r['id']} on {r['release']}" for r in results))
    except (UsageError, KeyError, TypeError):
        return ()


def _plan(policy: Path, data: Path | None, over: Mapping[PolicyPath, str]) -> Plan:
    """Compile the policy that a run kept, for the columns of the data; its waivers were judged when it ran."""
    from ppdm_flow.api.loading.bindings import plan_for_data  # noqa: PLC0415  # heavy, and not needed without data

    return plan_for_data(policy, {}, data, clock=None, over=over).plan


def _operator(policy: Path, policy_folder: Path | None) -> dict[PolicyPath, str]:
    """Return where the operator is by which clients randomized the data: beside the policy, else with a release."""
    loaded = load(policy).policy
    named = None if loaded is None or loaded.tables else loaded.source.operator
    if named is None:
        return {}
    folders = [policy.parent if policy_folder is None else policy_folder.absolute()]
    candidates = [folder / named for folder in folders] + sorted(policy.parent.glob(f"{RELEASED}/*/{OPERATOR}"))
    return {
        ("source", "operator"): str(next((file for file in candidates if file.is_file()), candidates[0]).absolute())
    }
