"""Releases that somebody can put together."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.plan.rules.compiled_flow import CompiledFlow, listed
from ppdm_flow.plan.together import APART, Link, keyed_links


def keyed_columns(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """Two releases with a column that is made of the same attribute with a key: they will be judged as one table."""
    there = {release.name for release in flow.releases}
    for link in keyed_links(flow.plan) if any(r.on_groups for r in flow.plan.requirements) else ():
        if {link.one.name, link.other.name} <= there:
            yield Diagnostic(
                "PPF540",
                f"releases `{link.one.name}` and `{link.other.name}` both have {_columns(link)}, so they are judged as"
                " one table as well",
                flow.origin(link.other),
                Severity.WARNING,
                help="drop the column from one of them, or use another key there",
            )


def public_and_apart(flow: CompiledFlow) -> Iterator[Diagnostic]:
    """Everybody gets a public release, whoever has another one too."""
    public = [r for r in flow.plan.releases if r.audience == "public"]
    if flow.plan.recipients == APART and len(flow.plan.releases) > 1 and public:
        yield Diagnostic(
            "PPF541",
            f"`recipients: apart` says that nobody sees two releases, and everybody gets `{public[0].name}`",
            flow.places.value("recipients"),
            help="leave `recipients` out, or give that release another `audience`",
        )


def _columns(link: Link) -> str:
    return listed([a for a, _ in link.keyed])
