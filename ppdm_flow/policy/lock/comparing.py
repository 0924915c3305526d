"""What the lock says against what is there: every difference, at the place that asks for the thing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.spans import Span
from ppdm_flow.core.suggest import closest
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.lock.model import KINDS, LANGUAGE, Lock, Use

_NOUN = {"templates": "template", "files": "file", "plugins": "plugin"}
_LOOK = "look at what is new; if it is meant, run `ppdm-flow lock`"


def drifts(lock: Lock, policy: str, uses: Iterable[Use], file: str) -> Iterator[Diagnostic]:
    """Yield what a policy uses and the lock does not have, or has otherwise; ``file`` is the policy's own."""
    start = Span(file, 1, 1, 1, 1)
    if lock.language != LANGUAGE:
        text = f"the lock is of version {short(lock.language)} of the policy language, and this is {LANGUAGE}"
        yield Diagnostic("PPF339", text, start)
    known = lock.policies.get(policy)
    if known is None:
        near = closest(policy, lock.policies)
        hint = f"it has `{near}`" if near else None
        yield Diagnostic("PPF320", f"the lock does not have the policy `{short(policy)}`", start, hint=hint, help=_LOOK)
        return
    for use in uses:
        yield from _drift(lock, policy, use, start)


def _drift(lock: Lock, policy: str, use: Use, start: Span) -> Iterator[Diagnostic]:
    noun, place = _NOUN[use.kind], use.place or start
    pin = lock.pins[use.kind].get(use.name)
    if use.implied and pin is None and use.pin.release in lock.releases():
        return
    if pin is None:
        yield Diagnostic("PPF320", f"the lock does not have the {noun} `{short(use.name)}`", place, help=_LOOK)
    elif pin != use.pin:
        before, now = pin.against(use.pin)
        text = f"the {noun} `{short(use.name)}` is not the locked one: locked is {before}, and this is {now}"
        name = use.name if pin.release == use.pin.release else use.pin.distribution
        yield Diagnostic("PPF339", text, place, help=f"if that is meant: ppdm-flow lock --upgrade {name}")
    elif not use.implied and use.name not in lock.policies[policy][use.kind]:
        text = f"the lock does not have the {noun} `{short(use.name)}` for this policy"
        yield Diagnostic("PPF320", text, place, help=_LOOK)


def stale(lock: Lock, now: Lock) -> Iterator[Diagnostic]:
    """Yield what the lock lists and nothing uses, at its place in the lock file."""
    for policy, uses in lock.policies.items():
        if policy not in now.policies:
            yield _gone(lock, f"the policy `{short(policy)}` is locked, and there is none", ("policies", policy))
            continue
        for kind in KINDS:
            for name in uses[kind]:
                if name not in now.policies[policy][kind] and name in now.pins[kind]:
                    text = f"the {_NOUN[kind]} `{short(name)}` is locked for `{short(policy)}`, which does not use it"
                    yield _gone(lock, text, ("policies", policy, kind, name))
    for kind in KINDS:
        for name in lock.pins[kind]:
            if name not in now.pins[kind]:
                text = f"the {_NOUN[kind]} `{short(name)}` is locked, and no policy uses it"
                yield _gone(lock, text, (kind, name))


def _gone(lock: Lock, text: str, place: tuple[str, ...]) -> Diagnostic:
    return Diagnostic("PPF321", text, lock.places.get(place), help="run `ppdm-flow lock`")


def changes(before: Lock | None, now: Lock) -> Iterator[tuple[str, str, str]]:
    """Yield a sign (``+``, ``-``, ``~``), the thing, and what became of it, for everything that is not as before."""
    old = before or Lock({kind: {} for kind in KINDS}, {})
    for kind in KINDS:
        was, is_ = old.pins[kind], now.pins[kind]
        for name in sorted({*was, *is_}):
            thing = f"{_NOUN[kind]} {name}"
            if name not in was:
                yield "+", thing, is_[name].words
            elif name not in is_:
                yield "-", thing, ""
            elif was[name] != is_[name]:
                yield "~", thing, " -> ".join(was[name].against(is_[name]))
    for policy in sorted({*old.policies, *now.policies}):
        sign = "+" if policy not in old.policies else "-" if policy not in now.policies else "~"
        if old.policies.get(policy) != now.policies.get(policy):
            yield sign, f"policy {policy}", _uses(old, now, policy) if sign == "~" else ""


def _uses(old: Lock, now: Lock, policy: str) -> str:
    """Say what a policy uses now and did not, and the other way round."""
    was, is_ = ({name for kind in KINDS for name in lock.policies[policy][kind]} for lock in (old, now))
    more = [f"now uses {', '.join(sorted(is_ - was))}"] if is_ - was else []
    less = [f"no longer uses {', '.join(sorted(was - is_))}"] if was - is_ else []
    return "; ".join([*more, *less])
