"""All attributes of a policy with their hierarchies."""

from __future__ import annotations

from starlette.responses import Response

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.policies import known_policy
from ppdm_flow.page.services.bounded import CHECKS
from ppdm_flow.page.services.hierarchies.attributes import declared_attributes
from ppdm_flow.page.views.hierarchies.asked import own_upload

_MOST = 2_000
"""Attributes that are listed: as many columns as an upload has."""


def list_hierarchies(call: Call) -> Response:
    """Show the attributes of a policy, and what can be done with each."""
    policy = known_policy(call)
    every = CHECKS.run(declared_attributes, call.site.policies.path(policy.name))
    return call.page(
        "hierarchies/list.html",
        policy=policy,
        attributes=every[:_MOST],
        more=max(0, len(every) - _MOST),
        uploads=call.site.uploads.all_of(call.user),
        upload=own_upload(call, call.query.get("upload", "")),
    )
