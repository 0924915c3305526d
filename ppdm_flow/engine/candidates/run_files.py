"""The files of a finished run, by the names that its manifest has: of a held run too, whose releases lie elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ppdm_flow.core.digests import sha256
from ppdm_flow.engine.candidates.unpublished import HELD, RELEASED, is_held

MANIFEST = "manifest.json"
PRIVATE = "held.private.json"
"""What a held run keeps for its release, and nobody else may read."""
PUBLICATION = "publication.json"
"""Who approved a held run, and when it was released."""
ATTESTATIONS = "attestations"
_COPY = re.compile(rf"{RELEASED}/([^/]+)/{ATTESTATIONS}/([^/]+)\.json")
_SIGNED = re.compile(rf"{ATTESTATIONS}/[^/]+\.json")


@dataclass(frozen=True, slots=True)
class RunFiles:
    """``known`` is the run's manifest. Names have ``released/`` for what lies in ``held/`` as long as it is held."""

    run_dir: Path
    known: Mapping[str, Any]

    @property
    def held(self) -> bool:
        """Whether the run waits for approvals."""
        return is_held(self.run_dir)

    def path(self, name: str) -> Path:
        """Return where a file is now."""
        if self.held and name.startswith(f"{RELEASED}/"):
            return self.run_dir / HELD / name.removeprefix(f"{RELEASED}/")
        return self.run_dir / name

    def present(self) -> frozenset[str]:
        """Return the names of all files but the manifest and what may stand beside what it lists."""
        return frozenset(name for name in self._names() if name != MANIFEST and not self._beside(name))

    def _names(self) -> Iterator[str]:
        held = self.held
        for path in self.run_dir.rglob("*"):
            if path.is_symlink() or not path.is_dir():
                name = path.relative_to(self.run_dir).as_posix()
                yield f"{RELEASED}/{name.removeprefix(f'{HELD}/')}" if held and name.startswith(f"{HELD}/") else name

    def _beside(self, name: str) -> bool:
        """Whether it is a signature, a copy of one, or what the release of a held run reads or writes."""
        path = self.path(name)
        if path.is_symlink() or name in self.known["files"]:
            return False
        if name == PRIVATE:
            return _is(path, self.known.get("held"))
        if name == PUBLICATION:
            return "held" in self.known
        copy = _COPY.fullmatch(name)
        if copy is not None:
            return _same(path, self.run_dir / ATTESTATIONS / f"{copy[2]}-{copy[1]}.json")
        return _SIGNED.fullmatch(name) is not None


def _is(path: Path, said: Any) -> bool:
    try:
        return isinstance(said, Mapping) and sha256(path) == said.get("sha256")
    except OSError:
        return False


def _same(one: Path, other: Path) -> bool:
    try:
        return not other.is_symlink() and one.read_bytes() == other.read_bytes()
    except OSError:
        return False
