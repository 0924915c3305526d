"""An upgrade of what is named, and of nothing in its shadow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.suggest import did_you_mean
from ppdm_flow.policy.language.words import short
from ppdm_flow.policy.lock.model import KINDS, Lock, Pin

_PACKAGED = "pkg:"


def only(before: Lock, now: Lock, upgrade: Sequence[str]) -> None:
    """Raise UsageError (PPF683) where more than ``upgrade`` names has other content or versions, or it names nothing.

    A distribution stands for all that it brings. What is in only one of the two locks is no upgrade of anything: it
    follows from what the policies say now.
    """
    every = [(name, pins, _names(name, pins)) for name, pins in _pins(before, now)]
    known = {each for _, _, names in every for each in names}
    for name in upgrade:
        if name not in known:
            text = f"neither the lock nor a policy has `{short(name)}`"
            raise UsageError(Diagnostic("PPF683", text, hint=did_you_mean(name, known)))
    others = [_more(name, pins) for name, pins, names in every if pins[0] != pins[-1] and not names & set(upgrade)]
    if others:
        raise UsageError(others)


def _pins(before: Lock, now: Lock) -> Iterator[tuple[str, list[Pin]]]:
    """Yield everything with what it was and what it is."""
    for kind in KINDS:
        for name in sorted({*before.pins[kind], *now.pins[kind]}):
            yield name, [lock.pins[kind][name] for lock in (before, now) if name in lock.pins[kind]]


def _names(name: str, pins: Sequence[Pin]) -> set[str]:
    """Return what an upgrade may call a thing: its name, or a distribution that brings or brought it."""
    packages = {pin.distribution for pin in pins if pin.distribution}
    if name.startswith(_PACKAGED):
        packages.add(name.removeprefix(_PACKAGED).partition("/")[0])
    return {name, *packages}


def _more(name: str, pins: Sequence[Pin]) -> Diagnostic:
    was, is_ = pins[0].against(pins[1])
    return Diagnostic("PPF683", f"`{short(name)}` differs as well: {was} -> {is_}")
