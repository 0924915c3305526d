"""Approvals as a typed model: who has to sign before a release that holds leaves the house."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ppdm_flow.core.model import MORE, Flag, Model, Name


class ApprovalOptions(Model):
    """The roles that must sign a run which holds; until they have, its releases are held back.

    With ``distinct`` each role takes another person; the author never counts as one of them. ``signers`` is the file
    that says who may sign in which role.
    """

    roles: Annotated[tuple[Name, ...], Field(min_length=1), MORE]
    distinct: Flag = True
    signers: Annotated[str, Field(min_length=1)]
