"""Rules on gates: a bound on at least one side, in order; existing releases; and whether anything is required."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace, Severity
from ppdm_flow.core.suggest import closest
from ppdm_flow.policy.language.models import GateEntry, Policy
from ppdm_flow.policy.language.words import number, short
from ppdm_flow.policy.loaded import ResolvedPlaces
from ppdm_flow.policy.rules.scene import Scene
from ppdm_flow.policy.text.nodes import NONE

NOTHING_REQUIRED = "PPF526"


def judge(scene: Scene) -> Iterator[Diagnostic]:
    """Judge ``gates`` and the presence of requirements."""
    for name, gate in scene.policy.gates.items():
        path = ("gates", name)
        if gate.min is None and gate.max is None and not scene.lacks(*path):
            yield scene.fault(
                "PPF510", f"gate `{name}` has no bound", path, at_key=True, hint="give `min`, `max` or both"
            )
        elif gate.min is not None and gate.max is not None and gate.min > gate.max:
            message = f"gate `{name}` can never hold: min {number(gate.min)} lies above max {number(gate.max)}"
            yield scene.fault("PPF510", message, (*path, "min"), related=scene.related((*path, "max"), "max"))
        yield from _releases(scene, name, gate)
    yield from _nothing(scene)


def _releases(scene: Scene, name: str, gate: GateEntry) -> Iterator[Diagnostic]:
    """Judge which releases a gate is about (PPF614)."""
    path, known = ("gates", name, "releases"), scene.policy.releases
    release, _, figure = gate.metric.rpartition("/")
    owner = figure.partition(".")[0]
    for i, named in enumerate(gate.releases or ()):
        if named not in known and not scene.lacks("releases"):
            near = closest(named, known)
            text = f"gate `{name}`: there is no release `{short(named)}`"
            yield scene.fault("PPF614", text, (*path, str(i)), hint=f"did you mean `{near}`?" if near else None)
    if owner in scene.policy.steps and (gate.releases or (release and len(known) > 1)):
        text = f"gate `{name}`: `{short(owner)}` is a step, and the figures of steps are of no release in particular"
        at = path if gate.releases else ("gates", name, "metric")
        yield scene.fault("PPF614", text, at, hint="leave the release out")
    elif gate.releases and release:
        text = f"gate `{name}` names its releases twice"
        hint = f"write `metric: {short(figure)}`"
        yield scene.fault("PPF614", text, path, hint=hint, related=scene.related(("gates", name, "metric"), "here too"))


def _nothing(scene: Scene) -> Iterator[Diagnostic]:
    """Report a policy without requirements (PPF526): an error where a release is public, else a warning.

    ``privacy: none`` silences the warning.
    """
    policy = scene.policy
    if scene.lacks("privacy") or scene.lacks("releases") or not policy.privacy.is_empty:
        return
    public = next((name for name, release in policy.releases.items() if release.audience == "public"), None)
    if public is not None:
        text = f"the policy requires nothing, and release `{short(public)}` is public"
        related = scene.related(("releases", public, "audience"), "anybody may read it")
        yield _nothing_required(scene, text, related)
    elif not policy.privacy.says_none:
        text = "the policy requires nothing: the result of the steps would be released unchecked"
        hint = f"state under `privacy:` what must hold, or say `privacy: {NONE}`"
        yield replace(_nothing_required(scene, text), severity=Severity.WARNING, hint=hint)


def without_requirements(
    policy: Policy, places: ResolvedPlaces, refused_by: str = "`--strict`"
) -> tuple[Diagnostic, ...]:
    """Return the error of a policy that says ``privacy: none`` where every policy needs requirements (PPF526)."""
    if not policy.privacy.says_none:
        return ()
    text = f"the policy requires nothing, and {refused_by} accepts no policy without requirements"
    return (_nothing_required(Scene(policy, places), text),)


def _nothing_required(scene: Scene, text: str, related: tuple[RelatedPlace, ...] = ()) -> Diagnostic:
    path: tuple[str, ...] = ("privacy",) if scene.places.keys.get(("privacy",)) else ("releases",)
    return scene.fault(
        NOTHING_REQUIRED, text, path, at_key=True, hint="state under `privacy:` what must hold", related=related
    )
