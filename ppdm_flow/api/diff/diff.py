"""What changed between two policies, two folders of policies, or two runs: clause by clause, and by a proof."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from ppdm_flow.api.buckets import local_data
from ppdm_flow.api.diff.columns import compared
from ppdm_flow.api.diff.folders import Acceptance, folders
from ppdm_flow.api.diff.params import with_params
from ppdm_flow.api.diff.policies import LoadedPolicy, pair, read, reject_unknown_params
from ppdm_flow.api.diff.revisions import PolicyPlace, place
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.report.diff.fields import DiffDocument, Difference, PolicyPair, unproved

_LAX = frozenset({"weaker", "incomparable"})


@dataclass(frozen=True, slots=True)
class DiffResult:
    """The comparison as a document: what all its forms are made from."""

    document: DiffDocument

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

    With ``data``, both policies are measured on it, and nothing is released. ``accepts`` tells of each policy that only
    the new folder has whether it counts as no weaker; without it none does. Raises UsageError, PolicyError, DataError.
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
    """Return two policies with what changed between them, and what params let whoever runs them do."""
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
