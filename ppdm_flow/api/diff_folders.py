"""Two folders of policies, or two states of one: paired by path, and each pair put in order."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ppdm_flow.api.diff_policies import Document, Read, nobodys, ordered, pair, read
from ppdm_flow.api.diff_revisions import Place
from ppdm_flow.api.policies import find
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.errors import PolicyError, UsageError
from ppdm_flow.policy.order import Relation


def folders(old: Place, new: Place, sets: Mapping[str, str]) -> Document:
    """Return every pair of policies with what changed, and those that are in one folder only.

    Raises PolicyError with the faults of all new policies that are not valid; an old one that was not valid cannot be
    compared with, so that its pair is incomparable.
    """
    before, after = _policies(old), _policies(new)
    if not before and not after:
        raise UsageError(Diagnostic("PPF642", f"neither `{old.word}` nor `{new.word}` holds a policy"))
    pairs: list[Document] = []
    faults: list[Diagnostic] = []
    sources: dict[str, str] = {}
    readable: list[Read] = []
    for name in (n for n in after if n in before):
        try:
            later = read(after[name], new, sets)
            readable.append(later)
        except PolicyError as error:
            faults += [d for d in error.diagnostics if d.severity is Severity.ERROR]
            sources |= error.sources
            continue
        try:
            earlier = read(before[name], old, sets)
            readable.append(earlier)
        except PolicyError as error:
            pairs.append(_unread(old.shown(str(before[name])), later.name, error))
            continue
        pairs.append(pair(earlier, later, ordered(earlier, later)))
    if faults:
        raise PolicyError(faults, sources)
    if readable:
        nobodys(readable)
    added = [new.shown(str(path)) for name, path in after.items() if name not in before]
    removed = [old.shown(str(path)) for name, path in before.items() if name not in after]
    return {"pairs": pairs, "added": added, "removed": removed}


def _policies(where: Place) -> dict[str, Path]:
    try:
        found = find([where.path])
    except UsageError:
        return {}
    return {str(path.relative_to(where.path)): path for path in found.policies}


def _unread(old: str, new: str, error: PolicyError) -> Document:
    first = error.diagnostics[0]
    why = f"the old policy is not valid, so that nothing follows from it: {first.code}, {first.message}"
    change = {"clause": "policy", "verdict": "incomparable", "why": why, "old": None, "new": None}
    return {
        "old": old,
        "new": new,
        "relation": Relation.INCOMPARABLE.value,
        "changes": [change],
        "governance": [],
    }
