"""The policy that an address names."""

from __future__ import annotations

from starlette.exceptions import HTTPException

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.services.policies.files import YAML
from ppdm_flow.page.services.policies.policies import PolicyText, UnknownPolicyError
from ppdm_flow.page.services.refusal import RefusalError


def known_policy(call: Call) -> PolicyText:
    """Return the YAML file that ``{policy:path}`` of an address names. Raises HTTPException 404 where there is none.

    Tables beside policies have no pages: a hierarchy is shown by its attribute, and others are data.
    """
    name = call.path["policy"]
    if not name.endswith(YAML):
        raise HTTPException(404)
    try:
        return call.site.policies.read(name)
    except UnknownPolicyError:
        raise HTTPException(404) from None


def runnable_policy(call: Call) -> PolicyText:
    """Return the file that an address names, for a verb that reads what it names.

    Raises HTTPException 404 where there is none, RefusalError where it names files of the server's private folder.
    """
    policy = known_policy(call)
    refuse_private(call, policy.name, policy.text)
    return policy


def refuse_private(call: Call, name: str, text: str) -> None:
    """Raise RefusalError where a text of a policy names files of the server's private folder."""
    if call.site.checks.reaches_private(name, text):
        raise RefusalError("policies.reaches_private", 403)
