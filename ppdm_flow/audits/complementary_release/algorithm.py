"""Whom two releases tell apart that neither does alone.

Somebody who knows a person's values finds the class in this release and the classes in the other that fit. The person
is one of those in both: fewer than in either, and with a sensitive value that both classes have. Both may be
k-anonymous and l-diverse (Sweeney 2002, complementary release and temporal attack; Ganta and others, KDD 2008).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from ppdm_flow.audits.complementary_release.intersecting import (
    CommonValues,
    Intersections,
    common_values,
    intersections,
)
from ppdm_flow.audits.complementary_release.spec import ComplementaryReleaseParams
from ppdm_flow.audits.labels.file import KnownTable, known_columns, read
from ppdm_flow.audits.labels.released import ReleasedClasses, classes, hierarchy_of
from ppdm_flow.audits.labels.unreadable import UnreadableLabels, gate_nothing, of_release
from ppdm_flow.audits.records.columns import quasi_identifiers, truthful
from ppdm_flow.core.diagnostics import Severity
from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import AuditOutcome, Chart, Figure, FigureSeries, Finding
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.releases.attributes import released, source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.counts import Counts, count
from ppdm_flow.tables.table import Table

UNITS = {
    "k": "people", "k_alone": "people", "rows_below": "rows", "groups": "groups", "matched": "share",
    "certain": "share", "certain_alone": "share",
}  # fmt: skip
NO_PAIRS = "nobody knows whose row is whose: rows cannot be paired with the original"
NO_COLUMNS = "the other release has none of the quasi-identifiers"
NO_SECRETS = "the two releases have no sensitive attribute in common"

_EDGES = (1, 2, 5, 10, 50, 100)
_NAMES = ("1", "2 to 4", "5 to 9", "10 to 49", "50 to 99", "100 or more")


def findings(
    people: Intersections,
    here: ReleasedClasses,
    learned_values: Mapping[str, CommonValues],
    params: ComplementaryReleaseParams,
    ctx: AuditContext,
) -> tuple[Finding, ...]:
    """Return what a reader should know: groups that only both releases make small, and values that only both tell."""
    if not truthful(here.columns, ctx):
        return ()
    subject = f"{ctx.release}.complementary_release.{params.other}"
    texts = [*_small(people, here, params.k, subject), *_certain_values(learned_values, people, subject, ctx)]
    return tuple(Finding("PPF899", Severity.WARNING, text, name) for text, name in texts)


def _small(people: Intersections, here: ReleasedClasses, k: int, subject: str) -> Iterator[tuple[str, str]]:
    size, alone = people.sizes[people.group], here.rows[people.here]
    narrowed = (size < k) & (size < alone)
    rows = int(people.persons[narrowed].sum())
    if rows:
        text = (
            f"this and the other release together leave {rows:,} of {counted(people.total, 'row')} in groups of fewer"
            f" than {k:,} people, the smallest with {int(size[narrowed].min()):,}; the smallest class of this release"
            f" alone has {int(here.rows.min()):,}"
        )
        yield text, subject


def _certain_values(
    learned_values: Mapping[str, CommonValues], people: Intersections, subject: str, ctx: AuditContext
) -> Iterator[tuple[str, str]]:
    for secret, one in learned_values.items():
        if one.alarming and truthful((secret,), ctx):
            text = (
                f"`{secret}` becomes certain for {one.new:,} of {counted(people.total, 'row')}: the classes of both"
                f" releases have but one value in common, and for {one.right:,} it is the true one"
            )
            yield text, f"{subject}.{secret}"


def chart(here: ReleasedClasses, people: Intersections) -> Chart:
    """Return bars: rows by how many people are left, in this release alone and in both."""
    sides = ((here.rows[people.here], "this release alone"), (people.sizes[people.group], "both releases"))
    series = []
    for size, name in sides:
        place = np.searchsorted(_EDGES, size, side="right") - 1
        rows = np.bincount(place, people.persons, len(_EDGES))
        series.append(FigureSeries(name, tuple(rows.tolist())))
    return Chart(
        id="groups",
        title="Rows by the people whom their values leave",
        kind="bars",
        x=_NAMES,
        series=tuple(series),
        x_label="people",
        y_label="rows",
        note="whoever is left with few others is found",
    )


@dataclass(frozen=True, slots=True)
class _Other:
    """The rows of the other release, under this release's names."""

    table: Table

    def counts(self, columns: Sequence[str]) -> Counts:
        """Count its combinations."""
        return count(self.table, columns)


