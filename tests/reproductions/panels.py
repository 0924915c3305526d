"""Line charts side by side as one SVG file, without any library."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

WIDE, TALL = 360, 260
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 34, 44
COLOURS = ("#0b62a4", "#c2410c", "#4d7c0f", "#7e22ce", "#6b7280", "#be185d", "#0d9488", "#a16207", "#1e3a8a", "#dc2626")
COLOURS += ("#65a30d", "#111827", "#0891b2")


@dataclass(frozen=True)
class Panel:
    """``lines`` maps a name to its points; ``dots`` those that are shown without a line (a paper's figures).

    ``x_names`` are written along the axis in place of numbers. ``bars`` stand side by side at each x, from zero.
    """

    title: str
    x_label: str
    y_label: str
    lines: dict[str, list[tuple[float, float]]]
    dots: dict[str, list[tuple[float, float]]]
    x_names: dict[float, str] = field(default_factory=dict)
    bars: dict[str, list[tuple[float, float]]] = field(default_factory=dict)


def svg(panels: list[Panel], across: int = 2) -> str:
    """Return the drawing, ``across`` panels in a row."""
    names = list(dict.fromkeys(name for p in panels for name in (p.lines or p.bars or p.dots)))
    colour = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}
    down = -(-len(panels) // across)
    wide, tall = across * WIDE, down * TALL + 14 + 16 * -(-len(names) // 4)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" font-family="sans-serif" font-size="11">',
        f'<rect width="{wide}" height="{tall}" fill="white"/>',
    ]
    for i, panel in enumerate(panels):
        out.append(f'<g transform="translate({i % across * WIDE},{i // across * TALL})">{_panel(panel, colour)}</g>')
    for i, name in enumerate(names):
        x, y = 20 + i % 4 * 170, down * TALL + 18 + 16 * (i // 4)
        out.append(f'<rect x="{x}" y="{y - 8}" width="14" height="4" fill="{colour[name]}"/>')
        out.append(f'<text x="{x + 19}" y="{y - 2}">{escape(name)}</text>')
    return "\n".join([*out, "</svg>\n"])


def _panel(panel: Panel, colour: dict[str, str]) -> str:
    points = [p for line in (*panel.lines.values(), *panel.dots.values(), *panel.bars.values()) for p in line]
    xs, ys = sorted({x for x, _ in points}), [y for _, y in points] + [0.0] * bool(panel.bars)
    low, high = min(ys), max(ys)
    spare = 0.08 * (high - low) or 0.05
    low, high = low - spare, min(high + spare, max(1.0, high))

    def place(x: float, y: float) -> tuple[float, float]:
        margin = 0.5 * bool(panel.bars)
        across = (x - xs[0] + margin) / ((xs[-1] - xs[0] + 2 * margin) or 1.0)
        up = (y - low) / (high - low)
        return LEFT + across * (WIDE - LEFT - RIGHT), TALL - BOTTOM - up * (TALL - TOP - BOTTOM)

    out = [f'<text x="{LEFT}" y="20" font-weight="bold">{escape(panel.title)}</text>']
    for i in range(5):
        value = low + i * (high - low) / 4
        _, y = place(xs[0], value)
        out.append(f'<line x1="{LEFT}" x2="{WIDE - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e5e7eb"/>')
        out.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:.3f}</text>')
    for x in xs if panel.x_names or len(xs) <= 12 else [xs[0] + i * (xs[-1] - xs[0]) / 5 for i in range(6)]:
        at, _ = place(x, low)
        text = escape(panel.x_names.get(x, f"{x:.3g}"))
        turned = f' transform="rotate(-25 {at:.1f} {TALL - BOTTOM + 14})"' if panel.x_names else ""
        anchor = "end" if panel.x_names else "middle"
        out.append(f'<text x="{at:.1f}" y="{TALL - BOTTOM + 14}" text-anchor="{anchor}"{turned}>{text}</text>')
    out.append(f'<text x="{WIDE / 2}" y="{TALL - 12}" text-anchor="middle">{escape(panel.x_label)}</text>')
    out += _bars(panel, colour, place)
    for name, line in panel.lines.items():
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*p) for p in line))
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour[name]}" stroke-width="2"/>')
    for name, dots in panel.dots.items():
        for x, y in (place(*p) for p in dots):
            out.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="none" stroke="{colour.get(name, "black")}">'
                f"<title>{escape(name)}{', paper' if panel.lines else ''}</title></circle>"
            )
    return "".join(out)


def _bars(panel: Panel, colour: dict[str, str], place: Callable[[float, float], tuple[float, float]]) -> Iterator[str]:
    """Yield a rectangle for each bar; those of one x take four fifths of the way to the next."""
    if panel.bars:
        (left, zero), (right, _) = place(min(panel.x_names) - 0.5, 0.0), place(max(panel.x_names) + 0.5, 0.0)
        yield f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{zero:.1f}" y2="{zero:.1f}" stroke="#374151"/>'
    for i, (name, bars) in enumerate(panel.bars.items()):
        for x, value in bars:
            left, top = place(x - 0.4 + 0.8 * i / len(panel.bars), max(value, 0.0))
            right, bottom = place(x - 0.4 + 0.8 * (i + 1) / len(panel.bars), min(value, 0.0))
            title = f"<title>{escape(name)} {value:.4f}</title>"
            size = f'width="{right - left:.1f}" height="{max(bottom - top, 0.5):.1f}"'
            yield f'<rect x="{left:.1f}" y="{top:.1f}" {size} fill="{colour[name]}">{title}</rect>'
