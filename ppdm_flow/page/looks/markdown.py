"""Pages written in Markdown as HTML: what they say can be no markup, and terms with a page of their own are links."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any
from urllib.parse import quote

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

_CODE = re.compile(r"PPF\d{3}\Z")
_DEEPEST = 6


def html_of(
    text: str, has_page: Callable[[str], bool] = lambda term: _CODE.match(term) is not None, *, below: int = 0
) -> Markup:
    """Return Markdown as HTML. The first heading is left out, for it is the page's own: see `title_of`.

    Words in backticks that ``has_page`` knows become links to their page. ``below``: headings are so many levels lower.
    """
    tokens = _parser().parse(text)
    if tokens and tokens[0].type == "heading_open":
        tokens = tokens[3:]
    _levelled(tokens, below)
    return Markup(_parser().renderer.render(tokens, _parser().options, {"has_page": has_page}))  # noqa: S704  # escaped


def title_of(text: str) -> str:
    """Return the first heading of a text; empty where it does not begin with one."""
    first, _, _ = text.partition("\n")
    return first.removeprefix("# ").replace("`", "") if first.startswith("# ") else ""


def _levelled(tokens: Sequence[Token], below: int) -> None:
    """Put headings lower; those of a second page that follows in the same text by one level more."""
    deeper = False
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            level = int(token.tag[1])
            deeper = deeper or level == 1
            token.tag = f"h{min(level + deeper + below, _DEEPEST)}"


@cache
def _parser() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False}).enable("table")
    made.add_render_rule("code_inline", _code)
    made.add_render_rule("table_open", lambda *_: '<div class="scroll" tabindex="0"><table>')
    made.add_render_rule("table_close", lambda *_: "</table></div>")
    made.add_render_rule("th_open", lambda *_: '<th scope="col">')
    made.add_render_rule("td_open", lambda *_: "<td>")
    for kind in ("fence", "code_block"):
        made.add_render_rule(kind, _block)
    made.add_render_rule("image", lambda *_: "")
    return made


def _block(_renderer: Any, tokens: Sequence[Token], place: int, _options: Any, _env: Any) -> str:
    return f'<pre tabindex="0"><code>{escape(tokens[place].content)}</code></pre>\n'


def _code(_renderer: Any, tokens: Sequence[Token], place: int, _options: Any, env: Any) -> str:
    content = tokens[place].content
    shown = f"<code>{escape(content)}</code>"
    known = env.get("has_page")
    return f'<a href="/explain/{quote(content)}">{shown}</a>' if known is not None and known(content) else shown
