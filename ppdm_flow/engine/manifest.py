"""manifest.json: the hashed files of a run, and its inputs."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Literal, NotRequired

from pydantic import NonNegativeInt
from typing_extensions import TypedDict

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.digests import digest, sha256
from ppdm_flow.core.documents import Day, Numbers, Randomness, Sha256, Verdict, Version, about

NAME = "manifest.json"
VERSION: Literal[1] = 1
_LIBRARIES = ("cryptography", "duckdb", "numpy", "pandas", "pyarrow", "pydantic", "scikit-learn", "scipy")


class HashedFile(TypedDict):
    """A file of the run."""

    bytes: Annotated[NonNegativeInt, about("Size.")]
    sha256: Annotated[Sha256, about("Hash of the file's bytes.")]


class InputFile(HashedFile):
    """The data file."""

    name: Annotated[str, about("The data file's name.")]


class RunDigests(TypedDict):
    """What the run was made from, hashed."""

    policy: Annotated[str, about("Of the resolved policy: comments and the order of keys do not change it.")]
    plan: Annotated[str, about("Of the plan.")]
    schema: Annotated[Sha256, about("Of the data's column names and how the policy declares them.")]
    input: Annotated[Sha256, about("Of the data file's bytes.")]


class RandomnessKey(TypedDict):
    """The key that randomness came from."""

    mode: Annotated[Randomness, about("Where the key came from.")]
    commitment: Annotated[Sha256, about("A hash that proves the key later and reveals nothing of it now.")]


class JudgedChecks(TypedDict):
    """What was judged."""

    total: Annotated[NonNegativeInt, about("How many requirements and gates were judged.")]
    failed: Annotated[NonNegativeInt, about("How many of them do not hold and are not waived.")]
    waived: NotRequired[Annotated[NonNegativeInt, about("How many of them do not hold and are waived.")]]


class ManifestWaiver(TypedDict):
    """A waiver of the policy."""

    name: Annotated[str, about("Its name in the policy.")]
    of: Annotated[str, about("The id, code or hash of what is waived.")]
    until: Annotated[Day, about("Its last day, UTC.")]
    covers: Annotated[list[str], about("What it was needed for; empty where nothing needed it.")]


class ManifestWaivers(TypedDict, total=False):
    """The waivers of a run whose policy has any."""

    waivers: list[ManifestWaiver]


class LedgerTestimony(TypedDict):
    """What the run saw of the ledger."""

    key: Annotated[Sha256, about("The commitment of the ledger's key, by which the ledger is known.")]
    position: Annotated[
        NonNegativeInt, about("The last entry of the ledger's chain when the run was judged; 0 for none.")
    ]
    chain: Annotated[str, about("That entry's hash; empty where there was none.")]
    releases: Annotated[Numbers, about("The numbers of this run's releases in the ledger; none where it is withheld.")]


class HeldPrivate(TypedDict):
    """What a held run keeps for its release, and nobody else may read."""

    sha256: Annotated[Sha256, about("Of the bytes of `held.private.json`, which the release removes.")]


class UsedLock(TypedDict):
    """The lock that the run was checked against."""

    locked: Annotated[Literal[True], about("Templates, definitions and plugins were as in the lock.")]
    sha256: Annotated[Sha256, about("Of the lock file's bytes.")]


class UsedProject(TypedDict):
    """The project file that the policy is bound by."""

    sha256: Annotated[Sha256, about("Of the project file's bytes.")]


class Manifest(TypedDict):
    """Manifest of a ppdm-flow run.

    What a run consists of, hashed, and what it was made from. `ppdm-flow verify` checks it.
    """

    version: Version
    policy: Annotated[str, about("Name of the release policy.")]
    verdict: Annotated[Verdict, about("What became of the candidates.")]
    started: Annotated[str, about("When the run began, UTC, ISO 8601.")]
    finished: Annotated[str, about("When the manifest was written, UTC, ISO 8601.")]
    digests: RunDigests
    input: InputFile
    tables: NotRequired[Annotated[dict[str, InputFile], about("The data files of linked tables.")]]
    randomness: RandomnessKey
    checks: JudgedChecks
    waivers: NotRequired[Annotated[list[ManifestWaiver], about("The policy's waivers, if it has any.")]]
    versions: Annotated[dict[str, str], about("Versions of the programs that a result can depend on.")]
    files: Annotated[dict[str, HashedFile], about("Every other file of the run by its path, with `/`.")]
    ledger: NotRequired[LedgerTestimony]
    held: NotRequired[HeldPrivate]
    lock: NotRequired[UsedLock]
    project: NotRequired[UsedProject]
    templates: NotRequired[
        Annotated[dict[str, Sha256], about("SHA-256 of each template that the policy extends, by its reference.")]
    ]


def list_files(folder: Path, known: Mapping[str, str]) -> dict[str, HashedFile]:
    """Return size and SHA-256 of every file below ``folder``, by its path with ``/``, except for the manifest.

    Those in ``known`` were hashed before.
    """
    listing: dict[str, HashedFile] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name != NAME:
            listing[name] = {"bytes": path.stat().st_size, "sha256": known.get(name) or sha256(path)}
    return listing


def versions() -> dict[str, str]:
    """Return the versions that a result can depend on."""
    version_of = {"python": platform.python_version(), "ppdm_flow": _version("ppdm_flow")}
    return version_of | {name: _version(name) for name in _LIBRARIES}


def schema_digest(attributes: Iterable[AttributeFacts], columns: Iterable[str]) -> str:
    """Return the digest of what the data looks like: its columns, and how the policy declares them."""
    declared = [[a.name, a.role.value, a.type.value] for a in attributes]
    return digest({"columns": list(columns), "attributes": declared})


def renamed(listing: Mapping[str, HashedFile], old: str, new: str) -> dict[str, HashedFile]:
    """Return the listing as it will be when the folder ``old`` is called ``new``."""
    return {
        (f"{new}/{name.removeprefix(old + '/')}" if name.startswith(f"{old}/") else name): about
        for name, about in listing.items()
    }


@cache
def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "?"
