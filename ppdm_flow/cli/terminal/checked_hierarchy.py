"""What was found of a hierarchy that was held against data, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # numpy stands behind it, and every verb starts with this module
    from ppdm_flow.mining.hierarchies.building import Checked


def text(found: Checked) -> str:
    """Return a line for each thing that was looked at: counts only, no value."""
    sizes = ", ".join(f"{n:,}" for n in found.labels)
    lines = [
        f"{found.leaves:,} values in {len(found.labels)} levels; labels on them: {sizes}",
        _judged(
            not found.absent,
            f"{found.values - found.absent:,} of the data's {found.values:,} values stand in it"
            f" ({found.rows - found.absent_rows:,} of {found.rows:,} rows)",
        ),
        _judged(not found.split, _coarsening(found)),
        _judged(not found.lies, f"{found.lies:,} labels are spelled like a value that has another label"),
    ]
    if found.unused:
        lines.append(f"    {found.unused:,} of its values do not occur in the data")
    return "\n".join(lines)


def _coarsening(found: Checked) -> str:
    if not found.split:
        return "every level puts together what the one below has"
    listed = ", ".join(map(str, found.split))
    return f"level {listed} puts values apart that the level below puts together"


def _judged(good: bool, text: str) -> str:
    return f"{'ok ' if good else 'NO '} {text}"
