"""Making, renaming, removing policies, and having removed ones back."""

from __future__ import annotations

from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.responses import Response

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.policies import known_policy, refuse_reach
from ppdm_flow.page.looks.addresses import policy_address
from ppdm_flow.page.services.policies.files import YAML
from ppdm_flow.page.services.policies.policies import ChangedMeanwhileError, PolicyText, UnusableNameError
from ppdm_flow.page.services.policies.starts import starts, text_for
from ppdm_flow.page.views.policies.versions import one_page, version_number


def new(call: Call) -> Response:
    """Show the form for a new policy."""
    return _form(call, call.query.get("name", ""), call.query.get("start", ""))


def create(call: Call) -> Response:
    """Make a policy from what was chosen to start with, and open it in the editor."""
    name, start = call.text("name").strip(), call.text("start")
    name = name if name.endswith(YAML) else f"{name}.yaml"
    if start not in starts(call.site.policies):
        return _form(call, name, "", "policies.start_unknown")
    text = text_for(call.site.policies, start, name)
    refused = _made(call, name, text, lambda: call.site.policies.create(name, text, call.user))
    if refused:
        return _form(call, name, start, refused)
    call.noted.subject = name
    return call.go(policy_address(name, "edit"), said="policies.created")


def rename(call: Call) -> Response:
    """Give a policy another name."""
    policy, name = known_policy(call), call.text("name").strip()
    digest = call.text("digest")
    refused = _made(
        call, name, policy.text, lambda: call.site.policies.rename(policy.name, name, digest, call.user), policy
    )
    if refused:
        return call.page("policies/refused.html", 409, policy=policy, refused=refused)
    return call.go(policy_address(name), said="policies.renamed")


def remove(call: Call) -> Response:
    """Remove a policy; its text is kept for a while."""
    policy = known_policy(call)
    refused = _refused(lambda: call.site.policies.remove(policy.name, call.text("digest"), call.user))
    if refused:
        return call.page("policies/refused.html", 409, policy=policy, refused=refused)
    return call.go("/policies", said="policies.was_removed")


def list_removed(call: Call) -> Response:
    """Show what was removed and can be had back."""
    return _removed(call)


def restore(call: Call) -> Response:
    """Make a removed file again."""
    number = version_number(call.path["version"])
    version = None if number is None else call.site.policies.history.removed_version(number)
    if version is None:
        raise HTTPException(404)
    refused = _made(call, version.name, version.text, lambda: call.site.policies.restore(version, call.user))
    if refused:
        return _removed(call, 409, refused)
    call.noted.subject = version.name
    address = policy_address(version.name) if version.name.endswith(YAML) else "/policies"
    return call.go(address, said="policies.restored")


def _removed(call: Call, status: int = 200, refused: str = "") -> Response:
    versions, older = one_page(call, call.site.policies.history.removed)
    return call.page("policies/removed.html", status, removed=versions, older=older, refused=refused)


def _form(call: Call, name: str, start: str, refused: str = "") -> Response:
    status = 422 if refused else 200
    choices = starts(call.site.policies)
    return call.page("policies/new.html", status, name=name, start=start, choices=choices, refused=refused)


def _made(call: Call, name: str, text: str, do: Callable[[], object], before: PolicyText | None = None) -> str:
    """Make a file of this name and text, in place of the one ``before``; return as `_refused` does.

    Raises RefusalError where the text reaches what belongs to others.
    """

    def make() -> None:
        call.site.policies.check_new(name)
        refuse_reach(call, name, text, before=before)
        do()

    return _refused(make)


def _refused(do: Callable[[], object]) -> str:
    """Do it; return the key of the sentence that says why it could not be done."""
    try:
        do()
    except UnusableNameError:
        return "policies.name_unusable"
    except FileExistsError:
        return "policies.name_taken"
    except ChangedMeanwhileError:
        return "policies.changed_meanwhile"
    return ""
