"""What a new text of a policy changes: its lines, and which clauses it weakens."""

from __future__ import annotations

from pathlib import Path

from ppdm_flow import api
from ppdm_flow.api.diff.diff import DiffResult
from ppdm_flow.api.loading.kinds import FileKind
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.core.records import dataclass
from ppdm_flow.page.services.policies.checks import from_folder
from ppdm_flow.page.services.policies.working_tree import HEAD
from ppdm_flow.page.site import Site
from ppdm_flow.page.views.policies.lines import Line, changed_lines
from ppdm_flow.report.diff.fields import ClauseChange, in_order

_MOST_USERS = 50


@dataclass(frozen=True, slots=True)
class Meaning:
    """What two texts mean for a policy. ``relation`` is how what must hold compares; empty where nobody can say.

    ``faults`` say why: one of the two has errors. ``weaker``: the new one is not proved to be as strict.
    """

    policy: str
    relation: str = ""
    weaker: bool = False
    changes: tuple[ClauseChange, ...] = ()
    governance: tuple[ClauseChange, ...] = ()
    faults: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two texts of a file: their lines, and what they mean for the policy itself or, of a template, for its users.

    ``more`` counts the users of a template that were left out.
    """

    kind: FileKind
    lines: list[Line]
    meanings: tuple[Meaning, ...] = ()
    more: int = 0

    @property
    def weaker(self) -> bool:
        """Whether some policy is not proved to be as strict as before."""
        return any(each.weaker for each in self.meanings)


def compared(site: Site, name: str, old: str, new: str, *, committed: bool = False) -> Comparison:
    """Compare two texts of a file; with ``committed``, the old one beside the templates of the last commit."""
    kind = site.checks.check(name, new).kind
    lines = changed_lines(old, new)
    path = site.policies.folder / name
    if kind is FileKind.POLICY:
        before, revision = (f"{site.tree.prefix()}{name}", HEAD) if committed else (old, "")
        return Comparison(kind, lines, (_meaning(site, path, before, new, revision=revision),))
    if kind is not FileKind.TEMPLATE or not lines:
        return Comparison(kind, lines)
    users = api.users_of(path, [site.policies.folder / each for each in site.policies.names()])
    meanings = tuple(_meaning(site, user, old, new, template=path) for user in users[:_MOST_USERS])
    return Comparison(kind, lines, meanings, max(0, len(users) - _MOST_USERS))


def _meaning(
    site: Site, path: Path, old: str, new: str, *, revision: str = "", template: Path | None = None
) -> Meaning:
    folder = site.policies.folder
    name = path.relative_to(folder).as_posix()
    try:
        result = api.diff_drafts(path, old, new, folder, revision=revision, template=template)
    except PpdmError as error:
        return Meaning(name, faults=tuple(from_folder(each, folder) for each in error.diagnostics))
    return _told(name, result)


def _told(name: str, result: DiffResult) -> Meaning:
    pair = result.document["pairs"][0]
    changes, governance = tuple(in_order(pair["changes"])), tuple(in_order(pair["governance"]))
    return Meaning(name, pair["relation"], result.weaker, changes, governance)
