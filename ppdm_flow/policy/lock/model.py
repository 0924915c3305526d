"""The lock: which bytes and which versions stand behind each policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ppdm_flow.core.spans import Span

FILE = "ppdm-flow.lock"
"""Its name; it stands in the folder that its paths start from."""
VERSION = "1"
"""Version of the file's form."""
LANGUAGE = "1"
"""Version of the policy language."""
KINDS = ("templates", "files", "plugins")
"""What is fixed: templates, files with definitions, plugins as ``anonymizers/NAME``."""

Pins = Mapping[str, "Pin"]


@dataclass(frozen=True, slots=True, order=True)
class Pin:
    """What is fixed of one thing: the SHA-256 of its bytes, the distribution that brings it, or both."""

    sha256: str = ""
    distribution: str = ""
    version: str = ""

    @property
    def words(self) -> str:
        """It in words."""
        return self._words(Pin())

    def against(self, other: Pin) -> tuple[str, str]:
        """Return this and the other in words, with what tells them apart."""
        return self._words(other), other._words(self)

    def _words(self, other: Pin) -> str:
        parts = [" ".join(self.release)] if self.release != other.release and any(self.release) else []
        parts += [f"sha256 {self.sha256[:12]}…"] if self.sha256 != other.sha256 and self.sha256 else []
        return ", ".join(parts) or "a file"

    @property
    def release(self) -> tuple[str, str]:
        """The distribution and its version; empty for a file of the repository."""
        return self.distribution, self.version


@dataclass(frozen=True, slots=True)
class Lock:
    """What the file says. ``pins`` and the uses of each policy are by kind; ``places`` are spans in the file."""

    pins: Mapping[str, Pins]
    policies: Mapping[str, Mapping[str, tuple[str, ...]]]
    language: str = LANGUAGE
    places: Mapping[tuple[str, ...], Span] = field(default_factory=dict, compare=False)

    def releases(self) -> frozenset[tuple[str, str]]:
        """Return distribution and version of all plugins."""
        return frozenset(pin.release for pin in self.pins["plugins"].values())


@dataclass(frozen=True, slots=True)
class Use:
    """One thing that a policy uses, as it is now, and the ``place`` in the policy's files that asks for it.

    An ``implied`` plugin is one that the data asked for: it may be any of a release that the lock has. ``path`` is
    the absolute path of a definition.
    """

    kind: str
    name: str
    pin: Pin
    place: Span | None = None
    implied: bool = False
    path: str = ""


def locked(policies: Mapping[str, Iterable[Use]]) -> Lock:
    """Return the lock of policies with these uses; what they share is in it once."""
    pins: dict[str, dict[str, Pin]] = {kind: {} for kind in KINDS}
    used: dict[str, dict[str, tuple[str, ...]]] = {}
    for policy, uses in sorted(policies.items()):
        names: dict[str, set[str]] = {kind: set() for kind in KINDS}
        for use in uses:
            pins[use.kind][use.name] = use.pin
            names[use.kind].add(use.name)
        used[policy] = {kind: tuple(sorted(names[kind])) for kind in KINDS}
    return Lock({kind: dict(sorted(by_name.items())) for kind, by_name in pins.items()}, used)


@dataclass(slots=True)
class LockFileFinder:
    """Where lock files are. Each folder is looked at once: answers agree with each other while others write."""

    _found: dict[Path, Path | None] = field(default_factory=dict)

    def of(self, policy: Path) -> Path | None:
        """Return the lock file in the policy's folder or above it, up to the repository's root; None without one.

        A folder of that name counts: then the lock cannot be read, and is not missing.
        """
        return self._in(policy.absolute().parent)

    def _in(self, folder: Path) -> Path | None:
        if folder not in self._found:
            self._found[folder] = self._look(folder)
        return self._found[folder]

    def _look(self, folder: Path) -> Path | None:
        file = folder / FILE
        if file.exists() or file.is_symlink():
            return file
        if is_repository(folder) or folder.parent == folder:
            return None
        return self._in(folder.parent)


def is_repository(folder: Path) -> bool:
    """Whether a folder is the root of a working tree of Git: an empty `.git` makes none."""
    git = folder / ".git"
    return git.is_file() or (git / "HEAD").is_file()
