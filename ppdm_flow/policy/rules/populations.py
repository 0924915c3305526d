"""k-map, LKC-privacy and km-anonymity: attributes that fit, and nothing said by half."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.roles import Role
from ppdm_flow.policy.language.anonymity import LKC, KMap
from ppdm_flow.policy.language.patterns import is_pattern
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.rules.attributes import suppressed
from ppdm_flow.policy.rules.classes import grouped
from ppdm_flow.policy.rules.item_sets import item_sets
from ppdm_flow.policy.rules.repeats import repeats
from ppdm_flow.policy.rules.scene import SUPPRESSED, Scene
from ppdm_flow.policy.rules.templates import protected


def judge(scene: Scene) -> Iterator[Diagnostic]:
    """Judge ``k_map``, ``lkc`` and ``km_anonymity`` (PPF581, PPF583, PPF585, PPF586)."""
    privacy = scene.policy.privacy
    if privacy.k_map is not None:
        yield from _k_map(scene, privacy.k_map)
    if privacy.lkc is not None:
        yield from _lkc(scene, privacy.lkc)
    if privacy.km_anonymity is not None:
        yield from item_sets(scene, "km_anonymity", privacy.km_anonymity.attribute, "PPF586")


def _k_map(scene: Scene, model: KMap) -> Iterator[Diagnostic]:
    path = ("privacy", "k_map")
    yield from grouped(scene, model.attributes, path)
    known = _known(scene, model.attributes)
    place = (*path, "population", "columns")
    uses = Counter(model.population.columns.values())
    patterns = any(is_pattern(name) for name in known)
    for name, column in model.population.columns.items():
        if name not in known and not patterns:
            text = f"`{short(name)}` is not an attribute that `k_map` groups by"
            yield scene.fault("PPF585", text, (*place, name), at_key=True)
        elif uses[column] > 1:
            text = f"two attributes cannot both be the column `{short(column)}`"
            yield scene.fault("PPF585", text, (*place, name))
    if len(model.population.delimiter) != 1:
        yield scene.fault("PPF585", "a delimiter is one character", (*path, "population", "delimiter"))


def _lkc(scene: Scene, model: LKC) -> Iterator[Diagnostic]:
    path = ("privacy", "lkc")
    yield from grouped(scene, model.attributes, path)
    known = _known(scene, model.attributes)
    if (model.c is None) is not (not model.sensitive):
        text = "`c` bounds how sure one can be of the `sensitive` values: each needs the other"
        yield scene.fault("PPF583", text, path, at_key=True, hint="add the other, or remove both")
    if known and model.l > len(known) and not any(is_pattern(n) for n in known):
        text = f"`l` is {model.l}, but there are only {len(known)} attributes to know"
        yield scene.fault("PPF583", text, (*path, "l"), hint=f"use at most `l: {len(known)}`")
    for name, values in model.sensitive.items():
        place = (*path, "sensitive", name)
        attribute, faults = scene.attribute(name, place, at_key=True)
        yield from faults
        yield from repeats(scene, values, place, f"the sensitive values of `{short(name)}`")
        for i, value in enumerate(values):
            if value == SUPPRESSED:
                yield suppressed(scene, (*place, str(i)))
        if attribute is not None:
            yield from protected(scene, name, attribute.role, place)
            yield from scene.values(attribute, name, [(v, (*place, str(i))) for i, v in enumerate(values)])
        if name in known:
            text = f"`{short(name)}` cannot both be known and be what is inferred"
            yield scene.fault("PPF581", text, place, at_key=True, hint="take it out of one of the two")


def _known(scene: Scene, attributes: tuple[str, ...] | None) -> tuple[str, ...]:
    if attributes is not None:
        return attributes
    return tuple(n for n, a in scene.policy.attributes.items() if a.role is Role.QUASI_IDENTIFIER)
