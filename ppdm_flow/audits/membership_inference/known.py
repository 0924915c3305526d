"""The records that the attacker holds: of people in the data, and of people outside of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ppdm_flow.audits.labels.unreadable import UnreadableLabels
from ppdm_flow.audits.membership_inference.spec import MembershipInferenceParams
from ppdm_flow.audits.records.columns import ColumnPair
from ppdm_flow.audits.records.gathering import Records, affordable_rows, gather
from ppdm_flow.audits.records.person_samples import PersonSample, knows_people, original_people
from ppdm_flow.audits.records.sampling import RecordSample, held_out, training
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class KnownRecords:
    """``records`` of ``whose`` each (records,): numbers of people, first ``members`` in the data, then ``others``."""

    records: Records
    whose: Ints
    members: int
    others: int
    released: Records
    unread: tuple[UnreadableLabels, ...]

    @property
    def people(self) -> int:
        """How many people there are."""
        return self.members + self.others

    def by_person(self, score: Floats) -> Floats:
        """Return the mean score of each person's records (people,)."""
        return np.asarray(np.bincount(self.whose, score, self.people) / np.bincount(self.whose, minlength=self.people))


def read(
    original: DataView,
    candidate: DataView,
    ctx: AuditContext,
    columns: Sequence[ColumnPair],
    params: MembershipInferenceParams,
) -> KnownRecords | None:
    """Read both groups, as many people as can be compared with the release; None where a group or it is empty."""
    samples = [_people(original, [c.source for c in columns], ctx, params, outside=side) for side in (False, True)]
    groups = [RecordSample(s.table, s.available) for s in samples]
    gathered = gather(original, candidate, ctx, columns, params.sample, params.reference, groups)
    if gathered.holdout is None or not len(gathered.released):
        return None
    (members, who), (others, whom) = (
        _affordable(records, sample.whose, 4 * len(gathered.released))
        for records, sample in zip((gathered.training, gathered.holdout), samples, strict=True)
    )
    many, more = (int(each.max(initial=-1)) + 1 for each in (who, whom))
    records = Records(
        np.concatenate([members.cells, others.cells]),
        members.numbers,
        members.intervals,
        members.available + others.available,
    )
    return KnownRecords(records, np.concatenate([who, whom + many]), many, more, gathered.released, gathered.unread)


def _people(
    original: DataView, sources: Sequence[str], ctx: AuditContext, params: MembershipInferenceParams, *, outside: bool
) -> PersonSample:
    """Return people with as many of their rows as the attacker knows; rows, where these are counted."""
    if ctx.people is not None and knows_people(original, ctx):
        return original_people(
            original, sources, ctx, outside=outside, most_people=params.sample, known_rows=ctx.people.known_rows
        )
    if ctx.holdout is None:
        raise ValueError("nobody is held out")
    sample = (held_out if outside else training)(original, sources, params.sample, ctx.holdout)
    return PersonSample(sample.table, np.arange(len(sample), dtype=np.int64), sample.available)


def _affordable(records: Records, whose: Ints, known: int) -> tuple[Records, Ints]:
    """Return as many of the people as can be compared with ``known`` records, evenly spaced, with all their records."""
    people, most = int(whose.max(initial=-1)) + 1, affordable_rows(records, known)
    if len(records) <= most:
        return records, whose
    fewer = max(1, most * people // len(records))
    number = np.full(people, -1, dtype=np.int64)
    number[np.arange(fewer) * people // fewer] = np.arange(fewer)
    rows = np.flatnonzero(number[whose] >= 0)
    return records.take(rows), number[whose[rows]]
