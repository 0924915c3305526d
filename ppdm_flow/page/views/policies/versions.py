"""What a policy was: compared with the last commit or an earlier version, its history, and committing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from starlette.exceptions import HTTPException
from starlette.responses import Response

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.policies import known_policy
from ppdm_flow.page.services.policies.history import MANY, ListedVersion, Version
from ppdm_flow.page.services.policies.policies import PolicyText
from ppdm_flow.page.services.policies.working_tree import GitRefusedError
from ppdm_flow.page.views.policies.comparing import compared

_LONGEST = 2_000


def show_changes(call: Call) -> Response:
    """Show what changed in a policy since the last commit; with ``version``, since that one."""
    policy = known_policy(call)
    version = asked_version(call, policy)
    before = call.site.tree.committed(policy.name) if version is None else version.text
    old = "" if before is None else before
    committed, asked = version is None and before is not None, call.query.get("asked")
    return call.page(
        "policies/changes.html",
        policy=policy,
        version=version,
        known=before is not None,
        comparison=compared(call.site, policy.name, old, policy.text, committed=committed, asked=asked)
        if before
        else None,
        tree=call.site.tree.state(),
    )


def show_history(call: Call) -> Response:
    """Show the versions that the page kept, and the commits."""
    policy = known_policy(call)
    tree = call.site.tree
    commits = tree.log(policy.name) if tree.state() is not None else []
    versions, older = one_page(call, partial(call.site.policies.history.of, policy.name))
    return call.page("policies/history.html", policy=policy, versions=versions, older=older, commits=commits)


def show_commit(call: Call) -> Response:
    """Show what is not as it is committed, to choose from."""
    return _commit_page(call)


def commit(call: Call) -> Response:
    """Commit the chosen files as they were when the form was shown."""
    message = call.text("message").replace("\r\n", "\n").strip()[:_LONGEST]
    if not message:
        return _commit_page(call, 422, "policies.commit_no_message")
    try:
        call.site.tree.commit(_seen(call), message, call.user)
    except GitRefusedError as error:
        return _commit_page(call, 409, f"policies.commit_{error.reason}", error.told)
    return call.go("/policies", said="policies.committed")


def _commit_page(call: Call, status: int = 200, refused: str = "", told: str = "") -> Response:
    tree = call.site.tree.state()
    if tree is None:
        raise HTTPException(404)
    there = {each.name for each in call.site.policies.list()}
    return call.page(
        "policies/commit.html",
        status,
        tree=tree,
        there=there,
        chosen=_seen(call),
        message=call.text("message"),
        refused=refused,
        told=told,
    )


def _seen(call: Call) -> dict[str, str]:
    """Return the chosen files with their marks: each box of the form has both, with a space between them."""
    return {name: mark for mark, _, name in (each.partition(" ") for each in call.texts("file"))}


def asked_version(call: Call, policy: PolicyText) -> Version | None:
    """Return the version that the address names. Raises HTTPException 404 where it is none of this policy."""
    if not call.query.get("version", ""):
        return None
    number = version_number(call.query["version"])
    version = None if number is None else call.site.policies.history.version(number)
    if version is None or version.name != policy.name:
        raise HTTPException(404)
    return version


def version_number(text: str) -> int | None:
    """Return the number of a version; None where the text is none."""
    return int(text) if text.isdecimal() and len(text) < 10 else None


def one_page(call: Call, list_before: Callable[..., list[ListedVersion]]) -> tuple[Sequence[ListedVersion], int | None]:
    """Return the versions of the page that an address asks for, and where older ones begin, if there are any."""
    before = version_number(call.query.get("before", ""))
    versions = list_before() if before is None else list_before(before)
    return versions[:MANY], versions[MANY - 1].number if len(versions) > MANY else None
