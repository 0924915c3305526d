"""Rules on randomized attributes: one draw through one known operator protects each, and nothing else does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ppdm_flow.core.attributes import CLIENTS, AttributeFacts, Change
from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace, Severity
from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import Role
from ppdm_flow.plan.definition import ReleaseNode, StepNode
from ppdm_flow.plan.rules.compiled_flow import CompiledFlow, covers, perturbers
from ppdm_flow.policy.language.kinds import with_operators


def twice_on_one_path(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """Two operators one after another are a third, which no document describes."""
    for step, fact in _arrivals(flow):
        earlier = perturbers(fact)
        if earlier and step.effect.changes.get(fact.name) is Change.PERTURBED:
            text = f"`{fact.source}` is perturbed again by `{step.name}`, after {_who(earlier[0])}"
            yield Diagnostic("PPF554", text, flow.use(step.name), related=_there(flow, earlier[0]))


def changed_afterwards(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """A value that is changed after the draw did not come out of the operator that is published."""
    for step, fact in _arrivals(flow):
        change = step.effect.changes.get(fact.name)
        earlier = perturbers(fact)
        if earlier and change is not None and change is not Change.PERTURBED:
            text = f"`{fact.source}` is {change} by `{step.name}` after {_who(earlier[0])} perturbed it"
            yield Diagnostic(
                "PPF557",
                text,
                flow.use(step.name),
                help="perturb last: the operator would no longer describe the released values",
                related=_there(flow, earlier[0]),
            )


def two_draws(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """Two draws for one person's value narrow it down further than either of them."""
    for source, released in _by_source(flow).items():
        steps = list(dict.fromkeys(step for _, fact in released for step in perturbers(fact)[:1]))
        if len(steps) > 1:
            text = f"`{source}` is released with two draws, by `{steps[0]}` and by `{steps[1]}`: they combine"
            yield Diagnostic(
                "PPF555",
                text,
                flow.use(steps[1]),
                help="perturb once, before the branches part: the same draw may be released twice",
                related=_there(flow, steps[0]),
            )


