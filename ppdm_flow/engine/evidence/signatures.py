"""Who signed what of a run, and which signatures do not count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ppdm_flow.engine.evidence.attestations import FoundAttestation, attestations_of
from ppdm_flow.engine.evidence.facts import RunFacts
from ppdm_flow.evidence.malformed import MalformedError
from ppdm_flow.evidence.signers import Signers
from ppdm_flow.evidence.statement import text_of

_SHORT = 16


@dataclass(frozen=True, slots=True)
class SignatureResult:
    """A signature of a release in a role. ``fault`` says why it does not count; empty where it does.

    ``signer`` is the owner of the key; None where no signer has it. ``damaged``: the envelope itself is not of its
    form, or not about this run as it is, which needs no list of signers to be seen. Of an envelope that cannot be read
    release, role and key are empty.
    """

    file: str
    release: str = ""
    role: str = ""
    key_id: str = ""
    signer: str | None = None
    signed: datetime | None = None
    fault: str = ""
    damaged: bool = False

    @property
    def good(self) -> bool:
        """Whether it counts."""
        return self.signer is not None and not self.fault

    def text(self, *, listed: bool) -> str:
        """Return the signature for people; ``listed`` says whether there was a list of signers."""
        who = f"`{self.signer}`" if self.signer else f"the key {self.key_id[:_SHORT]}…"
        when = "" if self.signed is None else f" on {text_of(self.signed)}"
        what = f"release `{self.release}` was signed by {who} as `{self.role}`{when}"
        if self.good:
            return what
        return f"{what}: does NOT count, {self.fault}" if listed else f"{what}; `--signers FILE` tells who that is"


def signatures_of(run_dir: Path, signers: Signers, now: datetime) -> tuple[SignatureResult, ...]:
    """Return all signatures of a run, held against its manifest and report, the signers, and the time.

    The files are not hashed here: ``engine.verify.verify`` does that. Of a run whose documents are damaged, each
    envelope is.
    """
    return judge_all(read_all(run_dir), signers, now)


def read_all(run_dir: Path) -> tuple[FoundAttestation, ...]:
    """Return all envelopes of a run, held against its documents; where these are damaged, one that says so."""
    try:
        facts = RunFacts.read(run_dir)
    except MalformedError as error:
        return (FoundAttestation("manifest.json", None, str(error)),)
    return attestations_of(run_dir, facts)


def judge_all(found: Iterable[FoundAttestation], signers: Signers, now: datetime) -> tuple[SignatureResult, ...]:
    """Return what the signatures of envelopes that were read are worth."""
    return tuple(judged(each, signers, now) for each in found)


def judged(found: FoundAttestation, signers: Signers, now: datetime) -> SignatureResult:
    """Return what a signature is worth."""
    attestation = found.attestation
    if attestation is None:
        return SignatureResult(found.name, fault=found.fault, damaged=True)
    key_id = attestation.envelope.key_id
    signer = signers.of_key(key_id)
    return SignatureResult(
        found.name,
        attestation.release,
        attestation.role,
        key_id,
        None if signer is None else signer.name,
        attestation.signed,
        found.fault or attestation.refusal(signers, now),
        damaged=bool(found.fault),
    )
