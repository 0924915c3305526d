"""Searches every released column for personal data that the policy does not declare.

A column of telephone numbers that is declared `insensitive` would leave as it is, and no requirement would count it.
Personal data in a release for partners or for the public withholds it; in an internal release it is a finding.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.phrases import counted, listed
from ppdm_flow.core.results import PERSONAL_DATA, Finding, RequirementResult
from ppdm_flow.core.roles import Role
from ppdm_flow.engine.streams.stream import DistributedStream, Stream, StreamPart
from ppdm_flow.mining.identifiers.columns import WORDS, ColumnScan, Content
from ppdm_flow.mining.profiling.words import named
from ppdm_flow.plan.definition import Plan, ReleaseNode
from ppdm_flow.tables.numeric.column import NumericColumn
from ppdm_flow.tables.sets import Baskets, SetColumn
from ppdm_flow.tables.text_hash import KEY_BYTES

CODE = "PPF649"
"""The finding."""
_WEIGHTS = frozenset({Role.WEIGHT, Role.SAMPLING_WEIGHT})
_ROLES = frozenset({Role.INSENSITIVE, Role.TARGET, Role.SENSITIVE, Role.ITEMS}) | _WEIGHTS
_LEAST = 10**6
"""The least whole number that may identify: of seven digits, since zeros at the front are lost."""
_ONLY_FOUND = "internal"
"""The audience to which such a release may go."""


@dataclass(frozen=True, slots=True)
class PersonalColumn:
    """A column with personal data: its kinds with the rows of each."""

    facts: AttributeFacts
    kinds: Mapping[str, int]

    @property
    def text(self) -> str:
        """Say what it shows, without a value."""
        what = listed([f"{WORDS[kind]} ({counted(rows, 'row')})" for kind, rows in self.kinds.items()])
        return f"`{self.facts.name}` is declared `{self.facts.role}`, and looks like {what}"


def personal_columns(stream: Stream, attributes: Iterable[AttributeFacts]) -> tuple[PersonalColumn, ...]:
    """Look through those of these columns that are declared to identify nobody; columns of dates and times are not.

    Each different value of a partition is looked at once; no more is kept than some thousand values of a column.
    """
    looked_at = [a for a in attributes if a.role in _ROLES and (a.type.is_amount or not a.is_numeric)]
    if not looked_at:
        return ()
    contents, key = {a.name: _content(a) for a in looked_at}, secrets.token_bytes(KEY_BYTES)
    scans = {name: ColumnScan(key, content) for name, content in contents.items()}
    if isinstance(stream, DistributedStream):
        for parts in stream.results(partial(_scanned, contents, key), list(contents)):
            for name, scan in parts.items():
                scans[name].add(scan)
    else:
        for part in stream.parts(list(contents)):
            _take(scans, part)
    shown = ((a, scans[a.name].personal(named(a.source or a.name))) for a in looked_at)
    return tuple(PersonalColumn(a, kinds) for a, kinds in shown if kinds)


def _content(facts: AttributeFacts) -> Content:
    if facts.role in _WEIGHTS:
        return "weights"
    if facts.role is Role.ITEMS:
        return "items"
    return "numbers" if facts.is_numeric else "texts"


def _scanned(contents: Mapping[str, Content], key: bytes, part: StreamPart) -> dict[str, ColumnScan]:
    scans = {name: ColumnScan(key, content) for name, content in contents.items()}
    _take(scans, part)
    return {name: scan.forget() for name, scan in scans.items()}


def _take(scans: Mapping[str, ColumnScan], part: StreamPart) -> None:
    for name, scan in scans.items():
        if name in part.table.sets:
            scan.take(*_items(part.table.sets[name]))
            continue
        column = part.table[name]
        if scan.content == "numbers" and isinstance(column, NumericColumn):
            present = len(column.present())
            column = column.take(_long_numbers(column))
            scan.present += present - len(column)  # no identifier is that short: such numbers are counted alone
        rows = np.bincount(column.codes[column.codes >= 0], minlength=len(column.categories))
        scan.take(column.categories, rows)


def _items(sets: SetColumn) -> tuple[pa.StringArray, npt.NDArray[np.int64]]:
    """Return the names of items with the rows of each; one for each item of randomized sets, which are published."""
    counts = sets.counts() if isinstance(sets, Baskets) else np.ones(len(sets.categories), dtype=np.int64)
    return sets.categories, counts


def _long_numbers(column: NumericColumn) -> npt.NDArray[np.bool_]:
    """Return which cells hold a whole number of as many digits as identifiers have, shape (rows,)."""
    values = column.values
    long: npt.NDArray[np.bool_] = (values >= _LEAST) & (values == np.floor(values))
    return long


def personal_findings(release: ReleaseNode, stream: Stream) -> Iterator[Finding]:
    """Yield a finding for each column of a release that shows personal data."""
    for column in personal_columns(stream, release.attributes):
        yield Finding(CODE, Severity.WARNING, column.text, f"{release.name}.{column.facts.name}")


def personal_warnings(plan: Plan, stream: Stream) -> Iterator[Diagnostic]:
    """Yield a warning for each column of the source that a release would show as it is, before any run.

    What is waived is left out.
    """
    unchanged = {
        a.source: (a, r.name, r.audience) for r in reversed(plan.releases) for a in r.attributes if a.unchanged
    }
    shown = [a for a in plan.source.attributes if a.name in unchanged]
    for column in personal_columns(stream, [a for a in shown if a.role in _ROLES]):
        released, release, audience = unchanged[column.facts.name]
        finding = Finding(CODE, Severity.WARNING, column.text, f"{release}.{released.name}")
        if any(waiver.covers_finding(CODE, finding.subject, finding.hashes) for waiver in plan.waivers):
            continue
        leaves = "would withhold" if audience != _ONLY_FOUND else "leaves with"
        text = f"{column.text}: it {leaves} release `{release}` ({audience})"
        yield Diagnostic(CODE, text, column.facts.span, Severity.WARNING, help=_ADVICE)


_ADVICE = "declare it as `identifier`, or drop or mask it; where it is harmless, waive PPF649 with a reason"


def personal_results(plan: Plan, findings: Sequence[Finding]) -> Iterator[RequirementResult]:
    """Yield what withholds: one result for each release with such columns that goes to others."""
    for release in plan.releases:
        mine = findings_on(release.name, findings)
        if mine and release.audience != _ONLY_FOUND:
            columns = listed([f"`{f.subject.partition('.')[2]}`" for f in mine], 6)
            yield RequirementResult(
                id=PERSONAL_DATA,
                release=release.name,
                metric=f"{PERSONAL_DATA}.columns",
                bound=0,
                direction="at_most",
                measured=len(mine),
                holds=False,
                sentence=f"{columns} may show personal data that the policy does not declare, and the release is for"
                f" `{release.audience}`: {_ADVICE}.",
            )


def findings_on(release: str, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return those of the findings that are about columns of a release."""
    return tuple(f for f in findings if f.code == CODE and f.subject.partition(".")[0] == release)
