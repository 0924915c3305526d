"""What can be wrong with a clause on k-map."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.language.patterns import is_pattern
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.rules.grouping import grouped, known
from ppdm_flow.policy.rules.scene import Scene, entry_path
from ppdm_flow.requirements.k_map.requirement import KMap


def judge(scene: Scene, entries: Mapping[str, KMap]) -> Iterator[Diagnostic]:
    """Judge it (PPF585)."""
    for name, clause in entries.items():
        yield from _k_map(scene, clause, entry_path("k_map", name))


def _k_map(scene: Scene, model: KMap, path: tuple[str, ...]) -> Iterator[Diagnostic]:
    yield from grouped(scene, model.attributes, path)
    names = known(scene, model.attributes)
    place = (*path, "population", "columns")
    uses = Counter(model.population.columns.values())
    patterns = any(is_pattern(name) for name in names)
    for name, column in model.population.columns.items():
        if name not in names and not patterns:
            text = f"`{short(name)}` is not an attribute that `k_map` groups by"
            yield scene.fault("PPF585", text, (*place, name), at_key=True)
        elif uses[column] > 1:
            text = f"two attributes cannot both be the column `{short(column)}`"
            yield scene.fault("PPF585", text, (*place, name))
    if len(model.population.delimiter) != 1:
        yield scene.fault("PPF585", "a delimiter is one character", (*path, "population", "delimiter"))
