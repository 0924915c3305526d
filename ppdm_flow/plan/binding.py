"""Binds plugins by name. Their own models check their parameters, with faults at the policy's lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import networkx as nx
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace, Severity
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.core.spans import Span
from ppdm_flow.core.suggest import closest, did_you_mean
from ppdm_flow.plan.dag import SOURCE, base, flow_graph, release_key
from ppdm_flow.plan.definition import ConfiguredPlugin
from ppdm_flow.policy.language.shape import FixedKeys, MapOf, Shape, Text, at
from ppdm_flow.policy.language.words import expected, short
from ppdm_flow.policy.loaded import PolicyPath, ResolvedPlaces
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import Params, PluginSpec

_KINDS: Mapping[str, frozenset[Kind]] = {
    "anonymizers": frozenset({Kind.ROW_WISE, Kind.ORDER, Kind.TABLE, Kind.GENERATOR}),
    "audits": frozenset({Kind.AUDIT}),
    "sources": frozenset({Kind.SOURCE}),
    "sinks": frozenset({Kind.SINK}),
}


class Binder:
    """Binds plugins and gathers what is wrong with them."""

    def __init__(self, places: ResolvedPlaces) -> None:
        self.places = places
        self.diagnostics: list[Diagnostic] = []

    def bind(
        self, group: str, name: str, given: Mapping[str, Any], use: PolicyPath, with_: PolicyPath
    ) -> ConfiguredPlugin | None:
        """Return the plugin ``name`` with the parameters ``given`` at ``with_``; None where something is wrong.

        ``use`` is the path of the value that names the plugin.
        """
        spec = self._spec(group, name, use)
        if spec is None:
            return None
        params = self._params(spec, given, with_)
        if params is None:
            return None
        plugin = registry.find(group, name)
        document = params.model_dump(mode="json", by_alias=True)
        return ConfiguredPlugin(spec, params, document, plugin.distribution, plugin.version)

    def _spec(self, group: str, name: str, use: PolicyPath) -> PluginSpec | None:
        try:
            spec = registry.load(group, name)
        except PluginError as error:
            span = self.places.value(*use)
            self.diagnostics += [replace(d, span=span, path=use) for d in error.diagnostics]
            return None
        if spec.info.kind not in _KINDS[group]:
            text = f"the plugin `{name}` is listed among the {group}, but says that it is a {spec.info.kind}"
            self.diagnostics.append(Diagnostic("PPF404", text, self.places.value(*use)))
            return None
        return spec

    def _params(self, spec: PluginSpec, given: Mapping[str, Any], with_: PolicyPath) -> Params | None:
        try:
            return spec.params.model_validate(given)
        except ValidationError as error:
            parameters = Parameters(spec.info.name, spec.params, given, with_)
            self.diagnostics += parameters.faults(error, self.places)
        except Exception as error:  # noqa: BLE001  # a third party's validator must not look like our own fault
            text = f"the parameters of `{spec.info.name}` cannot be checked: it raised {type(error).__name__}"
            self.diagnostics.append(Diagnostic("PPF405", text, self.places.value(*with_)))
        return None


# A plugin's parameters against its own model: every fault at the line of the policy that it stands on.


_RANGE = frozenset({"greater_than", "greater_than_equal", "less_than", "less_than_equal", "finite_number"})
_LENGTHS = frozenset({"too_short", "too_long", "string_too_short", "string_too_long"})
_OWN_WORDS = frozenset({"value_error", "assertion_error"})


class Parameters:
    """The parameters of the plugin ``name``, which stand at ``path`` in the policy."""

    def __init__(self, name: str, model: type[Params], given: Mapping[str, Any], path: PolicyPath) -> None:
        self.name = name
        self.model = model
        self.given = given
        self.path = path

    def faults(self, error: ValidationError, places: ResolvedPlaces) -> list[Diagnostic]:
        """Return one diagnostic for each thing that the model refuses."""
        diagnostics: dict[tuple[tuple[str, ...], str], Diagnostic] = {}
        for each in error.errors(include_url=False, include_input=False):
            loc = self._written(tuple(str(part) for part in each["loc"]))
            diagnostics.setdefault((loc, each["type"]), self._fault(loc, each, places))
        return list(diagnostics.values())

    def _written(self, loc: tuple[str, ...]) -> tuple[str, ...]:
        """Return the part of pydantic's location that stands in the policy: it adds tags of unions and ``[key]``."""
        value: Any = self.given
        path: list[str] = []
        for part in loc:
            if isinstance(value, Mapping):
                if part not in value and part != loc[-1]:
                    continue
                value = value.get(part)
            elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
                value = value[int(part)]
            else:
                continue
            path.append(part)
        return tuple(path)

    def _fault(self, loc: tuple[str, ...], each: ErrorDetails, places: ResolvedPlaces) -> Diagnostic:
        path = (*self.path, *loc)
        if each["loc"][-1:] == ("[key]",) and loc:
            text = f"`{short(loc[-1])}` does not fit as a key of {self._of(loc[:-1])}"
            return Diagnostic("PPF203", text, places.key(*path), path=path)
        match each["type"]:
            case "extra_forbidden":
                return self._unknown(loc, places)
            case "missing":
                shape = at(loc, self.model)
                what = expected(shape) if shape is not None else "a value"
                text = f"`{loc[-1]}` is missing in {self._of(loc[:-1])}"
                return Diagnostic("PPF202", text, places.key(*path[:-1]), hint=f"add `{loc[-1]}: …`, {what}", path=path)
            case kind:
                return self._value(loc, kind, each, places)

    def _unknown(self, loc: tuple[str, ...], places: ResolvedPlaces) -> Diagnostic:
        shape = at(loc[:-1], self.model)
        known = sorted(shape.keys) if isinstance(shape, FixedKeys) else []
        near = closest(loc[-1], known)
        takes = ", ".join(f"`{key}`" for key in known)
        return Diagnostic(
            "PPF201",
            f"unknown key `{short(loc[-1])}` in {self._of(loc[:-1])}",
            places.key(*self.path, *loc),
            hint=f"did you mean `{near}`?" if near else None,
            help=(f"it takes {takes}" if takes else "it takes none") if not near else None,
            path=(*self.path, *loc),
        )

    def _value(self, loc: tuple[str, ...], kind: str, each: ErrorDetails, places: ResolvedPlaces) -> Diagnostic:
        shape = at(loc, self.model)
        value = _at(self.given, loc)
        if isinstance(shape, MapOf) and isinstance(value, str) and (kind in _RANGE or kind.endswith("_parsing")):
            shape = shape.value  # a single value in place of a whole map
        code, hint = "PPF203", None
        if kind in _OWN_WORDS or shape is None or not loc:
            says = each["msg"].partition(", ")[2] if kind in _OWN_WORDS else "does not fit"
        elif kind in _LENGTHS or kind == "string_pattern_mismatch":
            says = _extent(kind, each.get("ctx", {}))
        else:
            code, hint = _coded(kind, shape, value)
            says = f"must be {expected(shape)}{_but(value)}"
        subject = f"`{short(loc[-1])}` of {self._of(loc[:-1])}" if loc else self._of(())
        if loc and loc[-1].isdecimal() and isinstance(_at(self.given, loc[:-1]), list):
            subject = f"item {int(loc[-1]) + 1} of `{short(loc[-2])}` in {self._of(loc[:-2])}"
        path = (*self.path, *loc)
        return Diagnostic(code, f"{subject}: {says}", _tight(places, path), hint=hint, path=path)

    def _of(self, loc: tuple[str, ...]) -> str:
        inner = ".".join(short(part) for part in loc)
        return f"`{inner}` of `{self.name}`" if inner else f"the parameters of `{self.name}`"


