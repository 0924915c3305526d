"""The audits of a plan: one for each kind of requirement and release, those of the policy, and the default ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.model import AUDIT as ANALYSES
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import Role
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.plan import flow
from ppdm_flow.plan.binding import Binder
from ppdm_flow.plan.definition import AuditNode, ConfiguredPlugin, ReleaseNode
from ppdm_flow.plan.together import APART
from ppdm_flow.policy.language.kinds import measured_on, over_releases
from ppdm_flow.policy.language.models import AuditEntry, Policy
from ppdm_flow.policy.language.patterns import is_pattern, matches
from ppdm_flow.policy.loaded import PolicyPath
from ppdm_flow.sdk.spec import Effect, Scope

_QI = Role.QUASI_IDENTIFIER
_COMPARED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.TARGET, Role.INSENSITIVE, Role.ITEMS)
_FEWEST = 2
"""People among whom one is not alone."""


def audit_nodes(
    policy: Policy, releases: tuple[ReleaseNode, ...], requirements: tuple[Requirement, ...], binder: Binder
) -> tuple[AuditNode, ...]:
    """Return every audit, requirements first; by release in the policy's order."""
    written = [
        node
        for name, audit in policy.audits.items()
        for node in _written(name, audit, policy, releases, requirements, binder)
    ]
    written += _analyses(policy, releases, requirements, binder)
    judged = [node for release in releases for node in requirement_audits(release, requirements, binder)]
    usual = [
        node for release in releases for node in _usual(release, _measured_on(release, (*judged, *written)), binder)
    ]
    return (*judged, *written, *usual, *_in_common(policy, releases, requirements, binder))


def requirement_audits(
    release: ReleaseNode, requirements: tuple[Requirement, ...], binder: Binder
) -> Iterable[AuditNode]:
    """Yield an audit for each kind of the requirements that are about a release."""
    for kind in dict.fromkeys(r.kind for r in requirements):
        path = ("privacy", kind)
        same = tuple(r for r in requirements if r.kind == kind and r.concerns(release.name))
        bound = binder.bind("audits", kind, {}, path, path) if same else None
        if bound is not None:
            spans = tuple(dict.fromkeys(r.span for r in same if r.span is not None))
            yield AuditNode(kind, bound, release.name, same, implicit=True, spans=spans)


def _measured_on(release: ReleaseNode, nodes: Iterable[AuditNode]) -> set[str]:
    """Return the plugins that measure a release already."""
    return {n.bound.info.name for n in nodes if n.release == release.name}


def _usual(release: ReleaseNode, named: set[str], binder: Binder) -> Iterable[AuditNode]:
    """Yield the audits that every release has, unless the policy names the same plugin for it.

    Generated rows belong to nobody: the question is not whose row it is, but whether original rows come out again.
    """
    wanted = ["information_kept"] if any(_is_paired(fact) for fact in release.attributes) else []
    wanted.append("distributions")
    generated = any(fact.was(Change.GENERATED) for fact in release.attributes)
    if any(fact.role is _QI for fact in release.attributes):
        wanted += ["class_sizes"] if generated else ["class_sizes", "reidentification_risk"]
    wanted += measured_on(Change.GENERATED) if generated else ()
    if any(fact.was(Change.PERTURBED) and fact.role is not Role.ITEMS for fact in release.attributes):
        wanted.append("perturbation_utility")
    path = ("releases", release.name)
    for name in wanted:
        bound = None if name in named else binder.bind("audits", name, {}, path, path)
        if bound is not None:
            yield AuditNode(name, bound, release.name, implicit=True, spans=release.spans)


def _is_paired(fact: AttributeFacts) -> bool:
    """Whether the cells of a column can be compared with those that they come from."""
    return fact.role in _COMPARED and not fact.was(Change.GENERATED)


def _in_common(
    policy: Policy, releases: tuple[ReleaseNode, ...], requirements: tuple[Requirement, ...], binder: Binder
) -> Iterable[AuditNode]:
    """Yield what looks at the people whom several releases leave alone, where no requirement and no ledger does."""
    people = [r for r in releases if any(f.role is _QI and not f.was(Change.GENERATED) for f in r.attributes)]
    weighted = any(fact.role is Role.WEIGHT for r in people for fact in r.attributes)
    needed = policy.ledger is not None or any(r.successive for r in requirements)
    if needed or weighted or policy.recipients == APART or len(people) < _FEWEST:
        return
    spec = over_releases()
    k = max((r.said()["k"] for r in requirements if r.kind == spec.implied_by), default=_FEWEST)
    for release in people[1:]:
        path = ("releases", release.name)
        bound = binder.bind("audits", spec.name, {"k": str(k)}, path, path)
        if bound is not None:
            yield AuditNode(spec.name, bound, release.name, implicit=True, spans=release.spans)


@dataclass(frozen=True, slots=True)
class _Place:
    """An audit in the policy: its name in metrics, its key, the value that names its plugin, and its parameters."""

    name: str
    key: PolicyPath
    use: PolicyPath
    with_: PolicyPath


def _analyses(
    policy: Policy, releases: tuple[ReleaseNode, ...], requirements: tuple[Requirement, ...], binder: Binder
) -> list[AuditNode]:
    """Return the audit that runs the policy's ``analyses``, on each release."""
    if not policy.analyses:
        return []
    key = (ANALYSES,)
    place = _Place(ANALYSES, key, key, ())
    bound = binder.bind("audits", ANALYSES, {"analyses": policy.analyses}, key, key)
    nodes = [] if bound is None else _where_it_fits(place, bound, list(releases), requirements, policy, binder)
    return [replace(node, implicit=True) for node in nodes]


