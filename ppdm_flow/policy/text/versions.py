"""Ranges of versions of packaged templates, as PEP 440 has them. Loaded only where a policy states one."""

from __future__ import annotations

import re

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

_BARE = re.compile(r"v?[0-9]+(\.[0-9]+)*\Z")


def readable(wanted: str) -> bool:
    """Whether this is a range: ``>=1.2,<2``, ``~=1.4``, ``==1.4.2``, or ``1.4`` for any 1.4."""
    return _range(wanted) is not None


def holds(version: str, wanted: str) -> bool:
    """Whether an installed version is in a range; an installed pre-release is compared as it is."""
    specifiers = _range(wanted)
    try:
        return specifiers is not None and specifiers.contains(Version(version), prereleases=True)
    except InvalidVersion:
        return False


def _range(wanted: str) -> SpecifierSet | None:
    text = wanted.strip()
    try:
        versions = SpecifierSet(f"=={text.removeprefix('v')}.*" if _BARE.match(text) else text)
    except InvalidSpecifier:
        return None
    return versions if len(versions) else None
