"""The list of policies, the page of one, and the policy that its templates make of it."""

from __future__ import annotations

from pathlib import Path

from starlette.responses import Response

from ppdm_flow import api
from ppdm_flow.core.errors import PolicyError
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.policies import known_policy
from ppdm_flow.page.services.bounded import CHECKS
from ppdm_flow.page.services.policies.checks import MOST_FINDINGS, from_folder, state_of
from ppdm_flow.page.services.policies.policies import PolicyText
from ppdm_flow.page.views.policies.steps import drawing_of


def list_policies(call: Call) -> Response:
    """Show all YAML files with their state, and where the working tree stands."""
    policies = call.site.policies
    return call.page(
        "policies/list.html",
        files=policies.list(),
        states=call.site.checks.states(),
        tree=call.site.tree.state(),
        removed=policies.history.many_removed(),
    )


def show_policy(call: Call) -> Response:
    """Show one file: what it is for, what is wrong with it, its steps."""
    policy = known_policy(call)
    checked = call.site.checks.check(policy.name, policy.text)
    return call.page(
        "policies/policy.html",
        policy=policy,
        checked=checked,
        state=state_of(call.site.policies.folder / policy.name, checked),
        about=checked.about,
        drawing=drawing_of(checked),
        tree=call.site.tree.state(),
    )


def show_resolved(call: Call) -> Response:
    """Show a policy with what its templates and params make of it, and where each part comes from."""
    policy = known_policy(call)
    try:
        text, origin = CHECKS.run(resolved_texts, call.site.policies.path(policy.name))
    except PolicyError as error:
        return _unresolved(call, policy, error)
    folder = f"{call.site.policies.folder}/"
    return call.page("policies/resolved.html", policy=policy, text=text, origin=origin.replace(folder, ""), wrong=())


def resolved_texts(path: Path) -> tuple[str, str]:
    """Return what templates and params make of a policy, and the same with where each part comes from."""
    return api.show(path), api.show(path, origin=True)


def _unresolved(call: Call, policy: PolicyText, error: PolicyError) -> Response:
    shown = error.diagnostics[:MOST_FINDINGS]
    faults = [from_folder(each, call.site.policies.folder) for each in shown]
    more = len(error.diagnostics) - len(shown)
    return call.page("policies/resolved.html", 422, policy=policy, wrong=faults, more=more)
