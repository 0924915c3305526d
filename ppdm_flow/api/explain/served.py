"""The kinds of requirements that a plugin serves: those that its card names, or all that hold of classes."""

from __future__ import annotations

from ppdm_flow.core.plugin_info import PluginInfo
from ppdm_flow.policy.language.kinds import kinds_of, third_parties


def kinds_served(info: PluginInfo) -> tuple[str, ...]:
    """Return the names of the kinds that a plugin's card means."""
    if not info.classes:
        return info.serves
    kinds = (spec.requirement for spec in kinds_of(third_parties()))
    return tuple(k.kind for k in kinds if k.classes and (info.classes == "people" or not k.in_population))
