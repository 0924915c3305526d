"""The envelopes of a run as they lie there: read, held against the run, and none of them beside its form."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.core.file_sets import without_values
from ppdm_flow.engine.evidence.facts import RunFacts
from ppdm_flow.engine.evidence.places import (
    ATTESTATIONS,
    copy_folder,
    copy_name,
    envelopes,
    file_name,
)
from ppdm_flow.evidence.checking import Attestation
from ppdm_flow.evidence.malformed import MalformedError
from ppdm_flow.evidence.strict_json import SIZE_LIMIT


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
    """Return what lies in the folder of envelopes beside the manifest, each held against the run."""
    return tuple(_found(path, facts) for path in envelopes(run_dir / ATTESTATIONS))


def copy_faults(
    run_dir: Path, found: tuple[FoundAttestation, ...], folder: str, *, every: bool
) -> Iterator[tuple[str, str]]:
    """Yield the copies in the releases that are not those of the envelopes: path and fault.

    ``folder`` is where the releases are. Each envelope has its copy where ``every`` is true: the release of a held run
    has those that it rests on.
    """
    releases = run_dir / folder
    wanted = {
        f"{copy_folder(a.release, folder)}/{copy_name(a)}": a.envelope.data
        for f in found
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


def _found(path: Path, facts: RunFacts) -> FoundAttestation:
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
