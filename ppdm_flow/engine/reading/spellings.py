"""Finds two spellings of one person or of one sensitive value, which would count as two and make a false crowd.

Values count as one where they differ in case, blanks or Unicode form alone (:mod:`ppdm_flow.tables.spelling`), unless
the policy keeps them apart, or merges them before anything leaves.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.errors import DataError
from ppdm_flow.core.phrases import listed
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.faults import data_fault
from ppdm_flow.engine.streams.stream import Stream, StreamPart, results
from ppdm_flow.plan.definition import Plan
from ppdm_flow.tables.spelling import SPELLINGS, respelled
from ppdm_flow.tables.table import Table
from ppdm_flow.tables.text_hash import KEY_BYTES, text_hashes

_COMPACTED = 1 << 20
"""Values from which on those that were taken in are reduced to the different ones."""
_WORDS = {"case": "letter case", "blanks": "white space or invisible characters", "form": "Unicode form"}

Hashes: TypeAlias = npt.NDArray[np.uint64]


def _fresh_key() -> bytes:
    return secrets.token_bytes(KEY_BYTES)


@dataclass(slots=True)
class SpellingCheck:
    """Remembers the values of one attribute as pairs of hashes: of the value, and of its one spelling.

    ``keep_apart`` are the differences that may tell two of them apart. 16 bytes for each different value are kept.
    """

    facts: AttributeFacts
    keep_apart: tuple[str, ...] = ()
    key: bytes = field(default_factory=_fresh_key)
    pairs: list[Hashes] = field(default_factory=list)
    added: int = 0

    def unseen(self) -> SpellingCheck:
        """Return one under the same key that has seen nothing."""
        return SpellingCheck(self.facts, self.keep_apart, self.key)

    def look(self, table: Table) -> None:
        """Take in a partition."""
        column = table[self.facts.name].compact()
        self._take(_pairs(column.categories, self.ignored, self.key))

    def add(self, later: SpellingCheck) -> None:
        """Take in what another one has seen."""
        for pairs in later.pairs:
            self._take(pairs)

    @property
    def ignored(self) -> tuple[str, ...]:
        """The differences in spite of which two values are one."""
        return tuple(word for word in SPELLINGS if word not in self.keep_apart)

    @property
    def respelled(self) -> Hashes:
        """The hashes of values of which another spelling occurs."""
        pairs = self._different()
        if not len(pairs):
            return np.zeros(0, dtype=np.uint64)
        _, place, spellings = np.unique(pairs[:, 1], return_inverse=True, return_counts=True)
        several: Hashes = pairs[spellings[place] > 1, 0]
        return several

    def _take(self, pairs: Hashes) -> None:
        self.pairs.append(pairs)
        self.added += len(pairs)
        if self.added > _COMPACTED:
            self.pairs = [self._different()]
            self.added = 0

    def _different(self) -> Hashes:
        if not self.pairs:
            return np.zeros((0, 2), dtype=np.uint64)
        pairs = np.concatenate(self.pairs)
        _, first = np.unique(pairs[:, 0], return_index=True)
        different: Hashes = pairs[first]
        return different


def _pairs(texts: pa.StringArray, ignored: Sequence[str], key: bytes) -> Hashes:
    """Return the hash of each text and that of its one spelling, shape (texts, 2)."""
    return np.stack([text_hashes(texts, key), text_hashes(respelled(texts, ignored), key)], axis=1)


def spelling_checks(plan: Plan, attributes: Iterable[AttributeFacts]) -> tuple[SpellingCheck, ...]:
    """Return a check for each attribute that tells people apart or is sensitive; numbers have one spelling."""
    ledger = None if plan.ledger is None else plan.ledger.subject
    return tuple(
        SpellingCheck(a, plan.source.keep_apart)
        for a in attributes
        if (a.role in (Role.SUBJECT, Role.SENSITIVE) or (a.source or a.name) == ledger) and not a.is_numeric
    )


def refuse_two_spellings(
    plan: Plan, checks: Iterable[SpellingCheck], stream: Stream, release: str | None = None
) -> None:
    """Raise DataError (PPF932) for each attribute with two spellings of one value that no step merges.

    ``stream`` is the source, or a file of another tool that is judged as ``release``: no step comes after that.
    """
    faults = [fault for check in checks if (fault := _fault(plan, check, stream, release)) is not None]
    if faults:
        raise DataError([diagnostic for fault in faults for diagnostic in fault.diagnostics])


def _fault(plan: Plan, check: SpellingCheck, stream: Stream, release: str | None) -> DataError | None:
    several = check.respelled
    if not len(several):
        return None
    name = check.facts.name
    rows: dict[str, int] = {}
    for first_rows in results(stream, partial(_first_rows, name, check.key, several), [name]):
        for text, row in first_rows.items():
            rows[text] = min(row, rows.get(text, row))
    merges = () if release is not None else _merges(plan, check.facts)
    two = min(_apart(rows, check.ignored, merges), default=None)
    if two is None:
        return None
    return _described(check, release, *two)


def _first_rows(name: str, key: bytes, wanted: Hashes, part: StreamPart) -> Mapping[str, int]:
    """Return the first row of each of these values in a partition, from 0."""
    column = part.table[name].compact()
    texts = column.categories
    hit = np.flatnonzero(np.isin(text_hashes(texts, key), wanted))
    return {texts[int(code)].as_py(): int(part.table.rows[column.codes == code].min()) for code in hit}


def _merges(plan: Plan, facts: AttributeFacts) -> tuple[tuple[Mapping[str, str], ...], ...]:
    """Return, for each release with the attribute, what steps on its way make of single values."""
    return tuple(
        tuple(m for step in plan.upstream(release.input) if (m := step.effect.recodes.get(facts.name)) is not None)
        for release in plan.releases
        if any(facts.name in a.lineage.computed_from for a in release.attributes)
    )


def _apart(
    rows: Mapping[str, int], ignored: Sequence[str], merges: Sequence[Sequence[Mapping[str, str]]]
) -> Iterator[tuple[tuple[int, int], str, str]]:
    """Yield the rows of two spellings that a release would show as two values, and the two."""
    texts = list(rows)
    spellings: dict[str, list[str]] = {}
    for text, spelled in zip(texts, respelled(pa.array(texts, pa.string()), ignored).to_pylist(), strict=True):
        spellings.setdefault(spelled, []).append(text)
    for same in spellings.values():
        for one, other in combinations(same, 2):
            if not merges or not all(any(m.get(one, one) == m.get(other, other) for m in way) for way in merges):
                low, high = sorted((one, other), key=rows.__getitem__)
                yield (rows[low], rows[high]), low, high


def _described(check: SpellingCheck, release: str | None, rows: tuple[int, int], one: str, other: str) -> DataError:
    """Say what differs, and how to merge the two or to keep them apart; no value is quoted."""
    two = pa.array([one, other], pa.string())
    sets = (some for n in range(1, len(SPELLINGS) + 1) for some in combinations(check.ignored, n))
    words = next(some for some in sets if len(respelled(two, some).unique()) == 1)
    what, facts = ", ".join(words), check.facts
    merged = f"`source: {{normalize: [{what}]}}` merges such spellings at reading"
    if facts.role is Role.SENSITIVE:
        merged += ", a step `recode` single values"
    if release is not None:
        merged = "have the tool that wrote the file write one of them"
    where = "" if release is None else f"release `{release}`, "
    return data_fault(
        "PPF932",
        f"{where}rows {rows[0] + 1:,} and {rows[1] + 1:,}: two values of `{facts.name}` differ in"
        f" {listed([_WORDS[word] for word in words])} alone, and would count as two"
        f" {'values' if facts.role is Role.SENSITIVE else 'people'}",
        span=facts.span,
        advice=f"{merged}; where they are two, say `source: {{keep_apart: [{what}]}}`",
    )
