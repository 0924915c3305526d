"""PPF9xx: defects, of ppdm-flow or of a plugin. Nothing is ever released after one of them."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

_REPORT = "Please report it, with the code and the line that the message names; it holds no data."

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF901",
        "a plugin failed",
        "A step, an audit, a source or a sink raised an error of its own.",
        "Its message is not shown: it may quote data.",
        _REPORT,
    ),
    CodePage(
        "PPF902",
        "two routes disagree",
        "A figure came out differently when it was computed a second time in another way.",
        "One of the two is wrong, so the guarantee is not known.",
        _REPORT,
    ),
    CodePage(
        "PPF903",
        "the file is not what was written",
        "The released file, read back, does not hold the rows that went into it.",
        "What is not in order on disk must not leave.",
        "Check the disk. " + _REPORT,
    ),
    CodePage(
        "PPF904",
        "the release has other columns or files",
        "The released file, read back, has other columns than the plan releases, or other files lie beside it.",
        "A column or a file more would be a leak.",
        _REPORT,
    ),
    CodePage(
        "PPF905",
        "a plugin broke its promise",
        "A step returned other columns or rows than it said, or keys of another shape.",
        "What the plan promises is what the audits judge.",
        _REPORT,
    ),
    CodePage(
        "PPF906",
        "a plan that cannot run",
        "The plan was made by hand, or for other data.",
        "Plans come from policies, which are checked.",
        "Compile the policy for the columns of the data.",
    ),
    CodePage(
        "PPF907",
        "stopped",
        "Work was given up because another part of the run failed.",
        "There is nothing left to do after a failure.",
        "See the error of that other part.",
    ),
    CodePage(
        "PPF908",
        "the second route failed",
        "DuckDB could not answer a query of an audit. Its message is not shown: it may quote data.",
        "A guarantee needs two routes.",
        _REPORT,
    ),
    CodePage(
        "PPF909",
        "an audit without a second route",
        "An audit that measures a requirement has no `recheck`.",
        "A guarantee computed once is a claim.",
        "Its author has to add a second, independent computation.",
    ),
)
