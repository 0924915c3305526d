"""Rules on protection: what guards a publication, whether any table can satisfy it, and how releases leave."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from ppdm_flow.core.attributes import CLIENTS, AttributeFacts
from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace, Severity
from ppdm_flow.core.requirement import Requirement
from ppdm_flow.core.roles import Nulls, Role
from ppdm_flow.plan.definition import Plan
from ppdm_flow.plan.rules.compiled_flow import CompiledFlow, covers, listed, perturbers
from ppdm_flow.plan.together import keyed_links
from ppdm_flow.policy.language.kinds import built_in
from ppdm_flow.policy.language.models import Policy
from ppdm_flow.policy.loaded import ResolvedPlaces
from ppdm_flow.policy.requirements import specs_of
from ppdm_flow.policy.rules.gates import NOTHING_REQUIRED


def unprotected_sensitive(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """A sensitive attribute about which no template and no sensitivity says anything, unless nothing is required."""
    if flow.policy.privacy.says_none or any(r.awaits_data for r in flow.plan.requirements):
        return  # what is chosen from the data may be any of them
    hiding = _named_for_releases(flow, lambda r: r.secrets)
    for fact, published in _published(flow, Role.SENSITIVE):
        if releases := [name for name in published if not covers(hiding[name], fact)]:
            yield Diagnostic(
                "PPF551",
                f"`{fact.source}` is sensitive and reaches {_releases(releases)}, but no requirement protects it",
                flow.declared(fact),
                Severity.WARNING,
                help="k-anonymity hides who a row belongs to, not what a group has in common:"
                " add a template or a sensitivity",
            )


def uncovered_quasi_identifiers(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """A quasi-identifier that forms no class of several rows and is in no channel, where none counts whole rows."""
    if flow.policy.privacy.says_none or any(r.counts_whole_rows for r in flow.plan.requirements):
        return
    joining = {key for audit in flow.rejoins() if isinstance(key := audit.bound.document.get("key"), str)}
    grouping = _named_for_releases(flow, lambda r: r.grouping if r.hides_people else ())
    counted = {release: names | joining for release, names in grouping.items()}
    for fact, published in _published(flow, Role.QUASI_IDENTIFIER):
        sources = [replace(fact, source=source) for source in fact.lineage.computed_from]
        if releases := [n for n in published if not any(covers(counted[n], each) for each in sources)]:
            yield Diagnostic(
                "PPF552",
                f"the quasi-identifier `{fact.source}` reaches {_releases(releases)}, but no requirement counts it",
                flow.declared(fact),
                Severity.WARNING,
                help=f"name it in {_counting()} or in the channel of a template"
                if flow.declared(fact)
                else "a step added it: drop it where it says more than the others do, or let the audit `rejoin`"
                " measure what it joins",
            )


def unperturbed(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """A sensitivities requirement can only hold of an attribute that was randomized."""
    wanted = {a: r for r in flow.plan.requirements if r.needs_operator and not r.on_sets for a in r.secrets}
    for release, fact in flow.published():
        for source in sorted(fact.lineage.computed_from - fact.lineage.drawn):
            requirement = wanted.get(source)
            if requirement is None or not requirement.concerns(release.name):
                continue
            how = "no step perturbs it" if fact.source == source else f"`{fact.name}` is computed from its own values"
            yield Diagnostic(
                "PPF553",
                f"release `{release.name}` will be withheld: `{requirement.id}` asks for a randomized `{source}`,"
                f" and {how}",
                requirement.span,
                Severity.WARNING,
                help="add a `fine_grain_perturbation` step before the release, or drop the attribute",
            )


def _counting() -> str:
    """Return the first of the kinds whose groups have several rows."""
    return f"`privacy.{next(spec.name for spec in built_in() if spec.requirement.hides_people)}`"


def uncounted_rows(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """Rows with missing values that groups leave out are released all the same."""
    plan = flow.plan
    grouping = [r for r in plan.requirements if r.on_groups]
    if plan.nulls is Nulls.EXCLUDE and grouping and not plan.source.drop_incomplete:
        yield Diagnostic(
            "PPF565",
            "rows with a missing value are released, and no group counts them: what they give away is not measured",
            flow.places.value("nulls"),
            Severity.WARNING,
            help="`source: {incomplete_rows: drop}` keeps them back; `nulls: own_category` counts what a reader sees",
        )


def _named_for_releases(
    flow: CompiledFlow, names: Callable[[Requirement], tuple[str, ...]]
) -> Mapping[str, frozenset[str]]:
    """Return for each release what the requirements about it name."""
    return {
        release.name: frozenset(n for r in flow.plan.requirements if r.concerns(release.name) for n in names(r))
        for release in flow.plan.releases
    }


def _published(flow: CompiledFlow, role: Role) -> Iterator[tuple[AttributeFacts, list[str]]]:
    """Each attribute of that role once, with the releases that have it."""
    releases_of: dict[str, tuple[AttributeFacts, list[str]]] = {}
    for release, fact in flow.published():
        if fact.role is role:
            releases_of.setdefault(fact.source, (fact, []))[1].append(release.name)
    yield from releases_of.values()


def _releases(names: list[str]) -> str:
    return f"release{'s' if len(names) > 1 else ''} {listed(names)}"


def contradicting_requirements(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """Report what each kind says of its requirements, on the attributes that some release has."""
    released = frozenset(fact.source or fact.name for _, fact in flow.published())
    for spec in specs_of(flow.policy):
        same = tuple(r for r in flow.plan.requirements if r.kind == spec.name)
        if spec.conflicts is not None and same:
            yield from spec.conflicts(same, released, flow.plan.nulls, flow.places)


def unshuffled(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """The order of the rows is an identifier."""
    for name, release in flow.policy.releases.items():
        if not release.shuffle:
            yield Diagnostic(
                "PPF559",
                f"release `{name}` keeps the order of the source: a reader who knows it knows whose row is whose",
                flow.places.value("releases", name, "shuffle"),
                Severity.WARNING,
            )


def public_values(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """A report that shows values is not for everybody."""
    for name, release in flow.policy.releases.items():
        if release.audience == "public" and flow.plan.show_values:
            yield Diagnostic(
                "PPF560",
                f"the report shows data values, and release `{name}` is public: do not publish the report with it",
                flow.places.value("report", "values"),
                Severity.WARNING,
            )


def public_frequencies(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """Report operators that are made from how often values occur: a reader of the operator learns these counts."""
    for requirement in flow.plan.requirements:
        if not requirement.tells_frequencies:
            continue
        carrying = [release.name for release, fact in flow.published() if covers(requirement.secrets, fact)]
        public = [name for name in carrying if flow.policy.releases[name].audience == "public"]
        if public:
            path = (*requirement.id.split(".", 2), "default", "tolerance")
            span = flow.places.value("releases", public[0], "audience")
            yield Diagnostic(
                "PPF646",
                f"release `{public[0]}` is public, and the operator of `{requirement.secrets[0]}` tells how often each"
                " value occurs: with `tolerance` it is made from that",
                flow.places.value(*path) or requirement.span,
                hint="state `r1` and `r2` instead",
                related=(RelatedPlace(span, "public here"),) if span else (),
                path=path,
            )
    yield from _made_from_frequencies(flow)


def _made_from_frequencies(flow: CompiledFlow) -> Iterator[Diagnostic]:
    telling = {step.name for step in flow.plan.steps if step.effect.tells_frequencies}
    seen: set[str] = set()
    for release, fact in flow.published():
        drawing = [step for step in perturbers(fact) if step in telling and step not in seen]
        if drawing and flow.policy.releases[release.name].audience == "public":
            seen.add(drawing[0])
            span = flow.places.value("releases", release.name, "audience")
            yield Diagnostic(
                "PPF646",
                f"release `{release.name}` is public, and the operator of `{fact.name}` tells how often each value"
                f" occurs: `{drawing[0]}` makes it from that",
                flow.use(drawing[0]),
                hint="state a matrix, or spread what is not retained evenly",
                related=(RelatedPlace(span, "public here"),) if span else (),
            )


def public_domains(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """An operator over the values that occur tells everybody that one person has a value that nobody else has."""
    declared = {fact.name for fact in flow.plan.source.attributes if fact.domain is not None}
    bounded = {name for r in flow.plan.requirements if r.needs_operator for name in r.secrets}
    for release, fact in flow.published():
        drawn = perturbers(fact)
        by_step = drawn and drawn[0] != CLIENTS
        if by_step and release.audience == "public" and fact.source in bounded - declared:
            yield Diagnostic(
                "PPF658",
                f"release `{release.name}` is public, and the operator of `{fact.source}` lists the values that occur"
                " in the data",
                flow.places.value("attributes", fact.source, "role") or flow.use(drawn[0]),
                help=f"declare all values that `{fact.source}` can have, as its `domain`",
                related=(RelatedPlace(span, "public here"),)
                if (span := flow.places.value("releases", release.name, "audience"))
                else (),
            )


def without_columns(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """Nothing is left to release."""
    for release in flow.releases:
        if not release.attributes:
            yield Diagnostic(
                "PPF567",
                f"release `{release.name}` would have no column: all are identifiers, or dropped on the way",
                flow.origin(release),
                help="identifiers leave only if a step replaces them: `ppdm-flow explain pseudonymize`",
            )


def releases_without_requirements(
    plan: Plan, policy: Policy, places: ResolvedPlaces, *, strict: bool
) -> Iterator[Diagnostic]:
    """Report releases that no clause is about, where the policy has clauses (PPF526).

    An error where the release is public, and where ``strict``: a project file accepts no such policy.
    """
    judged = _judged_releases(plan)
    for release in plan.releases if not policy.privacy.is_empty else ():
        name, public = release.name, release.audience == "public"
        if name in judged:
            continue
        yield Diagnostic(
            NOTHING_REQUIRED,
            f"no requirement is about release `{name}`{', which is public' if public else ''}",
            places.key("releases", name),
            Severity.ERROR if public or strict else Severity.WARNING,
            help="state under `privacy:` what must hold of it, or name it in the `releases` of a clause",
            path=("releases", name),
        )


def _judged_releases(plan: Plan) -> set[str]:
    """Return the releases that a requirement is about, alone or joined to others."""
    tables = [table.plan for table in plan.tables] or [plan]
    about = [(r, t.requirements) for t in tables for r in t.releases]
    judged = {release.name for release, clauses in about if any(c.concerns(release.name) for c in clauses)}
    for join in plan.joins:
        judged |= {name for names in join.releases.values() for name in names if join.plan.requirements}
    joined = [clause for clause in plan.requirements if clause.on_joined or clause.of_all_files]
    if joined and not {release.name for release, _ in about} <= judged:
        for link in keyed_links(plan):
            pair = {link.one.name, link.other.name}
            judged |= pair if any(any(map(clause.concerns, pair)) for clause in joined) else set()
    return judged
