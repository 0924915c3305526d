"""What files of earlier releases show, by keyed hashes of their cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ppdm_flow.core.roles import Role
from ppdm_flow.engine.ledger.chain import LedgerRecord
from ppdm_flow.engine.ledger.key import LedgerKey, numbers_of
from ppdm_flow.engine.ledger.membership import spelling
from ppdm_flow.engine.ledger.tables import LedgerStore
from ppdm_flow.plan.definition import Plan
from ppdm_flow.reader.earlier import KeptFile, unpacked
from ppdm_flow.reader.faults import NotVerifiedError
from ppdm_flow.reader.files import Ints
from ppdm_flow.reader.run import EarlierFiles
from ppdm_flow.reader.run_files import keep
from ppdm_flow.sdk.audit import OtherRelease
from ppdm_flow.sdk.history import Hashes


@dataclass(frozen=True, slots=True)
class LedgerHashing:
    """Hashes people, by the spellings that are one person's, and values; ``subject`` is the attribute of people."""

    key: LedgerKey
    subject: str
    ignore: Sequence[str]

    def people(self, texts: Sequence[str]) -> Ints:
        """Return the hashes of people."""
        return numbers_of(self.subjects(texts))

    def subjects(self, texts: Sequence[str]) -> Hashes:
        """Return the hashes of people, as long as those of who is in a release."""
        same = spelling(self.ignore)
        return self.key.hashes("person", (same(text).encode() for text in texts))

    def values(self, texts: Sequence[str]) -> Ints:
        """Return the hashes of values."""
        return self.key.numbers("value", (text.encode() for text in texts))


_ERASED = "release no. {} has people whom the ledger has forgotten, and who are in the source again"
_NO_SUBJECT = "the ledger has earlier releases, and without a `subject` nobody knows what they tell of the same people"


def packed_file(file: OtherRelease, hashing: LedgerHashing, table: str) -> bytes:
    """Return what the ledger keeps of a file's cells; nothing where they do not go by rows of the source."""
    if any(a.role is Role.ITEMS for a in file.attributes.values()):
        return b""
    try:
        return keep(file, hashing, table).packed()
    except NotVerifiedError:
        return b""


def missing_from(file: OtherRelease, hashing: LedgerHashing) -> Hashes:
    """Return the people of a source of which a file lacks rows, for those that do; nobody for others."""
    every = file.everyone([hashing.subject]) if file.everyone and file.decided_by else ()
    texts = {text for table in every for text in table[hashing.subject].compact().categories.to_pylist()}
    return hashing.subjects(sorted(texts))


def files_before(
    plan: Plan, table: str, store: LedgerStore, hashing: LedgerHashing | None, people: Hashes
) -> EarlierFiles | None:
    """Return the files of earlier releases that have, or lack, some of one's ``people``; None where there is none.

    ``plan`` is that of a linked ``table``: what was released of others is left out.
    """
    attributes = frozenset(a.name for a in plan.source.attributes if a.role not in (Role.ITEMS, Role.WEIGHT))
    if hashing is None:
        several = any(not entry.generated for entry in store.entries())
        return EarlierFiles((), None, attributes, _NO_SUBJECT) if several else None
    files: list[KeptFile] = []
    own = people.astype(str)
    reasons = [_ERASED.format(each.release) for each in store.erasures() if np.isin(each.people, own).any()]
    numbers = numbers_of(people)
    for entry in (e for e in store.entries() if not e.generated):
        data = store.packed_file(entry)
        if data:
            file = unpacked(f"{entry.policy}/{entry.name} (no. {entry.number})", data)
            beside = table in (file.table, "") or not file.table
            files += [file] if beside and np.isin(file.people, numbers).any() else []
        elif _has_any(store, entry, people):
            reasons.append(f"the ledger knows no cells of release no. {entry.number}, which has some of these people")
    return EarlierFiles(tuple(files), hashing, attributes, next(iter(reasons), "")) if files or reasons else None


def _has_any(store: LedgerStore, entry: LedgerRecord, people: Hashes) -> bool:
    """Say whether a release is about some of these people, or nothing tells."""
    return entry.people is None or bool(np.isin(store.members(entry).subjects, people).any())
