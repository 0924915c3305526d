"""What a new text of a policy changes: its lines, and which clauses it weakens."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ppdm_flow import api
from ppdm_flow.api.diff.diff import DiffResult
from ppdm_flow.api.loading.kinds import FileKind, identity_of
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.page.http.call import Call, known_policy, refuse_reach
from ppdm_flow.page.looks.addresses import own_address, policy_address
from ppdm_flow.page.services.bounded import CHECKS, LimitExceededError, in_part, time_of_parts
from ppdm_flow.page.services.policies.checks import PolicyCheck, from_folder, names_private, private_file
from ppdm_flow.page.services.policies.policies import ChangedMeanwhileError
from ppdm_flow.page.services.policies.working_tree import HEAD
from ppdm_flow.plan.pictures.forms import linked_drawing
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
    site: Site, name: str, old: str, new: str, *, committed: bool = False, asked_policy: str | None = None
) -> FileComparison:
    """Compare two texts of a file; with ``committed``, the old one beside the templates of the last commit.

    What a template means for ``asked_policy`` is found in a call of its own, however long others take.
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
    meanings, more = _meanings_of_users(site, texts, path, asked_policy)
    return FileComparison(kind, lines, meanings, more, more_lines)


def _meanings_of_users(
    site: Site, texts: DraftTexts, template: Path, asked_policy: str | None
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
        meanings_by_user, late = CHECKS.run(template_meanings, texts, tried, *times)
    except LimitExceededError:  # one of them had the call killed: nobody knows which
        meanings_by_user, late = {}, ()
    _LATE.extend(stamps[user] for user in late)
    meanings_by_user |= {
        user: _meaning(texts, user) for user in (*known, *unknown) if _name(texts, user) == asked_policy
    }
    put_off_meanings = {user: Meaning(_name(texts, user), weaker=True, put_off=PutOff.TIME) for user in known}
    put_off_meanings |= {user: Meaning(_name(texts, user), weaker=True, put_off=PutOff.UNKNOWN) for user in unknown}
    meanings = sorted(
        (put_off_meanings | meanings_by_user).values(), key=lambda each: (each.put_off is not None, not each.weaker)
    )
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
    meanings_by_user: dict[Path, Meaning] = {}
    late: list[Path] = []
    until = time_of_parts() + 2 * each
    for share, some in ((first, users), (each, late)):
        for user in tuple(some):
            if time_of_parts() > until:
                break
            meaning = in_part(share, _MEANING_BYTES, policy_meaning, texts, user)
            if meaning is not None:
                meanings_by_user[user] = meaning
            elif user not in late:
                late.append(user)
    return meanings_by_user, tuple(late)


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
    return _read_meaning(name, result)


def _read_meaning(name: str, result: DiffResult) -> Meaning:
    pair = result.document["pairs"][0]
    changes, governance = tuple(in_order(pair["changes"])), tuple(in_order(pair["governance"]))
    return Meaning(name, pair["relation"], result.weaker, changes, governance)


# Two texts line by line: what went and what came, with a few lines around.


_AROUND = 3
_GAP_PAIRS = 200_000
"""Pairs of lines that are compared between lines that occur once: `difflib` is cubic where many lines are equal."""


@dataclass(frozen=True, slots=True)
class ComparedLine:
    """A line; ``kind`` is ``same``, ``gone``, ``new`` or ``skip``, and ``old`` and ``new`` are its numbers."""

    kind: str
    old: int | None
    new: int | None
    text: str


def changed_lines(old: str, new: str) -> list[ComparedLine]:
    """Return the lines that changed with those around them; nothing where none did."""
    before, after = old.splitlines(), new.splitlines()
    lines: list[ComparedLine] = []
    for group in _LineMatcher(None, before, after).get_grouped_opcodes(_AROUND):
        if group[0][1] or group[0][3]:
            lines.append(ComparedLine("skip", None, None, ""))
        for tag, i, i_end, j, j_end in group:
            if tag == "equal":
                lines += [ComparedLine("same", i + n + 1, j + n + 1, before[i + n]) for n in range(i_end - i)]
            else:
                lines += _removed_lines(before, i, i_end)
                lines += [ComparedLine("new", None, n + 1, after[n]) for n in range(j, j_end)]
    return lines


def _removed_lines(before: list[str], start: int, end: int) -> Iterator[ComparedLine]:
    yield from (ComparedLine("gone", n + 1, None, before[n]) for n in range(start, end))


class _LineMatcher(SequenceMatcher[str]):
    """Matches lines that occur once in both texts first (patience diff), and compares what is between these."""

    a: Sequence[str]
    b: Sequence[str]

    def get_matching_blocks(self) -> list[Match]:
        """Return the runs of equal lines, and the empty one at the end."""
        blocks: list[Match] = []
        for i, j in self._pairs():
            if blocks and (blocks[-1].a + blocks[-1].size, blocks[-1].b + blocks[-1].size) == (i, j):
                blocks[-1] = blocks[-1]._replace(size=blocks[-1].size + 1)
            else:
                blocks.append(Match(i, j, 1))
        return [*blocks, Match(len(self.a), len(self.b), 0)]

    def _pairs(self) -> Iterator[tuple[int, int]]:
        """Yield the places of equal lines. Once too many lines were compared, what is left counts as changed."""
        old, new, left = self.a, self.b, _GAP_PAIRS
        i = j = 0
        for i_end, j_end in [*_unique_pairs(old, new), (len(old), len(new))]:
            while i < i_end and j < j_end and old[i] == new[j]:
                yield i, j
                i, j = i + 1, j + 1
            same = 0
            while i < i_end - same and j < j_end - same and old[i_end - same - 1] == new[j_end - same - 1]:
                same += 1
            compared = (i_end - same - i) * (j_end - same - j)
            if 0 < compared <= left:
                left -= compared
                gap = SequenceMatcher(None, old[i : i_end - same], new[j : j_end - same], autojunk=False)
                for block in gap.get_matching_blocks():
                    yield from ((i + block.a + n, j + block.b + n) for n in range(block.size))
            yield from ((i_end - n, j_end - n) for n in range(same, 0, -1))
            if i_end < len(old):
                yield i_end, j_end
            i, j = i_end + 1, j_end + 1


def _unique_pairs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the most pairs of lines that occur once in both texts, in an order that both have."""
    counts = Counter(old), Counter(new)
    places = {line: j for j, line in enumerate(new) if counts[1][line] == 1}
    candidates = [(i, places[line]) for i, line in enumerate(old) if counts[0][line] == 1 and line in places]
    ends: list[int] = []  # the smallest last place in `new` of an ordered run, by the run's length
    lasts: list[int] = []
    before: list[int] = []
    for number, (_, j) in enumerate(candidates):
        length = bisect_left(ends, j)
        before.append(lasts[length - 1] if length else -1)
        ends[length : length + 1], lasts[length : length + 1] = [j], [number]
    chosen: list[tuple[int, int]] = []
    at = lasts[-1] if lasts else -1
    while at >= 0:
        chosen.append(candidates[at])
        at = before[at]
    return chosen[::-1]


# Writing a policy: the editor, saving, and what is found while somebody types.


def edit(call: Call) -> Response:
    """Show the editor."""
    policy = known_policy(call)
    checked = call.site.checks.check(policy.name, policy.text)
    return call.page(
        "policies/edit.html", policy=policy, checked=checked, names=checked.names, drawing=drawing_of(checked)
    )


def check(call: Call) -> Response:
    """Say what is wrong with a text that somebody is writing, as a part of the editor."""
    policy = known_policy(call)
    checked = call.site.checks.check(policy.name, sent_text(call))
    return call.page(
        "policies/findings.html", policy=policy, checked=checked, names=checked.names, drawing=drawing_of(checked)
    )


def save(call: Call) -> Response:
    """Write the text that somebody made of the one that they read; show both where the file changed meanwhile."""
    policy, text = known_policy(call), sent_text(call)
    refuse_reach(call, policy.name, text, before=policy)
    try:
        call.site.policies.write(policy.name, text, call.text("digest"), call.user)
    except ChangedMeanwhileError as error:
        comparison = compared(call.site, policy.name, error.now.text, text)
        return call.page("policies/conflict.html", 409, policy=error.now, text=text, comparison=comparison)
    return call.go(own_address(call.text("back")) or policy_address(policy.name, "edit"), said="policies.saved")


def sent_text(call: Call) -> str:
    """Return the text of a form, with the line ends that policies have. Raises HTTPException 413 for a huge one."""
    text = call.text("text").replace("\r\n", "\n")
    if len(text.encode(errors="replace")) > call.site.settings.policy_bytes:
        raise HTTPException(413)
    return text


_MOST_NODES = 300
"""A drawing with more of them is no help, and takes long."""


def drawing_of(checked: PolicyCheck) -> Markup | None:
    """Return the drawing of what is read, done and released; None where the text has errors, or too many steps."""
    about = checked.plan
    if about is None or len(about["steps"]) + len(about["releases"]) > _MOST_NODES:
        return None
    return linked_drawing(about, _page_of, name="steps")


def _page_of(step: Mapping[str, Any]) -> str:
    """Return where the plugin of a step is explained."""
    return "" if step["implicit"] else f"/explain/{step['use']}"