def _coded(kind: str, shape: Shape, value: Any) -> tuple[str, str | None]:
    """Return the code of a wrong value, and the choice that was meant."""
    if isinstance(shape, Text) and shape.choices:
        near = closest(value, shape.choices) if isinstance(value, str) else None
        return "PPF205", f"did you mean `{near}`?" if near else None
    return ("PPF204" if kind in _RANGE else "PPF203"), None


def _but(value: Any) -> str:
    if isinstance(value, str):
        return f", not `{short(value)}`"
    if isinstance(value, Mapping):
        return ", not a map"
    return ", not a list" if isinstance(value, list) else ""


def _extent(kind: str, context: Mapping[str, Any]) -> str:
    """Say how long a value must be, or what form it must have."""
    if kind == "string_pattern_mismatch":
        return f"must have the form `{context.get('pattern', '')}`"
    noun = "character" if kind.startswith("string") else "item"
    least = kind.endswith("short")
    number = context.get("min_length" if least else "max_length", 1)
    return f"must have at {'least' if least else 'most'} {number} {noun}{'' if number == 1 else 's'}"


def _at(tree: Any, loc: tuple[str, ...]) -> Any:
    for part in loc:
        if isinstance(tree, Mapping):
            tree = tree.get(part)
        elif isinstance(tree, list) and part.isdecimal() and int(part) < len(tree):
            tree = tree[int(part)]
        else:
            return None
    return tree


def _tight(places: ResolvedPlaces, path: PolicyPath) -> Span | None:
    """Return the value's place; its key's where the value goes over several lines."""
    span = places.value(*path)
    return places.key(*path) if span is not None and span.end_line > span.line else span


# Which step reads what: inputs, cycles, order; also where the shape of a policy is wrong somewhere.


@dataclass(frozen=True, slots=True)
class Wiring:
    """``inputs`` are the inputs of each step, ``origins`` those of each release; None where they are unknown.

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
        """Return the reference, or None after reporting that it does not exist."""
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
