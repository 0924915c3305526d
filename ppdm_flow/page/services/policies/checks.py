"""What is wrong with policies, as their authors see it: files are named from the folder on, not from the disk on."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ppdm_flow.api.drafts.check import DraftCheck, check_draft
from ppdm_flow.api.loading.kinds import FileKind, identity_of, kind_by_lines
from ppdm_flow.api.test.files import sets_of
from ppdm_flow.core.clock import utc_today
from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace, Severity, has_errors
from ppdm_flow.core.digests import open_ordinary
from ppdm_flow.core.texts import shortened
from ppdm_flow.core.waivers import AcceptedWaiver
from ppdm_flow.page.services.bounded import CHECKS, TOO_LONG, LimitExceededError, in_part, time_of_parts
from ppdm_flow.page.services.policies.policies import TABLES, YAML, PolicyFiles, files_below
from ppdm_flow.page.services.policies.reach import reaches, texts
from ppdm_flow.plan.document import document
from ppdm_flow.plan.locked import files_of as definitions_of
from ppdm_flow.policy import load
from ppdm_flow.policy.edit.changes import readable_tree
from ppdm_flow.policy.files import Library
from ppdm_flow.policy.redaction import telling, waivers_of, without
from ppdm_flow.policy.test import load as load_tests
from ppdm_flow.policy.text.reading import SIZE_LIMIT

if TYPE_CHECKING:
    from ppdm_flow.plan import fields

_Stamp = tuple[date, int, int]
_NAMED = ("attributes", "steps", "releases", "params", "audits")
_WITH_FILES = frozenset({"privacy", "audits"})
"""Parts of a policy that may name populations."""
_LONGEST = 1024
"""Characters that a path may have."""
MOST_FINDINGS = 500
"""Findings in one text that a page shows."""
_MOST_NAMES = 2_000
_MOST_WAIVERS = 100
_MOST_TEMPLATES = 100
_LONGEST_WORDS = 300
"""Characters of a waiver's texts in the state of a file."""
_TOGETHER = 20
"""Files that are checked in one process: beginning one takes longer than most checks."""
_SECONDS = 15
"""How long one look at the files may go on: what is saved meanwhile waits for the next one."""
_LOOKS = 30
"""Seconds in which one look after the other is begun, before somebody asks again."""
_STATE_BYTES = 1 << 18
_FIRST, _SHARE = 0.05, 0.25
"""The parts of a call's processor time that one of its files may take: at first, and once all others have a state."""
_MOMENT = 1
"""Seconds that a page waits for the states of files that it knows nothing of."""
_PATIENCE = 2
"""Seconds that a page waits for them which has to know them."""


@dataclass(frozen=True, slots=True)
class FileState:
    """How many errors and open warnings a file has, and its waivers, those that end first in front.

    There are no waivers (None) where it cannot be read as a policy. ``more`` counts those that were left out: pages
    list the waivers of all files. ``templates`` are the paths of those that were read with it.
    """

    errors: int
    warnings: int
    waivers: tuple[AcceptedWaiver, ...] | None = ()
    more: int = 0
    templates: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PolicyCheck:
    """What a text is and what is wrong with it: as much of a draft's check as pages show.

    ``sources`` are the files that were read, ``files`` all that say what the policy means, and ``opened`` those of them
    that a job opens wherever they are. ``names`` are those of attributes, steps and so on with what templates bring,
    ``about`` is what the policy says of itself. ``plan`` is there where it has one, and ``serves`` are the requirements
    that its steps work towards. ``more`` counts the findings that were left out. ``waivers`` are all of the policy's.
    """

    kind: FileKind
    diagnostics: tuple[Diagnostic, ...]
    sources: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    opened: tuple[str, ...] = ()
    waived: Mapping[Diagnostic, AcceptedWaiver] = field(default_factory=dict)
    names: Mapping[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in _NAMED})
    about: Mapping[str, str | None] = field(default_factory=dict)
    plan: fields.PlanDocument | None = None
    serves: frozenset[str] = frozenset()
    more: int = 0
    waivers: tuple[AcceptedWaiver, ...] | None = None

    @property
    def valid(self) -> bool:
        """Whether there are no errors."""
        return not has_errors(self.diagnostics)


