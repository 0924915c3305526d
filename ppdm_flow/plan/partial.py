"""What can be said of the plugins and the wiring of a policy whose shape is wrong somewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.plan.binding import Binder
from ppdm_flow.plan.wiring import wire
from ppdm_flow.policy.loaded import Places

_PLUGINS = (("steps", "anonymizers"), ("audits", "audits"))


def partial_faults(tree: Mapping[str, Any], places: Places) -> list[Diagnostic]:
    """Return faults of plugin names, parameters and inputs in the tree of text, wherever it has their form."""
    binder = Binder(places)
    for section, group in _PLUGINS:
        for name, entry in _maps(tree, section):
            use, given = entry.get("use"), entry.get("with", {})
            if isinstance(use, str) and isinstance(given, Mapping):
                path = (section, name)
                binder.bind(group, use, given, (*path, "use"), (*path, "with"))
    steps = {name: _text(entry.get("input")) for name, entry in _maps(tree, "steps")}
    releases = {name: _text(entry.get("from")) for name, entry in _maps(tree, "releases")}
    return [*binder.diagnostics, *wire(steps, releases, places).diagnostics]


def _maps(tree: Mapping[str, Any], section: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    entries = tree.get(section)
    if isinstance(entries, Mapping):
        yield from ((str(name), entry) for name, entry in entries.items() if isinstance(entry, Mapping))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
