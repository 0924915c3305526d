"""The bytes of a release, one file or a folder of partitions, as they were before they were read back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.core.digests import identity, sha256
from ppdm_flow.core.file_sets import file_set, listing_sha256

Identity = tuple[int, int, int]
"""What changes when a file is written to."""


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """Identity and hash of each file, by its place below ``home``; of a release that is one file, by no name at all."""

    home: Path
    identities: Mapping[str, Identity]
    hashes: Mapping[str, str]

    @classmethod
    def of(cls, path: Path) -> WrittenFiles:
        """Hash the files of a release."""
        parts = {part.relative: part.path for part in file_set(path).parts} if path.is_dir() else {"": path}
        identities = {name: identity(file) for name, file in parts.items()}
        return cls(path, identities, {name: sha256(file) for name, file in parts.items()})

    @property
    def sha256(self) -> str:
        """The hash of the file; of several that of their list, as it is of a folder that is read."""
        return self.hashes[""] if "" in self.hashes else listing_sha256(self.hashes.items())

    @property
    def size(self) -> int:
        """How many bytes all files have."""
        return sum(size for _, size, _ in self.identities.values())

    def by_path(self) -> Mapping[Path, Identity]:
        """Return the identity of each file by its path."""
        return {self.home / name: state for name, state in self.identities.items()}

    def by_name(self, place: str) -> Mapping[str, str]:
        """Return the hash of each file by its name, where the release is called ``place``."""
        return {f"{place}/{name}" if name else place: digest for name, digest in self.hashes.items()}
