"""Checks the files of a released folder, or of a copy of it, against the attestations in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ppdm_flow.core.digests import sha256
from ppdm_flow.core.file_sets import without_values
from ppdm_flow.core.texts import DICTIONARY
from ppdm_flow.engine import manifest
from ppdm_flow.engine.evidence.places import ATTESTATIONS, copy_name, envelopes
from ppdm_flow.engine.evidence.signatures import FoundAttestation, SignatureResult, judged, read_attestation
from ppdm_flow.evidence.checking import Attestation
from ppdm_flow.evidence.malformed import MalformedError
from ppdm_flow.evidence.signers import Signers

_OTHER_FILES = "it is about other files than those in this folder"
_OTHER_RUN = "it is about another run, or another release, than other signatures in this folder"
_LINK = "a link"
_NOBODY = Signers()


@dataclass(frozen=True, slots=True)
class FileDifferences:
    """How the files of a folder differ from what an attestation lists: names with ``/``, sorted."""

    changed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many files differ."""
        return len(self.changed) + len(self.missing) + len(self.extra)


@dataclass(frozen=True, slots=True)
class FolderOutcome:
    """The outcome for the folder of one release. ``files`` were hashed, without the attestations.

    ``release``, ``run`` and ``policy`` are as the attestations say; empty where there is none. ``differences`` are from
    the attestation that fits best. ``listed`` says whether there was a list of signers.
    """

    folder: str
    files: int
    differences: FileDifferences
    signatures: tuple[SignatureResult, ...]
    listed: bool
    release: str = ""
    run: str = ""
    policy: str = ""

    @property
    def attested(self) -> bool:
        """Whether there is a whole attestation that fits the files; with a list of signers, one of theirs."""
        return any(s.good if self.listed else bool(s.key_id) and not s.damaged for s in self.signatures)

    @property
    def holds(self) -> bool:
        """Whether these are the files that were signed, and no signature speaks against that."""
        sound = all(s.good if self.listed else not s.damaged for s in self.signatures)
        return self.attested and sound and not self.differences.count

    @property
    def lines(self) -> list[str]:
        """The outcome for people, a line a fact."""
        differences = self.differences
        lines = [f"changed: {name}" for name in differences.changed] + [
            f"missing: {name}" for name in differences.missing
        ]
        lines += [f"not in the attestation: {name}" for name in differences.extra]
        lines += [_line(each, listed=self.listed) for each in self.signatures]
        return [*lines, self._summary]

    @property
    def _summary(self) -> str:
        if not self.signatures:
            return f"{self.folder}: NOTHING vouches for it: there is no attestation in it"
        if not self.holds:
            return f"{self.folder} is NOT as it was signed: {self.files} files hashed"
        who = "" if self.listed else "; WHO signed it was not checked: `--signers FILE` does that"
        return f"{self.folder} is as it was signed: {self.files} files hashed{who}"


@dataclass(frozen=True, slots=True)
class ReleasedOutcome:
    """The outcome for a released folder, of one release or of several; ``faults`` are of the folder around them."""

    place: Path
    releases: tuple[FolderOutcome, ...]
    faults: tuple[tuple[str, str], ...] = ()

    @property
    def holds(self) -> bool:
        """Whether every release does, and they belong together."""
        return not self.faults and all(each.holds for each in self.releases)

    @property
    def text(self) -> str:
        """The outcome for people, a line a fact."""
        return "\n".join(
            [*(f"{name} {fault}" for name, fault in self.faults), *(s for r in self.releases for s in r.lines)]
        )


def is_released_folder(place: Path) -> bool:
    """Whether this is the folder of a release, or holds such folders, and no run."""
    return bool(_folders(place))


def verify_released(place: Path, signers: Signers | None, now: datetime) -> ReleasedOutcome:
    """Hold the files of a released folder against its attestations, and those against signers and time, if given.

    Nothing else is needed: no run, no policy, no data. Exactly the files that were signed have to be there.
    """
    folders = _folders(place)
    if folders == (place,):
        return ReleasedOutcome(place, (_folder(place, signers, now),))
    outcomes = tuple(_folder(folder, signers, now) for folder in folders)
    strays = ((p.name, "belongs to no release") for p in sorted(place.iterdir()) if p.is_symlink() or not p.is_dir())
    return ReleasedOutcome(place, outcomes, (*strays, *_strangers(outcomes)))


