"""The source's own list of columns against the attributes."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.suggest import closest
from ppdm_flow.policy.language.patterns import is_pattern, matches
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.rules.repeats import repeats
from ppdm_flow.policy.rules.scene import Scene

_SETS = ("transactions", "baskets", "long")


def judge(scene: Scene) -> Iterator[Diagnostic]:
    """Judge ``source:``."""
    source = scene.policy.source
    yield from repeats(scene, source.missing, ("source", "missing"), "`missing`")
    if source.columns is None:
        return
    if source.format in _SETS:
        message = f"a file in `format: {source.format}` has one column, and the attribute with `role: items` names it"
        yield scene.fault("PPF536", message, ("source", "columns"), hint="leave `columns` out")
        return
    yield from repeats(scene, source.columns, ("source", "columns"), "`columns`", warning=False)
    if not scene.lacks("attributes"):
        yield from _undeclared(scene, source.columns)
    yield from _absent(scene, source.columns)


def _undeclared(scene: Scene, columns: tuple[str, ...]) -> Iterator[Diagnostic]:
    if scene.policy.undeclared != "error":
        return
    for i, name in enumerate(columns):
        if scene.declared.key(name) is None:
            near = closest(name, [a for a in scene.policy.attributes if a not in columns])
            hint = f"did you mean `{short(near)}`?" if near else "declare it, or say `undeclared: drop`"
            message = f"the column `{short(name)}` is not declared under `attributes:`"
            yield scene.fault("PPF524", message, ("source", "columns", str(i)), hint=hint)


def _absent(scene: Scene, columns: tuple[str, ...]) -> Iterator[Diagnostic]:
    for name in scene.policy.attributes:
        there = any(matches(name, c) for c in columns) if is_pattern(name) else name in columns
        if there or scene.lacks("attributes", name):
            continue
        near = closest(name, [c for c in columns if scene.declared.key(c) is None])
        yield scene.fault(
            "PPF524",
            f"`source.columns` has no column `{short(name)}`",
            ("attributes", name),
            at_key=True,
            warning=is_pattern(name),
            hint=f"did you mean `{short(near)}`?" if near else None,
            related=scene.related(("source", "columns"), "the columns"),
        )
