"""The addresses of policies. ``{policy:path}`` is a name that ``site.policies`` lists, such as ``credit/bank.yaml``.

=========================================  =====================================================================
``/policies``                              the list
``/policies/{policy:path}``                one policy: its state, what is wrong, its steps as a graph
``/policies/{policy:path}/edit``           the editor (GET); saves a text (POST: ``text``, ``digest``, ``back``)
``/policies/{policy:path}/check``          what is wrong with a text, as a part of a page (POST: ``text``)
``/policies/{policy:path}/propose``        shows a proposed text as a difference, with what it weakens, and a button
                                           that applies it. POST: ``text`` (the whole proposed text), ``digest`` (of
                                           the text it was made from), ``back`` (an address of the page, optional;
                                           what a run proposed leads to the policy, from where it is run again).
                                           GET: ``set`` (``privacy.k_anonymity.k=5``) and ``unset`` (a path), each as
                                           often as needed, or ``changes`` (JSON of ``policy.edit.changes.to_json``),
                                           or ``version`` (the number of an earlier one), and ``back``
``/policies/{policy:path}/changes``        compared with the last commit, or with a ``version``
=========================================  =====================================================================

Templates and code make addresses with ``policy_address(name, "edit")``; other features may have addresses below a
policy's too (``/policies/{policy:path}/form``), and find it with ``known_policy(call)``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ppdm_flow import api
from ppdm_flow.api.documents import text_of
from ppdm_flow.api.explain.templates import template_names
from ppdm_flow.api.loading.kinds import FileKind
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError, PolicyError, PpdmError, UsageError
from ppdm_flow.page.http.call import Call, known_policy, refuse_reach, testable_policy
from ppdm_flow.page.http.route import STEWARDS, STEWARDS_AND_APPROVERS, asks, changes, reads
from ppdm_flow.page.looks.addresses import own_address, policy_address
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.bounded import CHECKS
from ppdm_flow.page.services.policies.checks import MOST_FINDINGS, PolicyCheck, from_folder, state_of
from ppdm_flow.page.services.policies.given import files_of
from ppdm_flow.page.services.policies.history import MANY, ListedVersion, Version
from ppdm_flow.page.services.policies.policies import (
    YAML,
    ChangedMeanwhileError,
    PolicyText,
    UnusableNameError,
    starts,
    text_for,
)
from ppdm_flow.page.services.policies.working_tree import GitRefusedError
from ppdm_flow.page.views.policies.comparing import check, compared, drawing_of, edit, save, sent_text
from ppdm_flow.page.views.runs.costs import meaning_of
from ppdm_flow.page.views.runs.data import data_choice
from ppdm_flow.policy.edit.changes import PolicyEdit, Value, from_json, put, remove, tree_of
from ppdm_flow.policy.edit.edited import edited
from ppdm_flow.policy.text.nodes import split
from ppdm_flow.sdk import registry

_ONE = "/policies/{policy:path}"
_TEXT = {"text": 2**21}
"""A policy's text: how long one may be is a setting of the server, and refused with a sentence of its own."""


# The list of policies, the page of one, and the policy that its templates make of it.


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
    runs_it = call.user.has(PageRole.STEWARD) and checked.kind is FileKind.POLICY
    return call.page(
        "policies/policy.html",
        policy=policy,
        checked=checked,
        data=data_choice(call, policy, checked) if runs_it else None,
        state=state_of(call.site.policies.folder / policy.name, checked),
        about=checked.about,
        drawing=drawing_of(checked),
        requirements=stated_requirements(checked),
        tree=call.site.tree.state(),
    )


@dataclass(frozen=True, slots=True)
class StatedRequirement:
    """A requirement of a policy in words: its kind, what it is about, its bounds, and what the kind means."""

    kind: str
    about: str
    bounds: str
    meaning: str


def stated_requirements(checked: PolicyCheck) -> list[StatedRequirement]:
    """Return what a policy asks for; nothing where it has errors."""
    stated = []
    for each in () if checked.plan is None else checked.plan["requirements"]:
        bounds = [f"{key} {value:g}" for key, value in each.items() if type(value) in (int, float)]
        about = str(each["id"]).split(".", 2)[2:]
        stated.append(StatedRequirement(each["kind"], "".join(about), ", ".join(bounds), meaning_of(each["kind"])))
    return stated


