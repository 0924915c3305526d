"""Compiles a policy to a plan, or to all of its faults."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Protocol

from ppdm_flow.core.clock import Clock, in_a_year, utc_today
from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace, Severity, has_errors, in_order
from ppdm_flow.core.digests import digest
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.gate import FigureGate
from ppdm_flow.core.phrases import counted, listed
from ppdm_flow.core.spans import Span
from ppdm_flow.core.waivers import AcceptedWaiver, is_code, of_privacy, within
from ppdm_flow.evidence.assignment import crowded_roles
from ppdm_flow.plan.binding import partial_faults
from ppdm_flow.plan.definition import Plan, RequiredApprovals
from ppdm_flow.plan.document import document
from ppdm_flow.plan.rules.protection import releases_without_requirements
from ppdm_flow.plan.table_compiler import TableCompiler, names_of
from ppdm_flow.policy.demands import EqualTo, HasAll
from ppdm_flow.policy.floor import STAR, Floor
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.loaded import PolicyReading, ResolvedPlaces
from ppdm_flow.policy.params import Permission
from ppdm_flow.policy.redaction import redacted, waivers_of

if TYPE_CHECKING:
    from ppdm_flow.evidence.signers import Signers

Columns = Sequence[str] | Mapping[str, Sequence[str]]
"""The columns of the data; those of linked tables by the table's name."""


class Compiler(Protocol):
    """Makes a plan of a policy."""

    def compile(self) -> tuple[Plan, list[Diagnostic]]:
        """Return the plan, without a digest, and everything that is wrong with it."""
        ...


@dataclass(frozen=True, slots=True)
class CompileResult:
    """The outcome: ``plan`` is None where there are errors. ``diagnostics`` include those of the policy itself.

    ``waived`` are those of the diagnostics, all of them warnings, that a waiver covers.
    """

    plan: Plan | None
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, str]
    waived: Mapping[Diagnostic, AcceptedWaiver] = field(default_factory=dict)


def compile_policy(
    loaded: PolicyReading,
    columns: Columns | None = None,
    data: str | None = None,
    clock: Clock | None = utc_today,
    *,
    digested: bool = True,
) -> CompileResult:
    """Bind plugins, follow attributes through the steps, attach audits, and check the flow by its rules.

    ``columns`` are the names in the data's header, where they are known (of linked tables by table): then globs among
    the declared attributes are expanded, and the plan is bound to the data. ``data`` names the file that is read in
    place of the policy's own. ``clock`` tells the day on which waivers are judged; without one they are not.
    Nothing is raised for a bad policy. A plan that nobody will run need not be ``digested``.
    """
    if loaded.policy is None:
        partial = (redacted(each, loaded.secrets) for each in partial_faults(loaded.tree, loaded.places))
        return CompileResult(None, in_order((*loaded.diagnostics, *partial)), loaded.sources)
    plan, faults = _compiler(loaded, loaded.policy, columns, data).compile()
    faults += releases_without_requirements(plan, loaded.policy, loaded.places, strict=loaded.project is not None)
    every = in_order((*loaded.diagnostics, *(redacted(d, loaded.secrets) for d in faults)))
    dated = loaded.policy.approvals is not None or bool(loaded.policy.waivers)
    today = clock() if clock is not None and dated else None
    approvals = check_approvals(loaded, loaded.policy, plan.home, today)
    every = in_order((*every, *(redacted(d, loaded.secrets) for d in approvals.faults)))
    checked = _check_waivers(loaded, loaded.policy, plan, every, today)
    every = in_order((*every, *checked.faults))
    plan = replace(plan, waivers=checked.waivers, approvals=approvals.approvals)
    if digested:
        plan = replace(plan, digest=digest(document(plan)))
    plan = replace(plan, secrets=loaded.secrets - names_of(loaded.policy))
    sources = {**loaded.sources, **approvals.sources}
    return CompileResult(None if has_errors(every) else plan, every, sources, checked.waived)


def _compiler(loaded: PolicyReading, policy: Policy, columns: Columns | None, data: str | None) -> Compiler:
    if policy.tables:
        from ppdm_flow.plan.linked import LinkedCompiler  # noqa: PLC0415  # most policies have one table

        return LinkedCompiler(loaded, policy, columns if isinstance(columns, Mapping) else None)
    return TableCompiler(loaded, policy, None if isinstance(columns, Mapping) else columns, data)


