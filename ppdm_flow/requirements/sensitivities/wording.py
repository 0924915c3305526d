"""What places of sensitivities are called."""

from __future__ import annotations

from ppdm_flow.policy.language.words import short


def place_name(rest: tuple[str, ...]) -> str:
    """Name a place below `sensitivities` as a reader would; the first part is the attribute."""
    if len(rest) == 1:
        return f"the sensitivities of `{short(rest[0])}`"
    if len(rest) == 3 and rest[1] == "groups":
        return f"group `{short(rest[2])}`"
    if len(rest) == 3:
        return f"the bound of `{short(rest[2])}`"
    if len(rest) == 4 and rest[1] == "values" and rest[3].isdecimal():
        return f"bound {int(rest[3]) + 1} of `{short(rest[2])}`"
    return f"`{rest[1]}` of the sensitivities of `{short(rest[0])}`"
