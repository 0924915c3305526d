"""What the form shows of a policy's text: attributes, requirements, steps, releases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.pages import read
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.page.views.form.entries import Group, entry, plugins, step
from ppdm_flow.page.views.form.inputs import Input, InputKind, identity, shown
from ppdm_flow.policy.edit.changes import Tree, at
from ppdm_flow.policy.edit.remarks import remarks
from ppdm_flow.policy.language import kinds
from ppdm_flow.policy.language.kind_pages import entry_of
from ppdm_flow.policy.text.nodes import PolicyPath

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
            _chosen((*path, "role"), there("role"), ROLES, required=True),
            _chosen((*path, "type"), there("type"), TYPES),
            Input((*path, "hierarchy"), InputKind.YAML, shown(InputKind.YAML, there("hierarchy"))),
            reasons.get(name, ""),
        )


def _chosen(path: PolicyPath, value: Tree, choices: tuple[str, ...], *, required: bool = False) -> Input:
    kind = InputKind.CHOICE if value is None or value in choices else InputKind.YAML
    return Input(path, kind, shown(kind, value), choices=choices, required=required)


def _names(tree: Tree, path: PolicyPath) -> tuple[str, ...]:
    value = at(tree, path)
    return tuple(value) if isinstance(value, dict) else ()
