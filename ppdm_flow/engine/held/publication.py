"""``publication.json``: who approved a held run, and when it was released. Written just before its releases are out."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, NotRequired

from typing_extensions import TypedDict

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.digests import sha256
from ppdm_flow.core.documents import Day, Sha256, Version, about
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.results import HELD, RELEASED, WITHHELD
from ppdm_flow.core.texts import ATTESTATIONS, INTERNAL
from ppdm_flow.engine.candidates.unpublished import PRIVATE, PUBLICATION, UNFINISHED
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.manifest import NAME as MANIFEST
from ppdm_flow.engine.manifest import LedgerTestimony
from ppdm_flow.evidence.signers import Signers
from ppdm_flow.plan.definition import RequiredApprovals

VERSION: Literal[1] = 1
ReadSigners = Callable[[Path], Signers]
"""Reads a list of signers. Raises PolicyError or UsageError where it cannot be used."""


class CountedSignature(TypedDict):
    """A signature that the release rests on."""

    release: Annotated[str, about("The release that was signed.")]
    role: Annotated[str, about("In which role.")]
    signer: Annotated[str, about("Who signed, by the list of signers.")]
    key: Annotated[Sha256, about("SHA-256 of the 32 bytes of the public key.")]
    signed: Annotated[str, about("When, UTC, as the signature says.")]


class SignedWaiver(TypedDict):
    """A waiver that was signed as well."""

    name: Annotated[str, about("Its name in the policy.")]
    role: Annotated[str, about("The role that signed it.")]
    until: Annotated[Day, about("Its last day, UTC.")]


class HeldRunPublication(TypedDict):
    """Release of a held run of ppdm-flow.

    Who approved a run that was held, and when it was released. It stands beside the run's manifest, which it does not
    change; `ppdm-flow verify` checks that it is of this run.
    """

    version: Version
    policy: Annotated[str, about("Name of the release policy.")]
    run: Annotated[str, about("Name of the run's directory.")]
    released: Annotated[str, about("When it was released, UTC, ISO 8601.")]
    manifest: Annotated[Sha256, about("SHA-256 of the run's manifest.")]
    signers: Annotated[Sha256, about("SHA-256 of the list of signers that counted on that day.")]
    signatures: Annotated[
        list[CountedSignature], about("Every signature that counted: the author's, then those of roles.")
    ]
    waivers: NotRequired[Annotated[list[SignedWaiver], about("The waivers that had to be signed.")]]
    ledger: NotRequired[Annotated[LedgerTestimony, about("What the release saw of the ledger, and its numbers there.")]]
    tables: NotRequired[Annotated[list[str], about("The tables of databases that the releases became.")]]


def publication_fault(run_dir: Path) -> str:
    """Return what is wrong with the publication of a held run whose releases are out; empty where nothing is."""
    path = run_dir / PUBLICATION
    try:
        if path.is_symlink():
            return f"`{PUBLICATION}` is a link"
        said = json.loads(path.read_text(encoding="utf-8"))
        good = _is_complete(said)
    except FileNotFoundError:
        return f"the run was held, and no `{PUBLICATION}` says who approved it"
    except (OSError, ValueError, TypeError):
        good = False
    if not good:
        return f"`{PUBLICATION}` cannot be read, or is of a version that this program does not know"
    if said["manifest"] != sha256(run_dir / MANIFEST):
        return f"`{PUBLICATION}` is that of another run"
    return ""


def _is_complete(said: Any) -> bool:
    if not isinstance(said, Mapping) or said.get("version") != VERSION:
        return False
    texts = all(isinstance(said.get(key), str) for key in ("policy", "run", "released", "manifest", "signers"))
    return texts and isinstance(said.get("signatures"), list)


def write_publication(run_dir: Path, text: str) -> None:
    """Write it, whole or not at all, over one that an interrupted release left."""
    half = run_dir / UNFINISHED
    with half.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    half.replace(run_dir / PUBLICATION)


# The list of signers of a run: a copy lies in the run's directory, by the name that the kept policy has for it.


_OWN = frozenset((HELD, RELEASED, WITHHELD, PRIVATE, MANIFEST, PUBLICATION, UNFINISHED, ATTESTATIONS, INTERNAL))
"""Names that a run's directory has later."""


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
    run_dir: Path, approvals: Mapping[str, Any], today: Path, read: ReadSigners
) -> tuple[Signers, Signers]:
    """Return the list that the run had, and the one that counts today: at its place, or wherever the user says.

    ``approvals`` is what the plan's document says of approvals. Raises UsageError (PPF973) where today's is not there.
    """
    then = read(run_dir / str(approvals["signers"]))
    if not today.is_file():
        text = f"there is no list of signers `{today}`: whose keys were revoked since the run is not known"
        raise UsageError(Diagnostic("PPF973", text, help="give its place with `--signers FILE`"))
    return then, read(today)
