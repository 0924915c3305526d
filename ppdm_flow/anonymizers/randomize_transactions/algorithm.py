"""Randomize transactions: find the operator, and say what it protects and what it leaves to be found."""

from __future__ import annotations

import json

from ppdm_flow.anonymizers.randomize_transactions.account import Account
from ppdm_flow.anonymizers.randomize_transactions.choice import operator_for
from ppdm_flow.anonymizers.randomize_transactions.form import as_seeds
from ppdm_flow.anonymizers.randomize_transactions.notices import notices
from ppdm_flow.anonymizers.randomize_transactions.observed import observed, refuse_long
from ppdm_flow.anonymizers.randomize_transactions.picture import charts
from ppdm_flow.anonymizers.randomize_transactions.spec import RandomizeTransactionsParams, wanted
from ppdm_flow.anonymizers.randomize_transactions.transform import RandomizeTransform
from ppdm_flow.anonymizers.set_columns import required
from ppdm_flow.core.errors import DataError, PluginError
from ppdm_flow.mining.transactions.documents import document
from ppdm_flow.sdk.anonymizer import Fitted, SetOperator, StepContext
from ppdm_flow.sdk.view import DataView


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
        found = observed(data, name, facts.domain)
        refuse_long(found, self.params.longest)
        chosen = operator_for(self.params, found, wanted(ctx.requirements, facts.source or name))
        try:
            seeds = as_seeds(self.params.form, chosen.operator, found.rows)
        except DataError as error:
            raise PluginError(list(error.diagnostics)) from None
        account = Account.of(found, chosen, seeds=seeds)
        told = document(chosen.operator)
        channel = SetOperator(name, told, ctx.step)
        return Fitted(
            transform=RandomizeTransform(name, json.dumps(told), found.alphabet, seeds),
            figures=account.figures(),
            artifacts={
                "operator.json": {"version": 1, "operators": [channel.entry()]},
                "mining_contract.json": account.contract(),
            },
            findings=tuple(notices(account, ctx.step)),
            charts=charts(account, ctx.step),
            set_operators={name: channel},
        )
