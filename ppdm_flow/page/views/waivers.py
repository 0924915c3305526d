"""The waivers of all policies with their last days, and new ones as edits of a policy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date

from starlette.responses import Response

from ppdm_flow.core.model import NAME
from ppdm_flow.core.waivers import AcceptedWaiver, day
from ppdm_flow.engine.machine import utc_now
from ppdm_flow.page.http.call import Call, known_policy
from ppdm_flow.page.http.route import STEWARDS, STEWARDS_AND_APPROVERS, asks, reads
from ppdm_flow.page.looks.addresses import policy_address
from ppdm_flow.policy.edit.changes import put, to_json

FIELDS = ("name", "of", "at", "reason", "owner", "until", "signed_by")
"""What the form of a new waiver asks for."""
_MOST = 2_000
"""Waivers that the page lists, of all policies together."""
_MAY_BE_EMPTY = frozenset({"at", "signed_by"})


@dataclass(frozen=True, slots=True)
class PolicyWaivers:
    """The waivers of one policy, those that end first in front.

    ``more`` counts those that are not listed. ``readable`` is false where it has faults, ``looked_at`` where that takes
    more time than a page has.
    """

    policy: str
    waivers: tuple[AcceptedWaiver, ...]
    more: int = 0
    readable: bool = True
    looked_at: bool = True


def list_waivers(call: Call) -> Response:
    """List the waivers of all policies."""
    names = call.site.policies.names()
    return call.page("waivers/list.html", every=list(_waivers(call, names)), today=_today(), names=names)


def new(call: Call) -> Response:
    """Show the form of a new waiver; an address may fill it in."""
    policy = known_policy(call)
    values = {field: call.query.get(field, "") for field in FIELDS}
    values["owner"] = values["owner"] or call.user.name
    return call.page("waivers/new.html", policy=policy.name, values=values, faults={}, today=_today())


def propose(call: Call) -> Response:
    """Offer a waiver as an edit of its policy: what it weakens stands there before it is written."""
    policy = known_policy(call)
    values = {field: call.text(field).strip() for field in FIELDS}
    faults = dict(_faults(values))
    if faults:
        return call.page("waivers/new.html", 400, policy=policy.name, values=values, faults=faults, today=_today())
    waiver = {field: values[field] for field in FIELDS[1:] if values[field]}
    change = to_json([put(("waivers", values["name"]), waiver)])
    return call.go(policy_address(policy.name, "propose", changes=change, back="/waivers"))


def _faults(values: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the fields that cannot be proposed, with the key of what is wrong; the policy's check says the rest."""
    for field, value in values.items():
        if not value and field not in _MAY_BE_EMPTY:
            yield field, "waivers.empty"
        elif not value.isprintable():
            yield field, "waivers.one_line"
    if values["name"] and re.fullmatch(NAME, values["name"]) is None:
        yield "name", "waivers.no_name"
    if values["until"] and day(values["until"]) is None:
        yield "until", "waivers.no_day"


def _waivers(call: Call, names: Sequence[str]) -> Iterator[PolicyWaivers]:
    states, left = call.site.checks.states(), _MOST
    for name in names:
        state = states.get(name)
        if state is None or state.waivers is None:
            yield PolicyWaivers(name, (), readable=state is None, looked_at=state is not None)
            continue
        listed = state.waivers[:left]
        left -= len(listed)
        yield PolicyWaivers(name, listed, len(state.waivers) - len(listed) + state.more)


def _today() -> date:
    return utc_now().astimezone(UTC).date()


ROUTES = (
    reads("/waivers", list_waivers, STEWARDS_AND_APPROVERS),
    reads("/waivers/new/{policy:path}", new, STEWARDS),
    asks("/waivers/new/{policy:path}", propose, STEWARDS, {"reason": 20_000}),
)
