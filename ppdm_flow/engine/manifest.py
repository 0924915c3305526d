"""manifest.json: what a run consists of, hashed, and what it was made from."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.digests import digest
from ppdm_flow.engine.hashing import sha256

NAME = "manifest.json"
VERSION = 1
_LIBRARIES = ("cryptography", "duckdb", "numpy", "pandas", "pyarrow", "pydantic", "scikit-learn", "scipy")


def list_files(folder: Path, known: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return size and SHA-256 of every file below ``folder``, by its path with ``/``, except for the manifest.

    Those in ``known`` were hashed before.
    """
    listing = {}
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


def renamed(listing: Mapping[str, dict[str, Any]], old: str, new: str) -> dict[str, dict[str, Any]]:
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
