"""The plugins and templates that are installed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError, PpdmError, UsageError
from ppdm_flow.core.suggest import closest
from ppdm_flow.policy import catalogue
from ppdm_flow.policy.references import NotFoundError
from ppdm_flow.policy.template_words import described
from ppdm_flow.sdk import registry

TEMPLATES = "templates"
LISTS = (*registry.GROUPS, TEMPLATES)


@dataclass(frozen=True, slots=True)
class Card:
    """What is known of a plugin or a template; ``fault`` where it cannot be loaded."""

    name: str
    distribution: str
    kind: str = ""
    summary: str = ""
    reference: str = ""
    guarantees: tuple[str, ...] = ()
    serves: tuple[str, ...] = ()
    randomized: bool = False
    cost: str = ""
    fault: str = ""

    @property
    def document(self) -> dict[str, Any]:
        """The JSON form."""
        return asdict(self)


def plugins(group: str) -> tuple[Card, ...]:
    """Return what is installed of ``anonymizers``, ``audits``, ``sources``, ``sinks`` or ``templates``.

    Raises
    ------
    UsageError
        Where there is no such list (PPF692).
    """
    if group == TEMPLATES:
        return tuple(_template(each) for each in catalogue.listed())
    if group not in registry.GROUPS:
        near = closest(group, LISTS)
        hint = f"did you mean `{near}`?" if near else None
        known = ", ".join(LISTS)
        text = f"there is no list of `{group}`"
        raise UsageError(Diagnostic("PPF692", text, hint=hint, help=f"there are {known}"))
    return tuple(card(group, plugin) for plugin in registry.listed(group))


def card(group: str, plugin: registry.Listed) -> Card:
    """Return the card of one plugin."""
    distribution = f"{plugin.distribution} {plugin.version}"
    try:
        info = registry.load(group, plugin.name).info
    except PluginError as error:
        return Card(plugin.name, distribution, fault=error.diagnostics[0].message)
    return Card(
        info.name,
        distribution,
        info.kind.value,
        info.summary,
        info.reference,
        info.guarantees,
        info.serves,
        info.randomized,
        info.cost,
    )


def _template(each: catalogue.Listed) -> Card:
    distribution = f"{each.distribution} {each.version}"
    try:
        told = described(each.reference)
    except NotFoundError as error:
        return Card(each.reference, distribution, fault=error.message)
    except PpdmError as error:
        return Card(each.reference, distribution, fault=error.diagnostics[0].message)
    return Card(each.reference, distribution, "template", told.description)