def _strangers(outcomes: tuple[FolderOutcome, ...]) -> Iterator[tuple[str, str]]:
    runs = {each.run for each in outcomes if each.run}
    for each in outcomes:
        if each.release and each.release != each.folder:
            yield each.folder, "has the files of another release than its name says"
        if each.run and len(runs) > 1:
            yield each.folder, "is of another run than other folders here"


def _folders(place: Path) -> tuple[Path, ...]:
    """Return the folders of releases: the place itself, or those in it; none where it is something else."""
    if not place.is_dir():
        return ()
    is_run = (place / manifest.NAME).is_file()
    if (place / DICTIONARY).is_file() or ((place / ATTESTATIONS).is_dir() and not is_run):
        return (place,)
    inside = sorted(p for p in place.iterdir() if p.is_dir() and not p.is_symlink())
    known = any((p / DICTIONARY).is_file() or (p / ATTESTATIONS).is_dir() for p in inside)
    return tuple(inside) if known and not is_run else ()


def _folder(folder: Path, signers: Signers | None, now: datetime) -> FolderOutcome:
    hashes = _hashes(folder)
    read_envelopes = [_read_envelope(path, hashes) for path in envelopes(folder / ATTESTATIONS)]
    fitting = [f.attestation for f in read_envelopes if f.attestation is not None and not f.fault]
    subjects = {_about(attestation) for attestation in fitting}
    if len(subjects) > 1:
        read_envelopes = [FoundAttestation(f.name, f.attestation, f.fault or _OTHER_RUN) for f in read_envelopes]
    results = tuple(judged(each, signers or _NOBODY, now) for each in read_envelopes)
    attestations = [f.attestation for f in read_envelopes if f.attestation is not None]
    nearest = min((_differences(a, hashes) for a in attestations), key=lambda d: d.count, default=FileDifferences())
    name = folder.resolve().name
    outcome = FolderOutcome(name, len(hashes), nearest, results, listed=signers is not None)
    if len(subjects) != 1:
        return outcome
    run, release, policy = next(iter(subjects))
    return FolderOutcome(name, len(hashes), nearest, results, signers is not None, release, run, policy)


def _about(attestation: Attestation) -> tuple[str, str, str]:
    predicate = attestation.statement["predicate"]
    return predicate["run"]["name"], predicate["release"], predicate["run"]["policy"]


def _read_envelope(path: Path, hashes: dict[str, str]) -> FoundAttestation:
    """Return an envelope of the folder, checked against the files there."""
    shown = without_values(f"{ATTESTATIONS}/{path.name}")
    try:
        attestation = read_attestation(path)
    except MalformedError as error:
        return FoundAttestation(shown, None, f"{error}")
    if path.name != copy_name(attestation):
        return FoundAttestation(shown, attestation, "does not have the name of the envelope in it")
    fault = _OTHER_FILES if _differences(attestation, hashes).count else ""
    return FoundAttestation(shown, attestation, fault)


def _differences(attestation: Attestation, hashes: dict[str, str]) -> FileDifferences:
    signed = {subject["name"]: subject["digest"]["sha256"] for subject in attestation.statement["subject"]}
    both = signed.keys() & hashes.keys()
    return FileDifferences(
        _shown(name for name in both if signed[name] != hashes[name]),
        _shown(signed.keys() - both),
        _shown(hashes.keys() - both),
    )


def _shown(names: Iterator[str] | set[str]) -> tuple[str, ...]:
    """Return names of files without the values in names of folders, sorted."""
    return tuple(sorted(without_values(name) for name in names))


def _hashes(folder: Path) -> dict[str, str]:
    """Return the hash of every file by its path, but for attestations; a link, or what cannot be read, has none."""
    hashes: dict[str, str] = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not path.is_dir():
            if name.startswith(f"{ATTESTATIONS}/") and name.count("/") == 1:
                continue
            hashes[name] = _hash(path)
    return hashes


def _hash(path: Path) -> str:
    if path.is_symlink() or not path.is_file():
        return _LINK
    try:
        return sha256(path)
    except OSError:
        return ""


def _line(each: SignatureResult, *, listed: bool) -> str:
    return f"{each.file}: {each.fault}" if each.damaged else each.text(listed=listed)
