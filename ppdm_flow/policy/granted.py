"""The waivers of a policy as core values."""

from __future__ import annotations

from ppdm_flow.core.waivers import Waiver, day
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.loaded import Loaded
from ppdm_flow.policy.redaction import UNSHOWN


def waivers_of(policy: Policy, loaded: Loaded) -> tuple[Waiver, ...]:
    """Return every waiver whose date can be read, with its place; words from the environment are not shown."""
    found = []
    for name, each in policy.waivers.items():
        until = day(each.until)
        hidden = {path[2] for path in loaded.hidden if path[:2] == ("waivers", name)}
        if until is not None:
            found.append(
                Waiver(
                    name=name,
                    of=each.of,
                    reason=UNSHOWN if "reason" in hidden else each.reason,
                    owner=UNSHOWN if "owner" in hidden else each.owner,
                    until=until,
                    at=each.at or "",
                    privacy=loaded.privacy_waivers.allowed,
                    span=loaded.places.key("waivers", name),
                )
            )
    return tuple(found)
