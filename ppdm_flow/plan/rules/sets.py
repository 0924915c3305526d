"""Rules on sets of items: which formats hold them, and which steps may touch them."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.attributes import AttributeFacts, Change
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.roles import Role
from ppdm_flow.core.spans import Span
from ppdm_flow.plan.definition import ReleaseNode
from ppdm_flow.plan.formats import handling
from ppdm_flow.plan.rules.compiled_flow import CompiledFlow, listed
from ppdm_flow.policy.language.kinds import with_operators

_COARSER = (Change.GENERALIZED, Change.PERTURBED, Change.PSEUDONYMIZED)


def source_without_sets(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """The reader yields sets and nothing else, or none at all, and the policy declares otherwise."""
    node = flow.plan.source
    if node.format is None:
        return
    sets = [a for a in node.attributes if a.role is Role.ITEMS]
    span = flow.places.value("source", "format") or flow.places.value("source", "path") or node.span
    can = handling("sources", node.format)
    if can == "only" and (len(sets) != 1 or len(node.attributes) > 1):
        others = [a.name for a in node.attributes if a.role is not Role.ITEMS]
        text = f"`format: {node.format}` gives one set a row and nothing else, and the policy declares "
        yield Diagnostic(
            "PPF570",
            text + (f"{listed(others[:4])} besides" if others and sets else "no attribute with `role: items`"),
            span,
            help="declare one attribute, with `role: items`; sets beside other columns are a list column in Parquet",
        )
    if can == "" and sets:
        yield Diagnostic(
            "PPF571",
            f"`{sets[0].name}` is the set of items, and `format: {node.format}` has a single value in each cell",
            span,
            help="`format: transactions`, `baskets` and `long` give sets, and Parquet list columns do",
        )


def releases_without_sets(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """The writer has no place for sets, or for anything else."""
    for release in flow.releases:
        sets = [a for a in release.attributes if a.role is Role.ITEMS]
        can = handling("sinks", release.format)
        if can == "" and sets:
            text = f"release `{release.name}` has the sets of `{sets[0].source}`, and `format: {release.format}` has"
            help_ = "`format: parquet` holds sets beside other columns, `baskets` and `transactions` sets alone"
            yield Diagnostic("PPF571", f"{text} no place for sets", _format(flow, release), help=help_)
        elif can == "only":
            yield from _alone(flow, release, sets)


def values_of_sets(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """A step that works on single values names a set."""
    for step in flow.plan.steps:
        if step.bound.info.sets or step.implicit or step.name not in flow.clean:
            continue
        arriving = {a.name for a in flow.plan.arriving(step) if a.role is Role.ITEMS}
        named = [n for n in (*step.effect.changes, *step.effect.reads) if n in arriving]
        if named:
            yield Diagnostic(
                "PPF573",
                f"step `{step.name}` works on single values, and `{named[0]}` is the set of items",
                flow.use(step.name),
                help="`limit_items` and `roll_up` work on sets",
            )


def raw_sets(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """A set of items that no step has made coarser, randomized, or such as a requirement on sets asks.

    A few known items find a row among millions.
    """
    on_sets = {r.id for r in flow.plan.requirements if r.on_sets}
    serving = {s.name for s in flow.plan.steps if on_sets.intersection(s.effect.serves)}
    releases_of: dict[str, tuple[AttributeFacts, list[str]]] = {}
    for release, fact in flow.published():
        served = any(step in serving for step, _ in fact.changes)
        if fact.role is Role.ITEMS and not fact.was(*_COARSER) and not served:
            releases_of.setdefault(fact.source, (fact, []))[1].append(release.name)
    for fact, releases in releases_of.values():
        yield Diagnostic(
            "PPF564",
            f"the items of `{fact.source}` reach release{'s' * (len(releases) > 1)} {listed(releases)} as they are",
            flow.declared(fact),
            Severity.WARNING,
            help="a reader who knows a few items of a person's set finds that row, and reads all the others: roll them"
            " up to categories, or randomize them",
        )


def unrandomized(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """A bound on what randomized sets tell can only hold of sets that were randomized."""
    wanted = {a: r for r in flow.plan.requirements if r.needs_operator and r.on_sets for a in r.secrets}
    for release, fact in flow.published():
        requirement = wanted.get(fact.source)
        if (
            requirement is not None
            and requirement.concerns(release.name)
            and fact.role is Role.ITEMS
            and not fact.was(Change.PERTURBED)
        ):
            yield Diagnostic(
                "PPF553",
                f"release `{release.name}` will be withheld: `{requirement.id}` asks for randomized sets of"
                f" `{fact.source}`, and no step randomizes them",
                requirement.span,
                Severity.WARNING,
                help="add a `randomize_transactions` step before the release",
            )


def without_originals(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """Sets that clients randomized have no original here: what compares with one cannot be measured."""
    sent = flow.plan.source.operator
    if sent is None:
        return
    for requirement in flow.plan.requirements:
        if requirement.on_sets and not requirement.needs_operator:
            yield Diagnostic(
                "PPF446",
                f"`{requirement.id}` counts sets as they are, and clients randomized those of `{sent.attribute}`",
                requirement.span,
                help=f"bound what is learned of them by `{with_operators(on_sets=True)}`",
            )
    for audit in flow.plan.audits:
        alone = getattr(audit.bound.params, "max_supports", None) is not None  # then the original is not asked
        if audit.bound.info.sets and not audit.requirements and not alone:
            yield Diagnostic(
                "PPF446",
                f"audit `{audit.name}` compares sets with their originals, which only the clients have",
                audit.spans[0] if audit.spans else None,
                help="leave it out; `discoverable_support` with `max_supports` needs no original",
            )


def _alone(flow: CompiledFlow, release: ReleaseNode, sets: list[AttributeFacts]) -> Iterator[Diagnostic]:
    others = [a.name for a in release.attributes if a.role is not Role.ITEMS]
    if others or not sets:
        text = f"`format: {release.format}` holds one set a line, and release `{release.name}` has "
        what = f"{listed(others[:4])} besides" if sets else "no sets"
        yield Diagnostic("PPF570", text + what, _format(flow, release), help="`format: parquet` holds both")
    for fact in sets:
        if fact.was(Change.PERTURBED):
            text = f"the sets of `{fact.source}` in release `{release.name}` are randomized: far too long for lines"
            yield Diagnostic("PPF574", text, _format(flow, release), help="`format: parquet` holds bits or seeds")


def _format(flow: CompiledFlow, release: ReleaseNode) -> Span | None:
    path = ("releases", release.name)
    return flow.places.value(*path, "format") or flow.places.value(*path, "path")
