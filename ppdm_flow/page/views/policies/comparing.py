"""What a new text of a policy changes: its lines, and which clauses it weakens."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from ppdm_flow import api
from ppdm_flow.api.diff.diff import DiffResult
from ppdm_flow.api.loading.kinds import FileKind, identity_of
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.page.services.bounded import CHECKS, LimitExceededError, in_part, time_of_parts
from ppdm_flow.page.services.policies.checks import from_folder, names_private, private_file
from ppdm_flow.page.services.policies.working_tree import HEAD
from ppdm_flow.page.views.policies.lines import ComparedLine, changed_lines
from ppdm_flow.report.diff.fields import ClauseChange, in_order

if TYPE_CHECKING:
    from ppdm_flow.page.site import Site

_MOST_USERS = 2_000
_MOST_LINES = 5_000
_MEANING_BYTES = 1 << 16
"""What the page says of one policy among others; the whole is said of the one that somebody asks for."""
_FIRST, _SHARE = 0.05, 0.25
"""The parts of a call's processor time that one of them may take: at first, and once all have been tried."""
_LATE: deque[tuple[str, int, int]] = deque(maxlen=1_000)
"""The policies, as they were, that took long: they are tried after all others."""


class PutOff(StrEnum):
    """Why a policy was not compared."""

    TIME = "takes_long"
    UNKNOWN = "not_known"


@dataclass(frozen=True, slots=True)
class Meaning:
    """What two texts mean for a policy. ``relation`` is how what must hold compares; empty where nobody can say.

    ``faults`` say why: one of the two has errors. ``weaker``: the new one is not proved to be as strict. ``put_off``
    is why it was not compared, which is done once somebody asks for this policy.
    """

    policy: str
    relation: str = ""
    weaker: bool = False
    changes: tuple[ClauseChange, ...] = ()
    governance: tuple[ClauseChange, ...] = ()
    faults: tuple[Diagnostic, ...] = ()
    put_off: PutOff | None = None


@dataclass(frozen=True, slots=True)
class FileComparison:
    """Two texts of a file: their lines, and what they mean for the policy itself or, of a template, for its users.

    Those that become weaker are first, those that were put off last. ``more`` counts the users of a template that were
    left out, ``more_lines`` the lines.
    """

    kind: FileKind
    lines: list[ComparedLine]
    meanings: tuple[Meaning, ...] = ()
    more: int = 0
    more_lines: int = 0

    @property
    def weaker(self) -> bool:
        """Whether some policy is not proved to be as strict as before."""
        return any(each.weaker for each in self.meanings)


def compared(
    site: Site, name: str, old: str, new: str, *, committed: bool = False, asked: str | None = None
) -> FileComparison:
    """Compare two texts of a file; with ``committed``, the old one beside the templates of the last commit.

    What a template means for the policy that is ``asked`` for is found in a call of its own, however long others take.
    """
    folder = site.policies.folder
    path = folder / name
    kind = CHECKS.run(identity_of, path, new.encode(errors="replace")).kind
    lines, more_lines = CHECKS.run(first_lines, old, new)
    if kind is FileKind.POLICY:
        before, revision = (f"{site.tree.prefix()}{name}", HEAD) if committed else (old, "")
        texts = DraftTexts(folder, site.checks.private, before, new, revision)
        return FileComparison(kind, lines, (_meaning(texts, path),), more_lines=more_lines)
    if kind is not FileKind.TEMPLATE or not lines:
        return FileComparison(kind, lines, more_lines=more_lines)
    texts = DraftTexts(folder, site.checks.private, old, new, template=path)
    meanings, more = _meanings_of_users(site, texts, path, asked)
    return FileComparison(kind, lines, meanings, more, more_lines)


