"""The release ledger: whom it is about, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.roles import Role
from ppdm_flow.policy.language.ledger import Ledger
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.rules.classes import grouped
from ppdm_flow.policy.rules.ledger_place import place
from ppdm_flow.policy.rules.scene import Scene
from ppdm_flow.policy.successive import subject_of


def judge(scene: Scene) -> Iterator[Diagnostic]:
    """Judge ``ledger`` and ``cumulative_k`` (PPF531 to PPF534, PPF590 to PPF594)."""
    asked, given = scene.policy.privacy.cumulative_k, scene.policy.ledger
    path = ("privacy", "cumulative_k")
    if asked is not None:
        yield from grouped(scene, asked.attributes, path)
    alone = len(scene.policy.releases) < 2 or scene.policy.recipients == "apart"
    if asked is not None and given is None and alone and not scene.lacks("ledger") and not scene.lacks("releases"):
        text = "`cumulative_k` is about several releases: nobody sees two of this run, and no ledger remembers others"
        yield scene.fault("PPF590", text, path, at_key=True, hint="add `ledger: {path: releases.ledger}`")
    if given is not None:
        yield from place(scene, given)
    if given is not None and not scene.lacks("attributes"):
        yield from _people(scene, given, needed=asked is not None)
        yield from _weights(scene)
        yield from _repeats(scene, given)


def _people(scene: Scene, given: Ledger, *, needed: bool) -> Iterator[Diagnostic]:
    if given.subject is not None:
        place = ("ledger", "subject")
        attribute = scene.policy.attributes.get(given.subject)
        if attribute is None:
            yield scene.fault("PPF500", f"no attribute `{short(given.subject)}` is declared", place)
        elif attribute.role not in (Role.IDENTIFIER, Role.SUBJECT):
            text = f"`{short(given.subject)}` names nobody: it is neither an identifier nor the subject"
            yield scene.fault("PPF592", text, place, hint="name one with `role: identifier` or `role: subject`")
    elif subject_of(scene.policy) is None:
        text = "the ledger is not told whose rows are released, so it cannot find people again"
        hint = "say `subject: NAME` here, of an attribute with `role: identifier`"
        wanted = "; `cumulative_k` needs that" if needed else ""
        yield scene.fault("PPF591", f"{text}{wanted}", ("ledger",), at_key=True, warning=not needed, hint=hint)


def _weights(scene: Scene) -> Iterator[Diagnostic]:
    weights = [n for n, a in scene.policy.attributes.items() if a.role is Role.WEIGHT]
    if weights and subject_of(scene.policy) is not None:
        text = f"with the weight `{short(weights[0])}` a row stands for several people, and the ledger can name but one"
        yield scene.fault("PPF593", text, ("ledger",), at_key=True, hint="release a table with a row for each person")


def _repeats(scene: Scene, given: Ledger) -> Iterator[Diagnostic]:
    if given.repeat == "warn" and (scene.policy.privacy.sensitivities or scene.policy.privacy.itemset_breach):
        text = "randomized attributes may be released again, and no bound holds of several draws together"
        yield scene.fault("PPF594", text, ("ledger", "repeat"), warning=True, hint="say `repeat: refuse`")
