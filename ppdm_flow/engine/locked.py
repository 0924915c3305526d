"""The lock that a run was held against, and its definitions, which must stay as they are while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.hashing import sha256


@dataclass(frozen=True, slots=True)
class Locked:
    """SHA-256 of the lock file's bytes, and of each file with definitions by its absolute path."""

    sha256: str
    definitions: Mapping[str, str]

    def unchanged(self) -> None:
        """Raise DataError (PPF339) where a definition is not the locked one any more: the run may have read it."""
        for path, digest in self.definitions.items():
            try:
                now = sha256(Path(path))
            except OSError:
                now = ""
            if now != digest:
                raise data_fault("PPF339", f"`{path}` was changed while a locked run used it")
