"""Characters that browsers obey instead of show, in the text of a page: a line of a policy could look like another."""

from __future__ import annotations

import re

from ppdm_flow.core.texts.visible import visible

_KEPT = re.compile(r"(<textarea\b.*?</textarea>|<[^>]*>)", re.DOTALL)
"""Tags, whose attributes forms send back as they are, and so is the text of an area to write in."""


def with_all_visible(html: str) -> str:
    r"""Return a page with U+FFFD for each such character of its text: what turns the writing, and control characters.

    >>> with_all_visible('<p title="a\u202eb">a\u202eb</p>')
    '<p title="a\u202eb">a\ufffdb</p>'
    """
    if visible(html) == html:
        return html
    pieces = _KEPT.split(html)
    return "".join(piece if place % 2 else visible(piece) for place, piece in enumerate(pieces))