@dataclass(frozen=True, slots=True)
class TextReach:
    """What a text reaches: whether a file that is ``private``, and the runs and tables of the ``policy`` it is.

    ``resolved``: it is a policy that loads, so that nothing was left out of what was looked at. Others cannot be run.
    """

    private: bool = False
    policy: str | None = None
    resolved: bool = False
    kind: FileKind = FileKind.OTHER


@dataclass(frozen=True, slots=True)
class _StampedState:
    """What was found in a file when it was looked at last, and how its templates were then."""

    number: int
    stamp: _Stamp
    state: FileState | None
    templates: Mapping[str, _Stamp | None]


@dataclass(slots=True)
class PolicyChecks:
    """Checks texts of one folder, and keeps what was found in its files as long as none of them changes.

    ``private`` is the server's own folder, whose files no policy may name. Jobs open files below the folder of policies
    and those of ``data``, but for what is ``hidden`` from them.
    """

    policies: PolicyFiles
    private: Path
    data: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    today: Callable[[], date] = utc_today
    _kept: tuple[Mapping[str, _Stamp], Mapping[str, FileState | None]] = ({}, {})
    _last: dict[str, _StampedState] = field(default_factory=dict)
    _looks: Iterator[int] = field(default_factory=lambda: count(1))
    _late: set[tuple[int, int]] = field(default_factory=set)
    _together: int = _TOGETHER
    _looking: threading.Thread | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def check(self, name: str, text: str) -> PolicyCheck:
        """Check a text as if it stood in the file of this name; diagnostics name files from the folder."""
        folder = self.policies.folder
        try:
            return CHECKS.run(check_text, folder, name, text, self.today(), self.private)
        except LimitExceededError as error:
            return PolicyCheck(kind_by_lines(folder / name, text.encode(errors="replace")), error.diagnostics)

    def is_open_to_jobs(self, file: str) -> bool:
        """Whether every job may open a file."""
        real = Path(os.path.realpath(file))

        def is_below(folders: Iterable[Path]) -> bool:
            return any(real.is_relative_to(os.path.realpath(folder)) for folder in folders)

        return is_below((self.policies.folder, *self.data)) and not is_below(self.hidden)

    def reach(self, name: str, text: str) -> TextReach:
        """Return what a text reaches beyond its file, as it stands or once it is resolved."""
        return CHECKS.run(reach_of, self.policies.folder / name, text, self.private)

    def users_of(self, template: Path) -> tuple[list[str], list[str]]:
        """Return the files that are read with a template, and those of which that is not known in a few seconds.

        It is not known either of a file whose own templates have changed since it was looked at.
        """
        states, stamps = self.states(_PATIENCE), self._stamps()
        users, unknown = [], []
        for name in self.policies.names():
            state, look = states.get(name), self._last.get(name)
            if self.policies.folder / name == template:
                continue
            if state is not None and str(template) in state.templates:
                users.append(name)
            elif state is None or look is None or any(stamps.get(n) != then for n, then in look.templates.items()):
                unknown.append(name)
        return users, unknown

    def states(self, seconds: float | None = None) -> Mapping[str, FileState | None]:
        """Return the states of the YAML files; what has changed since is looked at in the background.

        A file that was not looked at since another one changed has the state of before. A page waits only where a file
        has no state yet, and no longer than a moment, or so many ``seconds``.
        """
        stamps = self._stamps()
        known, shown = self._kept_for(stamps), self._shown(stamps)
        if any(name not in known for name in _checked(stamps)):
            look = self._begun()
            if any(name not in shown for name in _checked(stamps)):
                look.join(_MOMENT if seconds is None else seconds)
        return self._shown(stamps)

    def look(self) -> None:
        """Look at the files that have changed, or may mean something else, since they were looked at.

        What was looked at longest ago is first, and the files of each person take turns. What takes long waits for all
        others, under a new name as well, and has no state (None) if it takes too long by itself.
        """
        stamps = self._stamps()
        known = self._kept_for(stamps)
        for name in self._last.keys() - stamps.keys():
            self._last.pop(name, None)
        shown = self._shown(stamps)
        names = [name for name in _checked(stamps) if name not in known]
        self._late &= {stamp[1:] for stamp in stamps.values()}
        names = self.policies.history.in_turns(sorted(names, key=lambda n: self._last[n].number if n in shown else 0))
        names.sort(key=lambda name: stamps[name][1:] in self._late)
        until = time.monotonic() + _SECONDS
        late = self._look_at(names, stamps, until, _FIRST)
        self._look_at(late, stamps, until, _SHARE, at_last=True)

    def _look_at_all(self) -> None:
        """Look at files until each has a state, or that has taken long."""
        until = time.monotonic() + _LOOKS
        self.look()
        while time.monotonic() < until and self._kept_for(stamps := self._stamps()).keys() < set(_checked(stamps)):
            self.look()

    def _look_at(
        self, names: Sequence[str], stamps: Mapping[str, _Stamp], until: float, share: float, *, at_last: bool = False
    ) -> list[str]:
        """Look at files ``until`` then, each for a ``share`` of a call's time, and return those that take longer.

        ``at_last``: these have no state (None).
        """
        late: list[str] = []
        calls = CHECKS
        while names:
            some, states_by_name = names[: min(self._together, _TOGETHER)], dict[str, FileState | None]()
            times = calls.seconds * share, calls.seconds / 2
            try:
                states_by_name = calls.run(states_of, self.policies.folder, some, self.today(), self.private, *times)
                self._together = _TOGETHER
            except (LimitExceededError, RuntimeError):  # one of them had it killed, or there was no time
                states_by_name = {some[0]: None} if len(some) == 1 and calls.seconds == CHECKS.seconds else {}
                self._together = max(1, len(some) // 2)
            late += [name for name, state in states_by_name.items() if state is None]
            self._late |= {stamps[name][1:] for name, state in states_by_name.items() if state is None}
            states = {name: state for name, state in states_by_name.items() if at_last or state is not None}
            self._kept = stamps, {**self._kept_for(stamps), **states}
            for name, state in states.items():
                templates = {each: stamps.get(each) for each in self._names_of(state)}
                self._last[name] = _StampedState(next(self._looks), stamps[name], state, templates)
            names = [name for name in names if name not in states_by_name]
            left = until - time.monotonic()
            if left <= 0 or (at_last and left < CHECKS.seconds):
                break
            calls = CHECKS.within(left)
        return late

    def _names_of(self, state: FileState | None) -> Iterator[str]:
        """Yield the templates of a file by their names in the folder, also of those elsewhere."""
        return (os.path.relpath(each, self.policies.folder) for each in (state.templates if state else ()))

    def _begun(self) -> threading.Thread:
        """Return the thread that looks at files; there is one at a time."""
        with self._lock:
            if self._looking is None or not self._looking.is_alive():
                self._looking = threading.Thread(target=self._look_at_all, name="states of policies", daemon=True)
                self._looking.start()
            return self._looking

    def _stamps(self) -> Mapping[str, _Stamp]:
        """Return the stamps of all files that say what policies mean, by name."""
        today = self.today()
        return {n: (today, *_stamp(p)) for n, p in files_below(self.policies.folder, (*YAML, *TABLES)).items()}

    def _kept_for(self, stamps: Mapping[str, _Stamp]) -> Mapping[str, FileState | None]:
        """Return the states that were found since any of these files has changed."""
        return self._kept[1] if self._kept[0] == stamps else {}

    def _shown(self, stamps: Mapping[str, _Stamp]) -> dict[str, FileState | None]:
        """Return the states of files that are as they were when they were looked at."""
        return {name: look.state for name, look in self._last.copy().items() if look.stamp == stamps.get(name)}


def _checked(stamps: Mapping[str, _Stamp]) -> Iterator[str]:
    return (name for name in stamps if name.endswith(YAML))


def states_of(
    folder: Path, names: Sequence[str], today: date, private: Path, each: float, every: float
) -> dict[str, FileState | None]:
    """Return the states of files in a folder, of as many as there is time for; None for one that takes long.

    ``each`` are the seconds for one of them, ``every`` those in which files are begun.
    """
    states_by_name: dict[str, FileState | None] = {}
    until = time_of_parts() + every
    for name in names:
        if states_by_name and time_of_parts() > until:
            break
        states_by_name[name] = in_part(each, _STATE_BYTES, _state_in, folder, name, today, private)
    return states_by_name


def _state_in(folder: Path, name: str, today: date, private: Path) -> FileState | None:
    path = folder / name
    return state_of(path, check_text(folder, name, _text(path), today, private)) if path.is_file() else None


def check_text(folder: Path, name: str, text: str, today: date, private: Path) -> PolicyCheck:
    """Check a text as if it stood in the file ``name`` of the folder; it is not read where it names private files.

    A check that fails in a way that nobody expects is a finding (PPF997): other texts are checked with this one.
    """
    kind = kind_by_lines(folder / name, text.encode(errors="replace"))
    try:
        return _check(folder, name, text, today, private)
    except Exception as error:  # noqa: BLE001  # its text may hold values
        message = f"this text cannot be checked here: {type(error).__name__}"
        return PolicyCheck(kind, (Diagnostic(TOO_LONG, message, help="look at it with the command line"),))


def _check(folder: Path, name: str, text: str, today: date, private: Path) -> PolicyCheck:
    path = folder / name
    kind = identity_of(path, text.encode(errors="replace")).kind
    if names_private(path, text, private):  # before anything says whether such a file is there
        return PolicyCheck(kind, (private_file(),))
    checked = check_draft(path, text, lambda: today)
    if checked.loaded is not None and reaches(checked.loaded.tree, path.parent, private):
        return PolicyCheck(kind, (private_file(),))
    errors_first = sorted(checked.diagnostics, key=lambda each: each.severity is not Severity.ERROR)
    chosen = set(errors_first[:MOST_FINDINGS])
    shown = {each: from_folder(each, folder) for each in checked.diagnostics if each in chosen}
    return PolicyCheck(
        kind,
        tuple(shown.values()),
        tuple(checked.sources),
        tuple(sorted(_files(checked, path.parent) | _tested(kind, path, text))),
        tuple(_opened(checked)),
        {shown[each]: waiver for each, waiver in checked.waived.items() if each in shown},
        _names_in(checked),
        _about(checked),
        None if checked.plan is None else document(checked.plan),
        frozenset[str]().union(*(step.effect.serves for step in checked.plan.steps)) if checked.plan else frozenset(),
        len(checked.diagnostics) - len(shown),
        _waivers(checked),
    )


def _waivers(checked: DraftCheck) -> tuple[AcceptedWaiver, ...] | None:
    loaded = checked.loaded
    if loaded is None or loaded.policy is None:
        return None
    return tuple(sorted(waivers_of(loaded.policy, loaded), key=lambda waiver: waiver.until))


def _files(checked: DraftCheck, home: Path) -> set[str]:
    """Return the absolute paths of the files that say what a policy means: templates, hierarchies, populations."""
    named = [*checked.sources]
    if checked.plan is not None:
        named += [path for path, _ in definitions_of(checked.plan)]
    if checked.loaded is not None:
        tree = {name: part for name, part in checked.loaded.tree.items() if name in _WITH_FILES}
        named += [str(home / each) for each in texts(tree) if "\0" not in each and len(each) < _LONGEST]
    return {os.path.abspath(path) for path in named if Path(path).is_absolute() and os.path.isfile(path)}  # noqa: PTH100, PTH113  # as it is read, links included; any text


def _tested(kind: FileKind, path: Path, text: str) -> set[str]:
    """Return the policy that tests are about, with every file that says what it means."""
    if kind is not FileKind.TESTS:
        return set()
    policy = load_tests(path, Library(texts={path: text})).policy
    try:
        about = check_draft(policy, _text(policy), utc_today)
    except OSError:
        return set()
    return {os.path.abspath(policy)} | _files(about, policy.parent)  # noqa: PTH100  # as above


def _opened(checked: DraftCheck) -> Iterator[str]:
    """Yield the files, wherever they are, that were read and are what they have to be: templates, a list of signers.

    Others may hold anything: where they are outside of the folders for data, a job does not open them.
    """
    if checked.plan is not None or (checked.kind is FileKind.TESTS and checked.valid):
        yield from (path for path in checked.sources if Path(path).is_absolute())
    if checked.plan is not None and checked.plan.approvals is not None:
        yield checked.plan.approvals.signers


def reach_of(path: Path, text: str, private: Path) -> TextReach:
    """Return what a text at ``path`` reaches; where that cannot be told, it is taken to be a private file."""
    try:
        return _reach(path, text, private)
    except (OSError, ValueError):
        return TextReach(private=True)


def _reach(path: Path, text: str, private: Path) -> TextReach:
    if names_private(path, text, private):
        return TextReach(private=True)
    identity = identity_of(path, text.encode(errors="replace"))
    library = Library(texts={path: text})
    if identity.kind is FileKind.TESTS:
        return TextReach(_tests_reach(path, library, private), kind=identity.kind)
    loaded = load(path, library=library)
    policy = identity.name if loaded.policy is None else loaded.policy.name
    is_private = reaches(loaded.tree, path.parent, private)
    return TextReach(is_private, policy, loaded.policy is not None, identity.kind)


def _tests_reach(path: Path, library: Library, private: Path) -> bool:
    """Whether a policy that tests are about reaches a private file, with the params of some test."""
    file = load_tests(path, library)
    if file.cases is None or not file.policy.is_file():
        return False
    trees = (load(file.policy, sets_of(file, name)).tree for name in file.cases.tests)
    return any(reaches(tree, file.policy.parent, private) for tree in trees)


def names_private(path: Path, text: str, private: Path) -> bool:
    """Return whether a text, as it stands at ``path``, names a file of the private folder."""
    return reaches(readable_tree(text, path.name), path.parent, private)


def private_file() -> Diagnostic:
    """Return what is said of a text that names a private file, whether or not that is there (PPF966)."""
    return Diagnostic(
        "PPF966",
        "the text names a file that is private to the server, and is not checked further",
        help="choose an upload of yours when you run it, or name a file elsewhere",
    )


def _names_in(checked: DraftCheck) -> dict[str, list[str]]:
    """Return the names of attributes, steps, releases, params and audits, with those that templates bring."""
    tree: Mapping[str, Any] = {} if checked.loaded is None else checked.loaded.tree
    names_by_kind = {kind: _keys(tree.get(kind)) for kind in _NAMED}
    tables = tree.get("tables")
    for name, table in tables.items() if isinstance(tables, Mapping) else ():
        own = table.get("attributes") if isinstance(table, Mapping) else None
        names_by_kind["attributes"] += [f"{name}.{each}" for each in _keys(own)]
    if checked.loaded is not None:
        names_by_kind["params"] += [each.name for each in checked.loaded.params]
    return {kind: list(islice(dict.fromkeys(names), _MOST_NAMES)) for kind, names in names_by_kind.items()}


def _keys(node: object) -> list[str]:
    return [str(key) for key in node] if isinstance(node, Mapping) else []


def _about(checked: DraftCheck) -> Mapping[str, str | None]:
    """Return what a policy says of itself, without values from the environment."""
    loaded = checked.loaded
    if loaded is None or loaded.policy is None:
        return {}
    own = loaded.policy
    said = {"name": own.name, "description": own.description, "owner": own.owner}
    return dict(without(said, telling(loaded.secrets)))


def state_of(path: Path, checked: PolicyCheck) -> FileState:
    """Return the state of a text at ``path``: what nothing waives, the waivers, and the templates."""
    open_ = [each.severity for each in checked.diagnostics if each not in checked.waived]
    errors, warnings = open_.count(Severity.ERROR), open_.count(Severity.WARNING)
    templates = frozenset(islice((each for each in checked.sources if each != str(path)), _MOST_TEMPLATES))
    if checked.waivers is None:
        return FileState(errors, warnings, None, templates=templates)
    first = tuple(map(_in_short, checked.waivers[:_MOST_WAIVERS]))
    return FileState(errors, warnings, first, len(checked.waivers) - len(first), templates)


def _in_short(waiver: AcceptedWaiver) -> AcceptedWaiver:
    """Return a waiver with no more of its texts than lists of all policies show."""
    of, at, reason, owner = (
        shortened(text, _LONGEST_WORDS) for text in (waiver.of, waiver.at, waiver.reason, waiver.owner)
    )
    return replace(waiver, of=of, at=at, reason=reason, owner=owner, covers=())


def from_folder(each: Diagnostic, folder: Path) -> Diagnostic:
    """Return a diagnostic whose files are named by their path in the folder."""
    base = f"{folder}{os.sep}"

    def short(text: str) -> str:
        return text.replace(base, "")

    related = tuple(RelatedPlace(replace(r.span, file=short(r.span.file)), short(r.text)) for r in each.related)
    return replace(
        each,
        message=short(each.message),
        span=None if each.span is None else replace(each.span, file=short(each.span.file)),
        hint=None if each.hint is None else short(each.hint),
        help=None if each.help is None else short(each.help),
        notes=tuple(map(short, each.notes)),
        related=related,
    )


def _text(path: Path) -> str:
    """Return the text of an ordinary file, as far as one may go. Raises OSError."""
    with open_ordinary(path) as file:
        return file.read(SIZE_LIMIT + 1).decode(errors="replace")


def _stamp(path: Path) -> tuple[int, int]:
    try:
        about = path.stat()
    except OSError:
        return (0, 0)
    return about.st_mtime_ns, about.st_size
