"""Progressive disclosure: search on the counts, then one code map a column."""

from __future__ import annotations

from ppdm_flow.anonymizers.progressive_disclosure.account import chart, figures
from ppdm_flow.anonymizers.progressive_disclosure.encoding import encode
from ppdm_flow.anonymizers.progressive_disclosure.feasibility import infeasible
from ppdm_flow.anonymizers.progressive_disclosure.outcome import outcomes
from ppdm_flow.anonymizers.progressive_disclosure.search import Search
from ppdm_flow.anonymizers.progressive_disclosure.spec import DisclosureParams, channels, sensitive
from ppdm_flow.anonymizers.progressive_disclosure.transform import SuppressTransform
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.roles import Role
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.view import DataView


class ProgressiveDisclosure:
    """Suppresses values of channel attributes until every template <IC -> pi, h> holds in every group over IC.

    Source: Wang, Fung, Yu, "Template-based privacy preservation in classification problems", ICDM 2005, Algorithm 1.
    """

    def __init__(self, params: DisclosureParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Search. Raises PluginError, naming the template, where even full suppression does not satisfy it."""
        templates = self.params.enforced(ctx.requirements, ctx.attributes)
        if not templates:
            raise PluginError(
                Diagnostic("PPF780", "nothing to enforce: no template of `privacy.templates` concerns this table")
            )
        suppressible = self.params.suppressible(templates)
        targets = () if self.params.score == "entropy" else data.schema.having(Role.TARGET)
        if self.params.score == "information_gain" and not targets:
            raise PluginError(Diagnostic("PPF780", "information gain needs an attribute with `role: target`"))
        columns = tuple(dict.fromkeys((*channels(templates), *sensitive(templates), *targets)))
        counts = data.counts(columns)
        problem = encode(counts, templates, suppressible, targets, ctx.nulls)
        search = Search(problem, useless=self.params.disclose == "valid")
        broken = infeasible(search.groups)
        if broken:
            raise PluginError(broken)
        found = outcomes(counts, problem, search.run(), ctx.nulls)
        return Fitted(
            transform=SuppressTransform(found),
            figures=figures(found, problem),
            charts=(chart(found, problem, ctx.step),),
        )
