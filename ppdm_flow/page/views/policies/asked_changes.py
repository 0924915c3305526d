"""The changes of a policy that an address asks for: single values, or all at once as JSON."""

from __future__ import annotations

import re

from starlette.datastructures import QueryParams

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PpdmError, UsageError
from ppdm_flow.policy.edit.changes import PolicyEdit, Value, from_json, put, remove, tree_of
from ppdm_flow.policy.text.nodes import split

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
    found = _SET.fullmatch(text)
    if found is None:
        message = "the proposed change of the policy cannot be read"
        raise UsageError(Diagnostic("PPF128", message, help="`set` is a path of the policy, `=`, and its new value"))
    return put(split(found[1]), _value(found[2]))


def _value(text: str) -> Value:
    if not _COLLECTION.fullmatch(text):
        return text
    try:
        return tree_of(text)
    except PpdmError:  # it is a text that happens to have brackets
        return text
