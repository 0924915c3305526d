"""Sentences of reports and advice as HTML: what stands between backticks is code."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

_TICKED = re.compile(r"`([^`\n]+)`")


def prose(text: str) -> Markup:
    """Escape a sentence, and set what stands between backticks as code.

    >>> prose("drop `a<b`")
    Markup('drop <code>a&lt;b</code>')
    """
    return Markup(_TICKED.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704  # escaped just before
