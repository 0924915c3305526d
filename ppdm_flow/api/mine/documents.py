"""What was mined, as JSON and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import NonNegativeInt
from typing_extensions import TypedDict

from ppdm_flow.api.mine.answer import Itemsets, MinedRelease
from ppdm_flow.api.mine.estimates import cell
from ppdm_flow.core.documents import Version, about, one_of
from ppdm_flow.core.visible import json_text
from ppdm_flow.mining.transactions.associations import Ratio
from ppdm_flow.mining.transactions.operators import Operator
from ppdm_flow.mining.transactions.rules import Rule

BASIS = "the fixed original transactions; the randomization alone is random"
HEAD = ("size", "items", "support", "transactions", "sigma", "low", "high", "discoverable")
RULE_HEAD = (
    *("antecedent", "consequent", "support", "sigma"),
    *("confidence", "confidence_sigma", "confidence_low", "confidence_high"),
    *("lift", "lift_sigma", "lift_low", "lift_high"),
)

Items = Annotated[list[str], about("Items by the names of the release's alphabet.")]


class OperatorSize(TypedDict):
    """The operator's parameters for transactions of one size."""

    size: Annotated[NonNegativeInt, about("Items of the original transaction.")]
    insertion: Annotated[float | None, about("Probability to put in any other item.")]
    cutoff: Annotated[int | None, about("Items kept at most by the cut.")]


class MinedOperator(TypedDict):
    """What randomized the sets."""

    family: Annotated[str, about("select_a_size, cut_and_paste or uniform.")]
    alphabet: Annotated[NonNegativeInt, about("Number of items that it chooses from.")]
    sizes: Annotated[list[OperatorSize], about("Its parameters by the size of the original transaction.")]


class MinSupport(TypedDict):
    """The least support of the itemsets."""

    asked: dict[str, Any]
    share: Annotated[float, about("As a share of all transactions.")]


class SearchEnd(TypedDict):
    """Where the search ended."""

    after: Annotated[NonNegativeInt, about("Items of the largest itemsets that were looked at.")]
    why: Annotated[
        str,
        one_of(("no candidates", "length", "precision", "seeds", "lost")),
        about(
            "Nothing left to try, the length asked for, errors too large, seeds that say no more, or an operator that"
            " keeps too few items."
        ),
    ]
    next_sigma: Annotated[
        float | None, about("The error of the next size at the minimum support, where precision ended it.")
    ]


class MinedSize(TypedDict):
    """What was looked at of one number of items."""

    size: Annotated[NonNegativeInt, about("Number of items k.")]
    candidates: Annotated[int | None, about("Itemsets that were counted.")]
    found: Annotated[NonNegativeInt, about("Itemsets with at least the minimum support.")]
    sigma: Annotated[
        float | None,
        about("Standard error of an itemset of minimum support whose items are otherwise not in the data."),
    ]
    lowest_discoverable_support: Annotated[float | None, about("The support that is 4 standard errors above 0.")]
    expected_false_positives: Annotated[
        float | None, about("Found ones that are expected to have less than the minimum support.")
    ]
    expected_false_drops: Annotated[float | None, about("Candidates that are expected to have it, and were not found.")]


class MinedItemset(TypedDict):
    """An itemset with its support."""

    items: Items
    support: Annotated[float, about("Unbiased estimate, or exact support, as a share of all transactions.")]
    transactions: Annotated[float, about("The same as a number of transactions.")]
    sigma: Annotated[float | None, about("Standard error; null for exact supports.")]
    low: Annotated[float | None, about("Lower end of the interval.")]
    high: Annotated[float | None, about("Upper end of the interval.")]
    discoverable: Annotated[bool, about("Whether the estimate is 4 standard errors above 0.")]


class MinedRatio(TypedDict):
    """A ratio of supports."""

    value: Annotated[float | None, about("The ratio; null where a support below it is not told from 0.")]
    sigma: Annotated[float | None, about("Standard error by the delta method.")]
    low: Annotated[float | None, about("Lower end of the interval.")]
    high: Annotated[float | None, about("Upper end; null where there is none.")]


class MinedRule(TypedDict):
    """An association rule."""

    antecedent: Items
    consequent: Items
    support: Annotated[float, about("Of both together.")]
    sigma: Annotated[float | None, about("Its standard error.")]
    confidence: MinedRatio
    lift: MinedRatio


class MinedDocument(TypedDict):
    """Itemsets and rules that were mined in a release.

    Supports of itemsets in the transactions before they were randomized, with their errors.
    """

    version: Version
    file: Annotated[str, about("Name of the released file.")]
    attribute: Annotated[str, about("The column with the sets.")]
    transactions: Annotated[NonNegativeInt, about("How many there are.")]
    items: Annotated[NonNegativeInt, about("Size of the alphabet.")]
    operator: Annotated[
        MinedOperator | None, about("What randomized the sets; null where nothing did, and supports are exact.")
    ]
    min_support: MinSupport
    precision: Annotated[
        float | None,
        about("The search stops where an itemset of minimum support has an estimate of fewer errors."),
    ]
    level: Annotated[float | None, about("Of the intervals.")]
    basis: Annotated[str, about("What is fixed and what is random.")]
    stopped: SearchEnd
    sizes: Annotated[list[MinedSize], about("What was looked at, by the number of items from 1.")]
    itemsets: Annotated[list[MinedItemset], about("By size, highest support first.")]
    rules: Annotated[
        list[MinedRule] | None,
        about("Association rules, most confident first; null where they were not asked for."),
    ]


