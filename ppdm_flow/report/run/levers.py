"""What to do next where a requirement or a gate does not hold: the levers that the policy has not pulled yet."""

from __future__ import annotations

from typing import Any

from ppdm_flow.report.run.wording import is_cumulative, listed

_COARSE = {"generalized", "suppressed"}


def lever(result: dict[str, Any], plan: dict[str, Any]) -> str:
    """Return a sentence of advice about a result that does not hold; empty where it holds."""
    if result["holds"]:
        return ""
    parts = result["id"].split(".")
    if parts[0] == "gates":
        return (
            "Ease the privacy requirement that costs most, choose steps that keep more, or move the bound: all of"
            " that is for the owner of the policy to decide."
        )
    kind = parts[1] if len(parts) > 1 else ""
    if is_cumulative(result):
        return _ADVICE["cumulative_k"]([])
    asked: dict[str, Any] = next((r for r in plan.get("requirements", ()) if r.get("id") == result["id"]), {})
    if kind == "k_anonymity":
        return _k_anonymity(asked, _released(plan, result["release"]))
    steps = [s for s in plan.get("steps", ()) if result["id"] in s.get("serves", ())]
    serving = [f"`{s['name']}`" for s in steps]
    if kind == "blend":
        return _blend(serving, strict=any(s.get("parameters", {}).get("blend") == "strict" for s in steps))
    return _ADVICE[kind](serving) if kind in _ADVICE else ""


def _k_anonymity(asked: dict[str, Any], released: dict[str, list[str]]) -> str:
    names = asked.get("attributes", ())
    whole = [f"`{name}`" for name in names if name in released and not _COARSE.intersection(released[name])]
    coarse = [f"`{name}`" for name in names if _COARSE.intersection(released.get(name, ()))]
    levers = []
    if whole:
        levers.append(f"make {listed(whole)} coarser with `generalize`, or `drop` what the recipient can do without")
    if coarse:
        levers.append(f"take a higher level or wider intervals for {listed(coarse)}")
    said = "; ".join(levers) or "generalize or drop quasi-identifiers"
    return f"{said[:1].upper()}{said[1:]}. The fewer combinations are left, the larger each group."


def _templates(serving: list[str]) -> str:
    if serving:
        return (
            f"{listed(serving)} works at it, so something undoes it or it may not suppress what it would need to:"
            " look at the steps after it, and at its `attributes` and `templates`."
        )
    return "Add a `progressive_disclosure` step: it suppresses as few values as its templates need."


def _sensitivities(serving: list[str]) -> str:
    if serving:
        return f"{listed(serving)} perturbs it, so look at what later steps do to it, and at the findings below."
    return "Add a `fine_grain_perturbation` step before the release, or `drop` the attribute."


def _anonymity_score(serving: list[str]) -> str:
    if serving:
        return (
            f"{listed(serving)} makes the rows: with a higher `min_support` its model holds only what more people have"
            " in common, and fewer original rows come out again."
        )
    return "No step makes new rows: add a generator, such as `krimp_generator`, before the release."


def _blend(serving: list[str], *, strict: bool) -> str:
    rejecting = " `blend: strict` rejects every rare original row, at some cost in likeness."
    return _anonymity_score(serving) + (rejecting if serving and not strict else "")


def _itemset_breach(serving: list[str]) -> str:
    if serving:
        return (
            f"{listed(serving)} randomizes the sets: leave its `cutoff` and `insertion` out to have them chosen, give"
            " higher `max_supports` or none, drop or roll up the most frequent items, or shorten the sets with"
            " `limit_items`."
        )
    return "No step randomizes the sets: add `randomize_transactions` before the release."


def _classes(serving: list[str]) -> str:
    if serving:
        return (
            f"{listed(serving)} works at it, so look at what later steps do to its classes; a coarser release has"
            " larger classes, which hold more values in more usual shares."
        )
    return (
        "Make the classes larger: generalize or drop quasi-identifiers, or let `full_domain_recoding` choose how far."
        " Coarser sensitive values help t-closeness, and never l-diversity."
    )


def _k_map(_serving: list[str]) -> str:
    return (
        "Make the classes larger: generalize or drop quasi-identifiers. Where classes fit nobody, the population file"
        " lacks people, or its values are written otherwise than the source's."
    )


def _km_anonymity(_serving: list[str]) -> str:
    return "Leave out rare items with `limit_items` (`rarer_than`), or put items into coarser ones with `roll_up`."


def _cumulative_k(_serving: list[str]) -> str:
    return (
        "Form the classes as in the earlier releases, or coarser; release fewer quasi-identifiers; wait until more"
        " people have come or gone. What was released cannot be taken back."
    )


def _repeat(_serving: list[str]) -> str:
    return "Hand out the earlier release again: another draw tells more. Or leave the randomized attributes out."


_ADVICE = {
    **dict.fromkeys(("l_diversity", "t_closeness", "alpha_k", "delta_disclosure", "beta_likeness", "lkc"), _classes),
    "k_map": _k_map,
    "km_anonymity": _km_anonymity,
    "cumulative_k": _cumulative_k,
    "repeat": _repeat,
    "itemset_breach": _itemset_breach,
    "templates": _templates,
    "sensitivities": _sensitivities,
    "anonymity_score": _anonymity_score,
}


def _released(plan: dict[str, Any], release: str) -> dict[str, list[str]]:
    """Return what was done to each attribute of a release, by its name in the source."""
    node: dict[str, Any] = next((r for r in plan.get("releases", ()) if r.get("name") == release), {})
    return {
        found.get("source") or found["name"]: [change["change"] for change in found.get("changes", ())]
        for found in node.get("attributes", ())
    }
