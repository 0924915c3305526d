"""What can be wrong with clauses on dominance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.policy.language.models import Attribute
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.rules import on_sensitive
from ppdm_flow.policy.rules.on_sensitive import Path
from ppdm_flow.policy.rules.scene import Scene
from ppdm_flow.requirements.dominance.requirement import Dominance

_NUMBERS = (AttributeType.INTEGER, AttributeType.FLOAT)


def judge(scene: Scene, entries: Mapping[str, Dominance]) -> Iterator[Diagnostic]:
    """Judge them (PPF538, PPF501 to PPF583, PPF599)."""
    for name, clause in entries.items():
        path = ("privacy", "dominance", name)
        yield from _rules(scene, clause, path)
        yield from _weighted(scene, path)
    yield from on_sensitive.judge(scene, "dominance", entries, _own)


def _rules(scene: Scene, clause: Dominance, path: Path) -> Iterator[Diagnostic]:
    if clause.share is None and clause.p is None and clause.contributors is None:
        text, hint = "`dominance` asks for none of `share`, `p` and `contributors`", "add one of them"
        yield scene.fault("PPF583", text, path, at_key=True, hint=hint)
        return
    for key, needed in (("n", "share"), ("q", "p")):
        if key in clause.model_fields_set and getattr(clause, needed) is None:
            text = f"`{key}` means nothing without `{needed}`"
            yield scene.fault("PPF583", text, (*path, key), at_key=True, hint=f"add `{needed}: …`, or take it out")
    if clause.share is not None and clause.share >= 1.0:
        text = "nobody has more than all of a total, so this `share` holds of any data"
        yield scene.fault("PPF582", text, (*path, "share"))


def _weighted(scene: Scene, path: Path) -> Iterator[Diagnostic]:
    weights = [name for name, a in scene.policy.attributes.items() if a.role is Role.SAMPLING_WEIGHT]
    for name in weights[:1]:
        declared = ("attributes", scene.declared.key(name) or name)
        yield scene.fault(
            "PPF538",
            "`dominance` bounds totals of the rows, and this is a sample, whose totals are weighted",
            path,
            at_key=True,
            hint="bound the totals of a table whose rows are all contributors",
            related=scene.related(declared, "the weights of the sample"),
        )


def _own(scene: Scene, name: str, attribute: Attribute, clause: Dominance, path: Path) -> Iterator[Diagnostic]:
    del clause
    if attribute.type in _NUMBERS:
        return
    what = "moments, which have no total" if attribute.type.is_time else "texts, which have no total"
    declared = ("attributes", scene.declared.key(name) or name)
    yield scene.fault(
        "PPF599",
        f"`{short(name)}` holds {what}",
        path,
        at_key=True,
        hint="name an attribute of `type: integer` or `float`",
        related=scene.related(declared, "declared here"),
    )
