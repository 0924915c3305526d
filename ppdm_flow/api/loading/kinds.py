"""What a YAML file among policies is: by its name and the keys at its top, without what it extends."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ppdm_flow.api.loading.policies import is_test, says_policy
from ppdm_flow.core.model import NAME
from ppdm_flow.policy.text.nodes import Map, Scalar, UnreadableError
from ppdm_flow.policy.text.parse import parse
from ppdm_flow.policy.text.reading import decode, forbidden, limited

_OF_TEMPLATES = frozenset(("extends", "floors", "params", "privacy", "attributes", "steps", "audits", "gates"))
_TEMPLATE = re.compile(rf"^({'|'.join(sorted(_OF_TEMPLATES))})[ \t]*:".encode(), re.MULTILINE)


class FileKind(StrEnum):
    """What a file is: only a policy can be run."""

    POLICY = "policy"
    TEMPLATE = "template"
    TESTS = "tests"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class FileIdentity:
    """What a file is and, of a policy, the name that its own text gives it."""

    kind: FileKind
    name: str | None = None


def identity_of(path: Path, data: bytes) -> FileIdentity:
    """Return what a file of this name and these bytes is, however its YAML is written.

    A text that cannot be parsed is nothing that could be run: its lines say what it is meant as, and it has no name.
    """
    if is_test(path):
        return FileIdentity(FileKind.TESTS)
    file = str(path)
    try:
        text = decode(limited(data, file), file)
        if forbidden(text, file) is not None:
            return FileIdentity(kind_by_lines(path, data))
        root, _ = parse(text, file)
    except UnreadableError:
        return FileIdentity(kind_by_lines(path, data))
    keys = root.entries if isinstance(root, Map) else {}
    if "releases" in keys or {"extends", "name"} <= keys.keys():
        name = keys["name"].node if "name" in keys else None
        own = name.text or "" if isinstance(name, Scalar) else ""
        return FileIdentity(FileKind.POLICY, own if re.fullmatch(NAME, own) else None)
    return FileIdentity(FileKind.TEMPLATE if _OF_TEMPLATES & keys.keys() else FileKind.OTHER)


def kind_by_lines(path: Path, data: bytes) -> FileKind:
    """Return what a file is meant as by its lines, where it cannot be parsed or that would take too long."""
    if is_test(path):
        return FileKind.TESTS
    if says_policy(data):
        return FileKind.POLICY
    return FileKind.TEMPLATE if _TEMPLATE.search(data) else FileKind.OTHER
