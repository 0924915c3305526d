"""Gates: whether the metric that each of them bounds can exist, and does on every release that it is about."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.gate import FigureGate
from ppdm_flow.core.suggest import closest
from ppdm_flow.plan.definition import AuditNode
from ppdm_flow.policy.loaded import ResolvedPlaces


def of_steps(gates: Iterable[FigureGate], steps: Collection[str]) -> tuple[FigureGate, ...]:
    """Return the gates with no releases where their figures are those of steps that the plan has put in place."""
    return tuple(replace(g, releases=()) if g.figure.partition(".")[0] in steps else g for g in gates)


def unmeasured(
    gates: Iterable[FigureGate], audits: Iterable[AuditNode], releases: Collection[str], places: ResolvedPlaces
) -> Iterator[Diagnostic]:
    """Yield a fault for every release that a gate is about, and its audit is not measured on, but on others (PPF644).

    An audit that is measured on none has errors of its own, and so has a gate that names what is none of ``releases``.
    """
    nodes = tuple(audits)
    for gate in gates:
        owner, path = gate.figure.partition(".")[0], ("gates", gate.id.removeprefix("gates."))
        there = [node.release for node in nodes if node.name == owner]
        for release in (r for r in gate.releases if there and r in releases and r not in there):
            text = f"gate `{path[1]}` is about release `{release}`, and audit `{owner}` cannot be measured there"
            hint = f"say which ones it is about: `releases: [{', '.join(there)}]`"
            yield Diagnostic("PPF644", text, places.key(*path), hint=hint, path=path)


def redefined(gates: Iterable[FigureGate], audits: Iterable[AuditNode], places: ResolvedPlaces) -> Iterator[Diagnostic]:
    """Yield a fault for every gate on a figure whose name meant another one in 0.1 (PPF667).

    The parameter ``definitions`` of the audit says that the policy means the figure as it is now.
    """
    bound_by_name = {node.name: node.bound for node in audits}
    for gate in gates:
        owner, _, rest = gate.figure.partition(".")
        bound = bound_by_name.get(owner)
        figure = bound.info.figure_of(rest) if bound is not None else None
        if bound is None or figure is None or getattr(bound.params, "definitions", None) is not None:
            continue
        if former := bound.info.figures[figure].redefined:
            path = ("gates", gate.id.removeprefix("gates."))
            text = f"gate `{path[1]}`: what `{figure}` was in 0.1 is `{former}` now, and `{figure}` is another figure"
            hint = f"write `metric: {gate.metric.removesuffix(figure)}{former}`"
            yield Diagnostic("PPF667", text, places.value(*path, "metric"), hint=hint, path=path)


def dangling(
    gates: Iterable[FigureGate], owners: Iterable[str], releases: Iterable[str], places: ResolvedPlaces
) -> list[Diagnostic]:
    """Return a fault for every gate whose metric belongs to no audit, step or requirement (``owners``)."""
    known = tuple(dict.fromkeys(owners))
    names = tuple(releases)
    diagnostics = []
    for gate in gates:
        span = places.value(*gate.id.split(".", 1), "metric")
        fault = _fault(gate, known, names)
        diagnostics += [replace(fault, span=span)] if fault is not None else []
    return diagnostics


def _fault(gate: FigureGate, owners: tuple[str, ...], releases: tuple[str, ...]) -> Diagnostic | None:
    release, slash, metric = gate.metric.rpartition("/")
    if slash and release not in releases:
        return _diagnostic(gate, f"there is no release `{release}`", closest(release, releases), f"/{metric}")
    if any(metric.startswith(f"{owner}.") and len(metric) > len(owner) + 1 for owner in owners):
        return None
    if metric in owners:
        text = f"`{metric}` is not a complete metric: write `{metric}.FIGURE`"
        return _diagnostic(gate, text, None, "")
    owner, _, figure = metric.rpartition(".") if metric.startswith("privacy.") else metric.partition(".")
    near = closest(owner or metric, owners)
    return _diagnostic(gate, f"no audit, step or requirement is named `{owner or metric}`", near, f".{figure}")


def _diagnostic(gate: FigureGate, text: str, near: str | None, rest: str) -> Diagnostic:
    hint = f"did you mean `{near}{rest}`?" if near and rest.strip("./") else f"did you mean `{near}`?" if near else None
    return Diagnostic("PPF615", f"gate `{gate.id.removeprefix('gates.')}`: {text}", gate.span, hint=hint)
