"""The policy that an address names."""

from __future__ import annotations

from starlette.exceptions import HTTPException

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.services.policies.policies import PolicyText, UnknownPolicyError


def known_policy(call: Call) -> PolicyText:
    """Return the file that ``{policy:path}`` of an address names. Raises HTTPException 404 where there is none."""
    try:
        return call.site.policies.read(call.path["policy"])
    except UnknownPolicyError:
        raise HTTPException(404) from None
