"""The places of a run's evidence: envelopes beside the manifest, and copies in each release for its recipient."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.core import texts
from ppdm_flow.core.digests import sha256
from ppdm_flow.core.results import HELD, RELEASED
from ppdm_flow.engine import manifest
from ppdm_flow.engine.candidates.unpublished import HELD as UNPUBLISHED_HELD
from ppdm_flow.engine.candidates.unpublished import PRIVATE, PUBLICATION, UNFINISHED, is_held
from ppdm_flow.evidence.checking import Attestation

ATTESTATIONS = texts.ATTESTATIONS
"""The folder of envelopes, beside the manifest and in each release."""
HIDDEN = ".signing-"
"""How the name of an envelope's file begins until it is whole."""
_SHORT = 16


def file_name(attestation: Attestation) -> str:
    """Return the name of an envelope's file beside the manifest."""
    return f"{_of(attestation)}-{attestation.release}.json"


def copy_name(attestation: Attestation) -> str:
    """Return the name of its copy in the release's folder."""
    return f"{_of(attestation)}.json"


def _of(attestation: Attestation) -> str:
    return f"{attestation.role}-{attestation.envelope.key_id[:_SHORT]}"


def copy_folder(release: str, folder: str = RELEASED) -> str:
    """Return the folder of a release's copies, relative to the run's directory."""
    return f"{folder}/{release}/{ATTESTATIONS}"


def is_evidence(name: str) -> bool:
    """Whether a file of a run's directory, by its path with ``/``, is evidence: such are in no manifest."""
    parts = name.split("/")
    if len(parts) == 2:  # attestations/FILE
        return parts[0] == ATTESTATIONS
    return len(parts) == 4 and parts[0] in (RELEASED, HELD) and parts[2] == ATTESTATIONS


def envelopes(folder: Path) -> tuple[Path, ...]:
    """Return everything in a folder of envelopes, sorted; nothing where there is none."""
    if folder.is_symlink() or not folder.is_dir():
        return ()
    return tuple(sorted(folder.iterdir()))


# The files of a finished run against its manifest: which differ, lack, or were never in it.


@dataclass(frozen=True, slots=True)
class ListedFiles:
    """Names as the manifest has them, with ``/``. ``evidence`` are files that no manifest lists, nor has to."""

    present: int
    same: frozenset[str]
    changed: frozenset[str]
    missing: frozenset[str]
    extra: frozenset[str]
    evidence: frozenset[str]

    @property
    def unchanged(self) -> bool:
        """Whether they are the files of the manifest, no more, no less."""
        return not (self.changed or self.missing or self.extra)


def compare(run_dir: Path, known: manifest.Manifest) -> ListedFiles:
    """Hash every file that the manifest lists. The releases of a held run lie below another name until they are out."""
    listed = known["files"]
    entries = [p.relative_to(run_dir).as_posix() for p in run_dir.rglob("*") if _is_entry(p)]
    held = is_held(run_dir)
    place_of = {_listed_name(name, held=held): name for name in entries if name != manifest.NAME}
    there = listed.keys() & place_of.keys()
    changed = {name for name in there if _differs(run_dir / place_of[name], listed[name]["sha256"])}
    extra = place_of.keys() - listed.keys()
    evidence = {name for name in extra if is_evidence(name) or _of_held(run_dir, name, known)}
    groups = (there - changed, changed, listed.keys() - there, extra - evidence, evidence)
    return ListedFiles(len(place_of), *(frozenset(group) for group in groups))


def _of_held(run_dir: Path, name: str, known: manifest.Manifest) -> bool:
    """Whether it is a private file of a held run, as its manifest says, or a file that its release wrote."""
    said = known.get("held")
    if said is None or (run_dir / name).is_symlink():
        return False
    if name == PRIVATE:
        return not _differs(run_dir / name, said["sha256"])
    half = name == UNFINISHED or ("/" not in name and name.startswith(HIDDEN))
    return name == PUBLICATION or (half and is_held(run_dir))


def _listed_name(name: str, *, held: bool) -> str:
    if held and name.startswith(f"{UNPUBLISHED_HELD}/"):
        return f"{RELEASED}{name.removeprefix(UNPUBLISHED_HELD)}"
    return name


def _is_entry(path: Path) -> bool:
    """Whether it has to be listed: everything but folders, links to folders included."""
    return path.is_symlink() or not path.is_dir()


def _differs(path: Path, expected: str) -> bool:
    if path.is_symlink():
        return True
    try:
        return sha256(path) != expected
    except OSError:
        return True
