"""From a file to a policy.

====================================  ==========================================================================
``/form/new``                         which uploaded table; POST: has it looked at (the job ``profile``)
``/form/draft/{job}``                 what was found as a form; POST: makes the policy
``/form/draft/{job}/answers``         the same with answers on the purpose; keeps nothing
``/policies/{policy:path}/form``      form and YAML side by side; POST: brings them in step, keeping nothing
``/policies/{policy:path}/form/save`` writes the text with the form's changes
====================================  ==========================================================================
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ppdm_flow.api.profile.questions import SharingPurpose, for_purpose, may_be_studied
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PolicyError, PpdmError, UsageError
from ppdm_flow.core.pages import read
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.page.http.call import Call, known_job, known_policy, refuse_reach
from ppdm_flow.page.http.route import ANY_FIELD, STEWARDS, asks, changes, reads
from ppdm_flow.page.http.server_paths import command_without_paths
from ppdm_flow.page.looks.addresses import policy_address
from ppdm_flow.page.services.bounded import CHECKS, LARGE
from ppdm_flow.page.services.jobs.job import VerbJob
from ppdm_flow.page.services.policies.policies import (
    YAML,
    ChangedMeanwhileError,
    PolicyText,
    UnusableNameError,
    named_after,
)
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.runs.runs import REPORTS
from ppdm_flow.page.texts.catalogue import catalogue
from ppdm_flow.page.views.form.inputs import (
    Group,
    Input,
    InputKind,
    UnreadableFieldError,
    entry,
    field_path,
    identity,
    path_in,
    plugins,
    shown,
    step,
)
from ppdm_flow.page.views.form.inputs import read as read_inputs
from ppdm_flow.page.views.form.layout import HEADERS, TableLayout
from ppdm_flow.page.views.policies.comparing import compared, drawing_of, sent_text
from ppdm_flow.policy.edit.changes import FIRST, REMOVED, PolicyEdit, Tree, Value, at, put, remove, tree_of
from ppdm_flow.policy.edit.edited import edited
from ppdm_flow.policy.edit.remarks import remarks
from ppdm_flow.policy.language import kinds
from ppdm_flow.policy.language.kind_pages import entry_of
from ppdm_flow.policy.language.shape import FixedKeys, MapOf
from ppdm_flow.policy.language.shape import at as shape_at
from ppdm_flow.policy.text.nodes import NONE, PolicyPath, written
from ppdm_flow.report.contract import policy_name
from ppdm_flow.report.profile import ProfileColumn, ProfileDocument, render

_ONE = "/policies/{policy:path}/form"
_TEXTS = {"text": 2**21, "base": 2**21, ANY_FIELD: 200_000}
"""The policy's text, the one that the form was made from, and entries as YAML."""


# From an uploaded table to a first policy: a profile as a job, what it suggests as a form, the policy.


def choose(call: Call) -> Response:
    """Show what a table is to be looked at with."""
    return _choice(call, call.query.get("upload", ""))


def begin(call: Call) -> Response:
    """Have an uploaded table looked at."""
    upload = call.site.uploads.of(call.user, call.text("upload"))
    if upload is None or call.text("header") not in HEADERS:
        return _choice(call, "", "form.choose_table")
    words = ["profile", str(upload.path), "--format", "json", *TableLayout.of(call.text).words]
    job = call.site.jobs.add(call.user, words, kind=KIND, about=upload.name, leads_to="/form/draft/{job}")
    return call.go(f"/jobs/{job.id}")


def show_draft(call: Call) -> Response:
    """Show what a profile found, with a role and a type for each column to agree to or change."""
    job, profile = _profile(call)
    return _draft(call, job, profile, _free_name(call, profile["file"]), "")


