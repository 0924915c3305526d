"""A partial order on policies: P is at least as strict as Q if every release that satisfies P satisfies Q.

A release is an original table that both policies can read, the files that leave, what the steps that made them say of
themselves (operators, what became of an attribute), and the ledger's history. Only theorems count: what no rule proves
is incomparable. The tolerance of comparisons (1e-9) and the error probability of tests on bytes are no part of it.
"""

from ppdm_flow.policy.order.clauses import ChangeVerdict, ClauseText, ComparedClause, PolicyComparison, PolicyRelation
from ppdm_flow.policy.order.compare import compare

__all__ = ["ComparedClause", "PolicyComparison", "PolicyRelation", "ClauseText", "ChangeVerdict", "compare"]
