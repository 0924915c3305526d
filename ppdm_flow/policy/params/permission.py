"""Whether requirements may be waived: what the templates of a policy say under ``floors: {waivers.privacy: …}``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ppdm_flow.core.spans import Span
from ppdm_flow.policy.text.nodes import Map, Scalar

WAIVERS = "waivers.privacy"
ALLOWED = "allowed"
FORBIDDEN = "forbidden"
_TOLD = ("privacy", "gates")
ANSWERS = (ALLOWED, FORBIDDEN)


@dataclass(frozen=True, slots=True)
class Permission:
    """Whether a policy may waive what stands under ``privacy:``.

    ``place`` is the line that decides: the one that allows it, or the one that speaks against it. None where no
    template says anything about it.
    """

    allowed: bool = False
    place: Span | None = None

    @property
    def silent(self) -> bool:
        """Whether no file speaks of privacy or of waivers at all."""
        return not self.allowed and self.place is None


def together(parents: Iterable[Permission]) -> Permission:
    """Return what several templates allow in common: one that speaks against it is enough."""
    best = Permission()
    for each in parents:
        if not each.allowed and each.place is not None:
            return each
        if each.allowed and best.silent:
            best = each
    return best


def within(root: Map, floors: Map | None, inherited: Permission, *, policy: bool) -> Permission:
    """Return what holds for a file with these ``floors`` that inherits this much.

    Whoever states a requirement has to allow that it is waived: a template with requirements, or with floors under
    them or under gates, that is silent about waivers forbids them. A ``policy`` can forbid it, not allow it to itself.
    """
    entry = floors.entries.get(WAIVERS) if floors else None
    said = entry.node.text if entry is not None and isinstance(entry.node, Scalar) else None
    if entry is not None and said == FORBIDDEN:
        return Permission(allowed=False, place=entry.key_span)
    if policy or inherited.allowed or not inherited.silent:
        return inherited
    if entry is not None and said == ALLOWED:
        return Permission(allowed=True, place=entry.key_span)
    return Permission(allowed=False, place=_spoken(root))


def _spoken(root: Map) -> Span | None:
    """The key under which a file speaks of privacy, or of a gate that nobody may weaken."""
    entry = root.entries.get("privacy")
    if entry is not None and isinstance(entry.node, Map) and entry.node.entries:
        return entry.key_span
    floors = root.get("floors")
    keys = floors.entries.items() if isinstance(floors, Map) else ()
    return next((e.key_span for key, e in keys if key.partition(".")[0] in _TOLD), None)