def make(call: Call) -> Response:
    """Make the policy that a profile suggests, with the roles and types that were chosen, and open its form."""
    job, profile = _profile(call)
    name = call.text("name").strip()
    name = name if name.endswith(YAML) else f"{name}{_ENDING}"
    try:
        chosen = _chosen(call, profile)
    except UsageError:
        return _draft(call, job, profile, name, "")
    text = named_after(render(chosen, profile["file"]), name)
    if purpose := " ".join(call.text("purpose").split()):
        text = CHECKS.run(edited, text, (put(("description",), purpose, after="name"),), name)
    if len(text.encode()) > call.site.settings.policy_bytes:  # the names of columns may be of any length
        raise RefusalError("form.long_policy", 413)
    try:
        call.site.policies.check_new(name)
        refuse_reach(call, name, text)
        call.site.policies.create(name, text, call.user)
    except UnusableNameError:
        return _draft(call, job, profile, name, "policies.name_unusable")
    except FileExistsError:
        return _draft(call, job, profile, name, "policies.name_taken")
    call.noted.subject = name
    upload = next((each for each in call.site.uploads.all_of(call.user) if str(each.path) in job.words), None)
    if upload is not None:
        call.site.uploads.set_policy_upload(call.user, name, upload)
    return call.go(policy_address(name), said="form.made")


def show_answers(call: Call) -> Response:
    """Show what the answers on the purpose make of the columns; nothing is kept."""
    job, profile = _profile(call)
    return _draft(call, job, profile, call.text("name").strip(), "")


# The form of a policy beside its YAML: shown, brought in step, saved.


def show_form(call: Call) -> Response:
    """Show the form of a policy as it is saved."""
    policy = known_policy(call)
    return _page(call, policy, FilledForm(policy.text), policy.digest)


def fill(call: Call) -> Response:
    """Bring form and YAML in step: the form's changes go into the text, and the form is made anew from it.

    A script of the page asks for the form alone; the text is then in a field of it.
    """
    policy = known_policy(call)
    filled = _filled(call)
    return _page(call, policy, filled, call.text("digest"), part=bool(call.text("part")))


def save(call: Call) -> Response:
    """Write the text with the form's changes; show both where the file changed meanwhile."""
    policy, filled = known_policy(call), _filled(call)
    if not filled.fits:
        return _page(call, policy, filled, call.text("digest"), status=422)
    refuse_reach(call, policy.name, filled.text, before=policy)
    try:
        call.site.policies.write(policy.name, filled.text, call.text("digest"), call.user)
    except ChangedMeanwhileError as error:
        comparison = compared(call.site, policy.name, error.now.text, filled.text)
        return call.page("policies/conflict.html", 409, policy=error.now, text=filled.text, comparison=comparison)
    return call.go(policy_address(policy.name, "" if call.text("then") == "run" else "form"), said="policies.saved")


ROUTES = (
    reads("/form/new", choose, STEWARDS),
    changes("/form/new", begin, STEWARDS, "form.profile"),
    reads("/form/draft/{job}", show_draft, STEWARDS),
    changes("/form/draft/{job}", make, STEWARDS, "form.make"),
    asks("/form/draft/{job}/answers", show_answers, STEWARDS),
    reads(_ONE, show_form, STEWARDS),
    asks(_ONE, fill, STEWARDS, _TEXTS),
    changes(f"{_ONE}/save", save, STEWARDS, "form.save", "policy", long_fields=_TEXTS),
)

KIND = "profile"
_ENDING = ".yaml"


def _choice(call: Call, chosen: str, wrong: str = "") -> Response:
    uploads = call.site.uploads.all_of(call.user)
    return call.page(
        "form/new.html", 422 if wrong else 200, uploads=uploads, chosen=chosen, wrong=wrong, layout=TableLayout()
    )


def _draft(call: Call, job: VerbJob, profile: ProfileDocument, name: str, wrong: str) -> Response:
    """Show what a profile suggests, with the answers on the purpose and the roles that were chosen so far."""
    faults: Sequence[Diagnostic] = ()
    try:
        chosen = _chosen(call, profile)
    except UsageError as error:
        faults, chosen = error.diagnostics, _with_own_columns(call, profile)
    sent = call.text("audience") in _AUDIENCES
    leaving = [str(n) for n, column in enumerate(profile["columns"]) if column["role"] != Role.IDENTIFIER]
    subject = [str(n) for n, column in enumerate(profile["columns"]) if column["role"] == Role.SUBJECT]
    return call.page(
        "form/draft.html",
        422 if wrong or faults else 200,
        faults=faults,
        answers=chosen.get("answers"),
        audiences=_AUDIENCES,
        audience=call.text("audience") if sent else _AUDIENCES[-1],
        studied=frozenset(call.texts("studied") if sent else leaving),
        person=call.text("person") if sent else "".join(subject[:1]),
        known_rows=call.text("known_rows") or "all",
        target=call.text("target"),
        asks_people="sets" not in profile,
        own_numbers=_own_columns(call, profile),
        columns=[(str(n), column["name"], may_be_studied(column)) for n, column in enumerate(profile["columns"])],
        job=job,
        command=command_without_paths(call, job),
        profile=profile,
        name=name,
        purpose=call.text("purpose"),
        wrong=wrong,
        chosen=chosen["columns"],
        roles=role_sentences(),
        types=TYPES,
    )


