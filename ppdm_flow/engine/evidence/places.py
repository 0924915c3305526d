"""Where the evidence of a run lies: envelopes beside the manifest, and copies in each release for its recipient."""

from __future__ import annotations

from pathlib import Path

from ppdm_flow.core.results import HELD, RELEASED
from ppdm_flow.core.texts import file_names
from ppdm_flow.evidence.checking import Attestation

ATTESTATIONS = file_names.ATTESTATIONS
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
