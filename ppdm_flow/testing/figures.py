"""Whether a plugin's card says what its figures mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ppdm_flow.core.plugin_info import PluginInfo


def untold(info: PluginInfo, metrics: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for every figure that a plugin gives and its card does not tell of.

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
