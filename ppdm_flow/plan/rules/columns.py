"""Names of released columns, as every reader of a release can tell them apart."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace
from ppdm_flow.plan.rules.compiled_flow import CompiledFlow


def alike(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """Two columns of a release differ in upper and lower case alone: SQL, by which it is measured again, sees one."""
    for release in flow.releases:
        first: dict[str, str] = {}
        spans = {fact.name: flow.declared(fact) for fact in release.attributes}
        for name, span in spans.items():
            other = first.setdefault(name.lower(), name)
            if other == name:
                continue
            related = spans[other]
            yield Diagnostic(
                "PPF609",
                f"in release `{release.name}` the columns `{other}` and `{name}` differ in upper and lower case alone",
                span,
                help="let `rename` give one of them another name, or `drop` it",
                related=() if related is None else (RelatedPlace(related, f"`{other}`"),),
            )
