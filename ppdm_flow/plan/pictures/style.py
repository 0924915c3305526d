"""Colours and fonts of the picture."""

from __future__ import annotations

from collections.abc import Mapping

LIGHT: Mapping[str, str] = {
    "ink": "#1b1f23",
    "soft": "#5b636b",
    "card": "#ffffff",
    "sunk": "#f2f2ef",
    "strong": "#b9bdb9",
    "line": "#e2e3df",
    "ok": "#146b3f",
    "c0": "#97a0a9",
    "c1": "#2f6cc6",
    "c4": "#8456b0",
}
DARK: Mapping[str, str] = {
    "ink": "#e9ebed",
    "soft": "#a4adb6",
    "card": "#1c2024",
    "sunk": "#22272c",
    "strong": "#4a535c",
    "line": "#30363d",
    "ok": "#6fd39b",
    "c0": "#77828d",
    "c1": "#6ea4f4",
    "c4": "#b48bdb",
}

_RULES = """
.ppdm-plan text{fill:var(--plan-ink);
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Liberation Sans",Arial,sans-serif}
.ppdm-plan .pp-title{font-weight:650}
.ppdm-plan .pp-mono{fill:var(--plan-soft);
font-family:ui-monospace,"SF Mono",Menlo,Consolas,"Liberation Mono",monospace}
.ppdm-plan .pp-soft,.ppdm-plan .pp-label{fill:var(--plan-soft)}
.ppdm-plan .pp-label{letter-spacing:.04em}
.ppdm-plan .pp-body{fill:var(--plan-card);stroke:var(--plan-strong);stroke-width:1}
.ppdm-plan .pp-source .pp-body{fill:var(--plan-sunk)}
.ppdm-plan .pp-source .pp-mark{fill:var(--plan-c0)}
.ppdm-plan .pp-step .pp-mark{fill:var(--plan-c1)}
.ppdm-plan .pp-random .pp-mark{fill:var(--plan-c4)}
.ppdm-plan .pp-release .pp-mark{fill:var(--plan-ok)}
.ppdm-plan .pp-release .pp-body{stroke:var(--plan-ok)}
.ppdm-plan .pp-serves{fill:var(--plan-c1)}
.ppdm-plan .pp-random .pp-serves{fill:var(--plan-c4)}
.ppdm-plan .pp-edge{fill:none;stroke:var(--plan-soft);stroke-width:1.4}
.ppdm-plan .pp-tip{fill:var(--plan-soft)}
.ppdm-plan .pp-rule{fill:none;stroke:var(--plan-line)}
.ppdm-plan .pp-ring{fill:none;stroke:var(--plan-ok);stroke-width:1.7}
"""


def _variables(colours: Mapping[str, str]) -> str:
    return ";".join(f"--plan-{name}:var(--{name},{colour})" for name, colour in colours.items())


SMALLEST = 0.78
"""The scale below which a page lets one scroll rather than shrink: text would be too small to read."""


def style(width: float) -> str:
    """Return the style sheet of a picture of that width."""
    least = f"@media screen{{svg.ppdm-plan.ppdm-plan{{min-width:{width * SMALLEST:.0f}px}}}}"
    return f"{_COLOURS}{least}{_RULES}"


_COLOURS = (
    f"\n.ppdm-plan{{{_variables(LIGHT)}}}\n@media (prefers-color-scheme:dark){{.ppdm-plan{{{_variables(DARK)}}}}}\n"
)
