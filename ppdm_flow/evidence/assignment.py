"""Different people for several roles: whether there are enough, and which roles have too few between them."""

from __future__ import annotations

from collections.abc import Collection, Mapping


def matching(people: Mapping[str, Collection[str]]) -> dict[str, str] | None:
    """Return a person for each role, all different; None where there are not enough (Kuhn's augmenting paths).

    >>> matching({"owner": ["alice", "bob"], "officer": ["alice"]})
    {'owner': 'bob', 'officer': 'alice'}
    """
    role_of, crowded = _assigned(people)
    if crowded:
        return None
    chosen = {role: name for name, role in role_of.items()}
    return {role: chosen[role] for role in people}


def crowded_roles(people: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    """Return roles that have fewer people between them than they are (P. Hall, 1935); none where there are enough.

    >>> crowded_roles({"owner": ["alice"], "officer": ["alice"], "press": ["bob"]})
    ('owner', 'officer')
    """
    _, crowded = _assigned(people)
    return tuple(role for role in people if role in crowded)


def _assigned(people: Mapping[str, Collection[str]]) -> tuple[dict[str, str], set[str]]:
    """Return the role of each person who was chosen, and the roles of the first search that found nobody."""
    role_of: dict[str, str] = {}

    def found(role: str, seen: set[str], roles: set[str]) -> bool:
        roles.add(role)
        for name in sorted(people[role]):
            if name not in seen:
                seen.add(name)
                if name not in role_of or found(role_of[name], seen, roles):
                    role_of[name] = role
                    return True
        return False

    for role in people:
        roles: set[str] = set()
        if not found(role, set(), roles):
            return role_of, roles
    return role_of, set()
