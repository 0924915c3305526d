"""Templates that no table at all can satisfy together.

Everybody is in some group, so what a template says of every group it says of the whole table: at most h of its rows
have the value, or, negated, at least 1 - h have it. Of one attribute's values the shares add up to at most 1. So there
are two ways to conflict: a value is to be both rarer and more frequent than possible, or the values that negated
templates want present need more than all rows. What else cannot hold depends on the data, and fails by itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.requirements import TOLERANCE
from ppdm_flow.core.roles import Nulls
from ppdm_flow.policy.models import Template
from ppdm_flow.policy.rules.scene import Scene

Pair = tuple[str, str]
Bound = tuple[float, str]
"""A share of rows and the template that asks for it."""


def judge(scene: Scene) -> Iterator[Diagnostic]:
    """Report the smallest set of templates that conflicts, for each attribute or value that has one."""
    if scene.policy.nulls is not Nulls.OWN_CATEGORY or scene.lacks("nulls") or scene.lacks("privacy", "templates"):
        return
    most = _strictest(scene, negated=False)
    least = {pair: (1.0 - h, name) for pair, (h, name) in _strictest(scene, negated=True).items()}
    clashing = [pair for pair in least if pair in most and least[pair][0] > most[pair][0] + TOLERANCE]
    for pair in clashing:
        yield _of_value(scene, most[pair], least[pair])
    for attribute in dict.fromkeys(a for a, _ in least):
        wanted = {pair: share for pair, share in least.items() if pair[0] == attribute}
        if not any(pair in clashing for pair in wanted):
            yield from _of_attribute(scene, attribute, wanted)


def _strictest(scene: Scene, *, negated: bool) -> dict[Pair, Bound]:
    found: dict[Pair, Bound] = {}
    for name, template in scene.policy.privacy.templates.items():
        if template.negated is negated:
            for pair in _pairs(template):
                if pair not in found or template.confidence < found[pair][0]:
                    found[pair] = (template.confidence, name)
    return found


def _pairs(template: Template) -> list[Pair]:
    return [(attribute, value) for attribute, values in template.sensitive.items() for value in values]


def _of_value(scene: Scene, most: Bound, least: Bound) -> Diagnostic:
    return scene.fault(
        "PPF528",
        f"templates `{most[1]}` and `{least[1]}` contradict each other: a value that at most {most[0]:.4g} of the rows"
        f" may have would have to be in at least {least[0]:.4g} of them",
        ("privacy", "templates", least[1]),
        at_key=True,
        hint="their confidences must add up to at least 1",
        related=scene.related(("privacy", "templates", most[1]), "this one bounds the same value from above"),
    )


def _of_attribute(scene: Scene, attribute: str, wanted: dict[Pair, Bound]) -> Iterator[Diagnostic]:
    """The templates that want most first: no smaller set of them needs more than all rows."""
    shares: dict[str, list[float]] = {}
    for share, name in wanted.values():
        shares.setdefault(name, []).append(share)
    total, values, by = 0.0, 0, []
    for name in sorted(shares, key=lambda n: -sum(shares[n])):
        total, values = total + sum(shares[name]), values + len(shares[name])
        by.append(name)
        if total > 1.0 + TOLERANCE:
            break
    else:
        return
    who = f"template `{by[0]}` contradicts itself" if len(by) == 1 else f"templates {_listed(by)} contradict each other"
    yield scene.fault(
        "PPF528",
        f"{who}: {values} values of `{attribute}` would need {total:.4g} of the rows together",
        ("privacy", "templates", by[0]),
        at_key=True,
        hint="raise their confidences: 1 minus confidence is the share of rows that a negated template wants",
        related=tuple(r for n in by[1:] for r in scene.related(("privacy", "templates", n), "and this one")),
    )


def _listed(names: list[str]) -> str:
    quoted = [f"`{n}`" for n in names]
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"
