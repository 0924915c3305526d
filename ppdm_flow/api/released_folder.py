"""Verifying a released folder by itself, as its recipient has it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

from ppdm_flow.api.verify import signature_point, verification, verify
from ppdm_flow.core.addresses import is_bucket
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.engine.verify.released_folder import (
    FolderOutcome,
    ReleasedOutcome,
    is_released_folder,
    verify_released,
)
from ppdm_flow.policy.signers import read_signers
from ppdm_flow.report.verify import ComparedPoint, Verification


def verify_folder(
    folder: Path, signers: Path | None = None, *, now: Callable[[], datetime] = utc_now
) -> ReleasedOutcome:
    """Hold the files of a released folder against the attestations in it, and these against a list of signers.

    Neither the run nor the policy is needed. Raises UsageError where there is no such folder, PolicyError where the
    list of signers is none.
    """
    if not is_released_folder(folder):
        help_ = "give the folder of a release, with its `dictionary.json` and `attestations`, or a run's `released`"
        raise UsageError(Diagnostic("PPF750", f"`{folder}` is no released folder", help=help_))
    return verify_released(folder, None if signers is None else read_signers(signers), now())


def verified(
    place: Path,
    data: Path | None = None,
    *,
    policy_folder: Path | None = None,
    own_data: bool = False,
    signers: Path | None = None,
) -> Verification:
    """Verify a run, or a released folder alone, whichever it is; every form of the outcome is made from the result.

    Raises UsageError where it is neither, or where a released folder is to be measured again.
    """
    data_given = own_data or data is not None
    if is_bucket(place) or not is_released_folder(place):
        outcome = verify(place, data, policy_folder=policy_folder, own_data=own_data, signers=signers)
        return verification(outcome, data_given=data_given)
    if data_given or policy_folder is not None:
        text = "a released folder cannot be measured again: that needs the run with its policy"
        raise UsageError(Diagnostic("PPF750", text, help="give the run's directory with `--data`, or leave that out"))
    return folder_verification(verify_folder(place, signers))


def folder_verification(outcome: ReleasedOutcome) -> Verification:
    """Return what every form of the outcome is made from."""
    points = [ComparedPoint(f"folder {name}", holds=False, text=fault) for name, fault in outcome.faults]
    points += [point for release in outcome.releases for point in _points(release)]
    signatures = [signature_point(s, listed=r.listed) for r in outcome.releases for s in r.signatures]
    runs = ", ".join(dict.fromkeys(r.run for r in outcome.releases if r.run))
    policies = ", ".join(dict.fromkeys(r.policy for r in outcome.releases if r.policy))
    verdict = "as signed" if outcome.holds else "not as signed"
    name = runs or outcome.place.resolve().name
    return Verification(name, policies, verdict, points, outcome.text, signatures, 0 if outcome.holds else 1)


def _points(release: FolderOutcome) -> Iterator[ComparedPoint]:
    differences, of = release.differences, f" of {release.folder}"
    for names, what in (
        (differences.changed, "changed since it was signed"),
        (differences.missing, "missing"),
        (differences.extra, "not in the attestation"),
    ):
        yield from (ComparedPoint(f"file {name}{of}", holds=False, text=what) for name in names)
    if not release.attested:
        yield ComparedPoint(f"signatures{of}", holds=False, text="nothing vouches for these files")
    elif not differences.count:
        yield ComparedPoint(f"files{of}", holds=True, text=f"{release.files} files hashed, as they were signed")
    for each in release.signatures:
        if each.damaged:
            yield ComparedPoint(f"file {each.file}{of}", holds=False, text=each.fault)
        else:
            holds = each.good if release.listed else None
            yield ComparedPoint(f"signature {each.role}{of}", holds=holds, text=each.text(listed=release.listed))