def _free_name(call: Call, table: str) -> str:
    """Return a name for the policy of a table that no file has; empty where none is found."""
    name = policy_name(table)
    for number in range(1, 100):
        free = f"{name}{'' if number == 1 else f'-{number}'}{_ENDING}"
        try:
            call.site.policies.check_new(free)
        except UnusableNameError:
            return ""
        except FileExistsError:
            continue
        return free
    return ""


def _profile(call: Call) -> tuple[VerbJob, ProfileDocument]:
    """Return what a profile printed, under the name that the table was uploaded with. Raises HTTPException 404."""
    job = known_job(call)
    if job.kind != KIND or job.exit_code != 0 or not job.stdout.is_file():
        raise HTTPException(404)
    is_long = job.stdout.stat().st_size > LARGE
    document = REPORTS.run(read_profile, job.stdout) if is_long else read_profile(job.stdout)
    return job, cast("ProfileDocument", {**document, "file": job.about})


def read_profile(file: Path) -> dict[str, Any]:
    """Return the document that a profile printed."""
    document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return document


_AUDIENCES = ("internal", "partner", "public")
"""Who may receive a release; without an answer the last, for which most is asked."""


def _chosen(call: Call, profile: ProfileDocument) -> ProfileDocument:
    """Return a profile with what a form says of its purpose, and with the roles and types that somebody chose in it.

    A role that was chosen counts for more than what answers make of the column. Raises UsageError where an answer does
    not fit the table.
    """
    return _with_own_columns(call, _answered(call, profile))


def _answered(call: Call, profile: ProfileDocument) -> ProfileDocument:
    """Return a profile with the answers on its purpose. Raises UsageError for one that does not fit the table."""
    if call.text("audience") not in _AUDIENCES:
        return profile
    known_rows = call.text("known_rows") or "all"
    if "sets" in profile:
        return for_purpose(profile, SharingPurpose(call.text("audience"), None, None, known_rows))
    names = [column["name"] for column in profile["columns"]]
    numbers = set(call.texts("studied"))
    studied = [name for number, name in enumerate(names) if str(number) in numbers]
    person = call.text("person")
    number = int(person) if person.isdecimal() and len(person) < 6 else len(names)
    subject = names[number] if number < len(names) else ""
    document = for_purpose(profile, SharingPurpose(call.text("audience"), studied, subject, known_rows))
    target = next((n for n, column in enumerate(profile["columns"]) if str(n) == call.text("target")), None)
    if target is None or not may_be_studied(profile["columns"][target]):
        return document
    columns = list(document["columns"])
    columns[target] = _column(columns[target], Role.TARGET, columns[target]["type"])
    return cast("ProfileDocument", {**document, "columns": columns})


def _own_columns(call: Call, profile: ProfileDocument) -> frozenset[int]:
    """Return the numbers of the columns whose role somebody chose, which answers on the purpose leave as it is.

    The form has the role that it proposed beside the one that is chosen, and none once somebody has chosen.
    """
    numbers = range(len(profile["columns"]))
    return frozenset(n for n in numbers if call.text(f"role-{n}") not in ("", call.text(f"shown-{n}")))


def _with_own_columns(call: Call, profile: ProfileDocument) -> ProfileDocument:
    """Return a profile with the roles and types that somebody chose in the table of columns."""
    own = _own_columns(call, profile)
    columns = [
        _column(column, call.text(f"role-{n}") if n in own else column["role"], call.text(f"type-{n}"))
        for n, column in enumerate(profile["columns"])
    ]
    return cast("ProfileDocument", {**profile, "columns": columns})


