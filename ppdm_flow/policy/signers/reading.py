"""Reading a list of signers: its text, its shape, its keys, names and days, with all faults at once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.digests import open_definition
from ppdm_flow.core.errors import PolicyError, UsageError
from ppdm_flow.core.spans import Span
from ppdm_flow.evidence.signers import Signers
from ppdm_flow.policy.flatten import FlatPolicy, flatten
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.signers.judging import judged
from ppdm_flow.policy.signers.models import SignersFile
from ppdm_flow.policy.text.nodes import Map, UnreadableError
from ppdm_flow.policy.text.parse import parse
from ppdm_flow.policy.text.reading import decode, forbidden
from ppdm_flow.policy.validate import validate

_FORM = "write `version: 1` and `signers:` with roles and a key for each name; `ppdm-flow key` prints such an entry"
_PRIVATE = "PRIVATE KEY"
_MOST_BYTES = 64_000
"""Every page that lists what waits for approvals reads the lists of all runs."""


def read_signers(path: Path, shown: str | None = None) -> Signers:
    """Return the list of signers in a file; diagnostics name it ``shown``.

    Raises UsageError (PPF350) where the file cannot be read, PolicyError with all its faults where it is no list of
    signers. Nothing of a file is quoted that is not meant as one, or that holds a private key.
    """
    name = shown or str(path)
    return signers_in(signers_bytes(path, name), name)


def signers_in(data: bytes, name: str) -> Signers:
    """Return the list of signers that the bytes of a file are. Raises PolicyError as `read_signers` does."""
    text = ""
    try:
        text = decode(data, name)
        root = _root(text, name)
    except UnreadableError as error:
        raise PolicyError(_told(error.diagnostic), _quotable(name, text)) from None
    sources = _quotable(name, text)
    flat = flatten(root)
    file, faults = validate(flat, SignersFile)
    if file is None:
        inside = {fault.path[:-1] for fault in faults}  # a list of one bad item is not empty as well
        told = [fault for fault in faults if not (fault.code == "PPF208" and fault.path in inside)]
        raise PolicyError([_of_signers(fault, flat) for fault in told], sources)
    signers, wrong = judged(file, flat.places)
    if wrong:
        raise PolicyError(wrong, sources)
    return Signers(tuple(signers), hashlib.sha256(data).hexdigest())


def signers_bytes(path: Path, name: str) -> bytes:
    """Return the bytes of a file that may be a list of signers. Raises UsageError (PPF350)."""
    try:
        with open_definition(path, pipes=False) as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise UsageError(Diagnostic("PPF350", f"cannot read the list of signers {name}: {reason}")) from None
    if len(data) > _MOST_BYTES:
        text = f"the list of signers {name} is larger than {_MOST_BYTES:,} bytes, which some 500 signers take"
        raise UsageError(Diagnostic("PPF350", text))
    return data


def _root(text: str, name: str) -> Map:
    fault = forbidden(text, name)
    if fault is not None:
        raise UnreadableError(fault)
    root, diagnostics = parse(text, name)
    if not isinstance(root, Map) or "signers" not in root.entries:
        raise UnreadableError(_none(name))
    if diagnostics:
        raise PolicyError(diagnostics, _quotable(name, text))
    return root


def _none(name: str) -> Diagnostic:
    text = f"`{name}` is not a list of signers: it has no key `signers` at its top"
    return Diagnostic("PPF350", text, Span(name, 1, 1, 1, 1), help=_FORM)


def _told(fault: Diagnostic) -> Diagnostic:
    if fault.code == "PPF350":
        return fault
    return replace(fault, help=fault.help or _FORM)


def _quotable(name: str, text: str) -> Mapping[str, str]:
    """Return the text for diagnostics to quote, unless it may be something else, or hold a secret."""
    meant = any(line.partition(":")[0].strip("\"' ") == "signers" for line in text.splitlines())
    return {name: text} if meant and _PRIVATE not in text else {}


def _of_signers(fault: Diagnostic, flat: FlatPolicy) -> Diagnostic:
    """Say of a fault what a list of signers is, where it is said of a policy."""
    if fault.code != "PPF207":
        return fault
    version = flat.tree.get("version")
    of = f" `{short(version)}`" if isinstance(version, str) else ""
    hint = "this ppdm-flow reads `version: 1`"
    return replace(fault, message=f"there is no version{of} of lists of signers", hint=hint)
