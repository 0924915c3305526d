"""The secret key of a ledger's hashes, made once and readable by its owner only; and the form of these hashes."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.engine.faults import data_fault, output_fault
from ppdm_flow.engine.ledger.fields import DROPPED, ERASED, PENDING, RELEASED
from ppdm_flow.sdk.history import Hashes
from ppdm_flow.sdk.key_file import refuse_shared

Positions = npt.NDArray[np.intp]
WIDTH = 16
"""Bytes of a hash: 128 bits."""
_HEX = 2 * WIDTH


def packed(hashes: Hashes) -> bytes:
    """Return the bytes of hashes (n,), :data:`WIDTH` each."""
    return bytes.fromhex(np.ascontiguousarray(hashes, dtype=f"S{_HEX}").tobytes().decode("ascii"))


def hashes_of(data: bytes) -> Hashes:
    """Return packed hashes as hexadecimal digits (n,)."""
    return np.frombuffer(data.hex().encode("ascii"), dtype=f"S{_HEX}")


def numbers_of(hashes: Hashes) -> npt.NDArray[np.int64]:
    """Return the first 63 bits of hashes (n,)."""
    first = np.frombuffer(packed(hashes), dtype=">u8")[::2]
    return (first >> np.uint64(1)).astype(np.int64)


def ranked(hashes: Hashes) -> Positions:
    """Return the order that sorts hashes (n,)."""
    halves = np.frombuffer(packed(hashes), dtype=">u8").reshape(-1, 2).astype(np.uint64)
    return np.lexsort((halves[:, 1], halves[:, 0]))


_BYTES = 32
_BLOCK = 64
"""Bytes of a block of SHA-256."""


class LedgerKey:
    """HMAC-SHA256 (RFC 2104), cut to 128 bits."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    @property
    def commitment(self) -> str:
        """What the ledger knows the key by."""
        return hmac.digest(self._secret, b"ppdm-flow ledger", "sha256").hex()

    def seal(self, text: bytes) -> str:
        """Return a hash of 256 bits that nobody makes without the key."""
        return hmac.digest(self._secret, b"chain\0" + text, "sha256").hex()

    def hashes(self, kind: str, texts: Iterable[bytes]) -> Hashes:
        """Return the hashes of ``texts``, those of one ``kind`` apart from all others."""
        key = self._secret if len(self._secret) <= _BLOCK else hashlib.sha256(self._secret).digest()
        inner, outer = (hashlib.sha256(bytes(byte ^ pad for byte in key.ljust(_BLOCK, b"\0"))) for pad in (0x36, 0x5C))
        inner.update(kind.encode() + b"\0")

        def digest(text: bytes) -> bytes:  # what `hmac.digest` returns, in a third of its time: the key is read once
            one, other = inner.copy(), outer.copy()
            one.update(text)
            other.update(one.digest())
            return other.digest()[:WIDTH]

        return hashes_of(b"".join([digest(text) for text in texts]))

    def numbers(self, kind: str, texts: Iterable[bytes]) -> npt.NDArray[np.int64]:
        """Return the first 63 bits of the hashes of ``texts``."""
        return numbers_of(self.hashes(kind, texts))


def required(key: LedgerKey | None) -> LedgerKey:
    """Return the key. Raises UsageError where there is none: nothing is written without it."""
    if key is None:
        text = "nothing is written to a ledger without its key"
        raise UsageError(Diagnostic("PPF687", text, help="add `--key FILE`"))
    return key


def read_key(path: Path) -> LedgerKey:
    """Return the key in a file. Raises DataError where there is none, or where others may read it."""
    try:
        text = path.read_text(encoding="ascii").strip()
        secret = bytes.fromhex(text)
    except OSError as error:
        reason = error.strerror or "no reason given"
        raise data_fault(
            "PPF735",
            f"the key of the ledger, `{path}`, cannot be read: {reason}",
            advice="without its key nobody can be found in the ledger; put the key file back",
        ) from None
    except ValueError:
        secret = b""
    if len(secret) != _BYTES:
        raise data_fault("PPF735", f"`{path}` is not a ledger key")
    refuse_shared(path, "the ledger's key")
    return LedgerKey(secret)


def make_key(path: Path) -> LedgerKey:
    """Write a new key to a file that only its owner can read, or return the one that is there."""
    secret = secrets.token_bytes(_BYTES)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secret.hex() + "\n")
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        return read_key(path)
    except OSError as error:
        raise output_fault(error, f"the ledger's key `{path}`") from None
    return LedgerKey(secret)


# The chain of a ledger: the keyed hash of each entry covers the entry before, so that none is lost or changed unseen.
#
# Entries are only ever added: that a release is written down, that it is out, that it never was, that people were
# erased from it. The hash of an entry covers its position, its words, for a release or an erasure its whole row, and
# the hash of the entry before (Haber and Stornetta, How to time-stamp a digital document, Journal of Cryptology 3,
# 1991). A seal over the last entry shows that none is missing at the end. Who restores an older copy of the whole
# ledger is not found out here: see `ledger_witness`.


