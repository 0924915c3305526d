"""Rules on whom a policy protects: people where a subject is declared, and how many of their rows are known."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.roles import Role
from ppdm_flow.policy.counting import subject_attribute
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.rules.scene import Scene


def judge(scene: Scene) -> Iterator[Diagnostic]:
    """Judge ``people`` and the subject (PPF542 to PPF545)."""
    if scene.lacks("attributes") or scene.lacks("people"):
        return
    subject, said = subject_attribute(scene.policy), scene.policy.people
    if subject is None:
        if said is not None:
            yield scene.fault(
                "PPF543",
                "`people` says how people are counted, and no attribute says whose row it is",
                ("people",),
                at_key=True,
                hint="give the attribute that names the person `role: subject`, or leave `people` out",
            )
        return
    yield from _beside_weight(scene, subject)
    if said is None or (said.known_rows is None and said.unit == "people"):
        yield scene.fault(
            "PPF542",
            f"`{short(subject)}` says that a person can have several rows, and nothing says how many of them are known",
            ("attributes", subject, "role") if said is None else ("people",),
            at_key=said is not None,
            hint="say `people: {known_rows: 1}` (or 2, 3, all): how many of a person's rows somebody may know",
        )
    elif said.unit == "rows":
        yield scene.fault(
            "PPF544",
            "rows are counted where people are meant: five rows of one person pass for a crowd of five",
            ("people", "unit"),
            warning=True,
            hint="say `people: {known_rows: 1}` (or 2, 3, all) to count people",
        )
        if said.known_rows is not None:
            yield scene.fault(
                "PPF543",
                "`known_rows` is about people, and `unit: rows` counts none",
                ("people", "known_rows"),
                hint="leave one of the two out",
            )


def _beside_weight(scene: Scene, subject: str) -> Iterator[Diagnostic]:
    weight = next((n for n, a in scene.policy.attributes.items() if a.role is Role.WEIGHT), None)
    if weight is not None:
        yield scene.fault(
            "PPF545",
            f"a row of the weight `{short(weight)}` represents several people, and the subject names one of them",
            ("attributes", subject, "role"),
            hint="write the rows out singly, each with its own subject",
            related=scene.related(("attributes", weight), "the weight"),
        )
