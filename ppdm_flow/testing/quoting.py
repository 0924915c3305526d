"""Checks of a plugin's words: whether its card explains its figures, and whether they quote the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet

from ppdm_flow.core.plugin_info import PluginInfo
from ppdm_flow.core.results import AuditOutcome
from ppdm_flow.core.texts import is_telling, of_chart, of_figures, of_finding, spans, texts
from ppdm_flow.sdk.anonymizer import Fitted
from ppdm_flow.sdk.wording import CodeTexts, Explanations


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
    known = Explanations((), CodeTexts())
    return any(not known.has(value, text, home) for text, value in every)


def untold(info: PluginInfo, metrics: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for every figure of a plugin that its card does not explain.

    ``metrics`` are names of figures as ``Fitted`` and ``AuditOutcome`` have them, with or without prefixes. A part of
    each name has to be a key of ``PluginInfo.figures``.
    """
    for metric in metrics:
        if info.figure_of(metric) is None:
            name = metric.rpartition(".")[2]
            yield (
                f"the figure `{metric}` is not on the card of `{info.name}`: say what it means, as in"
                f' `PluginInfo(..., figures={{"{name}": FigureInfo("what it is", better="lower")}})`'
            )
