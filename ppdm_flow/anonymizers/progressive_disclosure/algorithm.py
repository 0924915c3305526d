"""Progressive disclosure: search on the counts, then one code map a column."""

from __future__ import annotations

from collections.abc import Sequence

from ppdm_flow.anonymizers.class_models.people import subject_read
from ppdm_flow.anonymizers.class_models.reading import by_person, by_row_or_value
from ppdm_flow.anonymizers.naming import require
from ppdm_flow.anonymizers.progressive_disclosure import beam
from ppdm_flow.anonymizers.progressive_disclosure.account import charts, figures, named, redundant
from ppdm_flow.anonymizers.progressive_disclosure.encoding import Task, encode
from ppdm_flow.anonymizers.progressive_disclosure.feasibility import infeasible, needed
from ppdm_flow.anonymizers.progressive_disclosure.outcome import SuppressTransform, outcomes
from ppdm_flow.anonymizers.progressive_disclosure.people import DisclosedPeople
from ppdm_flow.anonymizers.progressive_disclosure.search import Search
from ppdm_flow.anonymizers.progressive_disclosure.spec import NOTHING, DisclosureParams, channels, sensitive
from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.core.errors import PluginError
from ppdm_flow.core.results import Figure
from ppdm_flow.core.roles import Role
from ppdm_flow.requirements.templates.requirement import Template
from ppdm_flow.sdk.anonymizer import Fitted, StepContext
from ppdm_flow.sdk.spec import Scope
from ppdm_flow.sdk.view import DataView


class ProgressiveDisclosure:
    """Suppresses values of channel attributes until every template <IC -> pi, h> holds in every group over IC.

    Source: Wang, Fung, Yu, "Template-based privacy preservation in classification problems", ICDM 2005, Algorithm 1.
    """

    def __init__(self, params: DisclosureParams) -> None:
        self.params = params

    def fit(self, data: DataView, ctx: StepContext) -> Fitted:
        """Search. Raises PluginError, naming the requirement, where even full suppression does not satisfy it."""
        enforced = self.params.enforced(ctx.requirements, ctx.attributes)
        scope = Scope(ctx.step, ctx.attributes, ctx.requirements, ctx.nulls, people=ctx.people)
        require(subject_read(scope), data.schema.names, ctx.step)
        templates, left_out = needed(enforced) if ctx.people is None else (enforced, ())
        task = self._task(templates, enforced, data, ctx)
        if not task.templates and not task.floors:
            raise _nothing(NOTHING)
        columns = list(_columns(task))
        read = by_person(data, columns, ctx) or by_row_or_value(data, columns, by_row=False)
        problem = encode(read.counts, task)
        search = Search(problem, useless=self.params.disclose == "valid")
        broken = infeasible(zip(problem.channels, search.groups, strict=True))
        if broken:
            raise PluginError(broken)
        width = 1 if self.params.search == "greedy" else self.params.width
        result = beam.run(search, width, ahead=self.params.search == "lookahead")
        if read.persons is not None and ctx.people is not None:
            result = _of_people(result, DisclosedPeople(problem, read.persons, ctx.people.known_rows), ctx.step)
        results = outcomes(problem, result.disclosures, ctx.nulls)
        return Fitted(
            transform=SuppressTransform(results, named(results, ctx)),
            figures={**figures(results, problem), **_of_search(result, left_out, self.params)},
            findings=redundant(left_out),
            charts=charts(results, problem, result.disclosures, ctx),
        )

    def _task(
        self, templates: tuple[Template, ...], enforced: tuple[Template, ...], data: DataView, ctx: StepContext
    ) -> Task:
        """Put together what is asked for. Raises PluginError where the score needs a class and there is none."""
        params = self.params
        targets = () if params.score == "entropy" else data.schema.having(Role.TARGET)
        if params.score == "information_gain" and not targets:
            raise _nothing("information gain needs an attribute with `role: target`")
        open_ = params.suppressible(enforced, ctx.requirements, ctx.attributes)
        graded = params.graded(open_, enforced, ctx.attributes)
        own = {name: ctx.attributes[name].hierarchy for name in graded}
        return Task(
            templates=templates,
            suppressible=open_,
            targets=targets,
            floors=params.floors(ctx.requirements, open_, ctx.attributes),
            hierarchies={name: spec for name, spec in own.items() if spec is not None},
            nulls=ctx.nulls,
            home=ctx.home,
        )


def _of_people(result: beam.SearchResult, people: DisclosedPeople, step: str) -> beam.SearchResult:
    """Return what people allow of a search's result. Raises PluginError where that is nothing."""
    permitted = people.permitted(result.disclosures)
    if permitted is None:
        text = f"step `{step}` found nothing to disclose or suppress that keeps the requirements for people"
        help_ = "raise the confidences, suppress more attributes, or give each person fewer rows with `limit_rows`"
        raise PluginError(Diagnostic("PPF784", text, help=help_))
    if len(permitted) == len(result.disclosures):
        return result
    return beam.SearchResult(permitted, people.information(permitted), result.greedy)


def _columns(task: Task) -> tuple[str, ...]:
    union = (*channels(tuple(task.templates)), *task.suppressible, *sensitive(tuple(task.templates)), *task.targets)
    return tuple(dict.fromkeys(union))


def _of_search(result: beam.SearchResult, left_out: Sequence[str], params: DisclosureParams) -> dict[str, Figure]:
    figures = {
        "disclosures": Figure(len(result.disclosures), "disclosures"),
        "information_kept": Figure(result.kept, "bits"),
        "redundant_templates": Figure(len(left_out), "templates"),
    }
    if params.search != "greedy":
        figures["information_kept_greedy"] = Figure(result.greedy, "bits")
        figures["information_gained_by_search"] = Figure(result.kept - result.greedy, "bits")
    return figures


def _nothing(text: str) -> PluginError:
    return PluginError(Diagnostic("PPF780", text))
