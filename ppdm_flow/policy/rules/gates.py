"""Gates: a bound on at least one side, in order; releases that there are; and whether anything is asked for at all."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.suggest import closest
from ppdm_flow.policy.language.models import Gate
from ppdm_flow.policy.language.words import number, short
from ppdm_flow.policy.rules.scene import Scene


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


def _releases(scene: Scene, name: str, gate: Gate) -> Iterator[Diagnostic]:
    """Judge which releases a gate is about (PPF645)."""
    path, known = ("gates", name, "releases"), scene.policy.releases
    release, _, figure = gate.metric.rpartition("/")
    owner = figure.partition(".")[0]
    for i, named in enumerate(gate.releases or ()):
        if named not in known and not scene.lacks("releases"):
            near = closest(named, known)
            text = f"gate `{name}`: there is no release `{short(named)}`"
            yield scene.fault("PPF645", text, (*path, str(i)), hint=f"did you mean `{near}`?" if near else None)
    if owner in scene.policy.steps and (gate.releases or (release and len(known) > 1)):
        text = f"gate `{name}`: `{short(owner)}` is a step, and the figures of steps are of no release in particular"
        at = path if gate.releases else ("gates", name, "metric")
        yield scene.fault("PPF645", text, at, hint="leave the release out")
    elif gate.releases and release:
        text = f"gate `{name}` names its releases twice"
        hint = f"write `metric: {short(figure)}`"
        yield scene.fault("PPF645", text, path, hint=hint, related=scene.related(("gates", name, "metric"), "here too"))


def _nothing(scene: Scene) -> Iterator[Diagnostic]:
    privacy = scene.policy.privacy
    if (
        scene.lacks("privacy")
        or scene.lacks("releases")
        or any(getattr(privacy, field) for field in type(privacy).model_fields)
    ):
        return
    path: tuple[str, ...] = ("privacy",) if scene.places.keys.get(("privacy",)) else ("releases",)
    yield scene.fault(
        "PPF526",
        "the policy requires nothing: whatever the steps leave would be released",
        path,
        at_key=True,
        warning=True,
        hint="state under `privacy:` what must hold",
    )