class ComplementaryReleaseAudit:
    """Intersects the classes of both."""

    def __init__(self, params: ComplementaryReleaseParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return the smallest group that both leave, and for whom a value is certain."""
        secrets = (
            candidate.schema.having(Role.SENSITIVE)
            if self.params.sensitive is None
            else released(self.params.sensitive, candidate, ctx)
        )
        chosen = quasi_identifiers(self.params.attributes, candidate, ctx)
        columns = tuple(c for c in chosen if c not in secrets)
        other, known, common = self._read(columns, secrets, original, ctx)
        if not known:
            return _nothing(NO_COLUMNS)
        if ctx.pairs is None or original.schema.weight is not None:
            return _nothing(NO_PAIRS)
        here, there = classes(candidate, columns, common), classes(other, known, common)
        people = intersections(here, there, ctx.pairs, ctx)
        if people is None:
            return _nothing("there are no rows")
        learned_values = {s: common_values(i, people, here, there, candidate, other) for i, s in enumerate(common)}
        figures = _sizes(here, people, self.params.k) | _values(learned_values, people.total)
        texts = findings(people, here, learned_values, self.params, ctx)
        outcome = AuditOutcome(figures, findings=texts, charts=(chart(here, people),))
        unread = [_unread(c, labels, original, ctx) for c, labels in zip(known, there.categories, strict=True)]
        return gate_nothing(outcome, unread, ctx, "complementary_release")

    def _read(
        self, columns: Sequence[str], secrets: Sequence[str], original: DataView, ctx: AuditContext
    ) -> tuple[_Other, tuple[str, ...], tuple[str, ...]]:
        """Return the other release, which quasi-identifiers it tells (left out here or not), and which secrets."""
        file = KnownTable(ctx.home / self.params.other, self.params.delimiter, self.params.columns)
        here = {source_of(c, ctx) for c in columns}
        gone = (
            []
            if self.params.attributes
            else [n for n in original.schema.having(Role.QUASI_IDENTIFIER) if n not in here]
        )
        wanted = [(c, source_of(c, ctx)) for c in (*columns, *gone, *secrets)]
        known = known_columns(file, [(c, s) for c, s in wanted if s in original.schema])
        names = tuple(c for c in (*columns, *gone) if c in known)
        return _Other(read(file, known)), names, tuple(s for s in secrets if s in known)


def _unread(column: str, labels: pa.StringArray, original: DataView, ctx: AuditContext) -> UnreadableLabels | None:
    """Return what nobody can read of the other release."""
    strange = of_release(column, labels, original.domain(source_of(column, ctx)), hierarchy_of(column, ctx), ctx)
    return strange and replace(strange, where="the other release")


def _sizes(here: ReleasedClasses, people: Intersections, k: int) -> dict[str, Figure]:
    sizes = people.sizes
    return {
        "k": Figure(int(sizes.min()), "people"),
        "k_alone": Figure(int(here.rows.min()), "people"),
        "rows_below": Figure(int(sizes[sizes < k].sum()), "rows"),
        "groups": Figure(len(sizes), "groups"),
        "matched": Figure(int(people.persons[people.fits > 0].sum()) / people.total, "share"),
    }


def _values(learned_values: dict[str, CommonValues], total: int) -> dict[str, Figure]:
    if not learned_values:
        return {n: Figure(None, "share", note=NO_SECRETS) for n in ("certain", "certain_alone")}
    each = {f"{s}.certain": Figure(one.certain / total, "share") for s, one in learned_values.items()}
    return each | {
        "certain": Figure(max(one.certain for one in learned_values.values()) / total, "share"),
        "certain_alone": Figure(max(one.alone for one in learned_values.values()) / total, "share"),
    }


def _nothing(why: str) -> AuditOutcome:
    return AuditOutcome({name: Figure(None, unit, note=why) for name, unit in UNITS.items()})
