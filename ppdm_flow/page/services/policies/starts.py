"""What a new policy begins with: a frame, a template that comes with the program, or a copy of another one."""

from __future__ import annotations

from ppdm_flow.api.explain.templates import template_names
from ppdm_flow.page.services.policies.files import named_after, policy_name
from ppdm_flow.page.services.policies.policies import PolicyFiles

FRAME, COPY = "frame", "copy:"
_FRAME = """version: 1
name: {name}
{extends}
source: {{path: data.csv}}

attributes:
  id: {{role: identifier}}

privacy:
  k_anonymity: {{k: 5}}

releases:
  public: {{path: public.csv}}
"""


def starts(policies: PolicyFiles) -> dict[str, str]:
    """Return what can be started from, with the name of the template or policy; that of the frame is empty."""
    templates = {name: name for name in template_names()}
    return {FRAME: "", **templates, **{f"{COPY}{name}": name for name in policies.names()}}


def text_for(policies: PolicyFiles, start: str, file: str) -> str:
    """Return the text of a new policy in a file of this name."""
    if start.startswith(COPY):
        return named_after(policies.read(start.removeprefix(COPY)).text, file)
    extends = "" if start == FRAME else f"extends: [{{template: {start}}}]\n"
    return _FRAME.format(name=policy_name(file), extends=extends)
