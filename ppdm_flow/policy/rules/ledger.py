"""Rules on the release ledger: whom it is about, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.addresses import AddressError, PasswordError, is_address, server_address
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.roles import Role
from ppdm_flow.policy.counting import subject_attribute
from ppdm_flow.policy.language.ledger import LedgerOptions
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.requirements import specs_of
from ppdm_flow.policy.rules.scene import Scene
from ppdm_flow.policy.successive import subject_of

_PASSWORD = "leave it out of the URL, and put it into the variable PGPASSWORD or the file ~/.pgpass"  # noqa: S105  # none


def place(scene: Scene, given: LedgerOptions) -> Iterator[Diagnostic]:
    """Judge ``path``, ``url`` and ``key`` of a ledger (PPF471, PPF472, PPF534, PPF583)."""
    if given.path is not None and given.url is not None:
        text = "a ledger is in one place, and this has both `path` and `url`"
        hint = "remove one of the two; `path: null` where a template says it"
        yield scene.fault("PPF583", text, ("ledger", "url"), at_key=True, hint=hint)
    elif given.path is None and given.url is None:
        if not scene.lacks("ledger", "path") and not scene.lacks("ledger", "url"):
            text, hint = "the ledger needs a `path` or a `url`", "add `path: releases.ledger`, or a `url` and a `key`"
            yield scene.fault("PPF583", text, ("ledger",), at_key=True, hint=hint)
    elif given.path is not None and is_address(given.path):
        text, hint = "this is a URL, not a path", "say `url`, and where the `key` of its hashes is"
        yield scene.fault("PPF583", text, ("ledger", "path"), at_key=True, hint=hint)
    elif given.url is not None and given.key is None and not scene.lacks("ledger", "key"):
        text, hint = "a ledger in a database needs a `key`, the same file for all who use it", "add `key: releases.key`"
        yield scene.fault("PPF583", text, ("ledger", "url"), at_key=True, hint=hint)
    for name, url in (("path", given.path), ("url", given.url)):
        if url is not None and (name == "url" or is_address(url)):
            yield from _address(scene, name, url)


def _address(scene: Scene, name: str, url: str) -> Iterator[Diagnostic]:
    path = ("ledger", name)
    try:
        address = server_address(url)
    except PasswordError:
        text = "there is a password in the ledger's URL, and a policy is read by many"
        yield scene.fault("PPF472", text, path, hint=_PASSWORD)
    except AddressError as error:
        yield scene.fault("PPF471", f"the ledger's URL cannot be used: {error}", path)
    else:
        if not address.is_local and not address.is_encrypted:
            text = f"with `sslmode={address.sslmode}` the ledger, and its password, may cross the network unencrypted"
            yield scene.fault("PPF534", text, path, warning=True, hint="say `sslmode=verify-full`")


def judge(scene: Scene) -> Iterator[Diagnostic]:
    """Judge ``ledger`` (PPF545, PPF546, PPF591, PPF592, PPF594, and its place)."""
    given = scene.policy.ledger
    if given is not None:
        yield from place(scene, given)
    if given is not None and not scene.lacks("attributes"):
        yield from _people(scene, given)
        yield from _weights(scene)
        yield from _repeats(scene, given)


def _people(scene: Scene, given: LedgerOptions) -> Iterator[Diagnostic]:
    if given.subject is not None:
        place = ("ledger", "subject")
        attribute = scene.policy.attributes.get(given.subject)
        if attribute is None:
            yield scene.fault("PPF500", f"no attribute `{short(given.subject)}` is declared", place)
        elif attribute.role not in (Role.IDENTIFIER, Role.SUBJECT):
            text = f"`{short(given.subject)}` names nobody: it is neither an identifier nor the subject"
            yield scene.fault("PPF592", text, place, hint="name one with `role: identifier` or `role: subject`")
        elif attribute.role is not Role.SUBJECT and (subject := subject_attribute(scene.policy)) is not None:
            text = f"the ledger knows people by `{short(given.subject)}`, and `{short(subject)}` says whose row it is"
            yield scene.fault("PPF546", text, place, hint=f"leave it out: the ledger takes `{short(subject)}` then")
    elif subject_of(scene.policy) is None:
        text = "the ledger is not told whose rows are released, so it cannot find people again"
        hint = "say `subject: NAME` here, of an attribute with `role: identifier`"
        needing = [s.name for s in specs_of(scene.policy) if s.needs_people and scene.policy.privacy.entries(s.name)]
        wanted = f"; `{needing[0]}` needs that" if needing else ""
        yield scene.fault("PPF591", f"{text}{wanted}", ("ledger",), at_key=True, warning=not needing, hint=hint)


def _weights(scene: Scene) -> Iterator[Diagnostic]:
    weights = [n for n, a in scene.policy.attributes.items() if a.role is Role.WEIGHT]
    if weights and subject_of(scene.policy) is not None:
        text = f"with the weight `{short(weights[0])}` a row represents several people, and the ledger can name but one"
        yield scene.fault("PPF545", text, ("ledger",), at_key=True, hint="release a table with a row for each person")


def _repeats(scene: Scene, given: LedgerOptions) -> Iterator[Diagnostic]:
    drawn = any(s.requirement.needs_operator and scene.policy.privacy.entries(s.name) for s in specs_of(scene.policy))
    if given.repeat == "warn" and drawn:
        text = "randomized attributes may be released again, and no bound holds of several draws together"
        yield scene.fault("PPF594", text, ("ledger", "repeat"), warning=True, hint="say `repeat: refuse`")
