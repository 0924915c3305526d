"""Which step reads what: inputs, cycles, order; also where the shape of a policy is wrong somewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import networkx as nx

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace, Severity
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.plan.binding import Binder
from ppdm_flow.plan.dag import SOURCE, base, flow_graph, release_key
from ppdm_flow.policy.loaded import ResolvedPlaces


@dataclass(frozen=True, slots=True)
class Wiring:
    """``inputs`` is what each step reads, ``origins`` what each release is made from; None where that is unknown.

    ``order`` holds the steps that can be reached from the source: by depth, then by name. ``graph`` has all that is
    known, circles too.
    """

    inputs: Mapping[str, tuple[str, ...] | None]
    origins: Mapping[str, str | None]
    order: tuple[str, ...]
    graph: nx.DiGraph
    diagnostics: tuple[Diagnostic, ...] = field(default=())


def wire(
    steps: Mapping[str, tuple[str, ...] | None],
    releases: Mapping[str, str | None],
    places: ResolvedPlaces,
    roots: tuple[str, ...] = (SOURCE,),
) -> Wiring:
    """Resolve ``input:`` (by step) and ``from:`` (by release), where None means: the step before, the last step.

    ``roots`` are what is read: where there are several, the first step has to say which one it reads.
    """
    diagnostics: list[Diagnostic] = []
    names = tuple(steps)
    first = roots[0] if len(roots) == 1 else ""
    resolver = _References(names, roots, places, diagnostics)
    inputs: dict[str, tuple[str, ...] | None] = {}
    for before, (name, given) in zip((first, *names), steps.items(), strict=False):
        read = [
            resolver.known(reference, ("steps", name, "input", str(number)))
            for number, reference in enumerate(given or (before,))
        ]
        known = tuple(reference for reference in read if reference is not None)
        inputs[name] = known if len(known) == len(read) else None
    last = names[-1] if names else first
    origins = {name: resolver.known(given or last, ("releases", name, "from")) for name, given in releases.items()}
    for root in (r for r in roots if r in steps):
        text = f"`{root}` is the name of what is read: a step needs another one"
        diagnostics.append(Diagnostic("PPF605", text, places.key("steps", root)))
    own = {name: read or () for name, read in inputs.items() if name not in roots}
    graph = flow_graph(roots, own, {name: (origin,) if origin else () for name, origin in origins.items()})
    rings = _rings(graph)
    diagnostics += [_cycle(graph, ring, places) for ring in rings]
    stuck = {*chain.from_iterable(rings), *(name for name in own if inputs[name] is None)}
    stuck = stuck.union(*(nx.descendants(graph, node) for node in stuck))
    levels = nx.topological_generations(graph.subgraph(graph.nodes - stuck))
    order = tuple(name for level in levels for name in sorted(level) if name in own)
    if None not in origins.values() and None not in inputs.values():
        diagnostics += _unused(graph, order, origins, places)
    return Wiring(inputs, origins, order, graph, tuple(diagnostics))


@dataclass(frozen=True, slots=True)
class _References:
    """The names that a step or a release may read."""

    names: tuple[str, ...]
    roots: tuple[str, ...]
    places: ResolvedPlaces
    diagnostics: list[Diagnostic]

    def known(self, reference: str, path: tuple[str, ...]) -> str | None:
        """Return the reference, or None after saying that there is no such thing."""
        if reference in self.roots or base(reference) in self.names:
            return reference
        kind, owner, key, *_ = path
        what = f"{'step' if kind == 'steps' else 'release'} `{owner}`"
        text = f"{what} reads `{reference}`, and there is no such step"
        hint = did_you_mean(base(reference), (*self.names, *self.roots))
        if not reference:
            text = f"{what} does not say which table it reads"
            hint = f"say `{key}: TABLE`, one of {', '.join(f'`{root}`' for root in self.roots)}"
        self.diagnostics.append(Diagnostic("PPF601", text, self.places.value(*path), hint=hint))
        return None


def _rings(graph: nx.DiGraph) -> list[set[str]]:
    """Return the steps that lead to each other, those of each circle (or of several that share steps) together."""
    loops = set(nx.nodes_with_selfloops(graph))
    rings = (ring for ring in nx.strongly_connected_components(graph) if len(ring) > 1 or ring <= loops)
    return sorted(rings, key=min)


def _cycle(graph: nx.DiGraph, members: set[str], places: ResolvedPlaces) -> Diagnostic:
    """Name a whole cycle of these steps, beginning with its first in the alphabet, in the direction of the data."""
    ordered = nx.DiGraph(sorted(graph.subgraph(members).edges))
    forward = [start for start, _ in nx.find_cycle(ordered, min(members))]
    turn = forward.index(min(forward))
    ring = forward[turn:] + forward[:turn]
    text = " → ".join(f"`{name}`" for name in (*ring, ring[0]))
    related = tuple(
        RelatedPlace(span, f"`{name}` reads `{before}`")
        for before, name in zip((ring[-1], *ring), ring, strict=False)
        if (span := places.value("steps", name, "input"))
    )
    span = places.value("steps", ring[0], "input")
    return Diagnostic("PPF602", f"the steps read each other in a circle: {text}", span, related=related)


def _unused(
    graph: nx.DiGraph, order: Iterable[str], origins: Iterable[str], places: ResolvedPlaces
) -> Iterator[Diagnostic]:
    used: set[str] = set().union(*(nx.ancestors(graph, release_key(name)) for name in origins))
    for name in (name for name in order if name not in used):
        text = f"no release comes from step `{name}`"
        yield Diagnostic("PPF603", text, places.key("steps", name), Severity.WARNING)


_PLUGINS = (("steps", "anonymizers"), ("audits", "audits"))


def partial_faults(tree: Mapping[str, Any], places: ResolvedPlaces) -> list[Diagnostic]:
    """Return faults of plugin names, parameters and inputs in the tree of text, wherever it has their form."""
    binder = Binder(places)
    for section, group in _PLUGINS:
        for name, entry in _maps(tree, section):
            use, given = entry.get("use"), entry.get("with", {})
            if isinstance(use, str) and isinstance(given, Mapping):
                path = (section, name)
                binder.bind(group, use, given, (*path, "use"), (*path, "with"))
    steps = {name: _texts(entry.get("input")) or None for name, entry in _maps(tree, "steps")}
    releases = {name: _text(entry.get("from")) for name, entry in _maps(tree, "releases")}
    roots = tuple(name for name, _ in _maps(tree, "tables")) or (SOURCE,)
    return [*binder.diagnostics, *wire(steps, releases, places, roots).diagnostics]


def _maps(tree: Mapping[str, Any], section: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    entries = tree.get(section)
    if isinstance(entries, Mapping):
        yield from ((str(name), entry) for name, entry in entries.items() if isinstance(entry, Mapping))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str))
