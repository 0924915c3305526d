"""Requirements in the names that their attributes have where a step reads them: renaming keeps an attribute itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import partial
from typing import TypeVar

from ppdm_flow.anonymizers.naming import is_pattern
from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.requirement import Requirement

Attributes = Mapping[str, AttributeFacts]
R = TypeVar("R", bound=Requirement)


def carried(kind: type[R], requirements: Iterable[Requirement], attributes: Attributes) -> tuple[R, ...]:
    """Return the requirements of a kind in present names; not one of whose secrets none reaches the step."""
    present = {facts.source or facts.name: facts.name for facts in attributes.values()}
    renamed = (r.renamed(partial(_name, present)) for r in requirements if isinstance(r, kind))
    return tuple(r for r in renamed if r is not None)


def _name(present: Mapping[str, str], attribute: str) -> str | None:
    """The present name, or None; while the columns are unread, a pattern may stand for the attribute."""
    if attribute in present:
        return present[attribute]
    covered = any(is_pattern(name) and fnmatchcase(attribute, name) for name in present)
    return attribute if covered else None
