"""Colours and fonts of the picture.

On a page that has variables of these names (``--ink``, ``--card``, …) the picture takes that page's; alone it has its
own, for light and for dark.
"""

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
.ppdm-plan .title{font-weight:650}
.ppdm-plan .mono{fill:var(--plan-soft);
font-family:ui-monospace,"SF Mono",Menlo,Consolas,"Liberation Mono",monospace}
.ppdm-plan .soft,.ppdm-plan .label{fill:var(--plan-soft)}
.ppdm-plan .label{letter-spacing:.04em}
.ppdm-plan .body{fill:var(--plan-card);stroke:var(--plan-strong);stroke-width:1}
.ppdm-plan .source .body{fill:var(--plan-sunk)}
.ppdm-plan .implicit .body{fill:var(--plan-card);stroke-dasharray:4 3}
.ppdm-plan .source .mark{fill:var(--plan-c0)}
.ppdm-plan .step .mark{fill:var(--plan-c1)}
.ppdm-plan .random .mark{fill:var(--plan-c4)}
.ppdm-plan .release .mark{fill:var(--plan-ok)}
.ppdm-plan .release .body{stroke:var(--plan-ok)}
.ppdm-plan .serves{fill:var(--plan-c1)}
.ppdm-plan .random .serves{fill:var(--plan-c4)}
.ppdm-plan .edge{fill:none;stroke:var(--plan-soft);stroke-width:1.4}
.ppdm-plan .tip{fill:var(--plan-soft)}
.ppdm-plan .rule{fill:none;stroke:var(--plan-line)}
.ppdm-plan .ring{fill:none;stroke:var(--plan-ok);stroke-width:1.7}
"""


def _variables(colours: Mapping[str, str]) -> str:
    return ";".join(f"--plan-{name}:var(--{name},{colour})" for name, colour in colours.items())


STYLE = (
    f"\n.ppdm-plan{{{_variables(LIGHT)}}}\n"
    f"@media (prefers-color-scheme:dark){{.ppdm-plan{{{_variables(DARK)}}}}}{_RULES}"
)
