"""Whether what a plugin says quotes values of the data, as a run would find it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from ppdm_flow.core.quoting import is_telling, spans
from ppdm_flow.core.results import AuditOutcome
from ppdm_flow.core.told import of_chart, of_figures, of_finding, texts
from ppdm_flow.sdk.anonymizer import Fitted
from ppdm_flow.sdk.wording import constants, is_explained


def account(fitted: Fitted) -> Iterator[str]:
    """Yield all that a step says in the report."""
    yield from of_figures(fitted.figures)
    yield from texts(fitted.transform.describe())
    for finding in fitted.findings:
        yield from of_finding(finding)
    for chart in fitted.charts:
        yield from of_chart(chart)


def outcome_texts(outcome: AuditOutcome) -> Iterator[str]:
    """Yield all that an audit says in the report."""
    yield from of_figures(outcome.figures)
    for each in outcome.measured:
        yield from (each.sentence, *of_figures({each.metric: each.figure}))
    for finding in outcome.findings:
        yield from of_finding(finding)
    for chart in outcome.charts:
        yield from of_chart(chart)


def quotes(said: Iterable[str], values: AbstractSet[str | None], home: str) -> bool:
    """Whether a text has one of ``values`` as words that are none of the plugin's own; ``home`` is its module."""
    telling = {value for value in values if value is not None and is_telling(value)}
    every = [(text, value) for text in said for value in telling.intersection((*spans(text), text))]
    return any(not is_explained(value, text, constants(home)) for text, value in every)
