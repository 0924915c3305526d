"""What files of earlier releases show, by keyed hashes of their cells."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from ppdm_flow.core.records import dataclass
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.ledger.chain import Entry
from ppdm_flow.engine.ledger.key import LedgerKey
from ppdm_flow.engine.ledger.membership import spelling
from ppdm_flow.engine.ledger.store import LedgerStore
from ppdm_flow.plan.definition import Plan
from ppdm_flow.reader.earlier import KeptFile, unpacked
from ppdm_flow.reader.faults import NotVerifiedError
from ppdm_flow.reader.files import Ints
from ppdm_flow.reader.run import EarlierFiles
from ppdm_flow.reader.run_files import keep
from ppdm_flow.sdk.audit import Other
from ppdm_flow.sdk.history import Hashes, Membership


@dataclass(frozen=True, slots=True)
class LedgerHashing:
    """Hashes people, by the spellings that are one person's, and values; ``subject`` is the attribute of people."""

    key: LedgerKey
    subject: str
    ignore: Sequence[str]

    def people(self, texts: Sequence[str]) -> Ints:
        """Return the hashes of people."""
        same = spelling(self.ignore)
        return self.key.numbers("person", (same(text).encode() for text in texts))

    def values(self, texts: Sequence[str]) -> Ints:
        """Return the hashes of values."""
        return self.key.numbers("value", (text.encode() for text in texts))


_NO_SUBJECT = "the ledger has earlier releases, and without a `subject` nobody knows what they tell of the same people"


def packed_file(file: Other, hashing: LedgerHashing, table: str) -> bytes:
    """Return what the ledger keeps of a file's cells; nothing where they do not go by rows of the source."""
    if any(a.role is Role.ITEMS for a in file.attributes.values()):
        return b""
    try:
        return keep(file, hashing, table).packed()
    except NotVerifiedError:
        return b""


def files_before(
    plan: Plan, table: str, store: LedgerStore, hashing: LedgerHashing | None, own: Collection[Membership]
) -> EarlierFiles | None:
    """Return the files of earlier releases that are about some of one's ``own`` people; None where there is none.

    ``plan`` is that of a linked ``table``: what was released of others is left out.
    """
    attributes = frozenset(a.name for a in plan.source.attributes if a.role not in (Role.ITEMS, Role.WEIGHT))
    if hashing is None:
        several = any(not entry.generated for entry in store.entries())
        return EarlierFiles((), None, attributes, _NO_SUBJECT) if several else None
    people = np.unique(np.concatenate([np.zeros(0, dtype="S32"), *(each.subjects for each in own)]))
    about = [e for e in store.entries() if not e.generated and _has_any(store, e, people)]
    if not about:
        return None
    files: list[KeptFile] = []
    reasons = []
    for entry in about:
        data = store.packed_file(entry)
        if data:
            file = unpacked(f"{entry.policy}/{entry.name} (no. {entry.number})", data)
            files += [file] if table in (file.table, "") or not file.table else []
        else:
            reasons.append(f"the ledger knows no cells of release no. {entry.number}, which has some of these people")
    return EarlierFiles(tuple(files), hashing, attributes, next(iter(reasons), ""))


def _has_any(store: LedgerStore, entry: Entry, people: Hashes) -> bool:
    """Say whether a release is about some of these people, or nothing tells."""
    return entry.people is None or bool(np.isin(store.members(entry).subjects, people).any())