def unsupported_crowds(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """An audit that takes released rows for draws from a crowd (`corruption`, ``sampled``) that no step makes."""
    releases = {release.name: release for release in flow.plan.releases}
    reported: set[str] = set()
    for audit in flow.plan.audits:
        people = getattr(audit.bound.params, "sampled", 1) if audit.bound.info.name == "corruption" else 1
        if people == 1 or audit.name in reported or audit.release not in releases:
            continue
        if any(_makes_crowds(flow, step, releases[audit.release], people) for step in _samples(flow, audit.release)):
            continue
        reported.add(audit.name)
        yield Diagnostic(
            "PPF539",
            f"audit `{audit.name}` takes each row of release `{audit.release}` for one of {people:,}, and nothing makes"
            " that so",
            flow.places.value("audits", audit.name, "with", "sampled"),
            help="before the release, a step `sample` with `rows: 1` and `by:` all released attributes but perturbed"
            f" sensitive ones; and a gate on its `smallest_group` with `min: {people}` or more",
        )


def _samples(flow: CompiledFlow, release: str) -> Iterator[StepNode]:
    (node,) = (r for r in flow.plan.releases if r.name == release)
    return (step for step in flow.plan.upstream(node.input) if step.bound.info.name == "sample")


def _makes_crowds(flow: CompiledFlow, step: StepNode, release: ReleaseNode, people: int) -> bool:
    """Whether each released row was drawn from ``people`` rows of as many people, which look alike.

    A perturbed value tells people apart as often as it is kept, unless it is sensitive, so that nobody knows it before.
    """
    rows = step.bound.document.get("rows")
    shown = {fact.name for fact in release.attributes if not (perturbers(fact) and fact.role is Role.SENSITIVE)}
    if rows is None or flow.plan.people is not None or not shown <= {*step.effect.reads}:
        return False
    if flow.plan.recipients == "together" and _shown_unsampled(flow, step, release):
        return False
    metric, waived = f"{step.name}.smallest_group", {waiver.of for waiver in flow.policy.waivers.values()}
    gates = [gate for gate in flow.plan.gates if gate.metric == metric and gate.id not in waived]
    return any((gate.minimum or 0) >= people * int(rows) for gate in gates)


def _shown_unsampled(flow: CompiledFlow, step: StepNode, release: ReleaseNode) -> bool:
    """Whether another release shows perturbed values of the rows from which ``step`` draws."""
    drawn = {fact.source for fact in release.attributes if perturbers(fact)}
    return any(
        step not in flow.plan.upstream(other.input)
        and any(fact.source in drawn and perturbers(fact) for fact in other.attributes)
        for other in flow.plan.releases
    )


def draws_by_row(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """Where a person has several rows, draws for each of them are averaged."""
    plan = flow.plan
    subjects = [fact for fact in plan.source.attributes if fact.role is Role.SUBJECT]
    requirements = [r for r in plan.requirements if r.needs_operator and r.counts_people]
    for step in plan.steps if subjects else ():
        path = plan.upstream(step.name)
        arriving = plan.arriving(step)
        known = any(fact.role is Role.SUBJECT and fact.name in step.effect.reads for fact in arriving)
        if known or any(s.name not in flow.clean for s in path):
            continue
        for fact in arriving:
            drawn = step.effect.changes.get(fact.name) is Change.PERTURBED
            if drawn and any(covers(r.secrets, fact) for r in requirements):
                yield Diagnostic(
                    "PPF561",
                    f"`{step.name}` draws each row of `{fact.source}` for itself: it does not read"
                    f" `{subjects[0].name}`, which says that a person can have several",
                    flow.use(step.name),
                    Severity.WARNING,
                    help="let the subject reach the step, and drop it afterwards: equal values then draw alike",
                )


def draw_and_truth(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """Report perturbed attributes whose true values are released in another column, under any name."""
    for source, released in _by_origin(flow).items():
        drawn = [(release, fact) for release, fact in released if source in fact.lineage.drawn]
        leak = next(_told_beside(flow, source, released), None) if drawn else None
        if leak is not None:
            release, what, help_ = leak
            steps = next((perturbers(f) for _, f in drawn if perturbers(f)), ())
            yield Diagnostic(
                "PPF556",
                f"`{source}` is perturbed in release `{drawn[0][0].name}` and {what} `{release.name}`",
                flow.origin(release),
                help=help_,
                related=_there(flow, steps[0]) if steps else (),
            )


def _told_beside(
    flow: CompiledFlow, source: str, released: Sequence[tuple[ReleaseNode, AttributeFacts]]
) -> Iterator[tuple[ReleaseNode, str, str]]:
    """Yield the releases that reveal the true values of an attribute, with the column that does, and a hint.

    Only a bound on what is learned is broken by what the values decided. Sets leave out rows by their length alone, and
    their requirement holds for readers who know it; where each value has the same chance to stay, none is told.
    """
    for release, fact in released:
        if source not in fact.lineage.drawn:
            what = "unperturbed in" if fact.source == source else f"what `{fact.name}` is computed from, in"
            yield release, what, "drop the column, or let it come from the step that perturbs it"
    bounded = [r.secrets for r in flow.plan.requirements if r.needs_operator]
    if not any(covers(secrets, fact) for secrets in bounded for _, fact in released):
        return
    decided, other = "its true values decided which", "let that step go by other attributes"
    for release in flow.releases:
        for fact in release.attributes:
            if source in fact.lineage.decided_by:
                yield release, f"{decided} cells of `{fact.name}` are hidden or exchanged in", other
        for step in flow.plan.upstream(release.input):
            even = step.effect.evenly
            deciding = (f for f in flow.plan.deciding_rows(step) if f.role is not Role.ITEMS and f.name not in even)
            if any(source in fact.lineage.undrawn for fact in deciding):
                yield release, f"{decided} rows `{step.name}` left out of", other


def variety_of_draws(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """How randomized values vary within a class says nothing of the people's own values."""
    requirements = [r for r in flow.plan.requirements if r.counts_values]
    for release, fact in flow.published():
        steps = perturbers(fact)
        for requirement in requirements if steps else ():
            if requirement.concerns(release.name) and covers(requirement.secrets, fact):
                yield Diagnostic(
                    "PPF568",
                    f"release `{release.name}` will be withheld: `{requirement.id}` counts the values of"
                    f" `{fact.source}`, and {_who(steps[0], ' randomizes', ' randomized')} them",
                    requirement.span,
                    Severity.WARNING,
                    help=_instead(on_sets=fact.role is Role.ITEMS),
                    related=_there(flow, steps[0]),
                )


def classes_of_draws(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """Report groups of drawn values: the operator reveals the true groups' secrets, even if drawn ones look diverse."""
    for release in flow.releases:
        drawn = [fact for fact in release.attributes if perturbers(fact)]
        for requirement, fact in judged_on_draws(flow.plan.requirements, release, drawn):
            step = perturbers(fact)[0]
            yield Diagnostic(
                "PPF569",
                f"`{requirement.id}` is judged on groups by `{fact.source}`, which `{step}` randomizes in"
                f" release `{release.name}`: its operator leads back to the true groups",
                flow.use(step),
                help=f"leave `{fact.source}` as it is, generalize it, or drop it",
                related=(RelatedPlace(requirement.span, "judged here"),) if requirement.span else (),
            )


def judged_on_draws(
    requirements: Iterable[Requirement], release: ReleaseNode, drawn: Iterable[AttributeFacts]
) -> Iterator[tuple[Requirement, AttributeFacts]]:
    """Yield what infers secrets from groups of a release, with the randomized attribute that they are formed by."""
    shown = frozenset().union(*(f.lineage.computed_from for f in release.attributes))
    judged = [r for r in requirements if r.on_groups and r.secrets and r.concerns(release.name)]
    for fact in drawn:
        for requirement in judged:
            if covers(requirement.grouping, fact) and not requirement.is_absent_from(shown):
                yield requirement, fact


def _instead(*, on_sets: bool) -> str:
    what, left = ("randomized sets", "them as they are") if on_sets else ("a perturbed attribute", "it as it is")
    return f"bound what is learned of {what} by `{with_operators(on_sets=on_sets)}`, or leave {left}"


def read_afterwards(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """A step that decides by perturbed values decides by noise."""
    for step, fact in _arrivals(flow):
        earlier = perturbers(fact)
        if earlier and fact.name in step.effect.reads and fact.name not in step.effect.changes:
            who = _who(earlier[0], " has", " have")
            text = f"`{step.name}` decides by `{fact.source}`, which {who} perturbed before"
            yield Diagnostic(
                "PPF558",
                text,
                flow.use(step.name),
                Severity.WARNING,
                help="put it before the perturbation: then it sees the true values",
                related=_there(flow, earlier[0]),
            )


def _arrivals(flow: CompiledFlow) -> Iterator[tuple[StepNode, AttributeFacts]]:
    """Every attribute that arrives at a step, where it is certain; a generator makes values of its own."""
    plan = flow.plan
    for step in plan.steps:
        path = plan.upstream(step.name)
        if step.implicit or any(s.name not in flow.clean for s in path) or step.bound.info.kind is Kind.GENERATOR:
            continue
        for fact in plan.arriving(step):
            yield step, fact


def _by_source(flow: CompiledFlow) -> dict[str, list[tuple[ReleaseNode, AttributeFacts]]]:
    released: dict[str, list[tuple[ReleaseNode, AttributeFacts]]] = {}
    for release, fact in flow.published():
        released.setdefault(fact.source, []).append((release, fact))
    return released


def _by_origin(flow: CompiledFlow) -> dict[str, list[tuple[ReleaseNode, AttributeFacts]]]:
    """Return the released columns by the attributes of the source that they are computed from."""
    released: dict[str, list[tuple[ReleaseNode, AttributeFacts]]] = {}
    for release, fact in flow.published():
        for source in sorted(fact.lineage.computed_from):
            released.setdefault(source, []).append((release, fact))
    return released


def _who(step: str, of_step: str = "", of_clients: str = "") -> str:
    """Return who randomized values, with the verb that goes with a step or with clients."""
    return f"its clients{of_clients}" if step == CLIENTS else f"`{step}`{of_step}"


def _there(flow: CompiledFlow, step: str) -> tuple[RelatedPlace, ...]:
    span = flow.use(step) if step != CLIENTS else flow.places.value("source", "operator")
    return (RelatedPlace(span, "perturbed here"),) if span else ()
