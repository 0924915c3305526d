"""Finds values that a list names twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.policy.rules.scene import Scene


def repeats(
    scene: Scene, values: Sequence[str], path: PolicyPath, where: str, *, warning: bool = True
) -> Iterator[Diagnostic]:
    """Report each value that stands in the list at ``path`` a second time (PPF507)."""
    first: dict[str, int] = {}
    for i, value in enumerate(values):
        begin = first.setdefault(value, i)
        if begin == i:
            continue
        span = scene.places.value(*path, str(begin))
        yield scene.fault(
            "PPF507",
            f"`{short(value)}` is listed twice in {where}",
            (*path, str(i)),
            warning=warning,
            hint="remove one of the two",
            related=(RelatedPlace(span, "first here"),) if span else (),
        )
