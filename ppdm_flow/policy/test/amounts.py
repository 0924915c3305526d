"""Expected figures and sets of names that cannot be met, or say nothing."""

from __future__ import annotations

from collections.abc import Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.spans import Span
from ppdm_flow.policy.language.words import number, short
from ppdm_flow.policy.loaded import Places, PolicyPath
from ppdm_flow.policy.test.models import Figured, Hidden, Some


def figures(figure: Figured | None, path: PolicyPath, at: Places) -> Iterator[Diagnostic]:
    """Yield what is wrong with an expected figure."""
    if figure is None:
        return
    bounded = figure.min is not None or figure.max is not None
    if figure.equals is None and not bounded:
        yield _fault("PPF141", f"nothing is expected of `{short(path[-1])}`", at, path, "give `equals`, `min` or `max`")
    if figure.equals is not None and bounded:
        yield _fault("PPF145", "`equals` leaves nothing to `min` and `max`", at, (*path, "equals"))
    if figure.min is not None and figure.max is not None and figure.min > figure.max:
        text = f"nothing is at least {number(figure.min)} and at most {number(figure.max)}"
        yield _fault("PPF145", text, at, (*path, "min"))
    if figure.tolerance is not None and figure.equals is None:
        yield _fault("PPF145", "`tolerance` goes with `equals`", at, (*path, "tolerance"))


def names(some: Some | None, path: PolicyPath, at: Places) -> Iterator[Diagnostic]:
    """Yield what is wrong with an expected set of names."""
    if some is None:
        return
    if some.exactly is None and not some.include and not some.exclude:
        yield _fault("PPF141", f"nothing is expected of `{short(path[-1])}`", at, path, "give a list, or `include`")
    if some.exactly is not None and (some.include or some.exclude):
        yield _fault("PPF145", "`exactly` leaves nothing to `include` and `exclude`", at, (*path, "exactly"))
    for place, each in enumerate(some.exclude):
        if each in some.include:
            text = f"`{short(each)}` is both included and excluded"
            yield _fault("PPF145", text, at, (*path, "exclude", str(place)))


def places(hidden: Hidden, path: PolicyPath, at: Places) -> Iterator[Diagnostic]:
    """Yield what is wrong with the values that are expected to be suppressed."""
    if not (hidden.somewhere or hidden.everywhere or hidden.nowhere):
        text = f"nothing is expected of `{short(path[-1])}`"
        yield _fault("PPF141", text, at, path, "list values that are suppressed")
    for number_, each in enumerate(hidden.nowhere):
        if each in hidden.somewhere or each in hidden.everywhere:
            text = f"`{short(each)}` is expected to be suppressed, and not to be"
            yield _fault("PPF145", text, at, (*path, "nowhere", str(number_)))


def _fault(code: str, text: str, at: Places, path: PolicyPath, hint: str | None = None) -> Diagnostic:
    return Diagnostic(code, text, _nearest(at, path), hint=hint, path=path)


def _nearest(at: Places, path: PolicyPath) -> Span | None:
    return at.value(*path) if path[-1].isdecimal() else at.key(*path)
