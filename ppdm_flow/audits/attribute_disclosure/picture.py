"""The picture of right guesses."""

from __future__ import annotations

from collections.abc import Mapping

from ppdm_flow.audits.attribute_disclosure.attack import Success
from ppdm_flow.audits.records.proportions import wilson
from ppdm_flow.core.results import Chart, Series


def chart(attacked: Mapping[str, tuple[Success, Success | None]]) -> Chart:
    """Return bars for each sensitive attribute: people in the data, people held out, the most frequent value."""
    every = [success for success, _ in attacked.values()]
    control = [c for _, c in attacked.values() if c is not None]
    series = [_series("people in the data", every)]
    if len(control) == len(every):
        series.append(_series("people held out", control))
    prior = [s.prior / s.people for s in every]
    ends = [wilson(p, s.people) for p, s in zip(prior, every, strict=True)]
    series.append(Series("most frequent value", tuple(prior), tuple(e[0] for e in ends), tuple(e[1] for e in ends)))
    return Chart(
        id="guesses",
        title="Right guesses of sensitive attributes",
        kind="bars",
        x=tuple(attacked),
        series=tuple(series),
        y_label="share of right guesses",
    )


def _series(name: str, found: list[Success]) -> Series:
    ends = [s.interval for s in found]
    return Series(name, tuple(s.rate for s in found), tuple(e[0] for e in ends), tuple(e[1] for e in ends))
