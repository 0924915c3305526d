"""Which files a job may open: what its own words name, and nothing that is private to the server."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from ppdm_flow.page.settings import Settings

_READ_ONLY = frozenset({"uploads"})
_DEPTH = 2
"""Folders of one person or one job are ``ROOM/NAME``, where a name cannot be guessed; those of runs ``POLICY/RUN``."""


class OwnFiles(TypedDict):
    """Folders that a job reads, or reads and writes, and folders of runs whose manifests it reads."""

    own_reads: Sequence[Path]
    own_writes: Sequence[Path]
    beside: Sequence[Path]


def own_files(state: Path, runs: Path, words: Sequence[str]) -> OwnFiles:
    """Return the folders that whole words of a job name: ``ROOM/NAME`` below the state, ``POLICY/RUN`` below runs."""
    reads: list[Path] = []
    writes: list[Path] = []
    beside: list[Path] = []
    for word in words:
        parts = _below(state, word)
        if len(parts) >= _DEPTH:
            (reads if parts[0] in _READ_ONLY else writes).append(state.joinpath(*parts[:_DEPTH]))
        parts = _below(runs.absolute(), word)
        if len(parts) == _DEPTH:
            writes.append(Path(word))
            beside.append(Path(word).parent)
    return {"own_reads": reads, "own_writes": writes, "beside": beside}


def private_files(settings: Settings) -> list[Path]:
    """Return the absolute paths of files with secrets that the server was started with."""
    named = [path.absolute() for path in (settings.tls_key, settings.oidc) if path is not None]
    if settings.oidc is not None:
        try:
            secret = tomllib.loads(settings.oidc.read_text(encoding="utf-8")).get("client_secret_file")
        except (OSError, ValueError):
            secret = None
        named += [settings.oidc.absolute().parent / secret] if isinstance(secret, str) else []
    return named


def _below(folder: Path, word: str) -> tuple[str, ...]:
    path = Path(word)
    parts = path.relative_to(folder).parts if path.is_relative_to(folder) else ()
    return () if ".." in parts else parts
