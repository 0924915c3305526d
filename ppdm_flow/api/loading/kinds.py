"""What a YAML file among policies is: by its name and its keys, without reading it as any of them."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path

from ppdm_flow.api.loading.policies import is_test, says_policy

_TEMPLATE = re.compile(rb"^(extends|floors|params|privacy|attributes|steps|audits|gates)[ \t]*:", re.MULTILINE)


class FileKind(StrEnum):
    """What a file is: only a policy can be run."""

    POLICY = "policy"
    TEMPLATE = "template"
    TESTS = "tests"
    OTHER = "other"


def kind_of(path: Path, data: bytes) -> FileKind:
    """Return what a file of this name and these bytes is."""
    if is_test(path):
        return FileKind.TESTS
    if says_policy(data):
        return FileKind.POLICY
    return FileKind.TEMPLATE if _TEMPLATE.search(data) else FileKind.OTHER
