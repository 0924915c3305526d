"""Pieces of YAML for policies that people go on with: texts, values in one line, comments."""

from __future__ import annotations

from typing import Any

from ppdm_flow.policy.text.quoting import plain_or_quoted
from ppdm_flow.report.snippet import printable

_WIDTH = 110


def scalar(text: str) -> str:
    """Return a text as YAML: plain where it can only be itself, else quoted, with all escapes; no param is meant."""
    return plain_or_quoted(text.replace("${", "$${"))


def comment(text: str, indent: str = "") -> list[str]:
    """Return a text as lines of comment: nothing in it can end one."""
    lines, line = [], f"{indent}#"
    for word in printable(" ".join(text.split())).split(" "):
        if len(line) + len(word) >= _WIDTH and line.strip() != "#":
            lines.append(line)
            line = f"{indent}#"
        line += f" {word}"
    return [*lines, line]


def flow(value: Any) -> str:
    """Return a value as YAML in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(str(k))}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(flow(v) for v in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"{value:.12g}"
    return str(value) if value == "0.5" else scalar(str(value))
