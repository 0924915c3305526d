"""The words of the policy language and of the reports, each with a short page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ppdm_flow.core.pages import MalformedPageError, Page, Pages

KINDS = (
    "Risks of re-identification",
    "Sections of a policy",
    "Roles",
    "Requirements",
    "Sharing policies",
    "Comparing policies",
    "In CI",
    "Starting",
    "Policies as code",
    "Plugins",
    "Using a release",
)
"""The kinds of terms, in the order in which they are listed."""


@dataclass(frozen=True, slots=True)
class Concept:
    """A term: what it is in a line (``summary``), and its ``page``; it is the ``order``-th of its ``kind``.

    Pages of roles and requirements say why it matters, have an example of each side and say what to do; those of
    other terms have what makes sense.
    """

    kind: str
    order: int
    summary: str
    page: Page

    def text(self) -> str:
        """Return the whole page as Markdown."""
        head = f"# {self.page.topic}\n\n{self.summary[:1].upper()}{self.summary[1:]}."
        return f"{head}\n\n{self.page.body}" if self.page.body else head

    @property
    def place(self) -> tuple[int, int]:
        """Where it stands in the list of all."""
        return KINDS.index(self.kind), self.order


def concept_of(page: Page) -> Concept:
    """Return the term that a page is about. Raises MalformedPageError where its kind is unknown."""
    kind = page.entry("kind")
    if kind not in KINDS:
        raise MalformedPageError(page.name, f"there is no kind of terms `{kind}`")
    return Concept(kind, page.entry("order"), page.entry("summary"), page)


CONCEPTS: Mapping[str, Concept] = Pages("concepts", "requirements", "roles", made=concept_of)
"""By the name that ``explain`` takes."""