@dataclass(frozen=True, slots=True)
class LedgerRecord:
    """One release in the ledger. ``columns`` are (name, name in the source, role, changes); ``people`` may be None.

    ``members`` is the SHA-256 of who is in which class, and of the cells of the file where they are kept; empty where
    nothing tells. ``ids`` names the differences in
    spelling that were ignored when people were told apart, with commas. ``number`` is given by the ledger.
    """

    state: str
    policy: str
    name: str
    audience: str
    time: str
    plan: str
    folder: str
    run: str
    manifest: str
    file: str
    rows: int
    columns: tuple[tuple[str, str, str, tuple[str, ...]], ...]
    people: int | None
    generated: bool
    members: str = ""
    ids: str = ""
    number: int = 0


FIELDS = tuple(field.name for field in fields(LedgerRecord) if field.name != "state")
"""The columns of the table of releases, in the order of the entry's; its state is in the chain."""


def to_columns(entry: LedgerRecord) -> Mapping[str, Any]:
    """Return what the table holds of an entry, by column."""
    values = {name: getattr(entry, name) for name in FIELDS}
    return {**values, "columns": json.dumps(entry.columns), "generated": int(entry.generated)}


def from_row(row: Sequence[Any], state: str) -> LedgerRecord:
    """Return the entry of a row of :data:`FIELDS`. Raises ValueError or TypeError where it is none."""
    values = dict(zip(FIELDS, row, strict=True))
    columns = tuple((n, s, r, tuple(c)) for n, s, r, c in json.loads(values["columns"]))
    return LedgerRecord(state=state, **{**values, "columns": columns, "generated": bool(values["generated"])})


_FOLLOWS = {PENDING: (None,), RELEASED: (PENDING,), DROPPED: (PENDING,), ERASED: (PENDING, RELEASED)}
"""What a release must be before this is said of it."""


@dataclass(frozen=True, slots=True)
class ChainEvent:
    """One entry of the chain: at which position it is said of which release that it is pending, released, dropped.

    Or that people were erased from it.
    """

    position: int
    release: int
    state: str
    chain: str


@dataclass(frozen=True, slots=True)
class StoredChain:
    """A ledger without the people: ``rows`` by release number; ``last`` is the last number assigned.

    ``erasures`` are by the positions of their entries.
    """

    last: int
    seal: str
    events: tuple[ChainEvent, ...]
    rows: Mapping[int, Sequence[Any]]
    erasures: Mapping[int, Sequence[Any]]

    @property
    def erased(self) -> list[Erasure]:
        """The erasures, oldest first. Raises ValueError or KeyError where one is none."""
        return [Erasure.of(e.release, self.erasures[e.position]) for e in self.events if e.state == ERASED]


@dataclass(frozen=True, slots=True)
class Erasure:
    """That ``people``, as keyed hashes, are in the ledger's copy of a release no more, whose digest is ``members`` now.

    The hashes stay, lest a later run takes these people for ones of whom nothing was released.
    """

    release: int
    time: str
    people: tuple[str, ...]
    members: str

    @classmethod
    def of(cls, release: int, row: Sequence[Any]) -> Erasure:
        """Return the erasure of a row of :data:`ERASURE`, but for its position."""
        time, people, members = row
        return cls(release, time, tuple(json.loads(people)), members)

    @property
    def row(self) -> tuple[str, str, str]:
        """What the table holds of it, but for its position."""
        return self.time, json.dumps(self.people), self.members


ERASURE = ("time", "people", "members")


def begin(key: LedgerKey) -> str:
    """Return what the first entry's hash covers in place of the one before."""
    return _sealed(key, ["begin"])


def link(key: LedgerKey, before: str, position: int, release: int, state: str, row: Sequence[Any] | None) -> str:
    """Return the hash of an entry; ``row`` is that of a release, or of an erasure, which is written down by it."""
    return _sealed(key, ["entry", before, position, release, state, None if row is None else list(row)])


def seal(key: LedgerKey, last: int, position: int, chain: str) -> str:
    """Return the seal over the end of the chain."""
    return _sealed(key, ["end", last, position, chain])


def states(events: Sequence[ChainEvent]) -> dict[int, str]:
    """Return what each release is now."""
    return {e.release: e.state for e in events if e.state != ERASED}


def fault(stored: StoredChain, key: LedgerKey | None) -> str | None:
    """Return what is wrong with a chain, and where; None where it is whole. Without the key hashes are not compared."""
    gone = next((n for n in range(1, stored.last + 1) if n not in stored.rows), None)
    if gone is not None:
        return f"release no. {gone} was taken out"
    before = "" if key is None else begin(key)
    state_of: dict[int, str] = {}
    for position, event in enumerate(stored.events, 1):
        if event.position != position:
            return f"entry {position} was taken out"
        row = stored.rows.get(event.release) if event.state == PENDING else stored.erasures.get(position)
        if key is not None and link(key, before, position, event.release, event.state, row) != event.chain:
            return f"entry {position}, of release no. {event.release}, was changed, moved or put in"
        if state_of.get(event.release) not in _FOLLOWS.get(event.state, ()):
            return f"entry {position}, of release no. {event.release}, was changed, moved or put in"
        before = event.chain
        if event.state != ERASED:
            state_of[event.release] = event.state
    stranger = next((n for n in stored.rows if n not in state_of), None)
    if stranger is not None:
        return f"release no. {stranger} has no entry: one was taken out, or the release put in"
    if key is not None and seal(key, stored.last, len(stored.events), before) != stored.seal:
        return f"entries after entry {len(stored.events)} were taken out"
    return None


def _sealed(key: LedgerKey, words: list[Any]) -> str:
    return key.seal(json.dumps(words, separators=(",", ":"), default=repr).encode())
