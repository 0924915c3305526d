"""The files that a policy is made of: each read and parsed once."""

from __future__ import annotations

from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.server_address import masked, passwords
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.faults import UnreadableError
from ppdm_flow.policy.nodes import Map
from ppdm_flow.policy.parse import parse
from ppdm_flow.policy.text import forbidden, read


class Files:
    """``sources`` is the text of every file read so far, by the name that diagnostics give it.

    ``passwords`` of URLs in these texts are hidden in ``sources``, and must be in what is said of them.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.sources: dict[str, str] = {}
        self.passwords: set[str] = set()
        self._trees: dict[str, tuple[Map, list[Diagnostic]]] = {}

    def tree(self, path: Path, shown: str) -> tuple[Map, list[Diagnostic]]:
        """Return the located tree of a file, and the faults of its text that do not hide the rest.

        Raises
        ------
        UsageError
            Where it cannot be opened.
        UnreadableError
            Where it is no YAML map.
        """
        if shown in self._trees:
            return self._trees[shown]
        text = read(path, shown)
        self.sources[shown] = masked(text)
        self.passwords |= passwords(text)
        fault = forbidden(text, shown)
        if fault is not None:
            raise UnreadableError(fault)
        root, found = parse(text, shown)
        if not isinstance(root, Map):
            raise UnreadableError(_no_map(root, shown))
        self._trees[shown] = (root, found)
        return root, found


def _no_map(root: object, shown: str) -> Diagnostic:
    start = Span(shown, 1, 1, 1, 1)
    if root is None:
        return Diagnostic(
            "PPF116",
            "the file is empty",
            start,
            hint="a policy begins with `version: 1`",
            help="ppdm-flow init writes one",
        )
    span = getattr(root, "span", start)
    return Diagnostic("PPF117", "a policy is a map of keys and values", span, hint="write `version: 1`, `name: …`")
