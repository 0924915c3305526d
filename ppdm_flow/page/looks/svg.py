"""SVG elements as text: everything that is put in is escaped, and nothing is inline style or script."""

from __future__ import annotations

from markupsafe import Markup, escape

from ppdm_flow.core.graph_drawing import number
from ppdm_flow.core.texts.visible import visible_line

Value = str | float | None


def element(tag: str, *children: str, **attributes: Value) -> Markup:
    """Return an element. ``class_`` is ``class``, underscores are hyphens; an attribute that is None is left out.

    >>> element("text", "a < b", class_="tick", x=1.25, text_anchor="end")
    Markup('<text class="tick" x="1.2" text-anchor="end">a &lt; b</text>')
    """
    written = (f' {_name(name)}="{escape(_written(value))}"' for name, value in attributes.items() if value is not None)
    return Markup(f"<{tag}{''.join(written)}>{''.join(map(_inside, children))}</{tag}>")  # noqa: S704  # all parts are escaped


def picture(
    name: str, width: float, height: float, title: str, description: str, *parts: Markup, kind: str, links: bool
) -> Markup:
    """Return a whole picture that a screen reader names and describes; ``name`` is its own on the page it stands on.

    With ``links`` its parts are reached one by one; without, it is one image.
    """
    told = (element("title", title, id=f"{name}-title"), element("desc", description, id=f"{name}-desc"))
    return element(
        "svg",
        *told,
        *parts,
        id=name,
        class_=f"picture {kind}",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=width,
        height=height,
        role="group" if links else "img",
        aria_labelledby=f"{name}-title",
        aria_describedby=f"{name}-desc",
    )


def linked(part: Markup, address: str, label: str = "") -> Markup:
    """Return a part as a link where there is an address, else as it is.

    Raises ValueError for an address that is not of this server.
    """
    if not address:
        return part
    if address[0] not in "/?#" or address.startswith(("//", "/\\")):
        raise ValueError("a link of a drawing leads to an address of this server")
    return element("a", part, href=address, aria_label=label or None)


def _name(name: str) -> str:
    return name.rstrip("_") if name == "viewBox" else name.rstrip("_").replace("_", "-")


def _written(value: str | float) -> str:
    return visible_line(value) if isinstance(value, str) else number(value)


def _inside(child: str) -> Markup:
    return child if isinstance(child, Markup) else escape(visible_line(child))
