"""The signatures of a run: who signed which release, and which signatures do not count."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ppdm_flow.core.file_sets import without_values
from ppdm_flow.core.results import HELD, RELEASED
from ppdm_flow.engine.candidates.unpublished import is_held
from ppdm_flow.engine.evidence.facts import RunFacts
from ppdm_flow.engine.evidence.places import ATTESTATIONS, copy_folder, copy_name, envelopes, file_name
from ppdm_flow.evidence.checking import Attestation
from ppdm_flow.evidence.malformed import SIZE_LIMIT, MalformedError
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
    """Return all signatures of a run, checked against its manifest and report, the signers, and the time.

    The files are not hashed here: ``engine.verify.verify`` does that. Of a run whose documents are damaged, each
    envelope is.
    """
    return judge_all(read_all(run_dir), signers, now)


def read_all(run_dir: Path) -> tuple[FoundAttestation, ...]:
    """Return all envelopes of a run, checked against its documents; where these are damaged, one that says so."""
    try:
        facts = RunFacts.read(run_dir)
    except MalformedError as error:
        return (FoundAttestation("manifest.json", None, str(error)),)
    return attestations_of(run_dir, facts)


def judge_all(attestations: Iterable[FoundAttestation], signers: Signers, now: datetime) -> tuple[SignatureResult, ...]:
    """Return what the signatures of envelopes that were read are worth."""
    return tuple(judged(each, signers, now) for each in attestations)


def judged(envelope: FoundAttestation, signers: Signers, now: datetime) -> SignatureResult:
    """Return what a signature is worth."""
    attestation = envelope.attestation
    if attestation is None:
        return SignatureResult(envelope.name, fault=envelope.fault, damaged=True)
    key_id = attestation.envelope.key_id
    signer = signers.of_key(key_id)
    return SignatureResult(
        envelope.name,
        attestation.release,
        attestation.role,
        key_id,
        None if signer is None else signer.name,
        attestation.signed,
        envelope.fault or attestation.refusal(signers, now),
        damaged=bool(envelope.fault),
    )


# The envelopes of a run as they are on disk: read, checked against the run, and refused in any other form.


@dataclass(frozen=True, slots=True)
class FoundAttestation:
    """A file in the folder of envelopes. ``fault`` says what is wrong with it, as the rest of a sentence.

    ``attestation`` is None where it cannot be read at all.
    """

    name: str
    attestation: Attestation | None
    fault: str = ""


def read_attestation(path: Path) -> Attestation:
    """Return the attestation in a file. Raises MalformedError where it is none, or a link."""
    return Attestation.parse(_bytes(path))


def attestations_of(run_dir: Path, facts: RunFacts) -> tuple[FoundAttestation, ...]:
    """Return the files in the folder of envelopes beside the manifest, each checked against the run."""
    return tuple(_read_envelope(path, facts) for path in envelopes(run_dir / ATTESTATIONS))


def copy_faults(
    run_dir: Path, attestations: tuple[FoundAttestation, ...], folder: str, *, every: bool
) -> Iterator[tuple[str, str]]:
    """Yield the copies in the releases that are not those of the envelopes: path and fault.

    ``folder`` is where the releases are. Each envelope has its copy where ``every`` is true: the release of a held run
    has those that it rests on.
    """
    releases = run_dir / folder
    wanted = {
        f"{copy_folder(a.release, folder)}/{copy_name(a)}": a.envelope.data
        for f in attestations
        if (a := f.attestation) is not None and not f.fault
    }
    there = releases.iterdir() if releases.is_dir() and not releases.is_symlink() else ()
    present = {
        path.relative_to(run_dir).as_posix(): path for release in there for path in envelopes(release / ATTESTATIONS)
    }
    for name, path in sorted(present.items()):
        try:
            same = name in wanted and _bytes(path) == wanted[name]
        except MalformedError:
            same = False
        if not same:
            yield without_values(name), f"is not the copy of an envelope in `{ATTESTATIONS}`"
    for name in sorted(wanted.keys() - present.keys() if every else ()):
        yield without_values(name), "is missing: the recipient has no copy of this envelope; sign again, or copy it"


def _read_envelope(path: Path, facts: RunFacts) -> FoundAttestation:
    shown = without_values(f"{ATTESTATIONS}/{path.name}")
    try:
        attestation = read_attestation(path)
    except MalformedError as error:
        return FoundAttestation(shown, None, f"{error}")
    if path.name != file_name(attestation):
        return FoundAttestation(shown, attestation, "does not have the name of the envelope in it")
    return FoundAttestation(shown, attestation, facts.difference(attestation.statement))


def _bytes(path: Path) -> bytes:
    try:
        about = path.lstat()
        if not stat.S_ISREG(about.st_mode):
            raise MalformedError("is no file, but a link or a folder")
        if about.st_size > SIZE_LIMIT:
            raise MalformedError(f"is larger than {SIZE_LIMIT // 1_000_000} MB")
        return path.read_bytes()
    except OSError:
        raise MalformedError("cannot be read") from None


# The result of verifying a run's evidence: who signed it, and which files are faulty.


_NOBODY = Signers()


@dataclass(frozen=True, slots=True)
class EvidenceOutcome:
    """The signatures of a run. ``faults`` are files and what is wrong with them; they do not depend on the signers.

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
    attestations = attestations_of(run_dir, facts)
    results = tuple(judged(each, signers or _NOBODY, now) for each in attestations)
    folder, every = HELD if is_held(run_dir) else RELEASED, facts.manifest["verdict"] == RELEASED
    copies = copy_faults(run_dir, attestations, folder, every=every)
    faults = (*((r.file, r.fault) for r in results if r.damaged), *copies)
    if signers is None:
        return EvidenceOutcome(results, faults)
    return EvidenceOutcome(results, faults, listed=True, unsigned=_unsigned(facts.releases, results))


def _unsigned(releases: Iterable[str], results: Iterable[SignatureResult]) -> tuple[str, ...]:
    good = {result.release for result in results if result.good}
    return tuple(release for release in releases if release not in good)
