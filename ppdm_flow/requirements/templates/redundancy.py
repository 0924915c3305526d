"""Templates that another one already implies (Lemma 3.1 of Wang, Fung, Yu, ICDM 2005).

A group over fewer attributes is a union of disjoint groups over more of them, so its confidence is a weighted mean
of theirs: <IC -> pi, h> implies <IC' -> pi, h'> where IC' is part of IC and h <= h'. The union is disjoint only
where a missing value is a category of its own. With wildcards a row counts in the crowds of several, and with exclusion
a row counts for IC' that does not count for IC, so then nothing is implied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace
from ppdm_flow.core.roles import Nulls
from ppdm_flow.policy.rules.scene import Scene
from ppdm_flow.requirements.templates.requirement import InferenceTemplate


def redundant(scene: Scene, templates: Mapping[str, InferenceTemplate]) -> Iterator[Diagnostic]:
    """Warn of each template that others make redundant, and name them."""
    if scene.policy.nulls is not Nulls.OWN_CATEGORY or scene.lacks("nulls"):
        return
    order = {name: i for i, name in enumerate(templates)}
    for name, template in templates.items():
        stronger = [
            n
            for n, other in templates.items()
            if n != name and implies(other, template) and (not implies(template, other) or order[n] < order[name])
        ]
        by = _cover(template, {n: templates[n] for n in stronger})
        if by:
            yield _redundant(scene, name, by)


def implies(one: InferenceTemplate, other: InferenceTemplate) -> bool:
    """Whether ``one`` has a channel and a threshold that bound every value which both protect."""
    return (
        set(one.channel) >= set(other.channel)
        and one.confidence <= other.confidence
        and (one.min_support or 1) >= (other.min_support or 1)
        and bool(_pairs(one) & _pairs(other))
    )


def _cover(template: InferenceTemplate, stronger: dict[str, InferenceTemplate]) -> list[str]:
    """Templates that together protect all values of this one; none where they do not."""
    open_ = _pairs(template)
    by = []
    for name, other in stronger.items():
        if open_ & _pairs(other):
            by.append(name)
            open_ -= _pairs(other)
    return [] if open_ else by


def _pairs(template: InferenceTemplate) -> set[tuple[str, str, bool]]:
    return {(name, value, template.negated) for name, values in template.values.items() for value in values}


def _redundant(scene: Scene, name: str, by: list[str]) -> Diagnostic:
    spans = [(n, scene.places.key("privacy", "templates", n)) for n in by]
    names = " and ".join(f"`{n}`" for n in by)
    return scene.fault(
        "PPF508",
        f"template `{name}` is redundant: {names} already {'implies' if len(by) == 1 else 'imply'} it",
        ("privacy", "templates", name),
        at_key=True,
        warning=True,
        hint="remove it",
        note="a channel with more attributes and a threshold at most as high bounds every group over fewer of them",
        related=tuple(RelatedPlace(s, "this one is at least as strict") for _, s in spans if s),
    )
