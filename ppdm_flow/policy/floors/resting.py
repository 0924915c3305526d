"""What requirements and gates rest on: they can be made to mean less without a word of theirs being changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ppdm_flow.core.analyses import AUDIT as ANALYSES
from ppdm_flow.core.roles import Role
from ppdm_flow.policy.floors.places import MISSING, value
from ppdm_flow.policy.floors.strength import counts_groups, groups_by_role
from ppdm_flow.policy.language.shape import MapOf, as_written, at, key_at
from ppdm_flow.policy.text.nodes import PolicyPath

_LEDGER = ("ledger",)
_NULLS = ("nulls",)
_PEOPLE = ("people",)
COUNTED_BY = frozenset({Role.SUBJECT, Role.WEIGHT, Role.SAMPLING_WEIGHT})
"""Roles by which rows count for people, or for several."""


def rests_on(path: PolicyPath, here: Any, tree: Any) -> Iterator[PolicyPath]:
    """Yield the other places of a template that what stands at ``path`` depends on.

    A floor on one value (a figure, a word or a list) depends on nothing else. A requirement on groups depends on the
    handling of missing values, and on which rows count together or for several. It also depends on the roles of
    attributes if the requirement names no attributes, or if there is a ledger, which makes the same requirement of all
    releases together.
    """
    if isinstance(here, Mapping) and path[0] == "privacy":
        grouped = [(kind, body) for kind, body in _requirements(path, here) if counts_groups(kind)]
        ledger = value(tree, _LEDGER) is not MISSING
        if grouped:
            yield _NULLS
            yield from (place for place in (_PEOPLE,) if value(tree, place) is not MISSING)
            yield from _of_roles(tree, COUNTED_BY)
            yield from (_LEDGER,) if ledger else ()
        if any(ledger or groups_by_role(kind, body) for kind, body in grouped):
            yield from _of_roles(tree, {Role.QUASI_IDENTIFIER})
    elif isinstance(here, Mapping) and path[0] == "gates":
        yield _NULLS
        yield from _of_roles(tree, {Role.QUASI_IDENTIFIER})
        yield from _audits(path, here)


_NAMED = 3
"""Parts of ``privacy.KIND.NAME``."""


def _requirements(path: PolicyPath, here: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the kind of each whole requirement at ``path``, and what it says."""
    if not isinstance(here, Mapping):
        return
    if len(path) == 1 or (len(path) == 2 and isinstance(as_written(at(path), here), MapOf)):
        for name, below in here.items():
            yield from _requirements((*path, name), below)
    elif len(path) == 2 or (len(path) == _NAMED and key_at(path) is None):
        yield path[1], here


def _of_roles(tree: Any, roles: Collection[Role]) -> Iterator[PolicyPath]:
    declared = value(tree, ("attributes",))
    for name in declared if isinstance(declared, Mapping) else ():
        place = ("attributes", name, "role")
        if value(tree, place) in roles:
            yield place


def _audits(path: PolicyPath, here: Mapping[str, Any]) -> Iterator[PolicyPath]:
    """Yield the audits, and the analyses, whose figures the gates at ``path`` bound."""
    for gate in here.values() if len(path) == 1 else (here,):
        metric = gate.get("metric") if isinstance(gate, Mapping) else None
        if isinstance(metric, str):
            owner, _, figure = metric.rpartition("/")[2].partition(".")
            yield "audits", owner
            if owner == ANALYSES:
                yield ("analyses", figure.partition(".")[0]) if "." in figure else ("analyses",)
