"""The common part of the kits: runs every check on one case, in one call or as the tests of a class for pytest."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Generic, TypeVar

C = TypeVar("C")
Check = Callable[[C], Iterable[str]]


def faults_of(checks: Iterable[Check[C]], case: C) -> dict[str, list[str]]:
    """Run every check; return the faults by the name of the check, only where there are any."""
    faults = {getattr(check, "__name__", ""): _faults(check, case) for check in checks}
    return {name: texts for name, texts in faults.items() if texts}


def _faults(check: Check[C], case: C) -> list[str]:
    try:
        return list(check(case))
    except Exception as error:  # noqa: BLE001 - every exception of a plugin under test is a fault of it
        place = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__} was raised in {place.name} ({Path(place.filename).name}:{place.lineno})"
        return [f"{text}: {error}" if str(error) else text]


class Conformance(Generic[C]):
    """Derive a test class from it, and say in ``case`` what to look at."""

    def case(self) -> C:
        """Return what the checks look at."""
        raise NotImplementedError

    def shared_case(self) -> C:
        """Return the case for one check: here a new one for each."""
        return self.case()

    def hold(self, check: Check[C]) -> None:
        """Fail with what the check says."""
        if faults := list(check(self.shared_case())):
            raise AssertionError("; ".join(faults))


def make_test(check: Check[C]) -> Callable[[Conformance[C]], None]:
    """Return a test that fails with what the check says of the case; its docstring is that of the check."""

    def test(self: Conformance[C]) -> None:
        self.hold(check)

    test.__doc__ = check.__doc__
    return test
