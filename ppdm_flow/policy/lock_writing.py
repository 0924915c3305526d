"""The lock as text: sorted, one thing a line, so that differences can be read and merged."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from ppdm_flow.policy.lock import KINDS, VERSION, Lock, Pin

_PLAIN = re.compile(r"[A-Za-z_./][A-Za-z0-9_./-]*[A-Za-z0-9_]")
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_HEAD = "# written by ppdm-flow lock: do not edit; `ppdm-flow explain lock` says what it is for"


def text(lock: Lock) -> str:
    """Return the lock as YAML that any reader understands alike."""
    return "".join(f"{line}\n" for line in _lines(lock))


def _lines(lock: Lock) -> Iterator[str]:
    yield _HEAD
    yield f"lock: {VERSION}"
    yield f"language: {lock.language}"
    for kind in KINDS:
        found = lock.pins[kind]
        yield f"{kind}:" if found else f"{kind}: {{}}"
        yield from (f"  {_name(name)}: {_pin(pin)}" for name, pin in found.items())
    yield "policies:" if lock.policies else "policies: {}"
    for policy, uses in lock.policies.items():
        yield f"  {_name(policy)}:"
        for kind in KINDS:
            names = uses[kind]
            yield f"    {kind}:" if names else f"    {kind}: []"
            yield from (f"      - {_name(name)}" for name in names)


def _pin(pin: Pin) -> str:
    parts = {"distribution": pin.distribution, "version": pin.version, "sha256": pin.sha256}
    return "{" + ", ".join(f"{key}: {json.dumps(value)}" for key, value in parts.items() if value) + "}"


def _name(name: str) -> str:
    """Return a name plain where it can only be itself, else in double quotes; JSON's escapes are YAML's too.

    Lone halves of surrogates, for the bytes of file names that are not UTF-8, are escaped with all that is not ASCII.
    """
    if _PLAIN.fullmatch(name) and name.lower() not in _WORDS:
        return name
    return json.dumps(name, ensure_ascii=_broken(name)).replace("\x7f", "\\x7f")


def _broken(name: str) -> bool:
    return not name.isprintable()
