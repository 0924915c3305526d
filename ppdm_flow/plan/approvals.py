"""What a run waits for before it is released: signatures in certain roles, by people whom the list of signers names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace, Severity
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.phrases import counted, listed
from ppdm_flow.evidence.assignment import crowded_roles
from ppdm_flow.plan.definition import RequiredApprovals
from ppdm_flow.policy.demands import EqualTo
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.loaded import PolicyReading

if TYPE_CHECKING:
    from ppdm_flow.evidence.signers import Signers

AUTHOR = "author"
"""The role of whoever makes a run: it signs each, and approves none."""
_SIGNERS = ("approvals", "signers")
_ROLES = ("approvals", "roles")


@dataclass(frozen=True, slots=True)
class ApprovalCheck:
    """Who has to sign, what is wrong with that, and the text of the list of signers where a fault stands in it."""

    approvals: RequiredApprovals | None = None
    faults: tuple[Diagnostic, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)


def check_approvals(loaded: PolicyReading, policy: Policy, home: str, today: date | None) -> ApprovalCheck:
    """Read the list of signers, and hold it against the roles that have to sign (PPF340, PPF348, PPF349).

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
    """Yield a warning where a template demands approvals, and another file says who gives them.

    Whoever writes that file can give one person all roles. A template whose floor speaks of ``approvals.signers`` has
    said what it wants: a certain file, or that policies bring their own.
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
