"""What a new text of a policy changes: its lines, and which clauses it weakens."""

from __future__ import annotations

from dataclasses import dataclass

from ppdm_flow import api
from ppdm_flow.api.loading.kinds import FileKind
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.page.services.policies.checks import from_folder
from ppdm_flow.page.services.policies.working_tree import HEAD
from ppdm_flow.page.site import Site
from ppdm_flow.page.views.policies.lines import Line, changed_lines
from ppdm_flow.report.diff.fields import ClauseChange, in_order


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two texts of a file. ``relation`` is how what must hold compares; empty where it cannot be compared.

    ``faults`` say why it cannot: one of the two has errors. ``weaker``: the new one is not proved to be as strict.
    """

    lines: list[Line]
    relation: str = ""
    weaker: bool = False
    changes: tuple[ClauseChange, ...] = ()
    governance: tuple[ClauseChange, ...] = ()
    faults: tuple[Diagnostic, ...] = ()


def compared(site: Site, name: str, old: str, new: str, *, committed: bool = False) -> Comparison:
    """Compare two texts of a file; with ``committed``, the old one beside the templates of the last commit."""
    lines = changed_lines(old, new)
    path = site.policies.folder / name
    if site.checks.check(name, new).kind is not FileKind.POLICY:
        return Comparison(lines)
    before, revision = (f"{site.tree.prefix()}{name}", HEAD) if committed else (old, "")
    try:
        result = api.diff_drafts(path, before, new, site.policies.folder, revision=revision)
    except PpdmError as error:
        return Comparison(lines, faults=tuple(from_folder(each, site.policies.folder) for each in error.diagnostics))
    pair = result.document["pairs"][0]
    return Comparison(
        lines,
        pair["relation"],
        result.weaker,
        tuple(in_order(pair["changes"])),
        tuple(in_order(pair["governance"])),
    )
