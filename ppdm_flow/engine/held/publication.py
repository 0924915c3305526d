"""``publication.json``: who approved a held run, and when it was released. Written just before its releases are out."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

from typing_extensions import TypedDict

from ppdm_flow.core.digests import sha256
from ppdm_flow.core.documents import Day, Sha256, Version, about
from ppdm_flow.engine.candidates.run_files import PUBLICATION, UNFINISHED
from ppdm_flow.engine.manifest import NAME as MANIFEST
from ppdm_flow.engine.manifest import LedgerTestimony

VERSION: Literal[1] = 1


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
        good = _whole(said)
    except FileNotFoundError:
        return f"the run was held, and no `{PUBLICATION}` says who approved it"
    except (OSError, ValueError, TypeError):
        good = False
    if not good:
        return f"`{PUBLICATION}` cannot be read, or is of a version that this program does not know"
    if said["manifest"] != sha256(run_dir / MANIFEST):
        return f"`{PUBLICATION}` is that of another run"
    return ""


def _whole(said: Any) -> bool:
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
