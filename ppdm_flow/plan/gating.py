"""Gates: whether the metric that each of them bounds can exist."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.requirements import Gate
from ppdm_flow.core.suggest import closest
from ppdm_flow.policy.loaded import Places


def dangling(gates: Iterable[Gate], owners: Iterable[str], releases: Iterable[str], places: Places) -> list[Diagnostic]:
    """Return a fault for every gate whose metric belongs to no audit, step or requirement (``owners``)."""
    known = tuple(dict.fromkeys(owners))
    names = tuple(releases)
    found = []
    for gate in gates:
        span = places.value(*gate.id.split(".", 1), "metric")
        fault = _fault(gate, known, names)
        found += [replace(fault, span=span)] if fault is not None else []
    return found


def _fault(gate: Gate, owners: tuple[str, ...], releases: tuple[str, ...]) -> Diagnostic | None:
    release, slash, metric = gate.metric.rpartition("/")
    if slash and release not in releases:
        return _diagnostic(gate, f"there is no release `{release}`", closest(release, releases), f"/{metric}")
    if any(metric.startswith(f"{owner}.") and len(metric) > len(owner) + 1 for owner in owners):
        return None
    if metric in owners:
        text = f"`{metric}` is no figure yet: a metric is `{metric}.FIGURE`"
        return _diagnostic(gate, text, None, "")
    owner, _, figure = metric.rpartition(".") if metric.startswith("privacy.") else metric.partition(".")
    near = closest(owner or metric, owners)
    return _diagnostic(gate, f"no audit, step or requirement is named `{owner or metric}`", near, f".{figure}")


def _diagnostic(gate: Gate, text: str, near: str | None, rest: str) -> Diagnostic:
    hint = f"did you mean `{near}{rest}`?" if near and rest.strip("./") else f"did you mean `{near}`?" if near else None
    return Diagnostic("PPF615", f"gate `{gate.id.removeprefix('gates.')}`: {text}", gate.span, hint=hint)
