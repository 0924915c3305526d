"""What verifying tells of a run's evidence: who signed it, and what is wrong with what lies there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ppdm_flow.core.results import HELD, RELEASED
from ppdm_flow.engine.candidates.unpublished import is_held
from ppdm_flow.engine.evidence.attestations import attestations_of, copy_faults
from ppdm_flow.engine.evidence.facts import RunFacts
from ppdm_flow.engine.evidence.signatures import SignatureResult, judged
from ppdm_flow.evidence.malformed import MalformedError
from ppdm_flow.evidence.signers import Signers

_NOBODY = Signers()


@dataclass(frozen=True, slots=True)
class EvidenceOutcome:
    """The signatures of a run. ``faults`` are files and what is wrong with them, whoever the signers are.

    Without a list of signers (``listed`` is False) nobody says whose the keys are, and no signature counts or fails to.
    ``unsigned`` are releases without a signature that counts.
    """

    signatures: tuple[SignatureResult, ...] = ()
    faults: tuple[tuple[str, str], ...] = ()
    listed: bool = False
    unsigned: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether nothing is damaged and, of a list of signers, every signature counts and every release has one."""
        return not self.faults and not self.unsigned and (not self.listed or all(s.good for s in self.signatures))

    @property
    def lines(self) -> list[str]:
        """The outcome for people, a line a fact."""
        damaged = {result.file for result in self.signatures if result.damaged}
        lines = [f"{name} {fault}" for name, fault in self.faults]
        lines += [result.text(listed=self.listed) for result in self.signatures if result.file not in damaged]
        return lines + [f"release `{name}` is not signed by anybody on the list" for name in self.unsigned]


def evidence_of(run_dir: Path, signers: Signers | None, now: datetime) -> EvidenceOutcome:
    """Hold the envelopes of a run against it, and against the signers and the time where they are given.

    Files of the run are not hashed: whether they are those of the manifest is seen elsewhere.
    """
    try:
        facts = RunFacts.read(run_dir)
    except MalformedError as error:
        return EvidenceOutcome(faults=(("manifest.json", f"{error}"),), listed=signers is not None)
    found = attestations_of(run_dir, facts)
    results = tuple(judged(each, signers or _NOBODY, now) for each in found)
    folder, every = HELD if is_held(run_dir) else RELEASED, facts.manifest["verdict"] == RELEASED
    copies = copy_faults(run_dir, found, folder, every=every)
    faults = (*((r.file, r.fault) for r in results if r.damaged), *copies)
    if signers is None:
        return EvidenceOutcome(results, faults)
    return EvidenceOutcome(results, faults, listed=True, unsigned=_unsigned(facts.releases, results))


def _unsigned(releases: Iterable[str], results: Iterable[SignatureResult]) -> tuple[str, ...]:
    good = {result.release for result in results if result.good}
    return tuple(release for release in releases if release not in good)
