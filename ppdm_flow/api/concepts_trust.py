"""The page on plugins: which promises hold whatever a plugin does wrong, and which rest on its honesty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ppdm_flow.api.concept import Concept


@dataclass(frozen=True, slots=True)
class Promise:
    """A line of the table: what is promised, and how it is held, or how it would be broken."""

    what: str
    how: str


FAULTY: Mapping[str, Promise] = {
    "input": Promise(
        "nobody else sees what a plugin does to its input",
        "arrays, texts, counts and operators are lent over immutable buffers; what a step returns is copied first and"
        " looked at then, so that a change afterwards reaches nobody",
    ),
    "columns": Promise(
        "a column that a step does not declare to change stays as it is",
        "compared cell by cell with what went in (PPF905)",
    ),
    "rows": Promise(
        "no row is invented, doubled or lost against what the step declares",
        "row numbers are compared (PPF905)",
    ),
    "schema": Promise(
        "nothing but the plan's columns is released",
        "a column more is cut off, one that is missing or malformed ends the run (PPF905)",
    ),
    "identifiers": Promise(
        "identifiers and subjects do not leave under their own values",
        "they are read only where a step asks for them, and what it makes of them is compared with them (PPF728)",
    ),
    "requirements": Promise(
        "a requirement holds of the released bytes, whatever a step claims",
        "it is measured on the file that was written, by two routes that have to agree (PPF902)",
    ),
    "operators": Promise(
        "values that a step calls randomized follow the operator that it hands over",
        "a goodness-of-fit test on the released values, at a stated error probability, otherwise withheld;"
        " `operator.json` has to hold that very operator (PPF905)",
    ),
    "file": Promise(
        "the file has the rows that the steps made, in any order",
        "it is read back, and a keyed hash of its rows is compared (PPF903)",
    ),
    "bytes": Promise(
        "the bytes that are published are those that were judged, and no file lies beside them",
        "files are identified when they are read back, and hashed and counted again before they are published"
        " (PPF903, PPF904)",
    ),
    "words": Promise(
        "no value of the source stands in figures' names and notes, sentences, findings, charts, descriptions or"
        " documents beside a release",
        "all texts are searched before anything is written (PPF930)",
    ),
    "figures": Promise("a figure is a number", "anything else in its place ends the run (PPF905)"),
    "messages": Promise(
        "no value stands in the message of an error of a step or an audit",
        "what a plugin raises by mistake is never quoted (PPF901); what it raises on purpose is shown where all words"
        " are its own, the policy's, or names of columns (PPF931)",
    ),
    "exit": Promise(
        "a run that was not released does not end with 0",
        "a plugin that exits is one that failed (PPF901); the status comes from the report on disk",
    ),
    "draws": Promise(
        "a step cannot foresee the draws of another one",
        "each gets a key of its own, derived from the run's, which no step is given",
    ),
    "names": Promise("a plugin cannot take the place of a built-in", "two of one name are an error (PPF402)"),
    "ledger": Promise(
        "a release is known to the ledger that the policy names",
        "the ledger is written by the engine, and plugins are told of people by hashes alone",
    ),
}
"""Held against a plugin with a fault in it."""

HONEST: Mapping[str, Promise] = {
    "lineage": Promise(
        "a column is computed from what the step says",
        "a step gets whole rows; one that writes the illness into a column of which it declares to change the values"
        " is believed; the kit fits and applies it with the cells of other columns moved to other rows, and does not"
        " find what a step keeps by row number of columns that it says chose its cells",
    ),
    "domain": Promise(
        "a step writes no values outside of the declared domain",
        "what it makes of a column that it declares to change is released as it is; the kit checks it",
    ),
    "secrecy": Promise(
        "draws are secret, and are the ones that were given",
        "a step that keeps its key, or draws by a generator of its own that others can foresee, is not found out; the"
        " kit checks that a given key decides all, and that columns which are declared as keyed or drawn depend on it",
    ),
    "spelling": Promise(
        "values are not told in other words",
        "a value in capitals, cut, coded, a single character, a plain number, or one that is a word of the plugin's"
        " own code is not found by the search",
    ),
    "numbers": Promise(
        "a figure tells no single person's number",
        "the largest income is a figure like any other",
    ),
    "measures": Promise(
        "what an audit of another distribution measures is right",
        "both routes come from one author; a figure that no requirement asks for has only one",
    ),
    "holdout": Promise(
        "a generator did not learn from the rows that it holds out",
        "it says itself which rows these are",
    ),
    "files": Promise(
        "a source returns what its file holds, a sink writes nothing between the cells, and neither quotes data when it"
        " fails",
        "formats are read and written by plugins; only the cells are compared",
    ),
    "process": Promise(
        "code of a plugin does nothing else",
        "it runs in the process of the run: it can print what it reads, open files and connections, read keys, replace"
        " functions of ppdm_flow, end the process (`os._exit(0)`: then nothing is published, and the status is"
        " 0 all the same), and write to any address (`ctypes`, a made-up `__array_interface__`)",
    ),
}
"""Held only where the plugin is honest."""


def _table(promises: Mapping[str, Promise], how: str) -> str:
    rows = "\n".join(f"| {each.what} | {each.how} |" for each in promises.values())
    return f"| promise | {how} |\n|---|---|\n{rows}"


_LONG = f"""Whoever installs a plugin trusts its author with the data, as with any program that reads it. A fault is \
another matter than a lie: what a plugin does wrong by mistake must not release anything. Both tables hold for plugins \
of other distributions; built-ins are held to the same, but for lent memory, which they get as it is.

Against a **faulty** plugin these hold; a run that would break one ends with exit 3 or is withheld, and nothing is \
released:

{_table(FAULTY, "how it is held")}

These hold only where the plugin is **honest**:

{_table(HONEST, "how it would be broken")}

The search for values takes each value of a column that is not of numbers or weights, spelled as it is, as words of \
their own: of two characters or more with a letter in them, or of six digits or more with another sign between them \
(dates, telephone numbers). A value may stand where the policy wrote the same words, where the code of the plugin or \
of ppdm_flow has the same words (*poor* in "poor utility" is none of the data), and, in the report alone, where the \
policy says `report: {{values: show}}`. `operator.json` has the domain of what a step randomized, which nobody can \
estimate without: a step says so by handing over the same channel as `Fitted.operators`, and values of other columns \
stay out of it.

A step may write to nothing that it is given: `column.codes.copy()` first. To keep a plugin that nobody has read away \
from the rest, run it on a machine without a network and without other data. `plan` and the manifest name the \
distribution and version of each plugin, and `lock` fixes them."""

TRUST_CONCEPTS: Mapping[str, Concept] = {
    "trust": Concept(
        "Plugins",
        "which promises hold against a plugin that has a fault, and which only where it is honest",
        _LONG,
        "# ppdm-flow list anonymizers --format json    which there are, and who made them\n"
        "# ppdm-flow lock POLICY                       fixes their versions",
    ),
}
