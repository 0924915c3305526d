"""The kind of requirement `acme_rare_words`."""

from __future__ import annotations

from acme_requirements.rare_words.requirement import RareWords

from ppdm_flow.plugins import Entries, Kind, Params, PluginInfo, PluginSpec, RequirementSpec, Role, Wording


def judge(scene, entries):
    """Yield what is wrong with entries."""
    for name, entry in entries.items():
        path = ("privacy", "acme_rare_words", name)
        attribute, faults = scene.attribute(name, path, at_key=True)
        yield from faults
        if attribute is not None and attribute.role in (Role.WEIGHT, Role.ITEMS):
            yield scene.unfit(name, attribute.role, path, "searched for rare words", at_key=True)
        if entry.max >= 1.0:
            yield scene.fault("ACME20", "no share exceeds 1, so this bound holds of any data", (*path, "max"))


AUDIT = PluginSpec(  # its texts are on a page beside it
    info=PluginInfo.of_page(
        "acme_requirements.rare_words:acme_rare_words.md",
        Kind.AUDIT,
        version="2.1.0",
        serves=("acme_rare_words",),
    ),
    params=Params,
    algorithm="acme_requirements.rare_words.algorithm:RareWordsAudit",
)


WORDING = Wording(
    label="rare words",
    clause=lambda requirement: f"rare words of {requirement['attribute']} ≤ {requirement['max']:g}",
    advice=lambda _failure: (
        "Recode texts with rare words, or suppress them: names and places are mostly rare, what many have is not."
    ),
)


SPEC = RequirementSpec(
    name="acme_rare_words",
    requirement=RareWords,
    entries=Entries.BY_ATTRIBUTE,
    audit=AUDIT,
    wording=WORDING,
    judge=judge,
    page="acme_requirements.rare_words:page.md",
)
