"""The JSON Schema (draft-07) of ``ppdm-flow mine --format json``."""

from __future__ import annotations

from typing import Any

from ppdm_flow.core.json_schema import list_of, of, record

IDENTITY = "https://ppdm-flow.example/schemas/mined.v1.json"

_Schema = dict[str, Any]


def schema() -> _Schema:
    """Return the schema of what was mined, version 1."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": IDENTITY,
        "title": "Itemsets and rules that were mined in a release",
        "description": "Supports of itemsets in the transactions before they were randomized, with their errors.",
        **record(_top()),
        "definitions": {
            "operator": record(_operator()),
            "entry": record(_entry()),
            "size": record(_size()),
            "itemset": record(_itemset()),
            "rule": record(_rule()),
            "ratio": record(_ratio()),
            "items": {
                "type": "array",
                "description": "Items by the names of the release's alphabet.",
                "items": {"type": "string"},
            },
        },
    }


def _top() -> _Schema:
    return {
        "version": {"const": 1, "description": "Version of this document's form."},
        "file": _text("Name of the released file."),
        "attribute": _text("The column with the sets."),
        "transactions": _whole("How many there are."),
        "items": _whole("Size of the alphabet."),
        "operator": {
            "description": "What randomized the sets; null where nothing did, and supports are exact.",
            "anyOf": [of("operator"), {"type": "null"}],
        },
        "min_support": record({"asked": {"type": "object"}, "share": _share("As a share of all transactions.")}),
        "precision": _maybe("The search stops where an itemset of minimum support has an estimate of fewer errors."),
        "level": _maybe("Of the intervals."),
        "basis": _text("What is fixed and what is random."),
        "stopped": record(
            {
                "after": _whole("Items of the largest itemsets that were looked at."),
                "why": {
                    "enum": ["no candidates", "length", "precision", "seeds", "lost"],
                    "description": "Nothing left to try, the length asked for, errors too large, seeds that say no"
                    " more, or an operator that keeps too few items.",
                },
                "next_sigma": _maybe("The error of the next size at the minimum support, where precision ended it."),
            }
        ),
        "sizes": list_of("size", "What was looked at, by the number of items from 1."),
        "itemsets": list_of("itemset", "By size, highest support first."),
        "rules": {
            "description": "Association rules, most confident first; null where they were not asked for.",
            "anyOf": [list_of("rule", "The rules."), {"type": "null"}],
        },
    }


def _operator() -> _Schema:
    return {
        "family": _text("select_a_size, cut_and_paste or uniform."),
        "alphabet": _whole("Number of items that it chooses from."),
        "sizes": list_of("entry", "Its parameters by the size of the original transaction."),
    }


def _entry() -> _Schema:
    return {
        "size": _whole("Items of the original transaction."),
        "insertion": _maybe("Probability to put in any other item."),
        "cutoff": {"type": ["integer", "null"], "description": "Items kept at most by the cut."},
    }


def _size() -> _Schema:
    return {
        "size": _whole("Number of items k."),
        "candidates": {"type": ["integer", "null"], "description": "Itemsets that were counted."},
        "found": _whole("Itemsets with at least the minimum support."),
        "sigma": _maybe("Standard error of an itemset of minimum support whose items are otherwise not in the data."),
        "lowest_discoverable_support": _maybe("The support that is 4 standard errors above 0."),
        "expected_false_positives": _maybe("Found ones that are expected to have less than the minimum support."),
        "expected_false_drops": _maybe("Candidates that are expected to have it, and were not found."),
    }


def _itemset() -> _Schema:
    return {
        "items": of("items"),
        "support": _share("Unbiased estimate, or exact support, as a share of all transactions."),
        "transactions": {"type": "number", "description": "The same as a number of transactions."},
        "sigma": _maybe("Standard error; null for exact supports."),
        "low": _maybe("Lower end of the interval."),
        "high": _maybe("Upper end of the interval."),
        "discoverable": {"type": "boolean", "description": "Whether the estimate is 4 standard errors above 0."},
    }


def _rule() -> _Schema:
    return {
        "antecedent": of("items"),
        "consequent": of("items"),
        "support": _share("Of both together."),
        "sigma": _maybe("Its standard error."),
        "confidence": of("ratio"),
        "lift": of("ratio"),
    }


def _ratio() -> _Schema:
    return {
        "value": _maybe("The ratio; null where a support below it is not told from 0."),
        "sigma": _maybe("Standard error by the delta method."),
        "low": _maybe("Lower end of the interval."),
        "high": _maybe("Upper end; null where there is none."),
    }


def _text(description: str) -> _Schema:
    return {"type": "string", "description": description}


def _whole(description: str) -> _Schema:
    return {"type": "integer", "minimum": 0, "description": description}


def _share(description: str) -> _Schema:
    return {"type": "number", "description": description}


def _maybe(description: str) -> _Schema:
    return {"type": ["number", "null"], "description": description}
