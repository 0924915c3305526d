"""What the smallest common group means, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from ppdm_flow.core.phrases import counted
from ppdm_flow.requirements.cumulative_k.groups import CumulativeGroups
from ppdm_flow.sdk.history import ReleaseHistory


def sentence(k: int, joined: CumulativeGroups, colliding: Sequence[str], history: ReleaseHistory) -> str:
    """Return the sentence for the report."""
    if not history.earlier:
        return f"There is no earlier release; the smallest group of this one has {_people(joined.k)}."
    held = f"this release and {counted(len(history.earlier), 'other')}"
    if joined.k >= k:
        return (
            f"Whoever holds {held} still cannot tell anybody from fewer than {joined.k - 1:,} others;"
            f" groups of {k:,} are required."
        )
    gone = int(joined.gone[joined.gone < k].sum())
    hidden = f", {gone:,} of them because they are missing from this release" if gone else ""
    by = "; ".join(colliding) if colliding else "only all of them together"
    return (
        f"Whoever holds {held} narrows {_people(joined.below(k))} down to groups as small as"
        f" {joined.k:,} where {k:,} are required{hidden}. It collides with: {by}."
    )


def warning(k: int, joined: CumulativeGroups, history: ReleaseHistory) -> str:
    """Return what the releases of a run tell of too few people together; nothing where all groups have ``k``."""
    if joined.k >= k:
        return ""
    others = "; ".join(e.name for e in history.earlier if e.members is not None)
    return (
        f"Whoever holds this release and others of the run ({others}) narrows {_people(joined.below(k))} down to groups"
        f" as small as {joined.k:,}, below k = {k:,}. The policy does not ask for `cumulative_k`, so it withholds"
        " nothing."
    )


def _people(number: int) -> str:
    return f"{number:,} {'person' if number == 1 else 'people'}"
