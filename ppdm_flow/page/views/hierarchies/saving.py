"""From what somebody made to the policy: a change that is shown first, and a table of the folder of policies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from ppdm_flow.page.http.call import Call, known_policy
from ppdm_flow.page.looks.addresses import policy_address
from ppdm_flow.page.services.bounded import CHECKS
from ppdm_flow.page.services.hierarchies.declared import DeclaredAttribute, declared_attributes, hierarchy_file
from ppdm_flow.page.services.hierarchies.drafts import UploadColumnCounts, Workplace
from ppdm_flow.page.services.hierarchies.grouping import UnusableGroupError, ValueGrouping
from ppdm_flow.page.services.policies.policies import ChangedMeanwhileError, PolicyFiles, PolicyText, head_of
from ppdm_flow.page.services.uploads.uploads import Upload
from ppdm_flow.policy.edit.changes import PolicyEdit, put, to_json

_DELIMITER = ";"
_SUPPRESSED = "⊥"
_MOST_NAMES = 100


def propose_hierarchy(call: Call, about: HierarchyForm, hierarchy: Mapping[str, Any], type_: str = "") -> Response:
    """Send the browser to where a change of the policy is shown, and made."""
    changes = [_change(about, hierarchy)]
    if type_:
        changes.insert(0, put((*about.attribute.path, "type"), type_))
    return call.go(policy_address(about.policy.name, "propose", changes=to_json(changes), back=about.place()))


def save_grouping(call: Call, about: HierarchyForm, grouping: ValueGrouping) -> Response:
    """Write groups to the hierarchy file that the page made before; else make one and propose that the policy names it.

    Raises UnusableGroupError where they are no hierarchy that a run takes, or the file was changed meanwhile.
    """
    _refuse_unusable(grouping, about)
    policies = call.site.policies
    declared = _declared(policies, about)
    if declared is not None and declared.digest != call.text("digest"):
        raise UnusableGroupError("changed_meanwhile")
    delimiter = about.attribute.text("delimiter") if declared is not None else _DELIMITER
    text = _file(grouping, delimiter or _DELIMITER)
    if declared is not None and _is_own(policies, about, declared):
        try:
            policies.write(declared.name, text, declared.digest, call.user)
        except ChangedMeanwhileError:
            raise UnusableGroupError("changed_meanwhile") from None
        about.workplace.forget()
        return call.go(about.place("groups"), said="hierarchies.file_written", **about.query)
    made = _new_file(call, about, _file(grouping, _DELIMITER))
    about.workplace.forget()
    home = PurePosixPath(about.policy.name).parent
    return propose_hierarchy(call, about, {"csv": str(PurePosixPath(made.name).relative_to(home))})


def _declared(policies: PolicyFiles, about: HierarchyForm) -> PolicyText | None:
    """Return the table that the policy names; one that is too large to be read as groups is no file of the page."""
    try:
        return hierarchy_file(policies, about.policy.name, about.attribute)
    except UnusableGroupError:
        return None


def _change(about: HierarchyForm, hierarchy: Mapping[str, Any]) -> PolicyEdit:
    """Return the change that says this and nothing else: what templates say is taken away by ``null``."""
    kept = about.attribute.own
    inherited = {key for key in about.attribute.hierarchy if kept.get(key) is None}
    taken = {key for key, value in kept.items() if value is None}
    return put(
        (*about.attribute.path, "hierarchy"),
        {**hierarchy, **dict.fromkeys(sorted((inherited | taken) - hierarchy.keys()))},
    )


def _refuse_unusable(grouping: ValueGrouping, about: HierarchyForm) -> None:
    """Raise UnusableGroupError for what a run would refuse."""
    from ppdm_flow.mining.hierarchies.building import checked  # noqa: PLC0415  # pyarrow stands behind it

    if not grouping.values:
        raise UnusableGroupError("no_values")
    labels = {group for parents in grouping.parents for group in parents.values()}
    if labels & {"", _SUPPRESSED}:
        raise UnusableGroupError("unusable_value")
    if about.counts is not None and about.counts.listed is None:
        raise UnusableGroupError("too_many_values")
    counts = about.counts.listed if about.counts is not None and about.counts.listed else {}
    if not checked(grouping.lines(), counts).holds:
        raise UnusableGroupError("does_not_fit")


def _file(grouping: ValueGrouping, delimiter: str) -> str:
    from ppdm_flow.mining.hierarchies.building import written  # noqa: PLC0415  # pyarrow stands behind it

    return written(grouping.lines(), delimiter)


def _is_own(policies: PolicyFiles, about: HierarchyForm, file: PolicyText) -> bool:
    """Whether the page made the file, as a hierarchy, the policy itself names it, and no other one seems to.

    Any other table of the folder may be somebody's data.
    """
    if not isinstance(about.attribute.own.get("csv"), str) or not policies.history.wrote(file.name, file.digest):
        return False
    name = PurePosixPath(file.name).name.encode()
    others = (each.name for each in policies.list() if each.name != about.policy.name)
    return not any(name in head_of(policies.path(other)) for other in others)


def _new_file(call: Call, about: HierarchyForm, text: str) -> PolicyText:
    """Write a table beside the policy, under a name that tells what it is and that no other file has."""
    policy = PurePosixPath(about.policy.name)
    word = re.sub(r"[^A-Za-z0-9_-]+", "-", about.attribute.name).strip("-") or "attribute"
    for number in range(1, _MOST_NAMES):
        end = "" if number == 1 else f"-{number}"
        name = str(policy.parent / "hierarchies" / f"{policy.stem[:60]}.{word[:60]}{end}.csv")
        try:
            return call.site.policies.create(name, text, call.user)
        except FileExistsError:
            continue
    raise UnusableGroupError("no_name_left")


# What a page of hierarchies is about: the policy, the attribute, and the upload whose values it shows.


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


def read_form(call: Call) -> HierarchyForm:
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
