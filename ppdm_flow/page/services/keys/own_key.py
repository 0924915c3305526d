"""Somebody's key as the server has it: its public part, where the file is, and whether it can sign."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from ppdm_flow.api.key import KeyPair
from ppdm_flow.evidence.key_files import PUBLIC
from ppdm_flow.evidence.keys import PublicKey

FILE = "key"
"""The name of a private key in its folder."""


class KeyState(StrEnum):
    """Whether a key can sign."""

    MAKING = "making"
    """It is being made, or opened for the first time to see whether its passphrase is right."""
    READY = "ready"
    FAILED = "failed"
    """It could not be made or opened, and there is no file of it any more."""


@dataclass(frozen=True, slots=True)
class OwnKey:
    """A key and its owner; ``public`` is None until it is ready. ``fault`` is the key of a text that says what failed.

    ``job`` is the id of the job that makes or opens it.
    """

    owner: str
    state: KeyState
    folder: Path
    job: str
    since: datetime
    public: PublicKey | None = None
    fault: str = ""

    @property
    def path(self) -> Path:
        """The private key, encrypted."""
        return self.folder / FILE

    @property
    def public_path(self) -> Path:
        """The public key that was made with it."""
        return self.folder / f"{FILE}{PUBLIC}"

    @property
    def entry(self) -> str:
        """The entry for a list of signers, without roles: whoever keeps the list gives them."""
        return "" if self.public is None else KeyPair(self.path, None, self.public, self.owner).entry
