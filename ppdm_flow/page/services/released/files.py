"""The files of one release, as the run's manifest lists them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ppdm_flow.core.digests import sha256
from ppdm_flow.core.results import HELD, RELEASED
from ppdm_flow.engine.evidence.places import ATTESTATIONS, envelopes
from ppdm_flow.engine.manifest import NAME as MANIFEST

_MOST = 64 * 2**20
"""Bytes of the largest document that is read."""


class ChangedFileError(Exception):
    """A file is gone, or is not the one that the manifest lists. ``name`` is its path in the run's directory."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"`{self.name}` is not the file that the run's manifest lists"


@dataclass(frozen=True, slots=True)
class GuestFile:
    """A file of a release: its ``name`` is the path in the release's folder, with ``/``.

    ``sha256`` is None for a signature, which came after the manifest and vouches for itself.
    """

    name: str
    path: Path
    bytes: int
    sha256: str | None

    def check(self) -> None:
        """Hash the file. Raises ChangedFileError where it is another one than the manifest lists."""
        try:
            same = not _is_link(self.path) and self.path.is_file() and self.sha256 in (None, sha256(self.path))
        except OSError:
            same = False
        if not same:
            raise ChangedFileError(self.name)


@dataclass(frozen=True, slots=True)
class ReleasedFolder:
    """The folder of a release below ``run``, the directory of a run that was released."""

    run: Path
    release: str

    @property
    def place(self) -> Path:
        """The folder."""
        return self.run / RELEASED / self.release

    def files(self) -> list[GuestFile]:
        """Return all files, sorted by name, with the signatures beside them. Raises ChangedFileError."""
        return sorted((*self._listed(), *self._signatures()), key=lambda file: file.name)

    def file(self, name: str) -> GuestFile | None:
        """Return the file of this name among those that are listed."""
        return next((file for file in self.files() if file.name == name), None)

    def document(self, name: str) -> Mapping[str, Any]:
        """Return a JSON document of the release, unchanged. Raises ChangedFileError."""
        file = self.file(name)
        if file is None:
            raise ChangedFileError(name)
        file.check()
        return _json(file.path, name)

    def run_document(self, name: str) -> Mapping[str, Any]:
        """Return a JSON document of the run, as the manifest lists it. Raises ChangedFileError."""
        about = self._manifest().get(name)
        if about is None:
            raise ChangedFileError(name)
        GuestFile(name, self.run / name, about["bytes"], about["sha256"]).check()
        return _json(self.run / name, name)

    def identity(self) -> tuple[int, int, int]:
        """Return what changes when the manifest is written again. Raises ChangedFileError."""
        try:
            stat = (self.run / MANIFEST).stat()
        except OSError:
            raise ChangedFileError(MANIFEST) from None
        return stat.st_ino, stat.st_size, stat.st_mtime_ns

    def _manifest(self) -> Mapping[str, Any]:
        files = _json(self.run / MANIFEST, MANIFEST).get("files")
        if not isinstance(files, dict):
            raise ChangedFileError(MANIFEST)
        return files

    def _listed(self) -> Iterator[GuestFile]:
        """Yield what the manifest lists; files of a run that was held are in it by the folder that they had then."""
        homes = tuple(f"{folder}/{self.release}/" for folder in (RELEASED, HELD))
        for path, about in self._manifest().items():
            home = next((each for each in homes if path.startswith(each)), None)
            if home is None:
                continue
            name = path.removeprefix(home)
            if ".." in PurePosixPath(name).parts or PurePosixPath(name).is_absolute():
                raise ChangedFileError(MANIFEST)
            yield GuestFile(name, self.place / name, about["bytes"], about["sha256"])

    def _signatures(self) -> Iterator[GuestFile]:
        for path in envelopes(self.place / ATTESTATIONS):
            if path.is_file() and not path.is_symlink() and path.suffix == ".json" and not path.name.startswith("."):
                yield GuestFile(f"{ATTESTATIONS}/{path.name}", path, path.stat().st_size, None)


def _is_link(path: Path) -> bool:
    return path.is_symlink() or path.parent.is_symlink()


def _json(path: Path, name: str) -> Mapping[str, Any]:
    try:
        if path.stat().st_size > _MOST:
            raise ChangedFileError(name)
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise ChangedFileError(name) from None
    if not isinstance(document, dict):
        raise ChangedFileError(name)
    return document
