"""The kind of requirement `lkc`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ppdm_flow.core.asks import class_counts
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.policy.language.kinds import Entries, RequirementSpec
from ppdm_flow.policy.language.patterns import is_pattern
from ppdm_flow.policy.language.wording import RECODING, Failure, Wording, larger_classes
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.rules.grouping import grouped, known, sensitive_values
from ppdm_flow.policy.rules.scene import Scene, entry_path
from ppdm_flow.policy.text.quoting import plain_or_quoted
from ppdm_flow.requirements.lkc.requirement import LKC
from ppdm_flow.sdk.spec import requirement_audit


def judge(scene: Scene, entries: Mapping[str, LKC]) -> Iterator[Diagnostic]:
    """Judge it (PPF501, PPF583)."""
    for name, clause in entries.items():
        yield from _lkc(scene, clause, entry_path("lkc", name))


def _lkc(scene: Scene, model: LKC, path: tuple[str, ...]) -> Iterator[Diagnostic]:
    yield from grouped(scene, model.attributes, path)
    names = known(scene, model.attributes)
    if (model.c is None) is not (not model.sensitive):
        text = "`c` bounds how sure one can be of the `sensitive` values: each needs the other"
        yield scene.fault("PPF583", text, path, at_key=True, hint="add the other, or remove both")
    if names and model.l > len(names) and not any(is_pattern(n) for n in names):
        text = f"`l` is {model.l}, but there are only {len(names)} attributes to know"
        yield scene.fault("PPF583", text, (*path, "l"), hint=f"use at most `l: {len(names)}`")
    for name, values in model.sensitive.items():
        place = (*path, "sensitive", name)
        yield from sensitive_values(scene, name, values, place)
        if name in names:
            text = f"`{short(name)}` cannot both be known and be what is inferred"
            yield scene.fault("PPF501", text, place, at_key=True, hint="take it out of one of the two")


AUDIT = requirement_audit("lkc", "ppdm_flow.requirements.lkc.algorithm:LKCAudit", asks=class_counts(passes=2))


def clause(requirement: Mapping[str, Any]) -> str:
    """Say what it bounds, and by what."""
    inferred = f", confidence ≤ {requirement['c']:g}" if "c" in requirement else ""
    return f"k ≥ {requirement['k']} by {requirement['l']} attributes{inferred}"


def advice(failure: Failure) -> str:
    """Say what to do where it does not hold."""
    if failure.serving:
        return larger_classes(failure)
    requirement = failure.requirement
    shares = ", ".join(
        f"{plain_or_quoted(name)}: {{alpha: {requirement['c']:g}}}" for name, _ in requirement.get("sensitive", ())
    )
    confident = f" and `alpha_k: {{{shares}}}`" if shares else ""
    return (
        f"Rows that look alike in all quasi-identifiers look alike in any few of them: add `k_anonymity: {{k:"
        f" {requirement.get('k', 'K')}}}`{confident} under `privacy:`, which steps can work towards, and {RECODING} as"
        " the last step before the release."
    )


WORDING = Wording(label="LKC-privacy", clause=clause, advice=advice, section="How many people share a combination")


SPEC = RequirementSpec(
    name="lkc",
    requirement=LKC,
    entries=Entries.ONCE,
    order="ppdm_flow.requirements.lkc.order:ORDER",
    audit=AUDIT,
    wording=WORDING,
    judge=judge,
    rank=130,
    aliases=("lkc_privacy",),
    holds_by_rows=lambda _entry: True,
)
