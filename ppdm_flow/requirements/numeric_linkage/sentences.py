"""What numeric linkage means, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.core.phrases import counted
from ppdm_flow.core.results import Figure, Measured
from ppdm_flow.mining.releases.attributes import listed
from ppdm_flow.requirements.numeric_linkage.lookup import IntruderKnowledge
from ppdm_flow.requirements.numeric_linkage.requirement import NumericLinkage


def nothing(requirement: NumericLinkage) -> Measured:
    """Return that it holds: nothing is released that is computed from what the intruder knows."""
    return Measured(
        requirement=requirement.id,
        metric=f"{requirement.id}.columns",
        figure=Figure(0, "columns"),
        bound=0.0,
        at_most=True,
        sentence=f"Nothing is released that is computed from {listed(requirement.attributes)}, so nobody is found by"
        " it.",
    )


def sentence(known: IntruderKnowledge, candidates: int, figures: Mapping[str, Figure], *, people: bool = False) -> str:
    """Return the sentence for the report."""
    share, bound = float(figures["share"].value or 0.0), float(figures["share_bound"].value or 0.0)
    records, whole = int(figures["records"].value or 0), int(figures["records_known"].value or 0)
    chance = float(figures["chance_share"].value or 0.0)
    knows = "knows a record's original" if known.against is None else "has a file with somebody's"
    named = "the nearest released row" if candidates == 1 else f"the {candidates:,} nearest released rows"
    finds, units = "finds its own", counted(records, "record")
    if people:
        finds, units = "finds one of the same person by any of its records", f"{records:,} people"
    text = (
        f"Whoever {knows} {listed(known.attributes)} and names {named} {finds} in {share:.1%} of {units}; at random it"
        f" would be {chance:.2g} of them."
    )
    if known.against is not None:
        lines = int(figures["people_known"].value or 0)
        text += f" Of the {lines:,} in the file {whole:,} have all numbers and a released row."
    if records < whole:
        text += f" They are a sample of {whole:,}: in all it is at most {bound:.1%}, with 95 % confidence."
    if records < min(whole, known.sample):
        text += f" No more of the {known.sample:,} allowed are looked for: the pairs with rows would be too many."
    return text


def excess_sentence(candidates: int, figure: Figure, bound: float) -> str:
    """Return the sentence on how far that exceeds naming rows at random."""
    if figure.value is None:
        return "Whoever names that many rows names all of them, so nothing can be said of more than chance finds."
    named = "one row" if candidates == 1 else f"1 to {candidates:,} rows"
    return (
        f"Whoever names {named} finds at most {figure.value:.1%} of the records that naming rows at random misses."
        f" At most {bound:.1%} is allowed."
    )


def control_sentence(figures: Mapping[str, Figure], bound: float) -> str:
    """Return the sentence on how far people of the source are nearer to the release than others."""
    bounds = {name: f for name, f in figures.items() if name.endswith("_control_excess") and f.interval is not None}
    way = max(bounds, key=lambda name: (bounds[name].interval or (0.0, 0.0))[1]).removesuffix("_control_excess")
    inside, outside = (float(figures[f"{way}_{name}"].value or 0.0) for name in ("near_share", "control_share"))
    others = int(figures["control_records"].value or 0)
    return (
        f"Some released row is near to {inside:.1%} of the source's records, and to {outside:.1%} of"
        f" {counted(others, 'record')} of a control group that is not in it: that is at most"
        f" {float(figures['control_excess_bound'].value or 0.0):.1%} beyond, with 95 % confidence. At most {bound:.1%}"
        " is allowed."
    )
