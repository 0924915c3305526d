"""The variables of the environment that params may take their values from.

Who runs a policy and who wrote it may be two people: a policy could put a password of the one into a file's name, which
the other reads.
"""

from __future__ import annotations

import os

from ppdm_flow.sdk.spec import PASSWORD_VARIABLE

ALLOWED = "PPDM_PARAMS_FROM_ENV"
"""The variable with the names of those that params may read, with commas between; where it is not set, all may be."""
_PRIVATE = frozenset({PASSWORD_VARIABLE, ALLOWED})
"""Variables of the program itself, which no param reads in any case."""


def value_of(variable: str) -> str | None:
    """Return what a variable holds; None where it is not there, or params may not read it."""
    allowed = os.environ.get(ALLOWED)
    if variable in _PRIVATE or (allowed is not None and variable not in allowed.split(",")):
        return None
    return os.environ.get(variable)
