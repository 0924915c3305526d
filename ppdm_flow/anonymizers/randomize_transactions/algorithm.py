"""Randomize transactions: find the operator, and say what it protects and what it leaves to be found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa

from ppdm_flow.anonymizers.plain_sets import baskets
from ppdm_flow.anonymizers.randomize_transactions.account import OperatorAccount, as_seeds
from ppdm_flow.anonymizers.randomize_transactions.choice import operator_for
from ppdm_flow.anonymizers.randomize_transactions.notices import charts, notices
from ppdm_flow.anonymizers.randomize_transactions.observed import observed, onto, refuse_long
from ppdm_flow.anonymizers.randomize_transactions.spec import RandomizeTransactionsParams, wanted
from ppdm_flow.anonymizers.set_columns import required
from ppdm_flow.core.draws import Draws
from ppdm_flow.core.errors import DataError, PluginError
from ppdm_flow.mining.transactions.documents import document, from_document
from ppdm_flow.mining.transactions.operators import TransactionOperator
from ppdm_flow.mining.transactions.randomize import randomize, seeded
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.set_operator import SetOperator
from ppdm_flow.sdk.view import DataView
from ppdm_flow.tables.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class RandomizeTransform:
    """Each set on its own: bits, or the seed that they expand from.

    ``told`` is the operator's document as JSON text: small, and the same wherever it is read.
    """

    attribute: str
    written: str
    alphabet: pa.StringArray
    seeds: bool

    @property
    def draws_per_row(self) -> int:
        """As many as the largest set takes."""
        operator = _operator(self.written)
        return seeded.draws_per_row(operator) if self.seeds else randomize.draws_per_row(operator)

    def apply(self, part: Table, draws: Draws) -> Table:
        """Return the partition with its sets randomized."""
        column = onto(baskets(part, self.attribute), self.alphabet, self.attribute)
        operator = _operator(self.written)
        made = seeded.seed if self.seeds else randomize.randomize
        return part.resettled({self.attribute: made(column, operator, draws, part.rows)})

    def describe(self) -> Mapping[str, Any]:
        """Return the operator and the form."""
        return {
            "attribute": self.attribute,
            "form": "seeded" if self.seeds else "packed",
            "operator": json.loads(self.written),
        }


@lru_cache(maxsize=8)
def _operator(written: str) -> TransactionOperator:
    return from_document(json.loads(written))


class RandomizeTransactions:
    """Makes of each set another one, by an operator that treats all items alike.

    Source: Evfimievski, Srikant, Agrawal, Gehrke, "Privacy preserving mining of association rules", KDD 2002.
    """

    def __init__(self, params: RandomizeTransactionsParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Find the operator. Raises PluginError where the sets are too long, or nothing keeps what is required."""
        name = required(self.params.attribute, ctx.attributes)
        facts = ctx.attributes[name]
        sets = observed(data, name, facts.domain)
        refuse_long(sets, self.params.longest)
        chosen = operator_for(self.params, sets, wanted(ctx.requirements, facts.source or name))
        try:
            seeds = as_seeds(self.params.form, chosen.operator, sets.rows)
        except DataError as error:
            raise PluginError(list(error.diagnostics)) from None
        account = OperatorAccount.of(sets, chosen, seeds=seeds)
        written = document(chosen.operator)
        channel = SetOperator(name, written, ctx.step)
        return Fitted(
            transform=RandomizeTransform(name, json.dumps(written), sets.alphabet, seeds),
            figures=account.figures(),
            artifacts={
                "operator.json": {"version": 1, "operators": [channel.entry()]},
                "mining_contract.json": account.contract(),
            },
            findings=tuple(notices(account, ctx.step)),
            charts=charts(account, ctx.step),
            set_operators={name: channel},
        )
