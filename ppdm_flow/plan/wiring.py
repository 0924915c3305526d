"""Which step reads what: inputs, cycles, order; also where the shape of a policy is wrong somewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic, Related, Severity
from ppdm_flow.core.records import dataclass
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.plan.binding import Binder
from ppdm_flow.plan.definition import SOURCE
from ppdm_flow.policy.loaded import Places


@dataclass(frozen=True, slots=True)
class Wiring:
    """``inputs`` is what each step reads, ``origins`` what each release is made from; None where that is unknown.

    ``order`` holds the steps that can be reached from the source: by depth, then by name.
    """

    inputs: Mapping[str, str | None]
    origins: Mapping[str, str | None]
    order: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...] = field(default=())


def wire(
    steps: Mapping[str, str | None],
    releases: Mapping[str, str | None],
    places: Places,
    roots: tuple[str, ...] = (SOURCE,),
) -> Wiring:
    """Resolve ``input:`` (by step) and ``from:`` (by release), where None means: the step before, the last step.

    ``roots`` are what is read: where there are several, the first step has to say which one it reads.
    """
    diagnostics: list[Diagnostic] = []
    names = tuple(steps)
    first = roots[0] if len(roots) == 1 else ""
    resolver = _References(names, roots, places, diagnostics)
    inputs: dict[str, str | None] = {}
    for before, (name, given) in zip((first, *names), steps.items(), strict=False):
        inputs[name] = resolver.known(given or before, ("steps", name, "input"))
    last = names[-1] if names else first
    origins = {name: resolver.known(given or last, ("releases", name, "from")) for name, given in releases.items()}
    for root in (r for r in roots if r in steps):
        text = f"`{root}` is the name of what is read: a step needs another one"
        diagnostics.append(Diagnostic("PPF605", text, places.key("steps", root)))
    diagnostics += _cycles({name: inputs[name] for name in names if name not in roots}, places)
    depths = _depths(inputs, roots)
    order = tuple(sorted(depths, key=lambda name: (depths[name], name)))
    diagnostics += _unused(inputs, set(order), origins, places)
    return Wiring(inputs, origins, order, tuple(diagnostics))


def base(reference: str) -> str:
    """Return the step (or ``source``) of a reference such as ``step.output``."""
    return reference.partition(".")[0]


@dataclass(frozen=True, slots=True)
class _References:
    """The names that a step or a release may read."""

    names: tuple[str, ...]
    roots: tuple[str, ...]
    places: Places
    diagnostics: list[Diagnostic]

    def known(self, reference: str, path: tuple[str, ...]) -> str | None:
        """Return the reference, or None after saying that there is no such thing."""
        if reference in self.roots or base(reference) in self.names:
            return reference
        kind, owner, _ = path
        what = f"{'step' if kind == 'steps' else 'release'} `{owner}`"
        text = f"{what} reads `{reference}`, and there is no such step"
        hint = did_you_mean(base(reference), (*self.names, *self.roots))
        if not reference:
            text = f"{what} does not say which table it reads"
            hint = f"say `{path[-1]}: TABLE`, one of {', '.join(f'`{root}`' for root in self.roots)}"
        code = "PPF601" if kind == "steps" else "PPF604"
        self.diagnostics.append(Diagnostic(code, text, self.places.value(*path), hint=hint))
        return None


def _cycles(inputs: Mapping[str, str | None], places: Places) -> list[Diagnostic]:
    """Return each cycle once; every step has one input, so walking it finds all."""
    diagnostics: list[Diagnostic] = []
    done: set[str] = set()
    for start in inputs:
        trail: list[str] = []
        at: str | None = start
        while at is not None and at in inputs and at not in done and at not in trail:
            trail.append(at)
            reference = inputs[at]
            at = base(reference) if reference else None
        if at is not None and at in trail:
            diagnostics.append(_cycle(trail[trail.index(at) :], places))
        done.update(trail)
    return diagnostics


def _cycle(members: list[str], places: Places) -> Diagnostic:
    """Name the whole cycle, beginning at the step that comes first in the alphabet, in the direction of the data."""
    forward = list(reversed(members))
    turn = forward.index(min(forward))
    ring = forward[turn:] + forward[:turn]
    text = " → ".join(f"`{name}`" for name in (*ring, ring[0]))
    related = tuple(
        Related(span, f"`{name}` reads `{ring[place - 1]}`")
        for place, name in enumerate(ring)
        if place and (span := places.value("steps", name, "input"))
    )
    span = places.value("steps", ring[0], "input")
    return Diagnostic("PPF602", f"the steps read each other in a circle: {text}", span, related=related)


def _depths(inputs: Mapping[str, str | None], roots: tuple[str, ...]) -> dict[str, int]:
    depths: dict[str, int] = {}
    waiting = dict(inputs)
    while waiting:
        ready = [n for n, ref in waiting.items() if ref is not None and (ref in roots or base(ref) in depths)]
        if not ready:
            break
        for name in ready:
            reference = waiting.pop(name)
            depths[name] = depths.get(base(reference or ""), -1) + 1
    return depths


def _unused(
    inputs: Mapping[str, str | None], ordered: set[str], origins: Mapping[str, str | None], places: Places
) -> Iterable[Diagnostic]:
    if None in origins.values() or None in inputs.values():
        return
    used: set[str] = set()
    for origin in origins.values():
        at = base(origin) if origin else SOURCE
        while at in ordered and at not in used:
            used.add(at)
            at = base(inputs[at] or SOURCE)
    for name in inputs:
        if name in ordered and name not in used:
            text = f"no release comes from step `{name}`"
            yield Diagnostic("PPF603", text, places.key("steps", name), Severity.WARNING)


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
    roots = tuple(name for name, _ in _maps(tree, "tables")) or (SOURCE,)
    return [*binder.diagnostics, *wire(steps, releases, places, roots).diagnostics]


def _maps(tree: Mapping[str, Any], section: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    entries = tree.get(section)
    if isinstance(entries, Mapping):
        yield from ((str(name), entry) for name, entry in entries.items() if isinstance(entry, Mapping))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