def _check_waivers(
    loaded: PolicyReading, policy: Policy, plan: Plan, diagnostics: Sequence[Diagnostic], today: date | None
) -> WaiverCheck:
    """Check the policy's waivers on a day; without one they are kept and cover nothing."""
    waivers = waivers_of(policy, loaded)
    if today is None or not waivers:
        return WaiverCheck(waivers=waivers)
    return check_waivers(waivers, plan.gates, diagnostics, loaded.places, loaded.privacy_waivers, today, loaded.floors)


# What a run waits for before it is released: signatures in certain roles, by people whom the list of signers names.


AUTHOR = "author"
"""The role of the person who makes a run: it signs each, and approves none."""
_SIGNERS = ("approvals", "signers")
_ROLES = ("approvals", "roles")


@dataclass(frozen=True, slots=True)
class ApprovalCheck:
    """The required signers, the faults in them, and the text of the list of signers where it has a fault."""

    approvals: RequiredApprovals | None = None
    faults: tuple[Diagnostic, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)


def check_approvals(loaded: PolicyReading, policy: Policy, home: str, today: date | None) -> ApprovalCheck:
    """Read the list of signers, and check it against the roles that have to sign (PPF340, PPF348, PPF349).

    ``today`` is the day on which keys have to be valid, which is only warned of: a run may be signed later. None leaves
    that out.
    """
    given = policy.approvals
    if given is None:
        return ApprovalCheck()
    from ppdm_flow.policy.signers import read_signers  # noqa: PLC0415  # only policies with approvals need it

    path = os.path.normpath(os.path.join(home, given.signers))  # noqa: PTH118  (text, not a Path)
    shown = os.path.normpath(os.path.join(os.path.dirname(loaded.file), given.signers))  # noqa: PTH118, PTH120  (text)
    place = loaded.places.value(*_SIGNERS)
    try:
        signers = read_signers(Path(path), shown)
    except PpdmError as error:
        named = (RelatedPlace(place, "named here"),) if place else ()
        faults = tuple(
            replace(d, span=place, path=_SIGNERS) if d.span is None else replace(d, related=(*d.related, *named))
            for d in error.diagnostics
        )
        return ApprovalCheck(None, faults, error.sources)
    signed = {name: waiver.signed_by for name, waiver in policy.waivers.items() if waiver.signed_by}
    roles = tuple(dict.fromkeys(given.roles))
    approvals = RequiredApprovals(roles, given.distinct, path, signers.digest, signed, loaded.places.key("approvals"))
    return ApprovalCheck(approvals, tuple(_faults(loaded, approvals, signers, shown, today)))


def _faults(
    loaded: PolicyReading, approvals: RequiredApprovals, signers: Signers, shown: str, today: date | None
) -> Iterator[Diagnostic]:
    where = f"`{shown}`"
    for text, place in _lacks(approvals, _people(signers, approvals, None)):
        span = loaded.places.value(*place)
        hint = "give somebody the role there"
        yield Diagnostic("PPF348", f"{text} in {where}, so that no run could be approved", span, hint=hint, path=place)
        return
    if today is not None:
        for text, place in _lacks(approvals, _people(signers, approvals, today)):
            span = loaded.places.value(*place)
            text = f"{text} in {where} with a key that is valid on {today}"
            yield Diagnostic("PPF349", text, span, Severity.WARNING, hint="renew a key there", path=place)
            break
    yield from _unpinned(loaded)


def _people(signers: Signers, approvals: RequiredApprovals, today: date | None) -> dict[str, frozenset[str]]:
    """Return who could sign in each role, the author's first; of a revoked key never anybody."""
    roles = (AUTHOR, *(role for role in approvals.needed if role != AUTHOR))
    return {
        role: frozenset(
            s.name
            for s in signers.in_role(role)
            if today is None or ((s.first is None or s.first <= today) and (s.last is None or today <= s.last))
        )
        for role in roles
    }


