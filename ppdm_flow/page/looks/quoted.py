"""Sentences in which words stand in backticks, as diagnostics write them: those words are shown as code."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

_QUOTED = re.compile("`([^`]+)`")


def quoted(text: str) -> Markup:
    """Return a sentence with its quoted words as code; everything is escaped.

    >>> quoted("unknown key `a<b`")
    Markup('unknown key <code>a&lt;b</code>')
    """
    return Markup(_QUOTED.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704  # escaped before
