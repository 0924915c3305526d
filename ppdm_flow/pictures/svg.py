"""SVG as text: elements whose contents are escaped, and whole pictures with their name, description and style sheet.

Colours and fonts are classes of ``css/pictures.css``. A page has that sheet once; a file carries it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from markupsafe import Markup, escape

from ppdm_flow.core.texts import visible_line

Value = str | float | None


@dataclass(frozen=True, slots=True)
class Caption:
    """What a screen reader says of a picture: its title, and what it shows. ``name`` is its id on a page."""

    title: str
    description: str = ""
    name: str = ""


def number(value: float) -> str:
    """Return a coordinate with one decimal at most."""
    return f"{round(value, 1) + 0:.10g}"


def element(tag: str, *children: str, **attributes: Value) -> Markup:
    """Return an element. ``class_`` is ``class``, underscores are hyphens; what is None or empty is left out.

    >>> element("text", "a < b", class_="tick", x=1.25, text_anchor="end")
    Markup('<text class="tick" x="1.2" text-anchor="end">a &lt; b</text>')
    """
    written = "".join(
        f' {_name(name)}="{escape(visible_line(value) if isinstance(value, str) else number(value))}"'
        for name, value in attributes.items()
        if value not in (None, "")
    )
    inside = "".join(child if isinstance(child, Markup) else escape(visible_line(child)) for child in children)
    return Markup(f"<{tag}{written}>{inside}</{tag}>" if children else f"<{tag}{written}/>")  # noqa: S704  # all parts are escaped


def _name(name: str) -> str:
    return name.rstrip("_") if name == "viewBox" else name.rstrip("_").replace("_", "-")


def tipped(tag: str, tip: str, *children: str, **attributes: Value) -> Markup:
    """Return a mark; ``tip`` is what a pointer over it says."""
    return element(tag, *([element("title", tip)] if tip else []), *children, **attributes)


def linked(part: Markup, address: str, label: str = "") -> Markup:
    """Return a part as a link where there is an address, else as it is.

    Raises ValueError for an address that is not of the server that shows the picture.
    """
    if not address:
        return part
    if address[0] not in "/?#" or address.startswith(("//", "/\\")):
        raise ValueError("a link of a drawing leads to an address of this server")
    return element("a", part, href=address, aria_label=label)


def file(parts: Iterable[str], width: float, height: float, caption: Caption, kind: str, style: str = "") -> str:
    """Return a whole picture as a file that needs nothing else, for light and dark."""
    ground = element("rect", class_="ground", width=width, height=height)
    every = (element("title", caption.title), ground, *parts)
    return f"{picture(every, width, height, caption, kind, style=sheet() + style, alone=True)}\n"


def picture(
    parts: Iterable[str],
    width: float,
    height: float,
    caption: Caption,
    kind: str,
    *,
    links: bool = False,
    style: str = "",
    alone: bool = False,
) -> Markup:
    """Return a whole picture. With ``links`` its parts are reached one by one; without, it is one image.

    ``style`` are rules of its own, which the pages of a server do not allow. ``alone``: it is no part of a page.
    """
    described = f"{caption.name}-desc" if caption.name and caption.description else ""
    return element(
        "svg",
        *([element("desc", caption.description, id=described)] if caption.description else []),
        *([element("style", Markup(style))] if style else []),  # noqa: S704  # our own sheet, and numbers
        *parts,
        xmlns="http://www.w3.org/2000/svg" if alone else None,
        id=caption.name,
        class_=f"picture {kind}",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=width,
        height=height,
        role="group" if links else "img",
        aria_label=caption.title,
        aria_describedby=described,
    )


@cache
def sheet() -> str:
    """Return the style sheet of all pictures."""
    return (files("ppdm_flow.pictures") / "css" / "pictures.css").read_text(encoding="utf-8")
