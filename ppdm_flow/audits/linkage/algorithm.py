"""Whose row someone finds who holds a list of people and the release.

The attacker reads each released label as what it may stand for (``476**``, ``[20, 30)``, ``>= 40``, a label of the
policy's hierarchy, a suppressed cell) and keeps the rows that fit a person. One row that fits is the person's, if the
person is in the release; several rows that fit with one sensitive value tell that value (Sweeney 2002).

Where the policy counts people, see :mod:`ppdm_flow.audits.linkage.persons`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.audits.labels.covering import cover
from ppdm_flow.audits.labels.joining import look_up
from ppdm_flow.audits.labels.released import ReleasedClasses, classes, hierarchy_of
from ppdm_flow.audits.labels.unreadable import UnreadableLabels, gate_nothing, of_file, of_release
from ppdm_flow.audits.linkage.links import LinkageAttack, approximate, exact
from ppdm_flow.audits.linkage.nearest import nearest
from ppdm_flow.audits.linkage.people import linked_by, people_of
from ppdm_flow.audits.linkage.persons import attack_people
from ppdm_flow.audits.linkage.spec import LinkageParams
from ppdm_flow.audits.linkage.wording import chart, findings
from ppdm_flow.audits.records.columns import quasi_identifiers
from ppdm_flow.audits.records.members import counts_people, refuse_rows, untold
from ppdm_flow.core.results import AuditOutcome, Figure
from ppdm_flow.core.roles import Role
from ppdm_flow.mining.releases.attributes import released, source_of
from ppdm_flow.sdk.audit import AuditContext
from ppdm_flow.sdk.view import DataView

NAMES = ("matched", "linked", "linked_share", "learned", "precision", "recall")
NEAREST = ("nearest_precision", "nearest_recall", "guessing")
NO_TRUTH = "nobody knows whose row is whose: rows cannot be paired, or `truth:` does not say by what"


class LinkageAudit:
    """Looks everybody up."""

    def __init__(self, params: LinkageParams) -> None:
        self.params = params

    def measure(self, original: DataView, candidate: DataView, ctx: AuditContext) -> AuditOutcome:
        """Return how many people are found, what is learned of them, and how often that is right."""
        columns = quasi_identifiers(self.params.attributes, candidate, ctx)
        secrets = (
            candidate.schema.having(Role.SENSITIVE)
            if self.params.sensitive is None
            else released(self.params.sensitive, candidate, ctx)
        )
        columns = tuple(c for c in columns if c not in secrets)
        columns = linked_by(self.params, columns, original, ctx) if columns else ()
        if not columns:
            return _nothing("no quasi-identifier is released that the attacker knows")
        if counts_people(ctx):
            attack = attack_people(self.params, columns, secrets, original, candidate, ctx)
        else:
            attack = _carried_out(self.params, classes(candidate, columns, secrets), original, ctx)
        if attack is None:
            return _nothing("there are no rows or no people")
        outcome = AuditOutcome(
            _figures(attack, untold(ctx)), findings=findings(attack, self.params, ctx), charts=(chart(attack),)
        )
        outcome = gate_nothing(outcome, _unread(attack, self.params, original, ctx), ctx, "linkage")
        return refuse_rows(outcome, ctx)


def _carried_out(
    params: LinkageParams, known: ReleasedClasses, original: DataView, ctx: AuditContext
) -> LinkageAttack | None:
    people = people_of(params, known, original, ctx)
    if len(known) == 0 or people.total == 0:
        return None
    index = known.index(people.values, ctx)
    matches, weights = look_up(people.codes, people.persons, index)
    near = None
    if params.sample and people.own is not None and (people.own >= 0).any():
        labels, values = known.categories, people.values
        near = approximate(
            people, nearest(people.codes, people.persons, people.own, labels, values, index, params.sample)
        )
    return LinkageAttack(people, known, matches, weights, exact(people, matches, weights), near, known.total)


def _unread(
    attack: LinkageAttack, params: LinkageParams, original: DataView, ctx: AuditContext
) -> Iterator[UnreadableLabels | None]:
    """Yield what the attacker could not read, of the release and of the file."""
    known, people = attack.known, attack.people
    for column, labels, values in zip(known.columns, known.categories, people.values, strict=True):
        source, hierarchy = source_of(column, ctx), hierarchy_of(column, ctx)
        true = original.domain(source) if source in original.schema else values
        yield of_release(column, labels, true, hierarchy, ctx)
        if params.external is not None:
            fits = cover(labels, values, hierarchy, ctx.nulls, ctx.home)
            yield of_file(column, values, true, fits, hierarchy, ctx)


def _figures(attack: LinkageAttack, counted: str) -> dict[str, Figure]:
    matches, linked = attack.matches, attack.share(attack.matches.linked)
    some = attack.share(matches.rows > 0)
    sampled = "; ".join(n for n in ("" if linked.complete else "of the people looked up", counted) if n)
    single = "exactly one released row fits" if attack.unit == "rows" else "only rows of one person fit"
    figures = {
        "matched": some.figure("people whom some released row fits"),
        "linked": Figure(int(linked.hits), "people", sample=None if linked.complete else linked.size, note=sampled),
        "linked_share": linked.figure(f"people whom {single}"),
    }
    learned = {s: attack.share(matches.certain(i)) for i, s in enumerate(attack.known.secrets)}
    note = "people whom only rows with one value fit"
    figures |= {f"{s}.learned": share.figure(note) for s, share in learned.items()}
    worst = max(learned.values(), key=lambda s: s.hits, default=None)
    none = Figure(None, "share", note="no sensitive attribute is released")
    figures["learned"] = none if worst is None else worst.figure(note)
    return figures | _judged(attack)


def _judged(attack: LinkageAttack) -> dict[str, Figure]:
    figures = {n: Figure(None, "share", note=NO_TRUTH) for n in (*NAMES[4:], *NEAREST)}
    one = "row" if attack.unit == "rows" else "person"
    figures["guessing"] = Figure(1.0 / attack.released, "share", note=f"who picks any {one} is right so often")
    if attack.judged is not None:
        missing_reason = "" if attack.judged.claims else "nobody is linked"
        figures["precision"] = attack.judged.precision.figure(missing_reason)
        figures["recall"] = attack.judged.recall.figure("people with a released row who are linked to it")
    if attack.near is not None:
        missing_reason = "" if attack.near.claims else "nobody has a single nearest row"
        figures["nearest_precision"] = attack.near.precision.figure(missing_reason)
        figures["nearest_recall"] = attack.near.recall.figure("people whose single nearest row is theirs")
    return figures


def _nothing(why: str) -> AuditOutcome:
    return AuditOutcome({n: Figure(None, "share", note=why) for n in (*NAMES, *NEAREST)})
