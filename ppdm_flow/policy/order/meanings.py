"""Canonical forms of what plugins are told: two spellings of one value are one value."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ppdm_flow.policy.language.models import Step

Canon = Callable[[str, str, Mapping[str, Any]], str]
"""Returns one text for all spellings of a plugin's parameters, by its group, its name and what the policy gives."""


def as_written(_group: str, _name: str, given: Mapping[str, Any]) -> str:
    """Return the parameters as they are written, without the order of their keys."""
    return json.dumps(given, sort_keys=True)


def chain(steps: Mapping[str, Step], name: str, canon: Canon) -> tuple[object, ...]:
    """Return what happens up to a step, itself last, without any names of steps."""
    order = list(steps)
    links: list[object] = []
    at: str | None = name
    while at is not None and at in steps and len(links) <= len(order):
        step = steps[at]
        output = (step.input or "").partition(".")[2]
        links.append((step.use, canon("anonymizers", step.use, step.with_), output))
        before = order.index(at) - 1
        given = (step.input or "").partition(".")[0]
        at = given or (order[before] if before >= 0 else None)
    return tuple(reversed(links))
