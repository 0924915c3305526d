"""What a page of hierarchies is about: the policy, the attribute, and the upload whose values it shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.exceptions import HTTPException

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.policies import known_policy
from ppdm_flow.page.looks.addresses import policy_address
from ppdm_flow.page.services.bounded import CHECKS
from ppdm_flow.page.services.hierarchies.attributes import DeclaredAttribute, declared_attributes
from ppdm_flow.page.services.hierarchies.counts import UploadColumnCounts
from ppdm_flow.page.services.hierarchies.drafts import Workplace
from ppdm_flow.page.services.policies.policies import PolicyText
from ppdm_flow.page.services.uploads.uploads import Upload

MOST_VALUES = 10_000
"""Different values up to which they are put into groups by hand; more are put together by a rule."""


@dataclass(frozen=True, slots=True)
class HierarchyForm:
    """``counts``: of the upload's column, None where there is no upload or nothing was counted yet."""

    policy: PolicyText
    attribute: DeclaredAttribute
    upload: Upload | None
    workplace: Workplace
    counts: UploadColumnCounts | None

    @property
    def query(self) -> dict[str, str]:
        """What the addresses of this attribute's pages have behind the question mark."""
        words = {"attribute": self.attribute.name, "upload": "" if self.upload is None else self.upload.id}
        return {name: word for name, word in words.items() if word}

    def address(self, page: str, **query: str) -> str:
        """Return the address of a page about this attribute."""
        return policy_address(self.policy.name, f"hierarchies/{page}", **self.query, **query)

    def place(self, page: str = "") -> str:
        """Return where a form about it is sent to: its fields say which attribute."""
        return policy_address(self.policy.name, f"hierarchies/{page}" if page else "hierarchies")


def asked(call: Call) -> HierarchyForm:
    """Return what the address or the form of a call is about. Raises HTTPException 404 for what is not there."""
    policy = known_policy(call)
    given: Mapping[str, str] = call.query if call.request.method == "GET" else _fields(call)
    declared = CHECKS.run(declared_attributes, call.site.policies.path(policy.name))
    attribute = next((each for each in declared if each.name == given.get("attribute")), None)
    upload = own_upload(call, given.get("upload", ""))
    if attribute is None:
        raise HTTPException(404)
    workplace = call.site.hierarchies.workplace(call.user, policy.name, attribute.path, upload)
    counts = None if upload is None else workplace.counted(MOST_VALUES)
    return HierarchyForm(policy, attribute, upload, workplace, counts)


def own_upload(call: Call, key: str) -> Upload | None:
    """Return somebody's own upload; None where none is asked for. Raises HTTPException 404."""
    upload = call.site.uploads.of(call.user, key) if key else None
    if key and upload is None:
        raise HTTPException(404)
    return upload


def _fields(call: Call) -> dict[str, str]:
    return {name: call.text(name) for name in ("attribute", "upload")}
