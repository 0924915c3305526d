"""``${params.name}``: how a policy refers to its parameters."""

from __future__ import annotations

import re

PLACEHOLDER = re.compile(r"\$\{([^{}\n\r]*)\}")
"""One reference; group 1 is what stands between the braces."""


def shield(text: str) -> tuple[str, dict[int, int]]:
    """Let ``${params.x}`` stand unquoted within ``{…}`` and ``[…]``: its braces become characters that mean nothing.

    Lengths stay the same, so places do; the second value turns them back.
    """
    if "${" not in text:
        return text, {}
    spare = [c for c in map(chr, range(0xE000, 0xE010)) if c not in text]
    if len(spare) < 2:
        return text, {}
    left, right = spare[:2]
    return PLACEHOLDER.sub(lambda m: f"${left}{m[1]}{right}", text), {ord(left): ord("{"), ord(right): ord("}")}
