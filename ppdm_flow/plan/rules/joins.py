"""Rules on joined tables, and on tables that can be joined."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice

from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.plugin_info import Kind
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.plan.definition import ReleaseNode, StepNode
from ppdm_flow.plan.rules.compiled_flow import CompiledFlow, listed
from ppdm_flow.plan.together import APART, ReleasePair, keyed_links

_MOST_PAIRS = 1_000
"""Pairs of releases that one rule reports: n releases have n²/2, and nobody reads more."""


def counted_tuples(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """A requirement that counts rows, on a release whose rows are pairs of rows."""
    for release in flow.releases:
        step = next((s for s in flow.plan.upstream(release.input) if _joins(s)), None)
        for requirement in flow.plan.requirements if step is not None else ():
            if step is not None and requirement.counts_rows and requirement.concerns(release.name):
                yield Diagnostic(
                    "PPF587",
                    f"`{requirement.id}` counts rows, and after step `{step.name}` these are pairs and no people",
                    requirement.span,
                    help="release the tables of a `vertical_partition`, and let the audit `rejoin` measure the join",
                )


def unmeasured_parts(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """Two releases with parts of one table, joined by its key, that no audit looks at together."""
    measured = {frozenset((a.release, str(a.bound.document.get("other")))) for a in flow.rejoins()}
    unmeasured = (pair for pair in _parts(flow) if frozenset(each.name for each in pair) not in measured)
    for one, other in islice(unmeasured, _MOST_PAIRS):
        yield Diagnostic(
            "PPF588",
            f"releases `{one.name}` and `{other.name}` are parts of one table, and nothing measures them together",
            flow.origin(other),
            help=f"add `rejoin` to `audits:`, on `{one.name}` and with `other: {other.name}`,"
            " and gate on its `posterior_bound`",
        )


def unknown_partners(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """An audit that is to join with a release that is not there, or with its own."""
    names = {r.name for r in flow.plan.releases}
    for audit in flow.rejoins():
        other = audit.bound.document.get("other")
        if other not in names - {audit.release}:
            yield Diagnostic(
                "PPF614",
                f"audit `{audit.name}` joins release `{audit.release}` with `{other}`, which is not another release",
                flow.places.value("audits", audit.name, "with", "other"),
                hint=did_you_mean(str(other), names - {audit.release}),
            )


def unbounded_joins(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """A measured join whose outcome decides nothing."""
    gated = {gate.metric.rpartition("/")[2] for gate in flow.plan.gates}
    for audit in flow.rejoins():
        if f"{audit.name}.posterior_bound" not in gated:
            yield Diagnostic(
                "PPF589",
                f"audit `{audit.name}` measures what is learned from two files together, and no gate bounds it",
                flow.places.key("audits", audit.name),
                Severity.WARNING,
                help=f"gates: {{bounded: {{metric: {audit.name}.posterior_bound, max: 0.5}}}}",
            )


def _joins(step: StepNode) -> bool:
    return step.bound.info.kind is Kind.TABLE and step.effect.rows == "generated"


def _parts(flow: CompiledFlow) -> Iterator[tuple[ReleaseNode, ReleaseNode]]:
    """Yield the pairs of releases that come from one partition and still have an attribute in common."""
    releases = flow.releases
    numbers_by_column: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, other in enumerate(releases):
        step = _partition(flow, other)
        if step is not None:
            columns = {(step.name, fact.source or fact.name) for fact in other.attributes}
            for one in sorted({earlier for column in columns for earlier in numbers_by_column[column]}):
                yield releases[one], other
            for column in columns:
                numbers_by_column[column].append(number)


def _partition(flow: CompiledFlow, release: ReleaseNode) -> StepNode | None:
    """Return the last step on the way that has several outputs."""
    steps = [s for s in flow.plan.upstream(release.input) if len(s.effect.outputs) > 1]
    return steps[-1] if steps else None


def keyed_columns(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """Two releases with a column that is made of the same attribute with a key: they will be judged as one table."""
    there = {release.name for release in flow.releases}
    linked = keyed_links(flow.plan) if any(r.on_joined or r.of_all_files for r in flow.plan.requirements) else ()
    certain = (link for link in linked if {link.one.name, link.other.name} <= there)
    for link in islice(certain, _MOST_PAIRS):
        yield Diagnostic(
            "PPF540",
            f"releases `{link.one.name}` and `{link.other.name}` both have {_columns(link)}, so they are judged as"
            " one table as well",
            flow.origin(link.other),
            Severity.WARNING,
            help="drop the column from one of them, or use another key there",
        )


def public_and_apart(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """Report a public release beside others: every reader of another release can get it too."""
    public = [r for r in flow.plan.releases if r.audience == "public"]
    if flow.plan.recipients == APART and len(flow.plan.releases) > 1 and public:
        yield Diagnostic(
            "PPF541",
            f"`recipients: apart` says that nobody sees two releases, and everybody gets `{public[0].name}`",
            flow.places.value("recipients"),
            help="leave `recipients` out, or give that release another `audience`",
        )


def _columns(link: ReleasePair) -> str:
    return listed([a for a, _ in link.keyed])
