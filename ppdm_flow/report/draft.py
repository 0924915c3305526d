"""What first policies have in common, whatever they are drafted from: a name, and what is required."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ppdm_flow.policy.language.kinds import Entries, RequirementSpec, built_in
from ppdm_flow.policy.language.wording import Draft, DraftFacts
from ppdm_flow.report.yaml_text import comment, flow, scalar

PEOPLE = 5
"""Among how many people a first policy lets everybody hide."""
RECODING = "  recode: {use: mondrian, with: {labels: {significant: 2}}}"
"""The step of a first policy that keeps what it requires; intervals end at round numbers, not at people's values."""
_NAME = re.compile(r"[^A-Za-z0-9_-]+")


def policy_name(file: str) -> str:
    """Return a name that a policy may have, from that of a file."""
    stem = file.partition(".")[0] or file.strip(".").partition(".")[0]
    name = _NAME.sub("-", stem).strip("-_")[:48]
    return name if name[:1].isalpha() else f"data-{name}".rstrip("-")


def privacy(facts: DraftFacts) -> str:
    """Return the requirements that a first policy has, each with its reason; nothing where there are none."""
    lines: list[str] = []
    asked = False
    for spec in built_in():
        draft = spec.wording.draft(facts) if spec.wording.draft is not None else None
        lines += [] if draft is None else _drafted(spec, draft)
        asked = asked or (draft is not None and not draft.comment)
    head = "privacy:" if asked else "# privacy:"  # a key without a value is no policy
    return "\n".join([head, *lines]) + "\n" if lines else ""


def _drafted(spec: RequirementSpec, draft: Draft) -> Iterator[str]:
    yield from comment(draft.reason, "  ")
    mark = "# " if draft.comment else ""
    if spec.entries is Entries.ONCE:
        yield f"  {mark}{spec.name}: {flow(draft.entry)}"
        return
    yield f"  {mark}{spec.name}:"
    for name, body in draft.entry.items():
        yield f"  {mark}  {scalar(name)}: {flow(body)}"