def _lacks(approvals: RequiredApprovals, people: Mapping[str, frozenset[str]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield why nobody could release a run, with the place of what asks for it."""
    for role, names in people.items():
        if not names:
            yield f"nobody has the role `{role}`", _place(approvals, role)
    if not all(people.values()):
        return
    approving = [role for role in people if role != AUTHOR]
    if approvals.distinct:
        crowded = crowded_roles(people)
        if crowded:
            able = len({name for role in crowded for name in people[role]})
            have = f"only {counted(able, 'person')} {'has' if able == 1 else 'have'} these roles"
            yield f"{_quoted(crowded)} take {len(crowded)} different people, and {have}", _ROLES
    elif not any(all(people[role] - {author} for role in approving) for author in people[AUTHOR]):
        yield f"{_quoted(approving)} take somebody else than the author, and nobody else has the role", _ROLES


def _place(approvals: RequiredApprovals, role: str) -> tuple[str, ...]:
    """Return where the policy asks for a role."""
    if role in approvals.roles:
        return (*_ROLES, str(approvals.roles.index(role)))
    waiver = next((name for name, signing in approvals.waivers.items() if signing == role), None)
    return _SIGNERS if waiver is None else ("waivers", waiver, "signed_by")


def _quoted(roles: Iterable[str]) -> str:
    return listed([f"`{role}`" for role in roles])


def _unpinned(loaded: PolicyReading) -> Iterator[Diagnostic]:
    """Yield a warning where a template demands approvals, and another file names the signers.

    The author of that file can give one person all roles. A template whose floor names ``approvals.signers`` has
    decided: it requires a certain file, or lets policies bring their own.
    """
    place = loaded.places.value(*_SIGNERS)
    demanding = {f.span.file: f.span for f in loaded.floors if f.path[0] == "approvals" and f.span.file != loaded.file}
    settled = {
        f.span.file
        for f in loaded.floors
        if f.path == _SIGNERS or (f.path == _SIGNERS[:1] and isinstance(f.demand, EqualTo))
    }
    for file, span in demanding.items():
        if place is not None and file not in settled and file not in _users(loaded, place.file):
            text = "a template demands approvals, and not the template but this file says who may give them"
            hint = "leave the signers to the template"
            note = "its owner can settle it with `floors: {approvals: not weaker}`, or `approvals.signers: present`"
            related = (RelatedPlace(span, "the floor"),)
            yield Diagnostic(
                "PPF340", text, place, Severity.WARNING, hint, notes=(note,), related=related, path=_SIGNERS
            )
            return


def _users(loaded: PolicyReading, file: str) -> frozenset[str]:
    """Return a file with all templates that brought it in, one for another; not the policy."""
    chain: list[str] = []
    while file not in chain and file != loaded.file:
        chain.append(file)
        if file not in loaded.users:
            break
        file = loaded.users[file].file
    return frozenset(chain)


# Waivers on the day that they are judged: expired, too long, without permission, of nothing (PPF332 to PPF337).


OF_RUNS = frozenset({"PPF492", "PPF587", "PPF647", "PPF649"})
"""Codes below PPF700 that are reported by a run."""
_PRIVACY_CODES = frozenset({"PPF526"})
_FIRST_OF_RUNS = "PPF7"


@dataclass(slots=True)
class WaiverCheck:
    """The result of checking waivers on one day.

    ``faults`` are diagnostics about the waivers themselves, ``waived`` maps each covered diagnostic to its waiver, and
    ``waivers`` are all waivers with the diagnostics that they cover.
    """

    faults: list[Diagnostic] = field(default_factory=list)
    waived: dict[Diagnostic, AcceptedWaiver] = field(default_factory=dict)
    waivers: tuple[AcceptedWaiver, ...] = ()


def check_waivers(
    waivers: Iterable[AcceptedWaiver],
    gates: Iterable[FigureGate],
    diagnostics: Iterable[Diagnostic],
    places: ResolvedPlaces,
    permission: Permission,
    today: date,
    floors: Iterable[Floor] = (),
) -> WaiverCheck:
    """Check waivers, and match them with the ``diagnostics`` that they cover. An expired waiver covers nothing.

    A gate that a template's floor requires needs the same permission as a requirement under ``privacy``.
    """
    outcome, every = WaiverCheck(), tuple(diagnostics)
    faulty = {d.path[1] for d in every if d.path[:1] == ("waivers",) and d.severity is Severity.ERROR}
    known_gates = tuple(gates)
    private = {gate.id for gate in known_gates if of_privacy(gate.metric)}
    floor_spans = _spans_of_floors(known_gates, floors)
    for waiver in waivers:
        faults = list(_dates(waiver, places, today))
        if of_privacy(waiver.of) or waiver.of in private:
            faults += _not_permitted(waiver, waiver.of, places, permission)
        elif waiver.of in floor_spans and not permission.allowed:
            faults += _not_permitted(waiver, waiver.of, places, Permission(place=floor_spans[waiver.of]))
        covered: list[Diagnostic] = []
        if is_code(waiver.of) and waiver.name not in faulty:
            mine = [d for d in every if d.code == waiver.of and _at(d, waiver, places)]
            faults += _matches(waiver, mine, places, permission)
            covered = [] if has_errors(faults) else mine
        known = replace(waiver, covers=tuple(_label(d) for d in covered))
        outcome.waived |= dict.fromkeys(covered, known)
        outcome.faults += faults
        outcome.waivers = (*outcome.waivers, known)
    return outcome


def _spans_of_floors(gates: Iterable[FigureGate], floors: Iterable[Floor]) -> dict[str, Span]:
    """Map the id of each gate that a floor requires to the span of the floor."""
    about = [(_of_gates(floor), floor.span) for floor in floors]
    names = [(gate.id, gate.id.removeprefix("gates.")) for gate in gates]
    return {id_: span for id_, name in names for gate_names, span in about if gate_names & {STAR, name}}


def _of_gates(floor: Floor) -> frozenset[str]:
    """Return the names of the gates that a floor is about: by its place, or as what has to be there."""
    if floor.path[0] != "gates":
        return frozenset()
    if len(floor.path) > 1:
        return frozenset(floor.path[1:2])
    return frozenset(floor.demand.wanted if isinstance(floor.demand, HasAll) else ())


def _dates(waiver: AcceptedWaiver, places: ResolvedPlaces, today: date) -> Iterator[Diagnostic]:
    path = ("waivers", waiver.name, "until")
    span, last = places.value(*path), in_a_year(today)
    if waiver.expired(today):
        text = f"waiver `{waiver.name}` has expired: its last day was {waiver.until}"
        hint = "fix what it waives and remove it, or renew it"
        yield Diagnostic("PPF333", text, span, hint=hint, path=path)
    elif waiver.until > last:
        text = f"waiver `{waiver.name}` is for more than a year"
        yield Diagnostic("PPF332", text, span, hint=f"{last} is the latest", path=path)


def _not_permitted(
    waiver: AcceptedWaiver, about: str, places: ResolvedPlaces, permission: Permission
) -> Iterator[Diagnostic]:
    if permission.allowed:
        return
    path = ("waivers", waiver.name, "of")
    text = f"no template allows that `{about}` is waived"
    note = "a template that the policy extends has to say `floors: {waivers.privacy: allowed}`; the policy cannot"
    related = (RelatedPlace(permission.place, "this decides"),) if permission.place else ()
    yield Diagnostic("PPF335", text, places.value(*path), notes=(note,), related=related, path=path)


def _matches(
    waiver: AcceptedWaiver, mine: list[Diagnostic], places: ResolvedPlaces, permission: Permission
) -> Iterator[Diagnostic]:
    path = ("waivers", waiver.name, "of")
    span = places.value(*path)
    errors = [d for d in mine if d.severity is Severity.ERROR]
    if errors:
        related = tuple(RelatedPlace(d.span, "the error") for d in errors[:1] if d.span)
        text = f"`{waiver.of}` is an error here, and errors cannot be waived: the policy has no meaning with it"
        yield Diagnostic("PPF336", text, span, related=related, path=path)
        return
    if not mine and waiver.of < _FIRST_OF_RUNS and waiver.of not in OF_RUNS:
        where = f" at `{waiver.at}`" if waiver.at else ""
        text = f"waiver `{waiver.name}` is not used: there is no {waiver.of}{where}"
        yield Diagnostic("PPF337", text, span, Severity.WARNING, hint="remove it", path=path)
    about = next((p for p in (_waivers_place(d, places) for d in mine) if within(p, "privacy")), None)
    if about is None and mine and waiver.of in _PRIVACY_CODES:
        about = "privacy"
    if about is not None:
        yield from _not_permitted(waiver, about, places, permission)


def _at(diagnostic: Diagnostic, waiver: AcceptedWaiver, places: ResolvedPlaces) -> bool:
    return not waiver.at or within(_waivers_place(diagnostic, places), waiver.at)


def _waivers_place(diagnostic: Diagnostic, places: ResolvedPlaces) -> str:
    """Return the dotted place of a diagnostic: its own, or the innermost one whose span it begins in."""
    if diagnostic.path or diagnostic.span is None:
        return ".".join(diagnostic.path)
    at = diagnostic.span
    every = (*places.keys.items(), *places.values.items())
    inside = [path for path, span in every if _holds(span, at)]
    depth = max((len(path) for path in inside), default=0)
    return ".".join(next((path for path in inside if len(path) == depth), ()))


def _holds(span: Span, at: Span) -> bool:
    begin, end, here = (span.line, span.column), (span.end_line, span.end_column), (at.line, at.column)
    return span.file == at.file and begin <= here < end


def _label(diagnostic: Diagnostic) -> str:
    span = diagnostic.span
    where = f" at {PurePath(span.file).name}:{span.line}" if span else ""
    return f"{diagnostic.code}{where}"


def not_waived(
    diagnostics: Iterable[Diagnostic], waived: Mapping[Diagnostic, AcceptedWaiver]
) -> tuple[Diagnostic, ...]:
    """Return the diagnostics that no waiver covers."""
    return tuple(d for d in diagnostics if d not in waived)