def _meanings_of_users(
    site: Site, texts: DraftTexts, template: Path, asked: str | None
) -> tuple[tuple[Meaning, ...], int]:
    """Return what two texts of a template mean for the policies that use it, and how many more do.

    Nobody waits for policies of which it is not known what they extend.
    """
    known, unknown = ([texts.folder / each for each in names] for names in site.checks.users_of(template))
    stamps = {user: _stamp(user) for user in known}
    turns = site.policies.history.in_turns([_name(texts, user) for user in known])
    tried = sorted((texts.folder / name for name in turns), key=lambda user: stamps[user] in _LATE)
    times = CHECKS.seconds * _FIRST, CHECKS.seconds * _SHARE
    try:
        found, late = CHECKS.run(template_meanings, texts, tried, *times)
    except LimitExceededError:  # one of them had the call killed: nobody knows which
        found, late = {}, ()
    _LATE.extend(stamps[user] for user in late)
    found |= {user: _meaning(texts, user) for user in (*known, *unknown) if _name(texts, user) == asked}
    told = {user: Meaning(_name(texts, user), weaker=True, put_off=PutOff.TIME) for user in known}
    told |= {user: Meaning(_name(texts, user), weaker=True, put_off=PutOff.UNKNOWN) for user in unknown}
    meanings = sorted((told | found).values(), key=lambda each: (each.put_off is not None, not each.weaker))
    return tuple(meanings[:_MOST_USERS]), max(0, len(meanings) - _MOST_USERS)


def _stamp(path: Path) -> tuple[str, int, int]:
    try:
        about = path.stat()
    except OSError:
        return str(path), 0, 0
    return str(path), about.st_mtime_ns, about.st_size


def first_lines(old: str, new: str) -> tuple[list[ComparedLine], int]:
    """Return the changed lines of two texts as far as a page shows them, and how many more there are."""
    lines = changed_lines(old, new)
    return lines[:_MOST_LINES], max(0, len(lines) - _MOST_LINES)


@dataclass(frozen=True, slots=True)
class DraftTexts:
    """Two texts of a policy, or of a ``template`` of it; with a ``revision``, ``old`` is the path in that."""

    folder: Path
    private: Path
    old: str
    new: str
    revision: str = ""
    template: Path | None = None


def _meaning(texts: DraftTexts, path: Path) -> Meaning:
    """Return what two texts mean for one policy, in a call of its own."""
    try:
        return CHECKS.run(policy_meaning, texts, path)
    except LimitExceededError as error:
        return Meaning(_name(texts, path), faults=error.diagnostics, weaker=texts.template is not None)


def template_meanings(
    texts: DraftTexts, users: Sequence[Path], first: float, each: float
) -> tuple[dict[Path, Meaning], tuple[Path, ...]]:
    """Compare two texts of a template by what they mean for policies that use it; return which take long, too.

    Each has ``first`` seconds, and ``each`` once all have been tried; twice as long they are begun.
    """
    found: dict[Path, Meaning] = {}
    late: list[Path] = []
    until = time_of_parts() + 2 * each
    for share, some in ((first, users), (each, late)):
        for user in tuple(some):
            if time_of_parts() > until:
                break
            meaning = in_part(share, _MEANING_BYTES, policy_meaning, texts, user)
            if meaning is not None:
                found[user] = meaning
            elif user not in late:
                late.append(user)
    return found, tuple(late)


def _name(texts: DraftTexts, path: Path) -> str:
    return path.relative_to(texts.folder).as_posix()


def policy_meaning(texts: DraftTexts, path: Path) -> Meaning:
    """Compare what two texts ask of the releases of the policy at ``path``."""
    name = _name(texts, path)
    if names_private(texts.template or path, texts.new, texts.private):
        return Meaning(name, faults=(private_file(),))
    try:
        result = api.diff_drafts(
            path, texts.old, texts.new, texts.folder, revision=texts.revision, template=texts.template
        )
    except PpdmError as error:
        return Meaning(name, faults=tuple(from_folder(each, texts.folder) for each in error.diagnostics))
    return _told(name, result)


def _told(name: str, result: DiffResult) -> Meaning:
    pair = result.document["pairs"][0]
    changes, governance = tuple(in_order(pair["changes"])), tuple(in_order(pair["governance"]))
    return Meaning(name, pair["relation"], result.weaker, changes, governance)
