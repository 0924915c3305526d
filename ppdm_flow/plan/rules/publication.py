"""How a release leaves the house."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic, Related, Severity
from ppdm_flow.plan.rules.compiled_flow import CompiledFlow, covers


def unshuffled(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """The order of the rows is an identifier."""
    for name, release in flow.policy.releases.items():
        if not release.shuffle:
            yield Diagnostic(
                "PPF559",
                f"release `{name}` keeps the order of the source: whoever knows that order knows whose row is whose",
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
    """An operator that is made from how often values occur tells it to whoever gets the operator."""
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
                related=(Related(span, "public here"),) if span else (),
                path=path,
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
