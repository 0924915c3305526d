"""Proposed changes of a policy: shown as what they change and weaken before anything is written."""

from __future__ import annotations

from starlette.datastructures import QueryParams
from starlette.responses import Response

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.policies import known_policy
from ppdm_flow.page.looks.addresses import own_address
from ppdm_flow.page.services.bounded import CHECKS
from ppdm_flow.page.services.policies.policies import PolicyText
from ppdm_flow.page.views.policies.asked_changes import asked_changes
from ppdm_flow.page.views.policies.comparing import compared
from ppdm_flow.page.views.policies.editing import sent_text
from ppdm_flow.page.views.policies.versions import asked_version
from ppdm_flow.policy.edit.edited import edited


def propose(call: Call) -> Response:
    """Show what the changes that an address asks for make of a policy, or what an earlier version of it is."""
    policy = known_policy(call)
    version = asked_version(call, policy)
    if version is not None:
        return _proposal(call, policy, version.text, call.query.get("back", ""))
    text = CHECKS.run(proposed_text, policy.text, call.request.query_params, policy.name)
    return _proposal(call, policy, text, call.query.get("back", ""))


def proposed_text(text: str, query: QueryParams, name: str) -> str:
    """Return the text of a policy with the changes that an address asks for."""
    return edited(text, asked_changes(query), name)


def propose_text(call: Call) -> Response:
    """Show what a whole text changes in a policy."""
    policy = known_policy(call)
    return _proposal(call, policy, sent_text(call), call.text("back"))


def _proposal(call: Call, policy: PolicyText, text: str, back: str) -> Response:
    checked = call.site.checks.check(policy.name, text)
    return call.page(
        "policies/propose.html",
        policy=policy,
        text=text,
        checked=checked,
        comparison=compared(call.site, policy.name, policy.text, text, asked=call.text("asked")),
        back=own_address(back),
        outdated=call.text("digest", policy.digest) != policy.digest,
    )
