"""PPF2xx: keys and values that are not of the form that the policy language has."""

from __future__ import annotations

from ppdm_flow.core.page import CodePage

PAGES: tuple[CodePage, ...] = (
    CodePage(
        "PPF201",
        "an unknown key",
        "The language has no such key at this place.",
        "A misspelt key that is passed over is a requirement that silently does not hold.",
        "Use the key that the hint names, move it to the place where it belongs, or remove it.",
        bad="privacy:\n  templates:\n    t: {channel: [job], sensitive_values: {disease: [HIV]}, confidence: 0.5}",
        good="privacy:\n  templates:\n    t: {channel: [job], sensitive: {disease: [HIV]}, confidence: 0.5}",
    ),
    CodePage(
        "PPF202",
        "a missing key",
        "The map lacks a key that it needs; the message names it.",
        "There is no default for it that would be safe.",
        "Add the key. `ppdm-flow explain KEY` says what it takes.",
        bad="attributes:\n  job: {type: text}",
        good="attributes:\n  job: {role: quasi_identifier, type: text}",
    ),
    CodePage(
        "PPF203",
        "a value of the wrong type",
        "The key takes a number, and the text is none.",
        "A bound that cannot be read cannot be held.",
        "Write a number: with a point, without units or percent signs.",
        bad="privacy: {k_anonymity: {k: five}}",
        good="privacy: {k_anonymity: {k: 5}}",
    ),
    CodePage(
        "PPF204",
        "a value out of range",
        "The number is too small or too large for this key.",
        "A group of one row is no group, and a probability lies between 0 and 1: other bounds protect nothing.",
        "Write a number within the range. Shares are written as 0.75, not as 75.",
        bad="privacy: {k_anonymity: {k: 1}}",
        good="privacy: {k_anonymity: {k: 5}}",
    ),
    CodePage(
        "PPF205",
        "not one of the choices",
        "The key takes one of a few words, and this is none of them.",
        "A word that is not understood could mean the opposite of what it is taken for.",
        "Write one of the words that the message lists.",
        bad="attributes:\n  job: {role: qid}",
        good="attributes:\n  job: {role: quasi_identifier}",
    ),
    CodePage(
        "PPF206",
        "no name",
        "Names of steps, templates, gates, audits and releases begin with a letter and go on, for up to 64 characters,"
        " with letters, digits, `_` and `-`.",
        "They become part of metric names and of folders.",
        "Rename it. Names of attributes are free.",
        bad="releases:\n  for partner: {path: x.csv}",
        good="releases:\n  for-partner: {path: x.csv}",
    ),
    CodePage(
        "PPF207",
        "an unknown version of the language",
        "`version:` names a version of the policy language that this program does not have.",
        "A later version may mean other things by the same keys.",
        "Write `version: 1`, or install a program that knows the version.",
        bad="version: 2",
        good="version: 1",
    ),
    CodePage(
        "PPF208",
        "a map, a list or a single value in the wrong place",
        "The key takes a value of another build.",
        "One value in place of a list is easily meant but not safely guessed.",
        "Write `[a, b]` for a list, `name: value` lines for a map.",
        bad="privacy:\n  templates:\n    t: {channel: job, sensitive: {disease: [HIV]}, confidence: 0.5}",
        good="privacy:\n  templates:\n    t: {channel: [job], sensitive: {disease: [HIV]}, confidence: 0.5}",
    ),
    CodePage(
        "PPF209",
        "an empty list or map",
        "The key needs at least one entry.",
        "A template without a channel, or without a sensitive value, would hold of any data.",
        "Name what is meant, or remove the key.",
        bad="privacy:\n  templates:\n    t: {channel: [], sensitive: {disease: [HIV]}, confidence: 0.5}",
        good="privacy:\n  templates:\n    t: {channel: [job], sensitive: {disease: [HIV]}, confidence: 0.5}",
    ),
    CodePage(
        "PPF210",
        "no value",
        "The key has no value, or `null`. In a file that extends another one `null` deletes what is inherited; here"
        " nothing is.",
        "`k_anonymity:` with its value forgotten would be no requirement at all.",
        'Write the value, or remove the key. The empty text is `""`.',
        bad="privacy:\n  k_anonymity:",
        good="privacy:\n  k_anonymity: {k: 5}",
    ),
)
