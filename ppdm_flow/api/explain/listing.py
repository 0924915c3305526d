"""The plugins and templates that are installed, and the figures that plugins measure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ppdm_flow.api.explain.cards import GROUPS, kinds_served
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError, PpdmError, UsageError
from ppdm_flow.core.pages import MalformedPageError, synonyms
from ppdm_flow.core.suggest import did_you_mean, synonyms_of
from ppdm_flow.policy.inheritance import references
from ppdm_flow.policy.inheritance.references import NotFoundError
from ppdm_flow.policy.inheritance.template_words import described
from ppdm_flow.policy.language import kinds
from ppdm_flow.policy.language.kind_pages import page_of
from ppdm_flow.sdk import registry

TEMPLATES = "templates"
FIGURES = "figures"
REQUIREMENTS = kinds.GROUP
LISTS = (*registry.GROUPS, REQUIREMENTS, FIGURES, TEMPLATES)


@dataclass(frozen=True, slots=True)
class ListedCard:
    """What is known of a plugin, a template or a figure; ``of`` is a figure's plugin.

    ``also`` are words of papers and other tools for it. ``fault`` says why it cannot be loaded.
    """

    name: str
    distribution: str
    kind: str = ""
    summary: str = ""
    reference: str = ""
    guarantees: tuple[str, ...] = ()
    serves: tuple[str, ...] = ()
    randomized: bool = False
    cost: str = ""
    of: str = ""
    also: tuple[str, ...] = ()
    fault: str = ""

    @property
    def document(self) -> dict[str, Any]:
        """The JSON form."""
        return asdict(self)


def plugins(group: str) -> tuple[ListedCard, ...]:
    """Return what is installed of one of ``LISTS``: plugins, requirements, figures, templates.

    Raises
    ------
    UsageError
        Where there is no such list (PPF692).
    """
    if group == TEMPLATES:
        return tuple(_template(each) for each in references.listed())
    if group == REQUIREMENTS:
        return tuple(_requirement(plugin) for plugin in registry.listed(group))
    if group == FIGURES:
        return tuple(each for measuring in GROUPS for each in _figures(measuring))
    if group not in registry.GROUPS:
        hint = did_you_mean(group, LISTS)
        if hint is None and synonyms_of(group):
            hint = f"`ppdm-flow explain {synonyms_of(group)[0]}` says what it is"
        known = ", ".join(LISTS)
        text = f"there is no list of `{group}`"
        raise UsageError(Diagnostic("PPF692", text, hint=hint, help=f"there are {known}"))
    return tuple(card(group, plugin) for plugin in registry.listed(group))


def card(group: str, plugin: registry.ListedPlugin) -> ListedCard:
    """Return the card of one plugin."""
    distribution = f"{plugin.distribution} {plugin.version}"
    try:
        info = registry.load(group, plugin.name).info
    except PluginError as error:
        return ListedCard(plugin.name, distribution, fault=error.diagnostics[0].message)
    return ListedCard(
        info.name,
        distribution,
        info.kind.value,
        info.summary,
        info.reference,
        info.guarantees,
        kinds_served(info),
        info.randomized,
        info.cost,
        also=_also(info.name),
    )


def _also(name: str) -> tuple[str, ...]:
    return tuple(word.replace("_", " ") for word, ours in synonyms().items() if name == ours[0])


def _requirement(plugin: registry.ListedPlugin) -> ListedCard:
    distribution = f"{plugin.distribution} {plugin.version}"
    try:
        spec = kinds.loaded(plugin)
        page = page_of(spec)
        summary = spec.audit.info.summary if page is None else page.entry("summary")
    except PluginError as error:
        return ListedCard(plugin.name, distribution, fault=error.diagnostics[0].message)
    except MalformedPageError as error:
        return ListedCard(plugin.name, distribution, fault=str(error))
    info = spec.audit.info
    words = (*spec.aliases, *_also(spec.name))
    return ListedCard(spec.name, distribution, "requirement", summary, info.reference, cost=info.cost, also=words)


def _figures(group: str) -> Iterator[ListedCard]:
    """Yield a card for each figure of the plugins that can be loaded; its kind is the plugin's name."""
    for plugin in registry.listed(group):
        try:
            info = registry.load(group, plugin.name).info
        except PluginError:  # `list` of its group names it
            continue
        distribution = f"{plugin.distribution} {plugin.version}"
        for name, figure in info.figures.items():
            reference = figure.reference or info.reference
            also = _also(f"{info.name}.{name}")
            yield ListedCard(name, distribution, "figure", figure.what, reference, of=info.name, also=also)


def _template(each: references.ListedTemplate) -> ListedCard:
    distribution = f"{each.distribution} {each.version}"
    try:
        described_template = described(each.reference)
    except NotFoundError as error:
        return ListedCard(each.reference, distribution, fault=error.message)
    except PpdmError as error:
        return ListedCard(each.reference, distribution, fault=error.diagnostics[0].message)
    return ListedCard(each.reference, distribution, "template", described_template.description)
