"""Where plugins are worked on by a run on Spark, as their cards say it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ppdm_flow.core.plugin_info import Kind, PluginInfo

_WHOLE = "the whole table"
_WITH_CASES = 2


def line_of(info: PluginInfo) -> str:
    """Return where a step or an audit is worked on, and what comes to the driver; nothing for other plugins."""
    if info.kind in (Kind.SOURCE, Kind.SINK):
        return ""
    cells = [cell for cell in _cells(info)[1:] if cell]
    return f"{cells[0]} ({cells[1]}); {cells[2]}" if len(cells) > _WITH_CASES else f"{cells[0]} ({cells[1]})"


def matrix(infos: Iterable[PluginInfo]) -> str:
    """Return a table in Markdown with a line for each of these cards, by name.

    An audit of a requirement stands under the name of that.
    """
    lines = sorted(_cells(info) for info in infos)
    return "\n".join(_table([("", "where", "what comes to the driver", "and in some cases"), *lines]))


def _table(lines: list[tuple[str, ...]]) -> Iterator[str]:
    for place, cells in enumerate(lines):
        yield f"| {' | '.join(cells)} |"
        if not place:
            yield "|" + "---|" * len(cells)


def _cells(info: PluginInfo) -> tuple[str, str, str, str]:
    names = [f"privacy.{kind}" for kind in info.serves] if info.kind is Kind.AUDIT and info.serves else [info.name]
    name, asks = ", ".join(f"`{each}`" for each in names), info.asks
    if info.kind is Kind.TABLE or asks.takes_all is True:
        return name, "driver", _WHOLE, ""
    if info.kind is Kind.GENERATOR:
        return name, "driver", f"it makes rows there, from {asks.usually}", asks.cases
    return name, asks.usual.where, asks.usually, asks.cases
