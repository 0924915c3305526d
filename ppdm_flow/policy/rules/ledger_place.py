"""Where the release ledger is: a file, or a database that a URL names."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.server_address import AddressError, PasswordError, is_address, server_address
from ppdm_flow.policy.language.ledger import Ledger
from ppdm_flow.policy.rules.scene import Scene

_PASSWORD = "leave it out of the URL, and put it into the variable PGPASSWORD or the file ~/.pgpass"  # noqa: S105  # none


def place(scene: Scene, given: Ledger) -> Iterator[Diagnostic]:
    """Judge ``path``, ``url`` and ``key`` of a ledger (PPF531 to PPF534)."""
    if given.path is not None and given.url is not None:
        text = "a ledger is in one place, and this has both `path` and `url`"
        hint = "remove one of the two; `path: null` where a template says it"
        yield scene.fault("PPF531", text, ("ledger", "url"), at_key=True, hint=hint)
    elif given.path is None and given.url is None:
        if not scene.lacks("ledger", "path") and not scene.lacks("ledger", "url"):
            text, hint = "the ledger needs a `path` or a `url`", "add `path: releases.ledger`, or a `url` and a `key`"
            yield scene.fault("PPF531", text, ("ledger",), at_key=True, hint=hint)
    elif given.path is not None and is_address(given.path):
        text, hint = "this is a URL, not a path", "say `url`, and where the `key` of its hashes is"
        yield scene.fault("PPF531", text, ("ledger", "path"), at_key=True, hint=hint)
    elif given.url is not None and given.key is None and not scene.lacks("ledger", "key"):
        text, hint = "a ledger in a database needs a `key`, the same file for all who use it", "add `key: releases.key`"
        yield scene.fault("PPF531", text, ("ledger", "url"), at_key=True, hint=hint)
    for name, url in (("path", given.path), ("url", given.url)):
        if url is not None and (name == "url" or is_address(url)):
            yield from _address(scene, name, url)


def _address(scene: Scene, name: str, url: str) -> Iterator[Diagnostic]:
    path = ("ledger", name)
    try:
        address = server_address(url)
    except PasswordError:
        text = "there is a password in the ledger's URL, and a policy is read by many"
        yield scene.fault("PPF533", text, path, hint=_PASSWORD)
    except AddressError as error:
        yield scene.fault("PPF532", f"the ledger's URL cannot be used: {error}", path)
    else:
        if not address.is_local and address.sslmode in ("disable", "prefer"):
            text = f"with `sslmode={address.sslmode}` the ledger, and its password, may cross the network unencrypted"
            yield scene.fault("PPF534", text, path, warning=True, hint="say `sslmode=verify-full`")
