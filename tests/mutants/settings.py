"""What a run may set, and what the policy says then."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from mutants.bases import Policy
from mutants.changes import AUDIENCES

Settings = dict[str, str]


def settings(policy: Policy) -> Iterator[Settings]:
    """Yield nothing, then values of each param by itself, then the ends of several numbers at once."""
    yield {}
    every = {name: grid(param, policy) for name, param in policy.get("params", {}).items()}
    for name, values in every.items():
        yield from ({name: value} for value in values)
    numbers = [n for n, p in policy.get("params", {}).items() if p.get("type") in ("integer", "float")]
    for size in range(2, len(numbers) + 1):
        for some in combinations(numbers, size):
            yield from ({n: every[n][at] for n in some} for at in (0, -1))


def grid(param: dict[str, Any], policy: Policy) -> list[str]:
    """Return values to try, in their order where they are numbers."""
    if param.get("choices"):
        return list(param["choices"])
    if param.get("type") in ("integer", "float"):
        ends = [param[e] for e in ("min", "max", "default") if e in param]
        near = [str(float(param["default"]) + d).removesuffix(".0") for d in (-2, -1, 1, 2)]
        return sorted({*ends, *near, "1", "99"}, key=float)
    words = [*policy["attributes"], *policy["steps"], *policy["releases"], "source"]
    return [*words, *AUDIENCES, "true", "false", "shuffle_rows", "1", "99"]


def resolved(policy: Policy, values: Settings) -> Policy:
    """Return the policy with the values of params in place, and without params."""
    params = policy.get("params", {})
    known: dict[str, Any] = {n: p.get("default") for n, p in params.items()}
    for name, value in values.items():
        if name in params:
            known[name] = value.split(", ") if params[name].get("type") == "list" else value

    def put(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: put(value) for key, value in node.items()}
        if isinstance(node, list):
            return [put(value) for value in node]
        if isinstance(node, str) and node.startswith("${params."):
            return copy.deepcopy(known[node[9:-1]])
        return node

    found: Policy = put({key: value for key, value in policy.items() if key != "params"})
    return found
