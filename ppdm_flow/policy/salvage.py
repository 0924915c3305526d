"""What can still be judged of a policy whose shape is wrong somewhere: the rest of it."""

from __future__ import annotations

import copy
from typing import Any

from pydantic import ValidationError

from ppdm_flow.policy.flatten import FlatPolicy
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.language.privacy import kinds_named, policy_model
from ppdm_flow.policy.language.shape import FixedKeys, MapOf, at, placed
from ppdm_flow.policy.loaded import PolicyPath

_ROUNDS = 4
_STAND_INS: dict[str, Any] = {
    "version": "1",
    "name": "policy",
    "attributes": {"attribute": {"role": "insensitive"}},
    "releases": {"release": {"path": "release"}},
}


def salvaged(flat: FlatPolicy) -> tuple[Policy | None, frozenset[PolicyPath]]:
    """Return the policy without its faulty entries, and the paths of what was left out or stood in for.

    None where not even that gives a policy.
    """
    tree = copy.deepcopy(flat.tree)
    out: set[PolicyPath] = set(flat.gone)
    model = policy_model(kinds_named(tree))
    for _ in range(_ROUNDS):
        try:
            return model.model_validate(tree, by_alias=True, by_name=False), frozenset(out)
        except ValidationError as error:
            for each in error.errors(include_url=False, include_input=False, include_context=False):
                out.add(_without(tree, placed(each["loc"], tree), each["type"]))
    return None, frozenset(out)


def _without(tree: dict[str, Any], loc: PolicyPath, kind: str) -> PolicyPath:
    """Take the smallest entry out of the tree that the policy can do without, and return its path."""
    path = loc[:-1] if loc and loc[-1] == "[key]" else loc
    if kind != "extra_forbidden":
        while len(path) > 1 and not _dispensable(path):
            path = path[:-1]
    _remove(tree, path)
    return path


def _dispensable(path: PolicyPath) -> bool:
    above = at(path[:-1])
    if isinstance(above, FixedKeys):
        return path[-1] in above.keys and not above.keys[path[-1]].required
    return isinstance(above, MapOf)


def _remove(tree: dict[str, Any], path: PolicyPath) -> None:
    node: Any = tree
    for part in path[:-1]:
        if not isinstance(node, dict) or part not in node:
            return
        node = node[part]
    if isinstance(node, dict):
        node.pop(path[-1], None)
    if len(path) == 1 and path[0] in _STAND_INS:
        tree[path[0]] = copy.deepcopy(_STAND_INS[path[0]])
