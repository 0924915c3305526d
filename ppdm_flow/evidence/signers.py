"""Who may sign in which role, with which key, from when until when."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime

from ppdm_flow.evidence.keys import PublicKey


def folded(name: str) -> str:
    """Return a name as it is compared: a reader must be able to distinguish two different names.

    >>> folded("Alice") == folded("ＡＬＩＣＥ")
    True
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


@dataclass(frozen=True, slots=True)
class Revocation:
    """A key that counts no more. The day says when that was noticed; older signatures do not count either."""

    on: date
    reason: str


@dataclass(frozen=True, slots=True)
class Signer:
    """A person, by one key. ``first`` and ``last`` are the days (UTC, inclusive) on which the key signs."""

    name: str
    roles: frozenset[str]
    key: PublicKey
    first: date | None = None
    last: date | None = None
    revoked: Revocation | None = None

    def refusal(self, role: str, signed: datetime) -> str:
        """Return why a signature of that time does not count in that role; empty where it does.

        Signatures of a revoked key never count, since a thief of the key can lie about the time.
        """
        day = signed.date()
        if self.revoked is not None:
            return f"the key of `{self.name}` was revoked on {self.revoked.on}"
        if role not in self.roles:
            return f"`{self.name}` has no role `{role}`"
        if self.first is not None and day < self.first:
            return f"the key of `{self.name}` was not valid yet on {day}: it is from {self.first} on"
        if self.last is not None and day > self.last:
            return f"the key of `{self.name}` was valid no more on {day}: it was until {self.last}"
        return ""


@dataclass(frozen=True, slots=True)
class Signers:
    """A list of signers: no two of one name, or of one key. ``digest`` is the SHA-256 of its file."""

    every: tuple[Signer, ...] = ()
    digest: str = ""

    def __post_init__(self) -> None:
        names = [folded(signer.name) for signer in self.every]
        keys = [signer.key for signer in self.every]
        if len(set(names)) != len(names) or len(set(keys)) != len(keys):
            raise ValueError("two signers have one name, or one key")

    def __iter__(self) -> Iterator[Signer]:
        return iter(self.every)

    def __len__(self) -> int:
        return len(self.every)

    def of_key(self, key_id: str) -> Signer | None:
        """Return the owner of a key."""
        return next((signer for signer in self.every if signer.key.key_id == key_id), None)

    def in_role(self, role: str) -> tuple[Signer, ...]:
        """Return those who have a role and whose key is not revoked."""
        return tuple(s for s in self.every if role in s.roles and s.revoked is None)

    @property
    def roles(self) -> frozenset[str]:
        """All roles that somebody has."""
        return frozenset(role for signer in self.every for role in signer.roles)


def signers(every: Iterable[Signer], digest: str = "") -> Signers:
    """Return a list of signers."""
    return Signers(tuple(every), digest)
