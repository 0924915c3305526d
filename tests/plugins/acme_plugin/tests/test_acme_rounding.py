"""The author's own tests: the kit of ppdm-flow, and a claim of its own."""

from acme_rounding.spec import SPEC
from scipy import stats

from ppdm_flow.plugins import AnonymizerConformance, BadInput, Case, Table


def without_bias(outcome):
    before = [int(v) for v in outcome.original["income"].texts() if v is not None]
    after = [int(v) for v in outcome.released["income"].texts() if v is not None]
    p = stats.ttest_1samp([a - b for a, b in zip(after, before)], 0).pvalue
    return None if p > 1e-6 else f"the mean moves: p = {p:.3g}"


class TestRounding(AnonymizerConformance):
    def case(self):
        incomes = [None if i % 50 == 0 else str(i * 7 % 1000 - 200) for i in range(2000)]
        table = Table.of({"income": incomes, "sex": ["F", "M"] * 1000})
        return Case(
            SPEC,
            {"attribute": "income", "base": "25"},
            table,
            domains={"income": frozenset(str(n) for n in range(-200, 801, 25))},
            claims=(without_bias,),
            bad=(BadInput("income", Table.of({"income": ["12", "much"], "sex": ["F", "M"]})),),
        )
