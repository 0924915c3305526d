"""Characters that browsers obey instead of show, in the text of a page: a line of a policy could look like another."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ppdm_flow.core.texts.visible import visible

_KEPT = re.compile(r"(<textarea\b.*?</textarea>|<[^>]*>)", re.DOTALL)
"""Tags, whose attributes forms send back as they are, and so is the text of an area to write in."""
_SLICE = 1 << 14
"""Characters that are replaced in one call: no other thread works meanwhile, and a page has up to 16 million."""


def with_all_visible(html: str) -> str:
    r"""Return a page with U+FFFD for each such character of its text: what turns the writing, and control characters.

    >>> with_all_visible('<p title="a\u202eb">a\u202eb</p>')
    '<p title="a\u202eb">a\ufffdb</p>'
    """
    pieces: list[str] = []
    for block in _blocks(html):
        if _is_visible(block):
            pieces.append(block)
            continue
        for place, piece in enumerate(_KEPT.split(block)):
            pieces += [piece] if place % 2 else map(visible, _slices(piece))
    return "".join(pieces)


def _blocks(html: str) -> Iterator[str]:
    """Yield a page in parts of about a slice, none of which ends inside of a tag or of an area to write in.

    Values are escaped in both, so that each ``<`` begins a tag.
    """
    start = 0
    while start < len(html):
        end = html.find("<", start + _SLICE)
        while end >= 0 and html.startswith("</textarea", end):
            end = html.find("<", end + 1)
        end = len(html) if end < 0 else end
        yield html[start:end]
        start = end


def _is_visible(text: str) -> bool:
    return all(visible(piece) == piece for piece in _slices(text))


def _slices(text: str) -> Iterator[str]:
    return (text[start : start + _SLICE] for start in range(0, len(text), _SLICE))
