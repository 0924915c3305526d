"""The meanings of a plan's figures, by the cards of its plugins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.plugin_info import FigureInfo, PluginInfo
from ppdm_flow.sdk import registry


@dataclass(frozen=True, slots=True)
class Meanings:
    """``cards`` by whose figures they are: of a step, of an audit, of a requirement; ``releases`` by name."""

    cards: Mapping[str, PluginInfo]
    releases: frozenset[str]

    @classmethod
    def of(cls, plan: Mapping[str, Any]) -> Meanings:
        """Look up the cards; a plugin that is not installed here, where the report is written, has none."""
        cards = {owner: info for group, use, owners in _used(plan) if (info := _card(group, use)) for owner in owners}
        return cls(cards, frozenset(release["name"] for release in plan.get("releases", ())))

    def of_figure(self, metric: str) -> str:
        """Return what a figure is, and its formula in a second line; nothing where that is not known."""
        meaning = self.figure(metric)
        return "\n".join(filter(None, (meaning.what, meaning.formula))) if meaning else ""

    def figure(self, metric: str) -> FigureInfo | None:
        """Return what the card of a figure's plugin says of it; None where that is not known."""
        release, _, rest = metric.partition("/")
        name = rest if self.releases.issuperset(release.split(" + ")) else metric
        ends = (place for place, letter in enumerate(name) if letter == ".")
        named = {name[:end]: name[end + 1 :] for end in ends if name[:end] in self.cards}
        for owner in named if len(named) < 2 else (owner for owner in self.cards if owner in named):
            figure = self.cards[owner].figure_of(named[owner])
            if figure is not None:
                return self.cards[owner].figures[figure]
        return None


def _used(plan: Mapping[str, Any]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for step in plan.get("steps", ()):
        yield "anonymizers", step["use"], (step["name"],)
    for audit in plan.get("audits", ()):
        yield "audits", audit["use"], (audit["name"], *audit["requirements"])


def _card(group: str, use: str) -> PluginInfo | None:
    try:
        return registry.load(group, use).info
    except PluginError:
        return None