def as_json(answer: MinedRelease, limit: int | None = None) -> str:
    """Return the JSON form: numbers in full, null for what is not known."""
    return json_text(document(answer, limit))


def document(answer: MinedRelease, limit: int | None = None) -> MinedDocument:
    """Return the document; of each size, and of the rules, at most ``limit``."""
    asked = answer.asked
    return {
        "version": 1,
        "file": answer.file,
        "attribute": answer.attribute,
        "transactions": answer.rows,
        "items": len(answer.names),
        "operator": None if answer.operator is None else _operator(answer.operator),
        "min_support": {"asked": asked.min_support.document, "share": answer.least},
        "precision": None if answer.exact else asked.precision,
        "level": None if answer.exact else asked.level,
        "basis": "counts of the released sets" if answer.exact else BASIS,
        "stopped": {"after": len(answer.sizes), "why": answer.stopped, "next_sigma": answer.next_sigma},
        "sizes": [_size(one, answer) for one in answer.sizes],
        "itemsets": [_itemset(answer, one, place) for one, place in answer.each(limit)],
        "rules": None if answer.rules is None else [_rule(answer, r) for r in answer.rules[:limit]],
    }


def as_csv(answer: MinedRelease, limit: int | None = None) -> str:
    """Return a line for each itemset, or for each rule where rules were asked for.

    The items of a set are a line of CSV themselves: names with a comma or a quote are quoted within the cell.
    """
    if answer.rules is not None:
        lines = [_rule_cells(answer, rule) for rule in answer.rules[:limit]]
        return "\n".join(",".join(line) for line in ([*RULE_HEAD], *lines))
    lines = [list(_cells(answer, one, place)) for one, place in answer.each(limit)]
    return "\n".join(",".join(line) for line in ([*HEAD], *lines))


def listed(names: Sequence[str]) -> str:
    """Return items as a line of CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(names)
    return out.getvalue()


def _operator(operator: Operator) -> MinedOperator:
    return {
        "family": operator.family,
        "alphabet": operator.alphabet,
        "sizes": [
            {"size": m, "insertion": operator.insertion.get(m), "cutoff": operator.cutoffs.get(m)}
            for m in operator.sizes
        ],
    }


def _size(one: Itemsets, answer: MinedRelease) -> MinedSize:
    estimated = not answer.exact
    return {
        "size": one.size,
        "candidates": one.candidates if estimated else None,
        "found": len(one),
        "sigma": one.sigma_least if estimated else None,
        "lowest_discoverable_support": one.lowest if estimated else None,
        "expected_false_positives": one.false_positives if estimated else None,
        "expected_false_drops": one.false_drops if estimated else None,
    }


def _itemset(answer: MinedRelease, one: Itemsets, place: int) -> MinedItemset:
    support = float(one.value[place])
    exact = answer.exact
    return {
        "items": answer.texts(one.items[place]),
        "support": support,
        "transactions": round(support * answer.rows, 0 if exact else 3),
        "sigma": None if exact else float(one.sigma[place]),
        "low": None if exact else float(one.low[place]),
        "high": None if exact else float(one.high[place]),
        "discoverable": bool(one.told[place]),
    }


def _rule(answer: MinedRelease, rule: Rule) -> MinedRule:
    return {
        "antecedent": answer.texts(rule.antecedent),
        "consequent": answer.texts(rule.consequent),
        "support": rule.support,
        "sigma": None if answer.exact else rule.sigma,
        "confidence": _ratio(rule.confidence, exact=answer.exact),
        "lift": _ratio(rule.lift, exact=answer.exact),
    }


def _ratio(ratio: Ratio, *, exact: bool) -> MinedRatio:
    if exact:
        return {"value": ratio.value, "sigma": None, "low": None, "high": None}
    return {"value": ratio.value, "sigma": ratio.sigma, "low": ratio.low, "high": ratio.high}


def _cells(answer: MinedRelease, one: Itemsets, place: int) -> Iterator[str]:
    itemset = _itemset(answer, one, place)
    yield str(one.size)
    yield cell(listed(itemset["items"]))
    numbers = (itemset["support"], itemset["transactions"], itemset["sigma"], itemset["low"], itemset["high"])
    yield from map(_number, numbers)
    yield "yes" if itemset["discoverable"] else "no"


def _rule_cells(answer: MinedRelease, rule: Rule) -> list[str]:
    cells = _rule(answer, rule)
    numbers = [cells["support"], cells["sigma"], *_ratio_numbers(cells["confidence"]), *_ratio_numbers(cells["lift"])]
    return [cell(listed(cells["antecedent"])), cell(listed(cells["consequent"])), *map(_number, numbers)]


def _ratio_numbers(ratio: MinedRatio) -> tuple[float | None, ...]:
    return ratio["value"], ratio["sigma"], ratio["low"], ratio["high"]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.10g}"
