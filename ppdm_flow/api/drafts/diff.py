"""A policy compared with a text of it, or of one of its templates, that stands in no file yet."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from ppdm_flow.api.diff.diff import DiffResult, held_together
from ppdm_flow.api.diff.policies import read
from ppdm_flow.api.diff.revisions import PolicyPlace, place


def diff_drafts(
    path: Path, old: str, new: str, base: Path, *, revision: str = "", template: Path | None = None
) -> DiffResult:
    """Compare two texts of the policy at ``path``, each beside the templates and tables that are there.

    With a ``template`` they are texts of that, which the policy extends. With a ``revision`` of git the old one is what
    that has at the same path, with its own templates, and ``old`` says where that is in the repository. Files below
    ``base`` are named by their path in it.

    Raises PolicyError where one of them is not valid, UsageError for a revision that is not there.
    """
    written = template or path
    with ExitStack() as stack:
        if revision:
            before = stack.enter_context(place(f"{revision}:{old}", base))
        else:
            before = PolicyPlace(str(path), path, texts={written: old}, base=str(base))
        after = PolicyPlace(str(path), path, texts={written: new}, base=str(base))
        both = held_together(read(before.path, before, {}), read(after.path, after, {}))
        return DiffResult({"version": 1, "kind": "policies", "pairs": [both], "added": [], "removed": []})
