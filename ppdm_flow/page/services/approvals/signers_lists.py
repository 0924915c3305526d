"""Lists of signers as pages read them: parsed once for each text, elsewhere, and not for longer than a page waits."""

from __future__ import annotations

import hashlib
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, ParamSpec, TypeVar

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.engine.held.publication import ReadSigners
from ppdm_flow.evidence.signers import Signers
from ppdm_flow.page.services.bounded import CHECKS, TOO_LONG, LimitExceededError
from ppdm_flow.policy.signers import signers_bytes, signers_in

P = ParamSpec("P")
T = TypeVar("T")
_MOST_BYTES = 8_000_000
"""Of the texts whose signers are kept; the objects take some ten times as much."""
_AGAIN = 600.0
"""Seconds until a list that took too long is tried again: the machine may have been busy."""
_ALIKE = 0.5
"""Seconds that a page may have more for a list than another one had, and does not try it again."""


@dataclass(frozen=True, slots=True)
class _KnownAnswer(Generic[T]):
    """An answer. Where it took longer than so many ``seconds``, it holds ``until`` then, and for who has no more."""

    answer: T | PpdmError
    bytes: int
    until: float = math.inf
    seconds: float = math.inf


class BoundedAnswers(Generic[T]):
    """What was read last in processes of their own, by keys; what is wrong with a text is kept as well.

    A key is another one where what is read changes.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[str, _KnownAnswer[T]] = OrderedDict()
        self._lock = threading.Lock()

    def ask(
        self, key: str, size: int, until: float, late: str, function: Callable[P, T], *given: P.args, **more: P.kwargs
    ) -> T:
        """Return what a function answers, which was asked before or is asked now and reads so many bytes.

        Raises the errors of ours that it raises, and LimitExceededError, which says ``late``, where there is no time.
        """
        left = until - time.monotonic()
        answer = self._kept(key, left)
        if answer is None:
            if left <= 0:
                raise LimitExceededError(Diagnostic(TOO_LONG, late))
            answer = self._asked(key, size, left, function, *given, **more)
        if isinstance(answer, PpdmError):
            raise answer.with_traceback(None)
        return answer

    def _asked(
        self, key: str, size: int, left: float, function: Callable[P, T], *given: P.args, **more: P.kwargs
    ) -> T | PpdmError:
        answer: T | PpdmError
        until = seconds = math.inf
        try:
            answer = CHECKS.within(left).run(function, *given, **more)
        except LimitExceededError as error:
            answer, until = error, time.monotonic() + _AGAIN
            seconds = left if left < CHECKS.seconds else math.inf
        except PpdmError as error:
            answer = error
        with self._lock:
            self._known[key] = _KnownAnswer(answer, size, until, seconds)
            while sum(each.bytes for each in self._known.values()) > _MOST_BYTES:
                self._known.popitem(last=False)
        return answer

    def _kept(self, key: str, left: float) -> T | PpdmError | None:
        with self._lock:
            known = self._known.get(key)
            if known is None or known.until < time.monotonic() or known.seconds < left - _ALIKE:
                return None
            self._known.move_to_end(key)
            return known.answer


class SignersLists(BoundedAnswers[Signers]):
    """The lists that were read last, by their digests."""

    def reader(self, seconds: float = math.inf) -> ReadSigners:
        """Return what reads lists for one page, which waits so long for those that are not known yet.

        It raises PolicyError and UsageError as `read_signers` does, and LimitExceededError where there is no time.
        """
        until = time.monotonic() + seconds
        return lambda path: self._read(path, until)

    def _read(self, path: Path, until: float) -> Signers:
        data = signers_bytes(path, path.name)
        digest = hashlib.sha256(data).hexdigest()
        late = f"the list of signers {path.name} is long and was not looked at: open the run by itself"
        return self.ask(digest, len(data), until, late, signers_in, data, path.name)


LISTS = SignersLists()
"""The lists of all held runs of a server."""
SECONDS = 3.0
"""How long a page of many runs waits for lists."""
