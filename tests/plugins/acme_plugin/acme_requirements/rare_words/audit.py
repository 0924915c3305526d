"""The card of the audit: its texts are on a page beside it."""

from __future__ import annotations

from ppdm_flow.plugins import Kind, Params, PluginInfo, PluginSpec

SPEC = PluginSpec(
    info=PluginInfo.of_page(
        "acme_requirements.rare_words:acme_rare_words.md",
        Kind.AUDIT,
        version="2.1.0",
        serves=("acme_rare_words",),
    ),
    params=Params,
    algorithm="acme_requirements.rare_words.algorithm:RareWordsAudit",
)
