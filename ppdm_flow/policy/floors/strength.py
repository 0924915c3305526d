"""Which way is weaker: for each figure, word and list of the language that has one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdm_flow.core.roles import Role, no_weaker
from ppdm_flow.policy.language.kinds import kind_of
from ppdm_flow.policy.language.privacy import model_for
from ppdm_flow.policy.language.shape import FixedKeys, Key, ListOf, MapOf, at, key_at, stricter_signs
from ppdm_flow.policy.text.nodes import PolicyPath

_WORDS: Mapping[PolicyPath, tuple[str, ...]] = {
    ("undeclared",): ("error", "drop"),
    ("recipients",): ("together", "apart"),
    ("people", "unit"): ("people", "rows"),
    ("people", "known_rows"): ("all", "3", "2", "1"),
    ("randomness", "mode"): ("sealed", "reproducible"),
    ("report", "values"): ("hide", "show"),
    ("releases", "*", "audience"): ("internal", "partner", "public"),
    ("releases", "*", "shuffle"): ("true", "false"),
    ("ledger", "repeat"): ("refuse", "warn"),
    ("approvals", "distinct"): ("true", "false"),
}
"""Words from the strongest to the weakest."""

_ROLE = ("attributes", "*", "role")
_ENTRY = 3
"""The parts of the path of a key in a clause."""
_RELEASES = ("gates", "*", "releases")


def sign(path: PolicyPath) -> str | None:
    """Return ``>=`` or ``<=`` for a figure of which one side is weaker: the sign of a bound that forbids that side."""
    return next((s for pattern, s in stricter_signs(model_for(path)).items() if fits(pattern, path)), None)


def ordered(path: PolicyPath) -> tuple[str, ...]:
    """Return the words at ``path`` of which some are weaker than others; none where they cannot be compared."""
    if fits(_ROLE, path):
        return tuple(Role)
    key = key_at(path)
    if key is not None and key.words is not None:
        return key.words.words
    return next((words for pattern, words in _WORDS.items() if fits(pattern, path)), ())


def keeps(path: PolicyPath, word: str, than: str) -> bool:
    """Whether ``word`` at ``path`` is not weaker than ``than``."""
    if fits(_ROLE, path):
        return word in tuple(Role) and no_weaker(Role(word), Role(than))
    words = ordered(path)
    return word in words and words.index(word) <= words.index(than)


def needed(path: PolicyPath) -> bool:
    """Whether the lack of an optional figure is weaker than any value of it."""
    key = key_at(path)
    return key is not None and key.stricter is not None and key.stricter.weaker_where_absent


def longer_is_stronger(path: PolicyPath) -> bool:
    """Whether a list with more in it demands more: protected values, sizes of itemsets, releases of a gate."""
    key, above = key_at(path), key_at(path[:-1]) if len(path) > _ENTRY else None
    own = key is not None and key.longer and isinstance(key.shape, ListOf)
    in_map = above is not None and above.longer and isinstance(above.shape, MapOf)
    return own or in_map or everything_where_absent(path)


def everything_where_absent(path: PolicyPath) -> bool:
    """Whether a list that is not there stands for everything that it could name."""
    return fits(_RELEASES, path)


def forms_groups(path: PolicyPath) -> bool:
    """Whether a requirement's groups are formed by the names at ``path``.

    By more of them groups are smaller, which demands more of whatever rows there are; not where a missing cell takes a
    row out of all groups, or into several, and not of ordered distances, which no mixture keeps.
    """
    key = key_at(path) if path[0] == "privacy" else None
    return key is not None and key.groups and _mixes(path[1])


def _mixes(kind: str) -> bool:
    spec = kind_of(f"privacy.{kind}")
    return spec is None or spec.mixes


def counts_groups(kind: str) -> bool:
    """Whether requirements of a kind are on groups of rows: another reading of missing values makes other groups."""
    return any(key.groups for key in _keys(kind).values())


def groups_by_role(kind: str, body: Mapping[str, Any]) -> bool:
    """Whether the groups of a requirement are formed by all quasi-identifiers, since it names none."""
    return any(key.groups and not key.required and name not in body for name, key in _keys(kind).items())


def _keys(kind: str) -> Mapping[str, Key]:
    shape = at(("privacy", kind))
    each = shape.value if isinstance(shape, MapOf) else shape
    return each.keys if isinstance(each, FixedKeys) else {}


def fits(pattern: PolicyPath, path: PolicyPath) -> bool:
    """Whether a pattern (``*`` for any name) is about this path."""
    return len(path) == len(pattern) and all(a in ("*", b) for a, b in zip(pattern, path, strict=True))