def show_resolved(call: Call) -> Response:
    """Show a policy with what its templates and params make of it, and where each part comes from."""
    policy = known_policy(call)
    try:
        text, origin = CHECKS.run(resolved_texts, call.site.policies.path(policy.name))
    except PolicyError as error:
        return _unresolved(call, policy, error)
    folder = f"{call.site.policies.folder}/"
    return call.page("policies/resolved.html", policy=policy, text=text, origin=origin.replace(folder, ""), wrong=())


# Making, renaming, removing policies, and having removed ones back.


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


def remove_policy(call: Call) -> Response:
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


# What a policy was: compared with the last commit or an earlier version, its history, and committing.


def show_changes(call: Call) -> Response:
    """Show what changed in a policy since the last commit; with ``version``, since that one."""
    policy = known_policy(call)
    version = asked_version(call, policy)
    before = call.site.tree.committed(policy.name) if version is None else version.text
    old = "" if before is None else before
    committed, asked_policy = version is None and before is not None, call.query.get("asked")
    return call.page(
        "policies/changes.html",
        policy=policy,
        version=version,
        known=before is not None,
        comparison=compared(call.site, policy.name, old, policy.text, committed=committed, asked_policy=asked_policy)
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
    """Show the files that differ from the last commit, to choose from."""
    return _commit_page(call)


def commit(call: Call) -> Response:
    """Commit the chosen files as they were when the form was shown."""
    message = call.text("message").replace("\r\n", "\n").strip()[:_LONGEST]
    if not message:
        return _commit_page(call, 422, "policies.commit_no_message")
    try:
        call.site.tree.commit(_seen(call), message, call.user)
    except GitRefusedError as error:
        return _commit_page(call, 409, f"policies.commit_{error.reason}", error.errors)
    return call.go("/policies", said="policies.committed")


# What can stand where in a policy: the published schema and the parameters of plugins, made small for an editor.


def words(_call: Call) -> Response:
    """Send the schema of policies, and what each plugin takes, as JSON."""
    return Response(_words(), media_type="application/json")


# Proposed changes of a policy: shown as what they change and weaken before anything is written.


def propose(call: Call) -> Response:
    """Show what the changes that an address asks for make of a policy, or what an earlier version of it is."""
    policy = known_policy(call)
    version = asked_version(call, policy)
    if version is not None:
        return _proposal(call, policy, version.text, call.query.get("back", ""))
    text = CHECKS.run(proposed_text, policy.text, call.request.query_params, policy.name)
    return _proposal(call, policy, text, call.query.get("back", ""))


def propose_text(call: Call) -> Response:
    """Show what a whole text changes in a policy."""
    policy = known_policy(call)
    return _proposal(call, policy, sent_text(call), call.text("back"))


def run_tests(call: Call) -> Response:
    """Put ``ppdm-flow test FILE`` into the queue."""
    policy = testable_policy(call)
    path = str(call.site.policies.path(policy.name))
    given = files_of(call.site.checks, policy)
    job = call.site.jobs.add(call.user, ("test", path), kind="test", about=policy.name, given=given)
    return call.go(f"/jobs/{job.id}")


ROUTES = (
    reads("/policies", list_policies, STEWARDS_AND_APPROVERS),
    reads("/policies/new", new, STEWARDS),
    changes("/policies/new", create, STEWARDS, "policies.create"),
    reads("/policies/removed", list_removed, STEWARDS),
    changes("/policies/removed/{version}", restore, STEWARDS, "policies.restore", "version"),
    reads("/policies/commit", show_commit, STEWARDS),
    changes("/policies/commit", commit, STEWARDS, "policies.commit", long_fields={"message": 20_000}),
    reads("/policies/words", words, STEWARDS),
    reads(f"{_ONE}/edit", edit, STEWARDS),
    changes(f"{_ONE}/edit", save, STEWARDS, "policies.save", "policy", long_fields=_TEXT),
    asks(f"{_ONE}/check", check, STEWARDS, _TEXT),
    reads(f"{_ONE}/propose", propose, STEWARDS),
    asks(f"{_ONE}/propose", propose_text, STEWARDS, _TEXT),
    reads(f"{_ONE}/changes", show_changes, STEWARDS_AND_APPROVERS),
    reads(f"{_ONE}/history", show_history, STEWARDS_AND_APPROVERS),
    reads(f"{_ONE}/resolved", show_resolved, STEWARDS_AND_APPROVERS),
    changes(f"{_ONE}/rename", rename, STEWARDS, "policies.rename", "policy"),
    changes(f"{_ONE}/remove", remove_policy, STEWARDS, "policies.remove", "policy"),
    changes(f"{_ONE}/test", run_tests, STEWARDS, "policies.test", "policy"),
    reads(_ONE, show_policy, STEWARDS_AND_APPROVERS),
)


def resolved_texts(path: Path) -> tuple[str, str]:
    """Return what templates and params make of a policy, and the same with where each part comes from."""
    return api.show(path), api.show(path, origin=True)


def _unresolved(call: Call, policy: PolicyText, error: PolicyError) -> Response:
    shown = error.diagnostics[:MOST_FINDINGS]
    faults = [from_folder(each, call.site.policies.folder) for each in shown]
    more = len(error.diagnostics) - len(shown)
    return call.page("policies/resolved.html", 422, policy=policy, wrong=faults, more=more)


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


_LONGEST = 2_000


def _commit_page(call: Call, status: int = 200, refused: str = "", notice: str = "") -> Response:
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
        told=notice,
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


_LEFT_OUT = frozenset({"markdownDescription", "examples", "pattern", "propertyNames", "$schema", "$id", "title"})
_NAMES = frozenset({"properties", "definitions", "$defs"})
_CHILD = ".child"


@cache
def _words() -> bytes:
    schema = json.loads(text_of("policy"))
    definitions = {name: each for name, each in schema["definitions"].items() if not name.endswith(_CHILD)}
    templates = list(template_names())
    plugins = {group: _plugins(group) for group in ("anonymizers", "audits", "sources", "sinks")}
    return json.dumps(
        {"definitions": _small(definitions, names=True), "plugins": plugins, "templates": templates}
    ).encode()


def _plugins(group: str) -> dict[str, Any]:
    plugins = {}
    for plugin in registry.listed(group):
        try:
            spec = registry.load(group, plugin.name)
        except PluginError:  # the page of the plugin says why
            continue
        plugins[plugin.name] = {"about": spec.info.summary, "with": _small(spec.params.model_json_schema())}
    return plugins


def _small(value: Any, *, names: bool = False) -> Any:
    """Return a schema without what an editor does not show; the keys of ``properties`` are names, and all stay."""
    if isinstance(value, Mapping):
        kept = ((key, each) for key, each in value.items() if names or key not in _LEFT_OUT)
        return {key: _small(each, names=not names and key in _NAMES) for key, each in kept}
    return [_small(each) for each in value] if isinstance(value, list) else value


def proposed_text(text: str, query: QueryParams, name: str) -> str:
    """Return the text of a policy with the changes that an address asks for."""
    return edited(text, asked_changes(query), name)


def _proposal(call: Call, policy: PolicyText, text: str, back: str) -> Response:
    checked = call.site.checks.check(policy.name, text)
    return call.page(
        "policies/propose.html",
        policy=policy,
        text=text,
        checked=checked,
        comparison=compared(call.site, policy.name, policy.text, text, asked_policy=call.text("asked")),
        back=own_address(back),
        outdated=call.text("digest", policy.digest) != policy.digest,
    )


# The changes of a policy that an address asks for: single values, or all at once as JSON.


_SET = re.compile(r'((?:"[^"]*"|[^".=]+)(?:\.(?:"[^"]*"|[^".=]+))*)=(.*)', re.DOTALL)
_COLLECTION = re.compile(r"[\[{].*[\]}]", re.DOTALL)


def asked_changes(query: QueryParams) -> tuple[PolicyEdit, ...]:
    """Return the changes that an address asks for. Raises UsageError (PPF128) where they cannot be read.

    ``changes`` is JSON as `policy.edit.changes` has it, ``set`` is ``path=value``, where a value in brackets is a list
    or a map, and ``unset`` is a path. Paths are as floors write them: ``attributes."home.town".role``.
    """
    listed = from_json(query["changes"]) if "changes" in query else ()
    return (*listed, *map(_put, query.getlist("set")), *(remove(split(path)) for path in query.getlist("unset")))


def _put(text: str) -> PolicyEdit:
    assignment = _SET.fullmatch(text)
    if assignment is None:
        message = "the proposed change of the policy cannot be read"
        raise UsageError(Diagnostic("PPF128", message, help="`set` is a path of the policy, `=`, and its new value"))
    return put(split(assignment[1]), _value(assignment[2]))


def _value(text: str) -> Value:
    if not _COLLECTION.fullmatch(text):
        return text
    try:
        return tree_of(text)
    except PpdmError:  # it is a text that happens to have brackets
        return text
