"""What to change where a requirement or gate does not hold, as edits of the policy that somebody may look at.

An edit is offered where the policy with it has no error; whether it is enough is for the next run to say.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ppdm_flow.api.explain.listing import plugins
from ppdm_flow.core.errors import PpdmError
from ppdm_flow.page.looks.addresses import policy_address
from ppdm_flow.page.services.bounded import CHECKS, LimitExceededError
from ppdm_flow.page.services.policies.checks import PolicyCheck
from ppdm_flow.page.services.policies.policies import PolicyText, TooLongError
from ppdm_flow.page.site import Site
from ppdm_flow.policy.edit.changes import PolicyEdit, put, to_json
from ppdm_flow.policy.edit.edited import edited
from ppdm_flow.policy.loading import load
from ppdm_flow.report.run.checks import CheckedRequirement
from ppdm_flow.report.run.verdict import PageVerdict

_LOCAL = frozenset({"mondrian", "progressive_disclosure", "suppress"})
"""Steps that change only what they must, so that no column becomes `*` as a whole: they are offered first."""
_MOST = 3
_DIGITS = 3
_SECONDS = 5
"""How long a page waits for edits."""


@dataclass(frozen=True, slots=True)
class Offer:
    """An edit: the key of its sentence with what fills it in, and what it changes.

    ``weakens``: less has to hold with it.
    """

    text: str
    words: Mapping[str, str]
    changes: tuple[PolicyEdit, ...]
    address: str
    weakens: bool = False


@dataclass(frozen=True, slots=True)
class _Mender:
    """Makes edits of one policy, and keeps those by which it has no error.

    ``back`` is where the edit's page leads, ``until`` the time after which no more edits are tried.
    """

    site: Site
    policy: PolicyText
    tree: Mapping[str, Any]
    back: str
    until: float

    def offers(self, check: CheckedRequirement) -> tuple[Offer, ...]:
        return (*islice(self._steps(check), _MOST), *self._bounds(check))

    def _steps(self, check: CheckedRequirement) -> Iterator[Offer]:
        """Yield a step for each anonymizer that works towards a requirement which no step works towards yet.

        None where nothing was measured: what cannot be told, such as what earlier releases show, no step changes.
        """
        parts = check.id.split(".")
        if parts[0] != "privacy" or check.figure is None or _is_served(self._checked(()), check.id):
            return
        cards = sorted(plugins("anonymizers"), key=lambda card: card.name not in _LOCAL)
        for card in cards:
            if parts[1] in card.serves and not card.fault:
                name = _free(card.name.replace("_", "-"), self.tree.get("steps") or {})
                changes = tuple(_new_step(name, card.name, check.release, self.tree))
                if _is_served(self._checked(changes), check.id):
                    yield self._offer("runs.offer_step", {"step": name, "use": card.name}, changes)

    def _bounds(self, check: CheckedRequirement) -> Iterator[Offer]:
        """Yield the bound that the measured figure keeps, where one value of the policy says the bound."""
        path = _bound_path(check, self.tree)
        if path is None or check.figure is None or not _is_bound(check):
            return
        value = _rounded(check.figure, at_most=check.at_most)
        changes = (put(path, value),)
        checked = self._checked(changes)
        if checked is not None and checked.valid:
            words = {"place": ".".join(path), "value": value, "bound": check.bound}
            yield self._offer("runs.offer_bound", words, changes, weakens=True)

    def _offer(
        self, text: str, words: Mapping[str, str], changes: tuple[PolicyEdit, ...], *, weakens: bool = False
    ) -> Offer:
        return Offer(text, words, changes, proposed(self.policy.name, changes, self.back), weakens)

    def _checked(self, changes: Iterable[PolicyEdit]) -> PolicyCheck | None:
        """Return the policy with these changes; None where its text cannot be changed so, or there is no time."""
        if time.monotonic() > self.until:
            return None
        try:
            text = CHECKS.run(edited, self.policy.text, tuple(changes), self.policy.name)
        except PpdmError:
            return None
        return self.site.checks.check(self.policy.name, text)


def offers(site: Site, policy: str, judged: PageVerdict, back: str) -> dict[str, tuple[Offer, ...]]:
    """Return the edits that are offered for each check that does not hold, by its anchor."""
    try:
        text, tree = site.policies.read(policy), CHECKS.run(policy_tree, site.policies.path(policy))
    except (LimitExceededError, TooLongError):  # the run can be looked at all the same
        return {}
    mender = _Mender(site, text, tree, back, time.monotonic() + _SECONDS)
    return {check.anchor: mender.offers(check) for check in judged.failing}


def policy_tree(path: Path) -> Mapping[str, Any]:
    """Return what a policy says, with what its templates say."""
    return load(path).tree


def proposed(policy: str, changes: Iterable[PolicyEdit], back: str = "") -> str:
    """Return the address at which an edit of a policy is shown, with a button that applies it."""
    return policy_address(policy, "propose", changes=to_json(changes), back=back)


def _is_served(checked: PolicyCheck | None, requirement: str) -> bool:
    return checked is not None and checked.valid and requirement in checked.serves


def _new_step(name: str, use: str, release: str, tree: Mapping[str, Any]) -> Iterator[PolicyEdit]:
    """Yield what puts a step in front of a release: behind the one that it is made from, where the policy names it."""
    before = ((tree.get("releases") or {}).get(release) or {}).get("from")
    yield put(("steps", name), {"use": use, "input": before} if before else {"use": use})
    if before:
        yield put(("releases", release, "from"), name)


def _free(name: str, taken: Mapping[str, Any]) -> str:
    numbers = (name if i == 1 else f"{name}-{i}" for i in range(1, len(taken) + 2))
    return next(each for each in numbers if each not in taken)


def _bound_path(check: CheckedRequirement, tree: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the path of the one value of a requirement or gate that is its bound."""
    path = tuple(check.id.split(".", 2))
    node: Any = tree
    for part in path:
        node = node.get(part) if isinstance(node, Mapping) else None
    if not isinstance(node, Mapping):
        return None
    places = [str(key) for key, value in node.items() if isinstance(value, str) and _number(value) == check.limit]
    return (*path, places[0]) if len(places) == 1 else None


def _is_bound(check: CheckedRequirement) -> bool:
    """Whether the measured figure asks for anything: a group of one, or a share of all, does not."""
    if check.figure is None or not math.isfinite(check.figure):
        return False
    return not check.share or check.figure < 1 if check.at_most else check.figure > 1 or check.share


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _rounded(figure: float, *, at_most: bool) -> str:
    """Return the figure, rounded to a few digits to the side on which it still holds."""
    if figure == int(figure):
        return str(int(figure))
    scale = 10.0 ** (_DIGITS - 1 - math.floor(math.log10(abs(figure))))
    return f"{(math.ceil if at_most else math.floor)(figure * scale) / scale:.12g}"
