"""From what somebody put into the form to changes of the policy's text.

The form was made from one text, and the YAML beside it may have been edited since: only what differs from what the form
showed is a change, so that neither side undoes the other.
"""

from __future__ import annotations

from collections.abc import Iterator

from starlette.datastructures import FormData

from ppdm_flow.page.views.form.adding import added
from ppdm_flow.page.views.form.inputs import field_path, path_in, read, shown
from ppdm_flow.policy.edit.changes import REMOVED, PolicyEdit, Tree, at, put, remove


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
            yield PolicyEdit(path, read(kind, text, path))
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
