"""The class of each person in a release, as keyed hashes.

Two spellings of an id are of one person as the policy's ``ledger.ignore`` says (Unicode Standard, annex 15,
normalization form NFKC, and section 3.13, case folding).
"""

from __future__ import annotations

import json
import secrets
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ppdm_flow.core.roles import Role
from ppdm_flow.engine.candidates.building import Candidate
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.ledger.key import LedgerKey, hashes_of, ranked
from ppdm_flow.plan.definition import Plan, ReleaseNode
from ppdm_flow.plan.together import read_together
from ppdm_flow.policy.language.kinds import is_over_releases
from ppdm_flow.sdk.history import EarlierRelease, Hashes, Membership, Places, ReleaseHistory
from ppdm_flow.sdk.view import PairedView
from ppdm_flow.tables.numbering import joined, numbered
from ppdm_flow.tables.table import Table

_UNSEEN = "\ufeff\u200b\u200c\u200d\u2060"
"""Characters without width, such as the mark that some programs put at the beginning of a file."""


def spelling(ignore: Collection[str]) -> Callable[[str], str]:
    """Return what maps an id to the same text for all spellings of one person."""

    def same(text: str) -> str:
        if "form" in ignore:
            text = unicodedata.normalize("NFKC", text)
        if "blanks" in ignore:
            text = _trimmed(text)
        if "case" in ignore:
            text = text.casefold()
        return unicodedata.normalize("NFKC", text) if "form" in ignore else text

    return same


def _trimmed(text: str) -> str:
    before = None
    while text != before:
        before, text = text, text.strip().strip(_UNSEEN)
    return text


Inverse = npt.NDArray[np.intp]


def class_columns(plan: Plan, release: ReleaseNode) -> tuple[str, ...]:
    """Return the released columns that others may know: those computed from quasi-identifiers, or from others named.

    Those that a requirement names count as quasi-identifiers.
    """
    named = {a for r in plan.requirements if r.successive for a in r.grouping}
    named |= {a.name for a in plan.source.attributes if a.role is Role.QUASI_IDENTIFIER}
    known = [a for a in release.attributes if a.role is Role.QUASI_IDENTIFIER or a.lineage.computed_from & named]
    return tuple(a.name for a in known)


def membership(
    plan: Plan, release: ReleaseNode, pairs: PairedView | None, rows: int, key: LedgerKey, subject: str | None = None
) -> Membership | None:
    """Return the classes of the people of a release of ``rows`` rows; None where nothing tells whose the rows are.

    People are told apart by the attribute ``subject``; where there is none, each row of the source is one. Missing and
    suppressed cells are values like others: that is at least as strict as the other null semantics. Raises DataError
    where a row has no person.
    """
    if pairs is None:
        return None
    columns, ignore = class_columns(plan, release), plan.ledger.ignore if plan.ledger else ()
    ids = None if subject is None else _Ids(subject, key, ignore)
    people, classes = [], []
    for original, released in pairs.pairs([] if subject is None else [subject], columns):
        people.append(_rows(original) if ids is None else ids.of(original))
        classes.append(_classes(released, columns, key))
    both = _joined(people), _joined(classes)
    if len(both[0]) != rows:
        return None
    subjects, own, places = _one_each(*both, key)
    return Membership(subjects, own, columns, rows, len(numbered(both[1])[1]), places)


def _joined(parts: Sequence[Hashes]) -> Hashes:
    return np.concatenate(parts) if parts else np.zeros(0, dtype="S32")


def _rows(table: Table) -> Hashes:
    """Return the numbers of the rows in the form of hashes: nobody beside this run ever sees them."""
    halves = np.zeros((len(table), 2), dtype=">u8")
    halves[:, 1] = table.rows
    return hashes_of(halves.tobytes())


