"""Writing a policy: the editor, saving, and what is found while somebody types."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.responses import Response

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.policies import known_policy, refuse_reach
from ppdm_flow.page.looks.addresses import own_address, policy_address
from ppdm_flow.page.services.policies.policies import ChangedMeanwhileError
from ppdm_flow.page.views.policies.comparing import compared
from ppdm_flow.page.views.policies.steps import drawing_of


def edit(call: Call) -> Response:
    """Show the editor."""
    policy = known_policy(call)
    checked = call.site.checks.check(policy.name, policy.text)
    return call.page(
        "policies/edit.html", policy=policy, checked=checked, names=checked.names, drawing=drawing_of(checked)
    )


def check(call: Call) -> Response:
    """Say what is wrong with a text that somebody is writing, as a part of the editor."""
    policy = known_policy(call)
    checked = call.site.checks.check(policy.name, sent_text(call))
    return call.page(
        "policies/findings.html", policy=policy, checked=checked, names=checked.names, drawing=drawing_of(checked)
    )


def save(call: Call) -> Response:
    """Write the text that somebody made of the one that they read; show both where the file changed meanwhile."""
    policy, text = known_policy(call), sent_text(call)
    refuse_reach(call, policy.name, text, before=policy)
    try:
        call.site.policies.write(policy.name, text, call.text("digest"), call.user)
    except ChangedMeanwhileError as error:
        comparison = compared(call.site, policy.name, error.now.text, text)
        return call.page("policies/conflict.html", 409, policy=error.now, text=text, comparison=comparison)
    return call.go(own_address(call.text("back")) or policy_address(policy.name, "edit"), said="policies.saved")


def sent_text(call: Call) -> str:
    """Return the text of a form, with the line ends that policies have. Raises HTTPException 413 for a huge one."""
    text = call.text("text").replace("\r\n", "\n")
    if len(text.encode(errors="replace")) > call.site.settings.policy_bytes:
        raise HTTPException(413)
    return text
