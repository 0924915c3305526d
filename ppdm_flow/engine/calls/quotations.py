"""Searches all texts of plugins for values of the source before any of them is written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_flow.core.attributes import AttributeFacts
from ppdm_flow.core.results import AuditOutcome, Chart, Finding, StepResult
from ppdm_flow.core.roles import AttributeType, Role
from ppdm_flow.core.texts import LONGEST, of_chart, of_figures, of_finding, spans, texts
from ppdm_flow.engine.faults import run_fault
from ppdm_flow.engine.streams.stream import LoadedStream, Texts
from ppdm_flow.plan.definition import AuditNode, ConfiguredPlugin, Plan, StepNode
from ppdm_flow.plan.document import document
from ppdm_flow.sdk.anonymizer import Fitted
from ppdm_flow.sdk.wording import CodeTexts, Explanations


@dataclass(frozen=True, slots=True)
class PluginText:
    """One text: ``who`` says it and ``where``. ``published``: it lies beside a release, and not in the report."""

    who: str
    bound: ConfiguredPlugin
    where: str
    text: str
    published: bool = False


Domains = Mapping[str, AbstractSet[str | None]]
"""Values by attribute."""


def of_step(node: StepNode, result: StepResult, fitted: Fitted, domains: Domains) -> Iterator[PluginText]:
    """Yield all that a step says; ``domains`` are the values of what it randomized, as they came to it."""
    who, bound = f"step `{node.name}` ({node.bound.info.name})", node.bound
    for text in of_figures(result.figures):
        yield PluginText(who, bound, "a figure", text)
    for text in texts(result.description):
        yield PluginText(who, bound, "its description", text)
    yield from _shown(who, bound, result.findings, result.charts)
    for text in _of_artifacts(fitted, domains):
        yield PluginText(who, bound, "a document beside the release", text, published=True)


def of_audit(node: AuditNode, outcome: AuditOutcome) -> Iterator[PluginText]:
    """Yield all that an audit says."""
    who, bound = f"audit `{node.name}` ({node.bound.info.name})", node.bound
    for text in of_figures(outcome.figures):
        yield PluginText(who, bound, "a figure", text)
    for each in outcome.measured:
        yield PluginText(who, bound, "a sentence", each.sentence)
        for text in (each.requirement, *of_figures({each.metric: each.figure})):
            yield PluginText(who, bound, "a figure", text)
    yield from _shown(who, bound, outcome.findings, outcome.charts)


def _shown(
    who: str, bound: ConfiguredPlugin, findings: Iterable[Finding], charts: Iterable[Chart]
) -> Iterator[PluginText]:
    for finding in findings:
        for text in of_finding(finding):
            yield PluginText(who, bound, "a finding", text)
    for chart in charts:
        for text in of_chart(chart):
            yield PluginText(who, bound, "a chart", text)


def _of_artifacts(fitted: Fitted, domains: Domains) -> Iterator[str]:
    """Yield the texts of a step's documents, without the domains of the operators that it hands over with them.

    An estimate from randomized values needs their domain, so a channel publishes it.
    """
    known = {o.attribute: domains.get(o.attribute, set()) & set(o.domain) for o in fitted.operators.values()}
    for name, content in fitted.artifacts.items():
        yield name
        yield from texts(_without_domains(content, known))


def _without_domains(document: Mapping[str, Any], known: Domains) -> Mapping[str, Any]:
    entries = document.get("operators")
    if not isinstance(entries, list):
        return document
    return {**document, "operators": [_undomained(entry, known) for entry in entries]}


def _undomained(entry: Any, known: Domains) -> Any:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("domain"), list):
        return entry
    own = known.get(str(entry.get("attribute")), set())
    return {**entry, "domain": [value for value in entry["domain"] if value not in own]}


_NUMBERS = frozenset({AttributeType.INTEGER, AttributeType.FLOAT})
_WEIGHTS = frozenset({Role.WEIGHT, Role.SAMPLING_WEIGHT})


def refuse_quotations(plan: Plan, stream: LoadedStream, said: Iterable[PluginText]) -> None:
    """Raise RunError, naming who said it and the column, where a text quotes a value that may not be named.

    A value is looked for as words of their own, spelled as it is. It may stand where the policy or the plugin's own
    code has the same words, and in the report where the policy says ``report: {values: show}``.
    """
    every = [each for each in said if each.published or not plan.show_values]
    runs = {text: frozenset(spans(text)) for text in {each.text for each in every}}
    quoting: dict[str, list[PluginText]] = defaultdict(list)
    for each in every:
        for span in runs[each.text]:
            quoting[span].append(each)
    candidates = frozenset(quoting)
    names = [a.name for a in stream.attributes if _is_searched(a)]
    if not candidates or not names:
        return
    known = Explanations(policy_words(plan, stream.attributes), CodeTexts())
    columns_at_hand = stream.columns_at_hand(names)
    occurring = _occurring(stream, [name for name in names if name in columns_at_hand], candidates)
    if len(columns_at_hand) < len(names):  # reading these once more costs more than looking at every word
        rest = [name for name in names if name not in columns_at_hand]
        possible = stream.possible(candidates, rest)
        unexplained = {
            span
            for span in candidates
            if span in possible and not all(_explained(span, e, known) for e in quoting[span])
        }
        occurring = chain(occurring, _occurring(stream, rest, unexplained))
    for value, column in occurring:
        for each in (e for e in every if value in e.text) if len(value) > LONGEST else quoting.get(value, ()):
            if not _explained(value, each, known):
                raise run_fault(
                    "PPF930",
                    f"{each.who}: {each.where} holds a value of the column `{column}` that the policy does not name",
                    advice="nothing was released; ask the plugin's author to count values instead of naming them",
                )


def policy_words(plan: Plan, attributes: Iterable[AttributeFacts]) -> tuple[str, ...]:
    """Return every text that the policy itself wrote, names of columns too, in lower case."""
    declared = (value for values in plan.declared.values() for value in values)
    names = (name for a in attributes for name in (a.name, a.source))
    return tuple(dict.fromkeys(text.casefold() for text in (*texts(document(plan)), *declared, *names) if text))


def _is_searched(facts: AttributeFacts) -> bool:
    return facts.type not in _NUMBERS and facts.role not in _WEIGHTS


def _occurring(stream: LoadedStream, names: Sequence[str], candidates: AbstractSet[str]) -> Iterator[tuple[str, str]]:
    """Yield the values of these columns, with the first one's name, that are among the candidates or begin like one."""
    if not candidates or not names:
        return
    seen: set[str] = set()
    search = partial(_among, pa.array(sorted(candidates), pa.string()))
    for name, spelled in chain.from_iterable(stream.searched(search, names)):
        if spelled not in seen:
            seen.add(spelled)
            yield spelled, name


def _among(wanted: pa.StringArray, part: Texts) -> list[tuple[str, str]]:
    """Return (column, value) for the values of a part that are wanted, or begin like a wanted one and are longer."""
    occurring: list[tuple[str, str]] = []
    for name, values in part.items():
        plain = pc.utf8_trim_whitespace(values)
        short = plain.filter(pc.is_in(plain, value_set=wanted))
        occurring += ((name, str(value)) for value in pc.unique(short).to_pylist())
        long = plain.filter(pc.greater(pc.utf8_length(plain), LONGEST))
        if len(long):
            long = long.filter(pc.is_in(pc.utf8_slice_codeunits(long, 0, LONGEST), value_set=wanted))
            occurring += ((name, str(value)) for value in pc.unique(long).to_pylist())
    return occurring


def _explained(value: str, said: PluginText, known: Explanations) -> bool:
    return known.has(value, said.text, said.bound.spec.load().__module__)