class _Ids:
    """Hashes the ids of people."""

    def __init__(self, subject: str, key: LedgerKey, ignore: Sequence[str]) -> None:
        self._subject = subject
        self._key = key
        self._same = spelling(ignore)

    def of(self, table: Table) -> Hashes:
        """Return the hash of each row's person. Raises DataError where a row has none."""
        column = table[self._subject].compact()
        texts = [self._same(text) for text in column.categories.to_pylist()]
        without_id = np.array([not text for text in texts] + [True])[column.codes] | (column.codes < 0)
        if without_id.any():
            raise data_fault(
                "PPF729",
                f"{int(without_id.sum()):,} released rows have no `{self._subject}`: the ledger cannot say whose",
                advice="drop such rows before, or name another attribute as the ledger's `subject`",
            )
        return self._key.hashes("person", (text.encode() for text in texts))[column.codes]


def _classes(table: Table, columns: Sequence[str], key: LedgerKey) -> Hashes:
    """Hash each combination once; equal rows have equal hashes in all partitions."""
    compacted = [table[c].compact() for c in columns]
    codes = np.stack([c.codes for c in compacted], axis=1) if compacted else np.zeros((len(table), 0), dtype=np.int32)
    if not len(codes):
        return np.zeros(0, dtype="S32")
    if not compacted:
        return np.repeat(key.hashes("class", [b"[]"]), len(codes))
    number = np.zeros(len(codes), dtype=np.int64)
    for column in codes.T:
        number = joined(number, column.astype(np.int64) - int(column.min()))
    cells = np.empty((int(number.max()) + 1, len(compacted)), dtype=codes.dtype)
    cells[number] = codes
    names = [c.categories.to_pylist() for c in compacted]
    texts = (
        [n[code] if code >= 0 else int(code) for n, code in zip(names, row, strict=True)] for row in cells.tolist()
    )
    return key.hashes("class", (json.dumps(t).encode() for t in texts))[number]


def _one_each(people: Hashes, classes: Hashes, key: LedgerKey) -> tuple[Hashes, Hashes, Places]:
    """Give a person with several rows the class of those who have rows in just the same classes, as often.

    The people are in the order of their hashes, which says nothing of that of the rows. The third result is the place
    of each row's person among the people.
    """
    (number,), subjects = numbered(people)
    order = ranked(subjects)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    places = rank[number]
    own = np.zeros(len(order), dtype=classes.dtype)
    own[places] = classes
    counts = np.bincount(places, minlength=len(order))
    several = np.flatnonzero(counts > 1)
    if len(several):
        rows = np.flatnonzero(counts[places] > 1)
        rows = rows[np.lexsort((classes[rows], places[rows]))]
        ends = np.cumsum(counts[several])
        spans = zip((ends - counts[several]).tolist(), ends.tolist(), strict=True)
        sorted_ = classes[rows].tolist()
        own[several] = key.hashes("classes", (b",".join(sorted_[a:b]) for a, b in spans))
    return subjects[order], own, places


class KnownRelease(Protocol):
    """A release of a run, and whether its rows belong to nobody."""

    @property
    def release(self) -> ReleaseNode:
        """What the plan says of it."""

    @property
    def generated(self) -> bool:
        """Whether every row is nobody's."""


def beside(
    candidates: Sequence[KnownRelease],
    members: Mapping[str, Membership | None],
    before: tuple[EarlierRelease, ...] = (),
) -> Mapping[str, ReleaseHistory]:
    """Return for each release whom it is about, and all that was released ``before`` or precedes it in the run."""
    histories: dict[str, ReleaseHistory] = {}
    siblings: tuple[EarlierRelease, ...] = ()
    for c in candidates:
        own = members[c.release.name]
        histories[c.release.name] = ReleaseHistory(own, (*before, *siblings))
        name, sources = f"release {c.release.name} of this run", frozenset(a.source for a in c.release.attributes)
        siblings = (*siblings, EarlierRelease(name, sources, own, c.generated, same_run=True))
    return histories


def of_run(plan: Plan, candidates: Sequence[Candidate]) -> Mapping[str, ReleaseHistory]:
    """Return the same without a ledger, where somebody asks: the people are the rows of the source."""
    cumulative = is_over_releases(node.bound.info.name for node in plan.audits)
    if not cumulative or not read_together(plan):
        return {}
    key = LedgerKey(secrets.token_bytes())
    members = {
        c.release.name: membership(plan, c.release, None if c.generated else c.subject.pairs, c.rows, key)
        for c in candidates
    }
    return beside(candidates, members)