def _column(column: ProfileColumn, role: str, kind: str) -> ProfileColumn:
    """Return a column with another role or type; what was guessed for the old ones goes."""
    if role in ROLES and role != column["role"]:
        reason = catalogue()("form.chosen_role", reason=column["reason"], role=column["role"])
        column = {**column, "role": role, "reason": reason, "hierarchy": None, "left_out": False}
    if kind in TYPES and kind != column["type"]:
        column = {**column, "type": kind, "hierarchy": None, "date_format": None, "interval_width": None}
    return column


# What the form shows of a policy's text: attributes, requirements, steps, releases.


_HEAD = ("name", "description", "owner")
_MOST = 6_000_000
_INPUT, _CHOICE = 300, 50
"""Characters of a form: at most so many, and about so many for an input and for what can be chosen in it."""
ROLES = tuple(role.value for role in Role)
TYPES = tuple(each.value for each in AttributeType)


@dataclass(frozen=True, slots=True)
class FormAttribute:
    """A column: its role and type, the comment above it, and its hierarchy as YAML."""

    path: PolicyPath
    role: Input
    type: Input
    hierarchy: Input
    reason: str

    @property
    def name(self) -> str:
        """Its name, or a pattern of names."""
        return self.path[-1]

    @property
    def id(self) -> str:
        """A word for the page that stays the same."""
        return identity(self.path)