def _written(
    name: str,
    audit: AuditEntry,
    policy: Policy,
    releases: tuple[ReleaseNode, ...],
    requirements: tuple[Requirement, ...],
    binder: Binder,
) -> list[AuditNode]:
    path = ("audits", name)
    place = _Place(name, path, (*path, "use"), (*path, "with"))
    bound = binder.bind("audits", audit.use, audit.with_, place.use, place.with_)
    if audit.release is not None and audit.release not in policy.releases:
        span = binder.places.value(*path, "release")
        hint = did_you_mean(audit.release, policy.releases)
        text = f"audit `{name}` is on release `{audit.release}`, and there is none of that name"
        binder.diagnostics.append(Diagnostic("PPF614", text, span, hint=hint))
        return []
    if bound is None:
        return []
    if bound.info.serves and not bound.info.standalone:
        text = f"`{audit.use}` measures a requirement, and runs by itself for each release where `privacy:` asks for it"
        binder.diagnostics.append(Diagnostic("PPF617", text, binder.places.value(*path, "use")))
        return []
    chosen = [r for r in releases if audit.release in (None, r.name)]
    return _where_it_fits(place, bound, chosen, requirements, policy, binder)


def _where_it_fits(
    place: _Place,
    bound: ConfiguredPlugin,
    chosen: list[ReleaseNode],
    requirements: tuple[Requirement, ...],
    policy: Policy,
    binder: Binder,
) -> list[AuditNode]:
    """Return the audit on each of these releases on which it can be measured, and say what is wrong."""
    asked_by_release = {r.name: _read_needs(place, bound, r, requirements, policy, binder) for r in chosen}
    fits = {release: requirements_asked for release, (_, requirements_asked) in asked_by_release.items()}
    good = [r for r in chosen if not any(d.severity is Severity.ERROR for d in fits[r.name])]
    shown = good or chosen[:1]
    binder.diagnostics += dict.fromkeys(d for r in shown for d in fits[r.name])
    binder.diagnostics += [_left_out(place, r, fits[r.name], binder) for r in chosen if good and r not in good]
    spans = tuple(s for s in (binder.places.key(*place.key),) if s is not None)
    return [AuditNode(place.name, bound, r.name, spans=spans, asks=asked_by_release[r.name][0]) for r in good]


def _left_out(place: _Place, release: ReleaseNode, why: list[Diagnostic], binder: Binder) -> Diagnostic:
    reason = next(d.message for d in why if d.severity is Severity.ERROR)
    return Diagnostic(
        "PPF618",
        f"audit `{place.name}` cannot be measured on release `{release.name}`: {reason}",
        binder.places.key(*place.key),
        Severity.WARNING,
        help="name the release that it is meant for with `release:`",
    )


def _read_needs(
    place: _Place,
    bound: ConfiguredPlugin,
    release: ReleaseNode,
    requirements: tuple[Requirement, ...],
    policy: Policy,
    binder: Binder,
) -> tuple[tuple[str, ...], list[Diagnostic]]:
    """Return the audit's access to the source, and its diagnostics on the release: without errors, it can run."""
    roles = {attribute: declared.role for attribute, declared in policy.attributes.items()}
    scope = Scope(place.name, flow.by_name(release.attributes), requirements, policy.nulls, roles)
    try:
        effect = bound.spec.effect(bound.params, scope)
    except Exception as error:  # noqa: BLE001  # a third party's code must not look like our own fault
        text = f"the plugin `{bound.info.name}` cannot say what it reads: it raised {type(error).__name__}"
        return (), [Diagnostic("PPF405", text, binder.places.value(*place.use))]
    unknown = [
        _not_there(place, parameter, source_column, policy, binder) for parameter, source_column in effect.asks.items()
    ]
    diagnostics = [*(d for d in unknown if d is not None), *_problems(place, effect, scope, binder)]
    return tuple(effect.asks.values()), diagnostics


def _not_there(place: _Place, parameter: str, wanted: str, policy: Policy, binder: Binder) -> Diagnostic | None:
    if any(wanted == known or (is_pattern(known) and matches(known, wanted)) for known in policy.attributes):
        return None
    hint = did_you_mean(wanted, policy.attributes)
    text = f"the source has no attribute `{wanted}`"
    return Diagnostic("PPF861", text, binder.places.value(*place.with_, parameter), hint=hint)


def _problems(place: _Place, effect: Effect, scope: Scope, binder: Binder) -> list[Diagnostic]:
    diagnostics = []
    for problem in effect.problems:
        path = (*place.with_, *problem.path) if problem.path else place.use
        severity = Severity.WARNING if problem.warning else Severity.ERROR
        span = binder.places.key(*path) if problem.named else binder.places.value(*path)
        diagnostics.append(Diagnostic(problem.code, problem.message, span, severity, problem.hint))
    if not diagnostics:
        span = binder.places.value(*place.use)
        reads = replace(effect, changes={}, drops=(), renames={}, adds=())
        for misfit in flow.flow_misfits(place.name, flow.by_name(scope.attributes.values()), reads):
            text = misfit.message.replace("step", "audit", 1)
            diagnostics.append(Diagnostic(misfit.code, text, span, hint=misfit.hint))
    return diagnostics
