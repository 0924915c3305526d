"""New entries that the form adds: attributes, requirements, steps, releases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from starlette.datastructures import FormData

from ppdm_flow.page.views.form.contents import ROLES, attribute_places
from ppdm_flow.page.views.form.entries import plugins
from ppdm_flow.page.views.form.inputs import path_in
from ppdm_flow.policy.edit.changes import FIRST, PolicyEdit, Tree, Value, at, put
from ppdm_flow.policy.language import kinds
from ppdm_flow.policy.language.kind_pages import entry_of
from ppdm_flow.policy.language.shape import FixedKeys, MapOf
from ppdm_flow.policy.language.shape import at as shape_at
from ppdm_flow.policy.text.nodes import NONE


def added(form: FormData, now: Tree) -> Iterator[PolicyEdit]:
    """Yield the entries that a form adds to what a text says ``now``; what is there already stays as it is."""
    for each in (*_attributes(form, now), *_requirement(form), *_step(form, now), *_release(form)):
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


def _attributes(form: FormData, now: Tree) -> Iterator[PolicyEdit]:
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