@dataclass(frozen=True, slots=True)
class FormContents:
    """All that the form shows of one text."""

    head: tuple[Input, ...]
    attributes: tuple[tuple[PolicyPath, tuple[FormAttribute, ...]], ...]
    requirements: tuple[Group, ...]
    steps: tuple[Group, ...]
    releases: tuple[Group, ...]
    other_kinds: tuple[tuple[str, str], ...]
    other_steps: tuple[str, ...]
    extends: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all attributes."""
        return tuple(each.name for _, attributes in self.attributes for each in attributes)


def contents(text: str, tree: Tree) -> FormContents:
    """Return what the form shows of a text that says this."""
    places = tuple(attribute_places(tree))
    return FormContents(
        head=tuple(Input((key,), InputKind.TEXT, shown(InputKind.TEXT, at(tree, (key,)))) for key in _HEAD),
        attributes=tuple((place, tuple(_attributes(text, tree, place))) for place in places),
        requirements=tuple(_requirements(tree)),
        steps=tuple(step(tree, ("steps", name)) for name in _names(tree, ("steps",))),
        releases=tuple(entry(tree, ("releases", name)) for name in _names(tree, ("releases",))),
        other_kinds=tuple(_kinds()),
        other_steps=plugins(),
        extends=at(tree, ("extends",)) is not None,
    )


def is_too_long(shown: FormContents) -> bool:
    """Whether a page with all of these inputs would have many megabytes."""
    groups = (*shown.requirements, *shown.steps, *shown.releases)
    attributes = (each for _, some in shown.attributes for each in some)
    inputs = [control for each in attributes for control in (each.role, each.type, each.hierarchy)]
    inputs += [each for group in groups for each in _below(group)]
    size = sum(_INPUT + len(each.about) + len(each.value) + _CHOICE * len(each.choices) for each in inputs)
    return size > _MOST


def _below(group: Group) -> Iterator[Input]:
    yield from (*group.inputs, *group.more)
    for each in group.groups:
        yield from _below(each)


def attribute_places(tree: Tree) -> Iterator[PolicyPath]:
    """Yield where attributes stand: at the top, or below each of several tables."""
    tables = _names(tree, ("tables",))
    yield from (("tables", table, "attributes") for table in tables)
    if not tables:
        yield ("attributes",)


def sentence(kind: str) -> str:
    """Return what a kind of requirement means; empty where its page cannot be read, or there is none."""
    if kind not in kinds.installed():
        return ""
    try:
        return entry_of(kinds.spec_of(kind))[0]
    except PpdmError:  # the check of the policy says why
        return ""


def role_sentences() -> dict[str, str]:
    """Return what each role means."""
    return {role: str(read(f"roles/{role}").entry("summary")) for role in ROLES}


def _kinds() -> Iterator[tuple[str, str]]:
    for kind in sorted(kinds.installed()):
        try:
            if kinds.spec_of(kind).entries is not kinds.Entries.IMPLIED:
                yield kind, sentence(kind)
        except PpdmError:
            continue


def _requirements(tree: Tree) -> Iterator[Group]:
    for kind in _names(tree, ("privacy",)):
        yield entry(tree, ("privacy", kind), sentence(kind), kind)


def _attributes(text: str, tree: Tree, place: PolicyPath) -> Iterator[FormAttribute]:
    reasons = remarks(text, place)
    for name in _names(tree, place):
        path = (*place, name)
        if not isinstance(at(tree, path), dict | None):
            continue

        def there(key: str, path: PolicyPath = path) -> Tree:
            return at(tree, (*path, key))

        yield FormAttribute(
            path,
            _contents_chosen((*path, "role"), there("role"), ROLES, required=True),
            _contents_chosen((*path, "type"), there("type"), TYPES),
            Input((*path, "hierarchy"), InputKind.YAML, shown(InputKind.YAML, there("hierarchy"))),
            reasons.get(name, ""),
        )


def _contents_chosen(path: PolicyPath, value: Tree, choices: tuple[str, ...], *, required: bool = False) -> Input:
    kind = InputKind.CHOICE if value is None or value in choices else InputKind.YAML
    return Input(path, kind, shown(kind, value), choices=choices, required=required)


def _names(tree: Tree, path: PolicyPath) -> tuple[str, ...]:
    value = at(tree, path)
    return tuple(value) if isinstance(value, dict) else ()


@dataclass(frozen=True, slots=True)
class FilledForm:
    """A text with what the form changed in it; where that could not be written, why, and the text as it was sent."""

    text: str
    faults: tuple[Diagnostic, ...] = ()
    unreadable: PolicyPath = ()

    @property
    def fits(self) -> bool:
        """Whether everything that was in the form is in the text now."""
        return not self.faults and not self.unreadable


def _filled(call: Call) -> FilledForm:
    """Return the text of the form with its changes in it; ``form`` says whether the fields count, or the text alone."""
    text = sent_text(call)
    if call.text("text_only"):
        return FilledForm(text)
    base = call.text("base").replace("\r\n", "\n")
    if len(base.encode(errors="replace")) > call.site.settings.policy_bytes:
        raise HTTPException(413)
    return CHECKS.run(filled_text, known_policy(call).name, text, base, FormData(call.form.multi_items()))


def filled_text(name: str, text: str, base: str, form: FormData) -> FilledForm:
    """Return a text with what a form changes that was made of the text ``base``."""
    try:
        return FilledForm(edited(text, changes_in(form, tree_of(base), tree_of(text, name))))
    except PolicyError as error:
        return FilledForm(text, tuple(error.diagnostics))
    except UnreadableFieldError as error:
        return FilledForm(text, unreadable=error.path)


def _page(
    call: Call, policy: PolicyText, filled: FilledForm, digest: str, *, part: bool = False, status: int = 200
) -> Response:
    checked = call.site.checks.check(policy.name, filled.text)
    return call.page(
        "form/part.html" if part else "form/form.html",
        status,
        policy=policy,
        filled=filled,
        unreadable=written(filled.unreadable),
        digest=digest,
        contents=CHECKS.run(contents_of, policy.name, filled.text),
        checked=checked,
        names=checked.names,
        roles=role_sentences(),
        drawing=drawing_of(checked),
    )


def contents_of(name: str, text: str) -> FormContents | str:
    """Return what the form shows of a text; where there is no form of it, the key of a sentence that says why."""
    try:
        shown = contents(text, tree_of(text, name))
    except PolicyError:
        return "form.no_yaml"
    return "form.too_long" if is_too_long(shown) else shown


# From what somebody put into the form to changes of the policy's text.
#
# The form was made from one text, and the YAML beside it may have been edited since: only what differs from what the
# form showed is a change, so that neither side undoes the other.


def changes_in(form: FormData, base: Tree, now: Tree) -> Iterator[PolicyEdit]:
    """Yield what a form changes: it showed what ``base`` says, and the text says ``now``.

    Raises UnreadableFieldError.
    """
    gone = tuple(path for path in map(path_in, _texts(form, "remove")) if path)
    for name, text in form.multi_items():
        place = field_path(name)
        if place is None or not isinstance(text, str) or any(place[1][: len(path)] == path for path in gone):
            continue
        kind, path = place
        if text != shown(kind, at(base, path)):
            yield PolicyEdit(path, read_inputs(kind, text, path))
            if path[-1] == "use" and len(path) == 3 and path[0] == "steps":
                yield remove((*path[:-1], "with"))
    yield from (PolicyEdit(path, REMOVED) for path in gone)
    yield from _moved(form, now)
    yield from added(form, now)


def _moved(form: FormData, now: Tree) -> Iterator[PolicyEdit]:
    """Yield the change that puts a step before the one above it."""
    for path in map(path_in, _texts(form, "up")):
        steps: Tree = at(now, path[:-1]) if path else None
        names = list(steps) if isinstance(steps, dict) else []
        place = names.index(path[-1]) if path and path[-1] in names else 0
        if place and isinstance(steps, dict):
            names[place - 1], names[place] = names[place], names[place - 1]
            yield put(path[:-1], {name: steps[name] for name in names})


def _texts(form: FormData, field: str) -> list[str]:
    return [value for value in form.getlist(field) if isinstance(value, str)]


# New entries that the form adds: attributes, requirements, steps, releases.


def added(form: FormData, now: Tree) -> Iterator[PolicyEdit]:
    """Yield the entries that a form adds to what a text says ``now``; what is there already stays as it is."""
    for each in (*_adding_attributes(form, now), *_requirement(form), *_step(form, now), *_release(form)):
        if at(now, each.path) is None:
            yield _instead_of_none(each) if each.path[0] == "privacy" and at(now, ("privacy",)) == NONE else each


def _instead_of_none(change: PolicyEdit) -> PolicyEdit:
    """Return the change that puts a requirement in the place of ``privacy: none``."""
    value = change.value
    for part in reversed(change.path[1:]):
        value = {part: value}
    return replace(change, path=change.path[:1], value=value)


def _text(form: FormData, field: str) -> str:
    value = form.get(field, "")
    return value.strip() if isinstance(value, str) else ""


def _adding_attributes(form: FormData, now: Tree) -> Iterator[PolicyEdit]:
    places = {place: f"attribute:{number}" for number, place in enumerate(attribute_places(now))}
    for place, field in places.items():
        name, role = _text(form, f"{field}:name"), _text(form, f"{field}:role")
        if name and role in ROLES:
            yield put((*place, name), {"role": role})


def _requirement(form: FormData) -> Iterator[PolicyEdit]:
    kind, name = _text(form, "requirement:kind"), _text(form, "requirement:name")
    if kind not in kinds.installed():
        return
    spec, example = kinds.spec_of(kind), entry_of(kinds.spec_of(kind))[1]
    if spec.entries is kinds.Entries.ONCE:
        yield put(("privacy", kind), _least(shape_at(("privacy", kind)), example))
    elif name and isinstance(example, Mapping):
        yield put(("privacy", kind, name), _least(shape_at(("privacy", kind)), next(iter(example.values()), {})))


def _least(shape: object, example: Any) -> Value:
    """Return of an example what an entry has to have; what it names of its own table has to be replaced."""
    keys = shape.value if isinstance(shape, MapOf) else shape
    if not isinstance(keys, FixedKeys) or not isinstance(example, Mapping):
        return example if isinstance(example, str | list | dict) else {}
    needed = {name: value for name, value in example.items() if name in keys.keys and keys.keys[name].required}
    return needed or dict(example)


def _step(form: FormData, now: Tree) -> Iterator[PolicyEdit]:
    use, name = _text(form, "step:use"), _text(form, "step:name")
    if use not in plugins():
        return
    steps = at(now, ("steps",))
    names = list(steps) if isinstance(steps, dict) else []
    free = (f"{use.replace('_', '-')}{number}" for number in ("", *range(2, len(names) + 3)))
    after = path_in(_text(form, "step:after"))
    place = after[-1] if after and after[-1] in names else FIRST if _text(form, "step:after") == "first" else None
    yield put(("steps", name or next(each for each in free if each not in names)), {"use": use}, after=place)


def _release(form: FormData) -> Iterator[PolicyEdit]:
    name, path = _text(form, "release:name"), _text(form, "release:path")
    if name:
        yield put(("releases", name), {"path": path or f"{name}.csv"})
