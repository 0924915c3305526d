"""What to change where a requirement or gate does not hold, as edits of the policy that somebody may look at.

An edit is offered where the policy with it has no error; whether it is enough is for the next run to say.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from ppdm_flow.api.explain.listing import plugins
from ppdm_flow.page.looks.addresses import policy_address
from ppdm_flow.page.site import Site
from ppdm_flow.policy.loading import load
from ppdm_flow.report.run.checks import Check
from ppdm_flow.report.run.fields import ReportDocument
from ppdm_flow.report.run.verdict import Verdict

_MOST = 3
_DIGITS = 3


@dataclass(frozen=True, slots=True)
class Offer:
    """An edit: the key of its sentence with what fills it in, and the values that it sets, as ``path=value``.

    ``weakens``: less has to hold with it.
    """

    text: str
    words: Mapping[str, str]
    sets: tuple[str, ...]
    address: str
    weakens: bool = False


def offers(site: Site, policy: str, document: ReportDocument, judged: Verdict) -> dict[str, tuple[Offer, ...]]:
    """Return the edits that are offered for each check that does not hold, by its anchor."""
    tree = load(site.policies.path(policy)).tree
    return {
        check.anchor: tuple(
            Offer(each.text, each.words, each.sets, proposed(policy, each.sets), each.weakens)
            for each in (*islice(_steps(check, document, tree), _MOST), *_bounds(check, tree))
        )
        for check in judged.failing
    }


def proposed(policy: str, sets: Iterable[str]) -> str:
    """Return the address at which an edit is shown, which sets these values, as ``path=value``."""
    return f"{policy_address(policy, 'propose')}?{urlencode([('set', each) for each in sets])}"


def _steps(check: Check, document: ReportDocument, tree: Mapping[str, Any]) -> Iterator[Offer]:
    """Yield a step for each anonymizer that works towards a requirement which no step of the policy works towards."""
    parts = check.id.split(".")
    plan = document["plan"]
    if parts[0] != "privacy" or any(check.id in step.get("serves", ()) for step in plan.get("steps", ())):
        return
    for card in plugins("anonymizers"):
        if parts[1] not in card.serves or card.fault:
            continue
        name = _free(card.name.replace("_", "-"), tree.get("steps") or {})
        sets = [f"steps.{name}.use={card.name}"]
        before = (tree.get("releases") or {}).get(check.release) or {}
        if before.get("from"):
            sets.append(f"steps.{name}.input={before['from']}")
            sets.append(f"releases.{check.release}.from={name}")
        yield Offer("runs.offer_step", {"step": name, "use": card.name}, tuple(sets), "")


def _free(name: str, taken: Mapping[str, Any]) -> str:
    numbers = (name if i == 1 else f"{name}-{i}" for i in range(1, len(taken) + 2))
    return next(each for each in numbers if each not in taken)


def _bounds(check: Check, tree: Mapping[str, Any]) -> Iterator[Offer]:
    """Yield the bound that the measured figure would keep, where one value of the policy says the bound."""
    path = check.id.split(".", 2)
    node: Any = tree
    for part in path:
        node = node.get(part) if isinstance(node, Mapping) else None
    if check.figure is None or not math.isfinite(check.figure) or not isinstance(node, Mapping):
        return
    places = [key for key, value in node.items() if isinstance(value, str) and _number(value) == check.limit]
    if len(places) == 1:
        value = _rounded(check.figure, at_most=check.at_most)
        place = ".".join((*path, places[0]))
        words = {"place": place, "value": value, "bound": check.bound}
        yield Offer("runs.offer_bound", words, (f"{place}={value}",), "", weakens=True)


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
