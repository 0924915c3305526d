"""The list of policies, and the page of one."""

from __future__ import annotations

from starlette.responses import Response

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.policies import known_policy


def list_policies(call: Call) -> Response:
    """Show all YAML files."""
    return call.page("policies/list.html", files=call.site.policies.list())


def show_policy(call: Call) -> Response:
    """Show one file."""
    return call.page("policies/policy.html", policy=known_policy(call))
