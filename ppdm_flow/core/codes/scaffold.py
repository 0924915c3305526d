"""PPF63x: repositories of policies to start from."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF630",
        "no repository starts from this template",
        "`init --template` takes a template that comes with the program.",
        "Its files are written around what that template promises: a policy, floors, tests, and data that fit.",
        "Take one of the list in the message. To build on a template of your own, start from one of these and change"
        " `extends:` in `templates/organization.yaml`.",
        bad="$ ppdm-flow init release-policies --template ./organization.yaml",
        good="$ ppdm-flow list templates\n$ ppdm-flow init release-policies --template microdata-k",
    ),
)
"""The page of each code."""
