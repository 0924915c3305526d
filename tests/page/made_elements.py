"""What a browser would make of a page, and whether a hostile string had a hand in it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from ppdm_flow.core.texts import visible

_ADDRESSES = frozenset(
    {"href", "src", "action", "formaction", "hx-get", "hx-post", "data-check", "data-form", "data-words"}
)
_NAME = re.compile(r"[a-z][a-z0-9:-]*\Z", re.IGNORECASE)


class Made(HTMLParser):
    """Collects what should not be there. ``framed``: a document for a sandbox, which has styles of its own."""

    def __init__(self, *, framed: bool) -> None:
        super().__init__(convert_charrefs=True)
        self.faults: list[str] = []
        self._framed, self._open = framed, list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open.append(tag)
        self._expect("zq" not in tag, f"element {tag}")
        names = [name for name, _ in attrs]
        self._expect(len(set(names)) == len(names), f"an attribute of {tag} twice")
        for name, value in attrs:
            self._expect("zq" not in name and _NAME.match(name) is not None, f"attribute {name}")
            self._expect(not name.startswith("on"), f"attribute {name}")
            self._expect(name != "style" or self._framed, "a style")
            if name in _ADDRESSES:
                own = value is not None and (value == "" or value[0] in "/#?") and not value.startswith(("//", "/\\"))
                self._expect(own or (self._framed and (value or "").startswith("#")), f"address {value!r}")
        if tag == "script" and not self._framed:
            self._expect((dict(attrs).get("src") or "").startswith("/static/"), "a script of its own")
        self._expect(
            tag not in ("style", "base", "object", "embed", "meta http-equiv") or self._framed, f"element {tag}"
        )

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else ""
        self._expect(inside != "script" or self._framed or not data.strip(), "words in a script")
        self._expect(inside not in ("script", "style") or "zq" not in data, "hostile words in a script or a style")
        self._expect(
            inside == "textarea" or visible(data) == data, f"a character that turns or controls: {ascii(data)[:80]}"
        )

    def handle_comment(self, data: str) -> None:
        self._expect("zq" not in data, "a comment")

    def handle_decl(self, decl: str) -> None:
        self._expect(decl.lower() == "doctype html", f"a declaration {decl}")

    def unknown_decl(self, data: str) -> None:
        self._expect(False, f"a declaration {data}")  # none is expected

    def handle_pi(self, data: str) -> None:
        self._expect(False, f"an instruction {data}")  # none is expected

    def _expect(self, true: bool, what: str) -> None:  # what is expected comes first
        if not true:
            self.faults.append(what)


def faults(html: str, *, framed: bool = False) -> list[str]:
    """Return what hostile strings made of a page."""
    made = Made(framed=framed)
    made.feed(html)
    made.close()
    return made.faults + (["a template was carried out"] if "49zq" in html else [])
