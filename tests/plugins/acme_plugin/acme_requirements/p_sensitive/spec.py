"""The kind of requirement `acme_p_sensitive`."""

from __future__ import annotations

from acme_requirements.p_sensitive.requirement import PSensitive

from ppdm_flow.mining.classes.measures import measures
from ppdm_flow.plugins import (
    Entries,
    FigureInfo,
    Kind,
    Order,
    Params,
    PluginInfo,
    PluginSpec,
    RequirementSpec,
    Role,
    Wording,
    larger_classes,
)
from ppdm_flow.policy.order.marks import entry_itself
from ppdm_flow.policy.rules.grouping import grouped
from ppdm_flow.policy.rules.scene import entry_path
from ppdm_flow.requirements.k_anonymity.requirement import KAnonymity
from ppdm_flow.requirements.k_anonymity.spec import AUDIT as K_ANONYMITY
from ppdm_flow.requirements.l_diversity.requirement import LDiversity


def judge(scene, entries):
    """Yield what is wrong with an entry; codes of one's own begin with a word of one's own."""
    for called, entry in entries.items():
        path = entry_path("acme_p_sensitive", called)
        yield from grouped(scene, entry.attributes, path)
        if entry.k < entry.p:
            text = f"{entry.k} rows cannot have {entry.p} values, so `k` bounds nothing"
            yield scene.fault("ACME10", text, (*path, "k"), hint=f"write `k: {entry.p}` or more", warning=True)
        every = [n for n, attribute in scene.policy.attributes.items() if attribute.role is Role.SENSITIVE]
        names = entry.sensitive or every
        if not names and not scene.lacks("attributes"):
            hint = "give an attribute `role: sensitive`, or name one in `sensitive`"
            yield scene.fault("ACME11", "there is no sensitive attribute to protect", path, at_key=True, hint=hint)
        for i, name in enumerate(names):
            place = (*path, "sensitive", str(i)) if entry.sensitive else path
            attribute, faults = scene.attribute(name, place)
            yield from faults
            domain = attribute.domain if attribute is not None else None
            if domain is not None and entry.p > len(set(domain)):
                text = f"no class can have {entry.p} values of `{name}`: its domain has {len(set(domain))}"
                yield scene.fault("ACME12", text, (*path, "p"))


def says(requirement, frame):
    """Yield the claims of k-anonymity and l-diversity, so that their rules compare all three."""
    attributes = requirement.attributes
    yield from entry_itself(KAnonymity.of("", k=requirement.k, attributes=attributes), frame)
    for name in requirement.sensitive:
        yield from entry_itself(LDiversity.of("", name, l=float(requirement.p), attributes=attributes), frame)


ORDER = Order(says=says, fields=("p", "k", "sensitive", "attributes"), bounds=("p", "k"))


AUDIT = PluginSpec(
    info=PluginInfo(
        name="acme_p_sensitive",
        kind=Kind.AUDIT,
        summary="rows of the smallest class, and values of each sensitive attribute in the least diverse one",
        version="2.1.0",
        reference="Truta, Vinay, Privacy protection: p-sensitive k-anonymity property, ICDE Workshops 2006",
        serves=("acme_p_sensitive",),
        figures={
            **K_ANONYMITY.info.figures,
            **measures(
                {
                    "p": FigureInfo(
                        "the values of a sensitive attribute in the class that has the fewest",
                        "min over classes C of the distinct values of the attribute in C",
                        "higher",
                    )
                }
            ),
        },
    ),
    params=Params,
    algorithm="acme_requirements.p_sensitive.algorithm:PSensitiveAudit",
)


WORDING = Wording(
    label="p-sensitive k-anonymity",
    clause=lambda requirement: f"k ≥ {requirement['k']}, p ≥ {requirement['p']}",
    advice=larger_classes,
    section="What can be inferred",
)


SPEC = RequirementSpec(
    name="acme_p_sensitive",
    requirement=PSensitive,
    entries=Entries.ONCE,
    order="acme_requirements.p_sensitive.spec:ORDER",
    audit=AUDIT,
    wording=WORDING,
    judge=judge,
    page="acme_requirements.p_sensitive:page.md",
    foresees="acme_requirements.p_sensitive.algorithm:foresee",
)
