"""What a project file demands of all policies below its folder."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic, RelatedPlace
from ppdm_flow.core.spans import Span


@dataclass(frozen=True, slots=True)
class RequiredTemplate:
    """A template that every policy extends.

    ``name`` is how the project file has it, ``shown`` how diagnostics call it, ``identity`` what tells it from every
    other file, ``place`` where it is asked for.
    """

    name: str
    shown: str
    identity: str
    place: Span


@dataclass(frozen=True, slots=True)
class Project:
    """A project file as it was read, or several of them together: then ``file`` is the nearest.

    ``shown`` is its name in diagnostics, ``texts`` what each says by its name, ``sha256`` the digest of its bytes (of
    several, that of their digests), ``required`` the templates that every policy extends. With ``faults`` no policy
    below it can be used.
    """

    file: Path
    shown: str
    texts: Mapping[str, str] = field(default_factory=dict)
    sha256: str = ""
    faults: tuple[Diagnostic, ...] = ()
    required: tuple[RequiredTemplate, ...] = ()
    policies: tuple[Path, ...] = ()
    locked: bool = False
    strict: bool = False
    signers: Path | None = None
    runs: Path | None = None

    def missing(self, extended: Collection[str], policy: Span) -> Iterator[Diagnostic]:
        """Yield a fault for each required template whose identity is not among ``extended`` (PPF356)."""
        for each in self.required:
            if each.identity not in extended:
                text = f"the policy does not extend `{each.shown}`, which the project requires of every policy"
                hint = f"add `{_from_policy(each, policy)}` to `extends`"
                yield Diagnostic(
                    "PPF356", text, policy, hint=hint, related=(RelatedPlace(each.place, "required here"),)
                )


def _from_policy(template: RequiredTemplate, policy: Span) -> str:
    """Return how the policy names a template: its path is relative to the policy, and not to the project file."""
    if template.name.startswith(("builtin:", "pkg:")):
        return template.name
    home = Path(policy.file).absolute().parent
    return Path(os.path.relpath(Path(template.shown).absolute(), home)).as_posix()
