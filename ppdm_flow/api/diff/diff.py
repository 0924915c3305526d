"""What changed between two policies, two folders of policies, or two runs: clause by clause, and by a proof."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.api.buckets import local_data
from ppdm_flow.api.diff.params import with_params
from ppdm_flow.api.diff.policies import LoadedPolicy, compared, pair, read, reject_unknown_params
from ppdm_flow.api.diff.revisions import PolicyPlace, place
from ppdm_flow.api.loading.policies import expanded, is_policy, is_test
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.errors import PolicyError, UsageError
from ppdm_flow.policy.order import PolicyRelation
from ppdm_flow.report.diff.fields import ClauseChange, DiffDocument, Difference, PolicyPair, unproved

_LAX = frozenset({"weaker", "incomparable"})
Acceptance = Callable[[LoadedPolicy], bool]
"""Returns whether a policy that only the new folder has counts as no weaker than the policies that were there."""


@dataclass(frozen=True, slots=True, repr=False)
class DiffResult:
    """The comparison as a document: what all its forms are made from."""

    document: DiffDocument

    def __repr__(self) -> str:
        """Return whether something is weaker, in one line."""
        return f"<diff: {'weaker, or not comparable' if self.weaker else 'nothing is weaker'}>"

    @property
    def weaker(self) -> bool:
        """Whether some new policy, a floor that binds it or a value of a param is not proved to be as strict as before.

        So is a policy that was added, unless it was accepted.
        """
        return bool(unproved(self.document)) or any(
            each["relation"] in _LAX or _lowered(each) for each in self.document["pairs"]
        )

    def difference(self, *, color: bool = False) -> Difference:
        """Return what every form is made from."""
        return Difference(self.document, color=color)


def diff(
    old: str,
    new: str,
    sets: Mapping[str, str] = {},
    data: Path | None = None,
    accepts: Acceptance | None = None,
) -> DiffResult:
    """Compare ``old`` with ``new``: files, folders, ``REVISION:PATH``, or the directories of two runs.

    With ``data``, both policies are measured on it, and nothing is released. ``accepts`` returns, for each policy that
    only the new folder has, whether it counts as no weaker; without it none does. Raises UsageError, PolicyError,
    DataError.
    """
    with ExitStack() as stack:
        before, after = (stack.enter_context(place(word)) for word in (old, new))
        kind = _kind(before, after)
        if data is not None and kind != "policy":
            raise UsageError(Diagnostic("PPF642", "`--data` measures two policies, not folders or runs"))
        return DiffResult(_compared(kind, before, after, sets, data, accepts))


def _lowered(pair: PolicyPair) -> bool:
    """Whether a floor or a param lets those who extend or run the policy go lower: no release does yet, one may."""
    return any(c["verdict"] in _LAX for c in pair["governance"])


def _compared(
    kind: str,
    old: PolicyPlace,
    new: PolicyPlace,
    sets: Mapping[str, str],
    data: Path | None,
    accepts: Acceptance | None,
) -> DiffDocument:
    if kind == "run":
        from ppdm_flow.api.diff.runs import runs  # noqa: PLC0415  # policies are compared without what reads runs

        return runs(old, new)
    if kind == "folder":
        return folders(old, new, sets, accepts)
    before, after = read(old.path, old, sets), read(new.path, new, sets)
    reject_unknown_params((before, after))
    both = held_together(before, after, sets)
    if data is not None:
        from ppdm_flow.api.diff.measured import measured  # noqa: PLC0415  # only `--data` needs the engine

        with local_data(data) as there:
            both["measured"] = measured(before, after, sets, there or data)
    return {"version": 1, "kind": "policies", "pairs": [both], "added": [], "removed": []}


def held_together(old: LoadedPolicy, new: LoadedPolicy, sets: Mapping[str, str] = {}) -> PolicyPair:
    """Return two policies with the changes between them, and with those that their params allow a user to make."""
    return pair(old, new, with_params(compared(old, new), old, new, sets))


def _kind(old: PolicyPlace, new: PolicyPlace) -> str:
    kinds = [_of(where) for where in (old, new)]
    if kinds[0] != kinds[1]:
        text = f"`{old.word}` is a {kinds[0]} and `{new.word}` a {kinds[1]}: those cannot be compared"
        raise UsageError(Diagnostic("PPF642", text, help="give two policies, two folders of them, or two runs"))
    return kinds[0]


def _of(where: PolicyPlace) -> str:
    if not where.path.is_dir():
        return "policy"
    return "run" if (where.path / "report.json").exists() else "folder"


# Two folders of policies, or two states of one: paired by path, and each pair put in order.


def folders(old: PolicyPlace, new: PolicyPlace, sets: Mapping[str, str], accepts: Acceptance | None) -> DiffDocument:
    """Return every pair of policies with what changed, and those that are in one folder only.

    Policies are paired by path, those that moved by their name. Raises PolicyError with the faults of all new policies
    that are not valid; an old one that was not valid cannot be compared with, so that its pair is incomparable.
    """
    before, after = _policies(old, sets), _policies(new, sets)
    if not before and not after:
        raise UsageError(Diagnostic("PPF642", f"neither `{old.word}` nor `{new.word}` holds a policy"))
    reading = _FolderPair(old, new, sets)
    later = reading.later(after)
    earlier = {name: reading.earlier(path) for name, path in before.items()}
    moved = _moved(earlier, later)
    pairs = [
        reading.pair(before[moved[name]], earlier[moved[name]], now) for name, now in later.items() if name in moved
    ]
    reject_unknown_params(each for each in (*later.values(), *earlier.values()) if isinstance(each, LoadedPolicy))
    added = [now for name, now in later.items() if name not in moved]
    return {
        "version": 1,
        "kind": "policies",
        "pairs": pairs,
        "added": [each.name for each in added],
        "accepted": [each.name for each in added if _bound(each) or (accepts is not None and accepts(each))],
        "removed": [old.shown(str(path)) for name, path in before.items() if name not in moved.values()],
    }


def _bound(policy: LoadedPolicy) -> bool:
    """Whether a project file requires templates of the policy: as it is valid, it extends them."""
    project = policy.loaded.project
    return project is not None and bool(project.required)


Earlier = LoadedPolicy | PolicyError
"""An old policy, or why it is none."""


@dataclass(frozen=True, slots=True)
class _FolderPair:
    """Two folders, and the params that all of their policies are read with."""

    old: PolicyPlace
    new: PolicyPlace
    sets: Mapping[str, str]

    def later(self, paths: Mapping[str, Path]) -> dict[str, LoadedPolicy]:
        """Return the new policies. Raises PolicyError with the faults of all that are not valid."""
        policies: dict[str, LoadedPolicy] = {}
        faults: list[Diagnostic] = []
        sources: dict[str, str] = {}
        for name, path in paths.items():
            try:
                policies[name] = read(path, self.new, self.sets)
            except PolicyError as error:
                faults += [d for d in error.diagnostics if d.severity is Severity.ERROR]
                sources |= error.sources
        if faults:
            raise PolicyError(faults, sources)
        return policies

    def earlier(self, path: Path) -> Earlier:
        """Return an old policy, or why it cannot be compared with."""
        try:
            return read(path, self.old, self.sets)
        except PolicyError as error:
            return error

    def pair(self, path: Path, earlier: Earlier, later: LoadedPolicy) -> PolicyPair:
        """Return what changed between two policies."""
        if isinstance(earlier, PolicyError):
            return _unread(self.old.shown(str(path)), later.name, earlier)
        order = with_params(compared(earlier, later), earlier, later, self.sets)
        return pair(earlier, later, order)


def _moved(before: Mapping[str, Earlier], after: Mapping[str, LoadedPolicy]) -> dict[str, str]:
    """Return the old path of each new policy: its own, else that of the one policy of its name that is gone."""
    old_names = {name: name for name in after if name in before}
    gone = [name for name in before if name not in after]
    come = [name for name in after if name not in before]
    for name in come:
        alike = [n for n in gone if _called(before[n]) == _called(after[name])]
        others = [n for n in come if _called(after[n]) == _called(after[name])]
        if len(alike) == len(others) == 1:
            old_names[name] = alike[0]
    return old_names


def _called(earlier: Earlier) -> str | None:
    """Return what a policy calls itself."""
    if isinstance(earlier, PolicyError) or earlier.loaded.policy is None:
        return None
    return earlier.loaded.policy.name


def _policies(where: PolicyPlace, sets: Mapping[str, str]) -> dict[str, Path]:
    """Return the policies of a folder by path: also what does not look like one, and could be run all the same."""
    files = [path for path, _ in expanded(str(where.path))]
    candidates = (p for p in files if (is_policy(p) and not is_test(p)) or _runs(p, where, sets))
    return {str(path.relative_to(where.path)): path for path in candidates}


def _runs(path: Path, where: PolicyPlace, sets: Mapping[str, str]) -> bool:
    try:
        read(path, where, sets)
    except (PolicyError, UsageError):
        return False
    return True


def _unread(old: str, new: str, error: PolicyError) -> PolicyPair:
    first = error.diagnostics[0]
    why = f"the old policy is not valid, so that nothing follows from it: {first.code}, {first.message}"
    change: ClauseChange = {"clause": "policy", "verdict": "incomparable", "why": why, "old": None, "new": None}
    return {
        "old": old,
        "new": new,
        "relation": PolicyRelation.INCOMPARABLE.value,
        "changes": [change],
        "governance": [],
    }
