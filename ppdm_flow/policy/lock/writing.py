"""The lock as text: sorted, one thing a line, so that differences can be read and merged."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ppdm_flow.policy.lock.model import KINDS, VERSION, Lock, Pin

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
        pins = lock.pins[kind]
        yield f"{kind}:" if pins else f"{kind}: {{}}"
        yield from (f"  {_name(name)}: {_pin(pin)}" for name, pin in pins.items())
    yield "policies:" if lock.policies else "policies: {}"
    for policy, uses in lock.policies.items():
        yield f"  {_name(policy)}:"
        for kind in KINDS:
            names = uses[kind]
            yield f"    {kind}:" if names else f"    {kind}: []"
            yield from (f"      - {_name(name)}" for name in names)


def _pin(pin: Pin) -> str:
    parts = {"distribution": pin.distribution, "version": pin.version, "sha256": pin.sha256}
    return "{" + ", ".join(f"{key}: {_quoted(value)}" for key, value in parts.items() if value) + "}"


def _name(name: str) -> str:
    """Return a name plain where it can only be itself."""
    return name if _PLAIN.fullmatch(name) and name.lower() not in _WORDS else _quoted(name)


def _quoted(text: str) -> str:
    return f'"{"".join(map(_character, text))}"'


def _character(one: str) -> str:
    """Return a character as it stands between double quotes."""
    if one in '"\\':
        return f"\\{one}"
    if one.isprintable():
        return one
    return f"\\u{ord(one):04x}" if ord(one) <= 0xFFFF else f"\\U{ord(one):08x}"
