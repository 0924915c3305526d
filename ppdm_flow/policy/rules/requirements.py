"""Rules on requirements: each kind of requirement judges its own clauses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.suggest import closest
from ppdm_flow.policy.language.kinds import RequirementSpec, third_parties
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.loaded import ClausePlace, PolicyPath
from ppdm_flow.policy.requirements import bound, specs_of
from ppdm_flow.policy.rules.repeats import repeats
from ppdm_flow.policy.rules.scene import Scene, entry_path


def judge(scene: Scene) -> Iterator[Diagnostic]:
    """Judge ``privacy``."""
    for spec in specs_of(scene.policy):
        entries = scene.policy.privacy.entries(spec.name)
        try:
            if spec.judge is not None and entries:
                yield from spec.judge(scene, entries)
            if spec.name in third_parties() and not scene.out:
                _try_to_bind(spec, scene)
        except PluginError as error:
            path = ("privacy", spec.name)
            yield from (replace(d, span=scene.places.key(*path), path=path) for d in error.diagnostics)
        for name, clause in entries.items():
            yield from _releases(scene, clause.releases, (*entry_path(spec.name, name), "releases"))


def _releases(scene: Scene, named: Sequence[str], path: PolicyPath) -> Iterator[Diagnostic]:
    """Judge which releases a clause is about (PPF614)."""
    known = scene.policy.releases
    yield from repeats(scene, named, path, "`releases`")
    for i, name in enumerate(named):
        if name not in known and not scene.lacks("releases"):
            near = closest(name, known)
            text = f"`{'.'.join(path[1:-1])}` is about a release `{short(name)}`, and there is none of that name"
            yield scene.fault("PPF614", text, (*path, str(i)), hint=f"did you mean `{short(near)}`?" if near else None)


def _try_to_bind(spec: RequirementSpec, scene: Scene) -> None:
    """Read the clauses of another package's kind once, so that what it raises has a place. Raises PluginError."""
    for name, clause in scene.policy.privacy.entries(spec.name).items():
        path = entry_path(spec.name, name)
        bound(clause, ClausePlace(path, name, scene.policy, scene.places))
