"""PPF930 to PPF939: what plugins say."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF930",
        "a plugin quotes the data",
        "A figure's name or note, a finding, a sentence, a chart, a description or a document beside a release has a"
        " value of the source, spelled as it is and as words of their own. Neither the policy nor the plugin's code has"
        " these words there. The message names the plugin and the column, and not the value.",
        "What a plugin writes down leaves with the report or with the release, and no requirement is measured on it.",
        "The plugin's author counts values instead of naming them, or asks `ctx.may_show` (a step) or `ctx.label` (an"
        " audit) first. Where a value may be read, declare it: in a domain, or for the whole report with"
        " `report: {values: show}`; documents beside a release show declared values alone. `explain trust` has the"
        " rest.",
        bad='$ grep -n "note=" acme_risk/audit.py    # a note that quotes the worst value\n'
        '18:        return Figure(share, "share", note=f"worst for {value}")',
        good='$ grep -n "note=" acme_risk/audit.py\n'
        '18:        return Figure(share, "share", note=f"worst for {ctx.label(attribute, value, number)}")',
    ),
    CodePage(
        "PPF931",
        "the message of a plugin's error is not shown",
        "A step or an audit of another distribution ended with an error of its own, and its message has words that"
        " stand neither in the plugin's code nor in the policy.",
        "They come from somewhere else, so they may be data; and messages go to terminals, logs and CI.",
        "The plugin's author names the column and how many rows or values are at fault, and leaves out what a library"
        " or the data says. Until then, run it on invented data to read the message.",
        bad='$ grep -n "raise" acme_risk/step.py    # quotes what pandas says, and with it a cell\n'
        '31:        raise PluginError(Diagnostic("ACME7", f"column `{name}`: {error}"))',
        good='$ grep -n "raise" acme_risk/step.py\n'
        '31:        raise PluginError(Diagnostic("ACME7", f"column `{name}`: {bad.sum()} values are no dates"))',
    ),
)
