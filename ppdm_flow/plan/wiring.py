"""Which step reads what: inputs, cycles, order; also where the shape of a policy is wrong somewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ppdm_flow.core.diagnostics import Diagnostic, Related, Severity
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


def wire(steps: Mapping[str, str | None], releases: Mapping[str, str | None], places: Places) -> Wiring:
    """Resolve ``input:`` (by step) and ``from:`` (by release), where None means: the step before, the last step."""
    diagnostics: list[Diagnostic] = []
    names = tuple(steps)
    inputs: dict[str, str | None] = {}
    for before, (name, given) in zip((SOURCE, *names), steps.items(), strict=False):
        inputs[name] = _known(given or before, names, ("steps", name, "input"), places, diagnostics)
    last = names[-1] if names else SOURCE
    origins = {
        name: _known(given or last, names, ("releases", name, "from"), places, diagnostics)
        for name, given in releases.items()
    }
    if SOURCE in steps:
        text = "`source` is the name of what is read: a step needs another one"
        diagnostics.append(Diagnostic("PPF605", text, places.key("steps", SOURCE)))
    diagnostics += _cycles({name: inputs[name] for name in names if name != SOURCE}, places)
    depths = _depths(inputs)
    order = tuple(sorted(depths, key=lambda name: (depths[name], name)))
    diagnostics += _unused(inputs, set(order), origins, places)
    return Wiring(inputs, origins, order, tuple(diagnostics))


def base(reference: str) -> str:
    """Return the step (or ``source``) of a reference such as ``step.output``."""
    return reference.partition(".")[0]


def _known(
    reference: str, names: tuple[str, ...], path: tuple[str, ...], places: Places, diagnostics: list[Diagnostic]
) -> str | None:
    if reference == SOURCE or base(reference) in names:
        return reference
    kind, owner, _ = path
    text = f"{'step' if kind == 'steps' else 'release'} `{owner}` reads `{reference}`, and there is no such step"
    code = "PPF601" if kind == "steps" else "PPF604"
    diagnostics.append(
        Diagnostic(code, text, places.value(*path), hint=did_you_mean(base(reference), (*names, SOURCE)))
    )
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


def _depths(inputs: Mapping[str, str | None]) -> dict[str, int]:
    depths: dict[str, int] = {}
    waiting = dict(inputs)
    while waiting:
        ready = [n for n, ref in waiting.items() if ref is not None and (ref == SOURCE or base(ref) in depths)]
        if not ready:
            break
        for name in ready:
            reference = waiting.pop(name)
            depths[name] = depths.get(base(reference or SOURCE), -1) + 1
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
    return [*binder.diagnostics, *wire(steps, releases, places).diagnostics]


def _maps(tree: Mapping[str, Any], section: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    entries = tree.get(section)
    if isinstance(entries, Mapping):
        yield from ((str(name), entry) for name, entry in entries.items() if isinstance(entry, Mapping))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
