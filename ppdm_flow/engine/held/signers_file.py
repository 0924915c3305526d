"""The list of signers of a run: a copy lies in the run's directory, by the name that the kept policy has for it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path, PurePath
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.results import HELD, RELEASED, WITHHELD
from ppdm_flow.core.texts.file_names import ATTESTATIONS, INTERNAL
from ppdm_flow.engine.candidates.run_files import PUBLICATION, UNFINISHED
from ppdm_flow.engine.candidates.unpublished import PRIVATE
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.manifest import NAME as MANIFEST
from ppdm_flow.evidence.signers import Signers
from ppdm_flow.plan.definition import RequiredApprovals

_OWN = frozenset((HELD, RELEASED, WITHHELD, PRIVATE, MANIFEST, PUBLICATION, UNFINISHED, ATTESTATIONS, INTERNAL))
"""Names that a run's directory has later."""
ReadSigners = Callable[[Path], Signers]
"""Reads a list of signers. Raises PolicyError or UsageError where it cannot be used."""


def signers_copy(approvals: RequiredApprovals, document: Mapping[str, Any]) -> dict[str, str]:
    """Return the text of the list of signers by its name in the run's directory; ``document`` is the plan's.

    Raises DataError (PPF973) where it is not the one that the plan was made with.
    """
    try:
        data = Path(approvals.signers).read_bytes()
        text = data.decode("utf-8")
    except (OSError, ValueError):
        data, text = b"", ""
    if hashlib.sha256(data).hexdigest() != approvals.sha256:
        text = f"the list of signers `{Path(approvals.signers).name}` was changed while a run used it"
        raise data_fault("PPF973", text, advice="run the policy again")
    return {str(document["approvals"]["signers"]): text}


def refuse_taken_name(name: str, taken: Collection[str], home: Path) -> None:
    """Raise DataError (PPF973) where the list of signers would stand in the place of what a run writes itself.

    ``taken`` are names of files that are still to be written into the run's directory ``home``.
    """
    first = PurePath(name).parts[0]
    if name in taken or first in _OWN or (home / first).exists():
        text = f"the list of signers cannot be called `{name}`: a run writes a file or a folder of this name"
        raise data_fault("PPF973", text, advice="call it `signers.yaml`")


def lists_of_signers(
    run_dir: Path, asked: Mapping[str, Any], today: Path, read: ReadSigners
) -> tuple[Signers, Signers]:
    """Return the list that the run had, and the one that counts today: at its place, or wherever the user says.

    ``asked`` is what the plan's document says of approvals. Raises UsageError (PPF973) where today's is not there.
    """
    then = read(run_dir / str(asked["signers"]))
    if not today.is_file():
        text = f"there is no list of signers `{today}`: whose keys were revoked since the run is not known"
        raise UsageError(Diagnostic("PPF973", text, help="give its place with `--signers FILE`"))
    return then, read(today)
