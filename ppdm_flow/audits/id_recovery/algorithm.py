"""How many ids can be recovered from their codes.

The attacker has the released file and knows the method. A recovered id counts where a person with that id has exactly
the released record of the row. The same attack on the same rows in another order gives the number found by chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ppdm_flow.audits.id_recovery.spec import IdRecoveryParams
from ppdm_flow.audits.multisets import common_rows
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Figure, Finding
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.releases.attributes import source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.column import Column
from ppdm_flow.tables.table import Table, concat

NAMES = ("recovered_ids", "recovered_by_chance")
UNPAIRED = "original and released rows cannot be paired, so nobody can say which id is whose"

Integers = npt.NDArray[np.int64]


def decoded(codes: Integers, width: int, head: int, until: int | None = None, *, complement: bool = False) -> Integers:
    """Return the ids behind codes in the order in which they were encoded, shape (rows,).

    A row's own code still has its first bits and those behind ``until``; the others stand in the code of the row
    before.

    Examples
    --------
    >>> decoded(np.array([1, 2232, 3434]), 12, 4).tolist()
    [106, 257, 3000]
    >>> decoded(np.array([10, 2225, 3432]), 12, 4, 8).tolist()
    [106, 257, 3000]
    """
    tail, last = width - head, 0 if until is None else width - until
    first, behind = codes >> tail, (1 << last) - 1
    if complement:
        own = (1 << head) - 1 - first
    else:
        bits = (first[:, None] >> np.arange(head)) & 1  # lowest first
        own = bits @ (1 << np.arange(head - 1, -1, -1, dtype=np.int64))
    passed = np.roll(codes, 1) & ((1 << tail) - 1 - behind)
    ids: Integers = (own << tail) + passed + (codes & behind)
    return ids


def integers(column: Column) -> Integers | None:
    """Return a column as whole numbers from 0, shape (rows,), or None where a cell is none below 2^63."""
    used = column.compact()
    try:
        values = used.categories.cast(pa.int64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return None
    if (used.codes < 0).any() or (values < 0).any():
        return None
    return values[used.codes] if len(values) else np.zeros(0, dtype=np.int64)


def texts(numbers: Integers) -> Column:
    """Return whole numbers as a column of texts."""
    distinct, places = np.unique(numbers, return_inverse=True)
    return Column(places.astype(np.int32), pa.array(distinct).cast(pa.string()))


class IdRecoveryAudit:
    """Turns codes back."""

    def __init__(self, params: IdRecoveryParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the share of rows whose id comes back, and that of the same attack by chance."""
        name = self.params.attribute
        source = source_of(name, ctx)
        if name not in candidate.schema or source not in original.schema:
            return _nothing(f"the release has no codes of an attribute `{name}` of the original")
        if ctx.pairs is None:
            return _nothing(UNPAIRED)
        if self.params.method == "mask":
            return _looked_up(name, source, ctx)
        released = candidate.table([n for n in candidate.schema.names if n not in candidate.schema.having(Role.ITEMS)])
        codes = integers(released[name])
        if codes is None or not len(codes) or int(codes.max()) >= 1 << self.params.width:
            return _nothing(f"`{name}` has no codes of {self.params.width} bits in every row")
        truth = _truth(name, source, released, ctx)
        if truth is None:
            return _nothing(UNPAIRED)
        return self._turned_back(name, RecoveryAttack(name, released, codes, truth), ctx)

    def _turned_back(self, name: str, attack: RecoveryAttack, ctx: AuditContext) -> AuditOutcome:
        """Try every position that may have been drawn, as if all rows had it, and keep the best of them."""
        rows = len(attack.codes)
        order = np.random.default_rng(0).permutation(rows)
        hits = lucky = 0
        for head, until in self._positions():
            recovered = attack.hits(self._decoded(attack.codes, head, until))
            if recovered > hits or not hits:
                guessed = np.empty(rows, dtype=np.int64)
                guessed[order] = self._decoded(attack.codes[order], head, until)
                hits, lucky = recovered, attack.hits(guessed)
        figures = {
            "recovered_ids": Figure(
                hits / rows, "share", note="rows whose id, with the rest of the record, is a true one"
            ),
            "recovered_by_chance": Figure(lucky / rows, "share", note="the same attack on the rows in another order"),
            "codes": Figure(len(np.unique(attack.codes)), "values"),
        }
        least = "" if len(list(self._positions())) == 1 else "at least "
        text = (
            f"the ids of {least}{counted(hits, 'row')} of {rows:,} come back from `{name}` by turning the encoding back"
            f" in the order of the file; in a random order {lucky:,} do"
        )
        alarm = hits == rows or hits > lucky + 5 * np.sqrt(lucky + 1) + 5  # far beyond the scatter of a count
        findings = (Finding("PPF888", Severity.WARNING, text, f"{ctx.release}.{name}"),) if alarm else ()
        return AuditOutcome(figures, findings=findings)

    def _positions(self) -> Iterator[tuple[int, int]]:
        width, head, until = self.params.width, self.params.head, self.params.until
        ends = range(2, width + 1) if until == "random" else (width if until is None else until,)
        for end in ends:
            yield from ((first, end) for first in (range(1, end) if head == "random" else (head,)) if first < end)

    def _decoded(self, codes: Integers, head: int, until: int) -> Integers:
        complement = self.params.invert == "complement"
        return decoded(codes, self.params.width, head, until, complement=complement)


@dataclass(frozen=True, slots=True, eq=False)
class RecoveryAttack:
    """Released rows in the order of the file, their codes, and the true ids with what is released of the row."""

    name: str
    released: Table
    codes: Integers
    truth: Table

    def hits(self, ids: Integers) -> int:
        """Return how many rows are true ones with these ids."""
        return common_rows(self.released.replaced({self.name: texts(ids)}), self.truth)


def _truth(name: str, source: str, released: Table, ctx: AuditContext) -> Table | None:
    parts = []
    for before, after in ctx.pairs.pairs([source], list(released.names)) if ctx.pairs is not None else ():
        ids = integers(before[source])
        if ids is None:
            return None
        parts.append(after.replaced({name: texts(ids)}))
    return concat(parts) if parts else None


def _looked_up(name: str, source: str, ctx: AuditContext) -> AuditOutcome:
    """Count the rows whose released text belongs to one id only."""
    if ctx.pairs is None:
        return _nothing(UNPAIRED)
    joint = ctx.pairs.joint(source, name)
    occurs = joint.counts > 0
    groups, number = joint.groups(["released"])
    ids = np.bincount(groups[occurs], minlength=number)
    rows = int(joint.counts.sum())
    if not rows:
        return _nothing("there are no rows")
    alone = int(joint.counts[occurs & (ids[groups] == 1)].sum())
    largest = np.zeros(number, dtype=np.int64)
    np.maximum.at(largest, groups, joint.counts)
    figures = {
        "recovered_ids": Figure(
            alone / rows, "share", note="rows whose text belongs to one id only; a list of ids reveals them"
        ),
        "recovered_by_chance": Figure(
            float(largest.sum()) / rows, "share", note="rows that the likeliest id of their text gets right"
        ),
        "codes": Figure(number, "values"),
    }
    text = f"{counted(alone, 'row')} of {rows:,} have a text in `{name}` that belongs to one id of the original only"
    findings = (Finding("PPF888", Severity.WARNING, text, f"{ctx.release}.{name}"),) if alone else ()
    return AuditOutcome(figures, findings=findings)


def _nothing(why: str) -> AuditOutcome:
    return AuditOutcome({n: Figure(None, "share", note=why) for n in NAMES})
