"""Waivers on the day that they are judged: expired, too long, without permission, of nothing (PPF332 to PPF337)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import PurePath

from ppdm_flow.core.clock import in_a_year
from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace, Severity, has_errors
from ppdm_flow.core.gate import FigureGate
from ppdm_flow.core.spans import Span
from ppdm_flow.core.waivers import AcceptedWaiver, is_code, of_privacy, within
from ppdm_flow.policy.demands import HasAll
from ppdm_flow.policy.floor import STAR, Floor
from ppdm_flow.policy.loaded import ResolvedPlaces
from ppdm_flow.policy.params import Permission

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
    held = _held(known_gates, floors)
    for waiver in waivers:
        faults = list(_dates(waiver, places, today))
        if of_privacy(waiver.of) or waiver.of in private:
            faults += _not_permitted(waiver, waiver.of, places, permission)
        elif waiver.of in held and not permission.allowed:
            faults += _not_permitted(waiver, waiver.of, places, Permission(place=held[waiver.of]))
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


def _held(gates: Iterable[FigureGate], floors: Iterable[Floor]) -> dict[str, Span]:
    """Map the id of each gate that a floor requires to the span of the floor."""
    about = [(_of_gates(floor), floor.span) for floor in floors]
    names = [(gate.id, gate.id.removeprefix("gates.")) for gate in gates]
    return {id_: span for id_, name in names for held, span in about if held & {STAR, name}}


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
    about = next((p for p in (_place(d, places) for d in mine) if within(p, "privacy")), None)
    if about is None and mine and waiver.of in _PRIVACY_CODES:
        about = "privacy"
    if about is not None:
        yield from _not_permitted(waiver, about, places, permission)


def _at(diagnostic: Diagnostic, waiver: AcceptedWaiver, places: ResolvedPlaces) -> bool:
    return not waiver.at or within(_place(diagnostic, places), waiver.at)


def _place(diagnostic: Diagnostic, places: ResolvedPlaces) -> str:
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
