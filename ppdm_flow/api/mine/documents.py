"""What was mined, as JSON and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from functools import cache, partial
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.api.mine.answer import SIGMAS, ItemsetsOfSize, MinedRelease
from ppdm_flow.api.mine.estimates import cell
from ppdm_flow.api.mine.fields import MinedDocument, MinedItemset, MinedOperator, MinedRatio, MinedRule, MinedSize
from ppdm_flow.core.texts import json_text
from ppdm_flow.mining.transactions.operators import TransactionOperator
from ppdm_flow.mining.transactions.rules import AssociationRule, SupportRatio

BASIS = "the fixed original transactions; the randomization alone is random"
HEAD = ("size", "items", "support", "transactions", "sigma", "low", "high", "discoverable", "partial_supports")
RULE_HEAD = (
    *("antecedent", "consequent", "support", "sigma"),
    *("confidence", "confidence_sigma", "confidence_low", "confidence_high"),
    *("lift", "lift_sigma", "lift_low", "lift_high"),
)


def as_json(answer: MinedRelease, limit: int | None = None) -> str:
    """Return the JSON form: numbers in full, null for what is not known."""
    return json_text(document(answer, limit))


def document(answer: MinedRelease, limit: int | None = None) -> MinedDocument:
    """Return the document; of each size, and of the rules, at most ``limit``."""
    options = answer.options
    return {
        "version": 1,
        "file": answer.file,
        "attribute": answer.attribute,
        "transactions": answer.rows,
        "items": len(answer.names),
        "operator": None if answer.operator is None else _operator(answer.operator),
        "min_support": {"asked": options.min_support.document, "share": answer.least},
        "precision": None if answer.exact else options.precision,
        "level": None if answer.exact else options.level,
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
        rules = [_rule_cells(answer, rule) for rule in answer.rules[:limit]]
        return "\n".join(",".join(line) for line in ([*RULE_HEAD], *rules))
    lines = chain.from_iterable(_itemset_lines(answer, one, limit) for one in answer.sizes)
    return "\n".join([",".join(HEAD), *lines])


def listed(names: Sequence[str]) -> str:
    """Return items as a line of CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(names)
    return out.getvalue()


def _operator(operator: TransactionOperator) -> MinedOperator:
    return {
        "family": operator.family,
        "alphabet": operator.alphabet,
        "sizes": [
            {"size": m, "insertion": operator.insertion.get(m), "cutoff": operator.cutoffs.get(m)}
            for m in operator.sizes
        ],
    }


def _size(one: ItemsetsOfSize, answer: MinedRelease) -> MinedSize:
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


def _itemset(answer: MinedRelease, one: ItemsetsOfSize, place: int) -> MinedItemset:
    support = float(one.value[place])
    exact = answer.exact
    return {
        "items": answer.texts(one.items[place]),
        "support": support,
        "transactions": round(support * answer.rows, 0 if exact else 3),
        "sigma": None if exact else float(one.sigma[place]),
        "low": None if exact else float(one.low[place]),
        "high": None if exact else float(one.high[place]),
        "discoverable": one.is_discoverable(place),
        "partial_supports": None if one.partial is None else one.partial[place].tolist(),
    }


def _rule(answer: MinedRelease, rule: AssociationRule) -> MinedRule:
    return {
        "antecedent": answer.texts(rule.antecedent),
        "consequent": answer.texts(rule.consequent),
        "support": rule.support,
        "sigma": None if answer.exact else rule.sigma,
        "confidence": _ratio(rule.confidence, exact=answer.exact),
        "lift": _ratio(rule.lift, exact=answer.exact),
    }


def _ratio(ratio: SupportRatio, *, exact: bool) -> MinedRatio:
    if exact:
        return {"value": ratio.value, "sigma": None, "low": None, "high": None}
    return {"value": ratio.value, "sigma": ratio.sigma, "low": ratio.low, "high": ratio.high}


def _itemset_lines(answer: MinedRelease, one: ItemsetsOfSize, limit: int | None) -> list[str]:
    items = one.items[:limit]
    quoted = [listed([name]) for name in answer.names]
    if one.size == 1:
        labels = [cell(quoted[item]) for (item,) in items.tolist()]
    else:
        text = pa.large_string()
        inner = pa.array([name.replace('"', '""') for name in quoted], text)
        sets = pa.LargeListArray.from_arrays(np.arange(0, items.size + 1, one.size), inner.take(items.ravel()))
        labels = [f'"{names}"' for names in pc.binary_join(sets, pa.scalar(",", text)).to_pylist()]
    figures = cache(partial(_figures, answer.rows, exact=answer.exact))
    numbers = map(figures, *(x[:limit].tolist() for x in (one.value, one.sigma, one.low, one.high)))
    if one.partial is None:
        return [f"{one.size},{names},{figure}," for names, figure in zip(labels, numbers, strict=True)]
    shares = (" ".join(map(_number, row)) for row in one.partial[:limit].tolist())
    return [
        f"{one.size},{names},{figure},{parts}" for names, figure, parts in zip(labels, numbers, shares, strict=True)
    ]


def _figures(rows: int, support: float, sigma: float, low: float, high: float, *, exact: bool) -> str:
    transactions = round(support * rows, 0 if exact else 3)
    errors = (None, None, None) if exact else (sigma, low, high)
    cells = [*map(_number, (support, transactions, *errors)), "yes" if support >= SIGMAS * sigma else "no"]
    return ",".join(cells)


def _rule_cells(answer: MinedRelease, rule: AssociationRule) -> list[str]:
    cells = _rule(answer, rule)
    numbers = [cells["support"], cells["sigma"], *_ratio_numbers(cells["confidence"]), *_ratio_numbers(cells["lift"])]
    return [cell(listed(cells["antecedent"])), cell(listed(cells["consequent"])), *map(_number, numbers)]


def _ratio_numbers(ratio: MinedRatio) -> tuple[float | None, ...]:
    return ratio["value"], ratio["sigma"], ratio["low"], ratio["high"]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.10g}"
