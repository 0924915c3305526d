"""What pictures say of the parts of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ppdm_flow.core.supports import Support

_VERBS = {
    "generalized": "generalizes",
    "suppressed": "suppresses in",
    "perturbed": "perturbs",
    "pseudonymized": "pseudonymizes",
    "changed": "changes",
}


def deeds(step: Mapping[str, Any]) -> list[str]:
    """Return what a step does to the table, one clause each."""
    found = []
    for change, verb in _VERBS.items():
        names = [name for name, what in step["changes"].items() if what == change]
        if names:
            found.append(f"{verb} {some(names)}")
    if step["drops"]:
        found.append(f"drops {some(step['drops'])}")
    if step["renames"]:
        found.append("renames " + some(f"{old} to {new}" for old, new in step["renames"].items()))
    rows = {"fewer": "keeps some rows", "reordered": "puts rows in a new order", "generated": "makes new rows"}
    if step["rows"] in rows:
        found.append(rows[step["rows"]])
    if step["expands_weights"]:
        found.append("writes weighted rows out singly")
    return found


def demand(requirement: Mapping[str, Any]) -> str:
    """Return a requirement in a clause: what is bounded, and by what."""
    name = requirement["id"].removeprefix("privacy.")
    match requirement["kind"]:
        case "k_anonymity":
            return f"k ≥ {requirement['k']}"
        case "templates":
            short = name.removeprefix("templates.")
            of = "confidence of not" if requirement.get("negated") else "confidence"
            support = f", groups ≥ {requirement['min_support']}" if "min_support" in requirement else ""
            return f"{short}: {of} ≤ {requirement['confidence']:g}{support}"
        case "sensitivities":
            return f"(r1, r2) of {requirement['attribute']}"
        case "anonymity_score":
            return f"NAS ≤ {requirement['max']:g}"
        case "blend":
            below = Support(**requirement["min_support"])
            return f"blend (support below {below}) ≤ {requirement['max']:g}"
        case "itemset_breach":
            return f"posterior of an item of {requirement['attribute']} ≤ {requirement['level']:g}"
        case _:
            return _of_classes(requirement) or str(name)


def _of_classes(requirement: Mapping[str, Any]) -> str:
    of = requirement.get("attribute", "")
    match requirement["kind"]:
        case "l_diversity":
            return f"l of {of} ≥ {requirement['l']:g} ({requirement['variant']})"
        case "t_closeness":
            return f"t of {of} ≤ {requirement['t']:g} ({requirement['distance']})"
        case "alpha_k":
            return f"share of a value of {of} ≤ {requirement['alpha']:g}"
        case "delta_disclosure":
            return f"δ of {of} ≤ {requirement['delta']:g}"
        case "beta_likeness":
            return f"β of {of} ≤ {requirement['beta']:g}"
        case "k_map":
            return f"k in the population ≥ {requirement['k']}"
        case "lkc":
            inferred = f", confidence ≤ {requirement['c']:g}" if "c" in requirement else ""
            return f"k ≥ {requirement['k']} by {requirement['l']} attributes{inferred}"
        case "cumulative_k":
            return f"k of all releases together ≥ {requirement['k']}"
        case "first_draw":
            return f"first draw of {', '.join(requirement['attributes'])}"
        case "km_anonymity":
            return f"k of {requirement['m']} items of {of} ≥ {requirement['k']}"
        case _:
            return ""


def bound(gate: Mapping[str, Any]) -> str:
    """Return a gate in a clause."""
    low, high = gate["min"], gate["max"]
    sides = [f"≥ {low:g}"] if low is not None else []
    sides += [f"≤ {high:g}"] if high is not None else []
    return f"{gate['metric']} {' and '.join(sides)}"


def demands_of(document: Mapping[str, Any], release: str) -> list[str]:
    """Return the requirements that the audits of a release measure."""
    ids = {r for audit in document["audits"] if audit["release"] == release for r in audit["requirements"]}
    return [demand(r) for r in document["requirements"] if r["id"] in ids]


def gates_of(document: Mapping[str, Any], release: str) -> list[str]:
    """Return the gates that concern a release: those about it, and those on figures of steps."""
    return [bound(gate) for gate in document["gates"] if release in (gate.get("releases") or (release,))]


def measures_of(document: Mapping[str, Any], release: str) -> list[str]:
    """Return the audits of a release beside the requirements'."""
    return [a["name"] for a in document["audits"] if a["release"] == release and not a["requirements"]]


def some(names: Iterable[str], most: int = 4) -> str:
    """Return the first names, and how many more there are."""
    every = list(names)
    rest = len(every) - most
    return ", ".join(every) if rest <= 1 else f"{', '.join(every[:most])} and {rest} more"


def columns(count: int) -> str:
    """Return a number of columns for people."""
    return f"{count} column{'' if count == 1 else 's'}"
