"""The source or sink for a file name, by the cards of the installed ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.plugin_info import Kind, PluginInfo
from ppdm_flow.sdk import registry


def inferred(group: str, name: str) -> str | None:
    """Return the format of ``sources`` or ``sinks`` for the ending of ``name``; ``format:`` overrides it.

    What a built-in claims is its own; of other packages the longest ending counts. None where nothing claims it, or
    two packages do.
    """
    lowered = name.lower()
    for plugin in _likely_first(group, lowered):
        if _claimed(_card(plugin).endings, lowered):  # no two built-ins claim one ending
            return plugin.name
    claims: dict[str, set[str]] = {}
    for plugin in registry.listed(group):
        ending = "" if plugin.built_in else _claimed(_card(plugin).endings, lowered)
        if ending:
            claims.setdefault(ending, set()).add(plugin.name)
    nearest = claims[max(claims, key=len)] if claims else set()
    return next(iter(nearest)) if len(nearest) == 1 else None


def implied(group: str, kind: str | None, name: str) -> Mapping[str, str]:
    """Return what a file's name says of how it is written: the cells of a ``.tsv`` are parted by tabs."""
    said = {} if kind is None else _known(group, kind).implied
    ending = _claimed(said, name.lower())
    return dict(said[ending]) if ending else {}


def format_of_data(declared: str | None, data: str) -> str | None:
    """Return the format of a file that is read in place of the policy's own.

    A file whose ending belongs to a self-describing format is read as that format. The policy's own format does not
    matter then.
    """
    inferred_format = inferred("sources", data)
    return (
        inferred_format if inferred_format is not None and says_itself(inferred_format) else declared or inferred_format
    )


def says_itself(kind: str) -> bool:
    """Whether files of a source's format say themselves what they hold (``PluginInfo.typed``)."""
    return _known("sources", kind).typed


def handling(group: str, kind: str) -> str:
    """Return what a format of ``sources`` or ``sinks`` does with sets of items (``PluginInfo.sets``)."""
    return _known(group, kind).sets


def partitions(kind: str) -> bool:
    """Whether a sink's releases can be partitioned (``PluginInfo.partitions``)."""
    return _known("sinks", kind).partitions


def usual_ending(group: str, kind: str, name: str = "") -> str:
    """Return an ending for a new file of a format: that of ``name``, where the format has it."""
    endings = _known(group, kind).endings
    return _claimed(endings, name.lower()) or next(iter(endings), ".txt")


def choices(group: str, place: str = "`format:`") -> str:
    """Return which formats there are, as advice for a file whose name tells none; ``place`` is where one is said."""
    cards = [_card(plugin) for plugin in registry.listed(group)]
    tables = [f"`{card.name}`" for card in cards if card.name and card.sets != "only"]
    sets = [f"`{card.name}`" for card in cards if card.sets == "only"]
    return f"say {place} with {_one_of(tables)}" + (f"; sets are {_one_of(sets)}" if sets else "")


_UNKNOWN = PluginInfo("", Kind.SOURCE, "")
"""Placeholder for a plugin that cannot be loaded; that is reported where it is bound."""


def _likely_first(group: str, name: str) -> Iterator[registry.ListedPlugin]:
    """Yield the built-ins; first those named like the ending, so that for most files a single card is imported."""
    built_in = (plugin for plugin in registry.listed(group) if plugin.built_in)
    yield from sorted(built_in, key=lambda plugin: f".{plugin.name}" not in name)


def _claimed(endings: Iterable[str], name: str) -> str:
    return max((ending for ending in endings if name.endswith(ending)), key=len, default="")


def _known(group: str, kind: str) -> PluginInfo:
    try:
        return registry.load(group, kind).info
    except PluginError:
        return _UNKNOWN


def _card(plugin: registry.ListedPlugin) -> PluginInfo:
    try:
        return registry.load_listed(plugin).info
    except PluginError:
        return _UNKNOWN


def _one_of(names: Sequence[str]) -> str:
    return " or ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)
