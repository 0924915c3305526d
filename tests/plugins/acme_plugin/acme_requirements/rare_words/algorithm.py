"""Counts words in the distinct texts, and again in SQL."""

from __future__ import annotations

import re
from collections import Counter

from acme_requirements.rare_words.requirement import RareWords

from ppdm_flow.plugins import AuditOutcome, Figure, Finding, Measured, Severity, counted
from ppdm_flow.mining.classes.wording import unreleased
from ppdm_flow.mining.exposure.columns import beside
from ppdm_flow.mining.releases.attributes import listed, namesakes
from ppdm_flow.plugins import quoted, weight_of

BLANKS = re.compile("[ \\t\\r\\n]+")


class RareWordsAudit:
    def __init__(self, params):
        self.params = params

    def measure(self, original, candidate, ctx):
        figures, measured, findings = {}, [], []
        for requirement in _own(ctx):
            columns, derived = _columns(requirement, candidate, ctx)
            if derived:
                measured.append(_unverified(requirement, derived))
                findings.append(Finding("ACME21", Severity.WARNING, measured[-1].sentence, requirement.id))
            elif not columns:
                measured.append(unreleased(requirement))
            else:
                rare = _rare(original, requirement)
                cells = max(_cells(candidate, column, rare) for column in columns)
                own = _figures(requirement, cells, candidate.counts([]).total)
                figures |= own
                measured.append(_measured(requirement, own))
        return AuditOutcome(figures, tuple(measured), tuple(findings))

    def recheck(self, original, candidate, ctx):
        found = {}
        for requirement in _own(ctx) if ctx.sql is not None else ():
            columns, derived = _columns(requirement, candidate, ctx)
            if columns and not derived:
                every = [_figures_sql(ctx.sql, original, candidate, requirement, column) for column in columns]
                cells, rows = max(every)
                found |= {name: f.value for name, f in _figures(requirement, cells, rows).items()}
        return found


def _own(ctx):
    return [r for r in ctx.requirements if isinstance(r, RareWords)]


def _columns(requirement, candidate, ctx):
    """Return the released columns with texts of the attribute, and those that were computed from it."""
    name = requirement.attribute
    return namesakes(name, candidate, ctx), beside(name, candidate, ctx)


def _texts(view, column):
    """Yield each text with the rows that have it; missing and suppressed cells have no words."""
    counts = view.counts([column])
    texts = counts.categories[0].to_pylist()
    return [(texts[code], int(rows)) for (code,), rows in zip(counts.codes, counts.counts) if code >= 0]


def _words(text):
    return {word for word in BLANKS.split(text) if word}


def _rare(original, requirement):
    rows = Counter()
    for text, count in _texts(original, requirement.attribute):
        rows.update(dict.fromkeys(_words(text), count))
    return {word for word, count in rows.items() if 0 < count < requirement.min_count}


def _cells(candidate, column, rare):
    return sum(rows for text, rows in _texts(candidate, column) if _words(text) & rare)


def _figures_sql(sql, original, candidate, requirement, column):
    """Return the rows with a rare word, and all rows."""
    query = f"""
        WITH heard AS (SELECT {quoted(requirement.attribute)} AS cell, {weight_of(original.schema)} AS n FROM original),
        words AS (SELECT n, UNNEST(LIST_DISTINCT(STRING_SPLIT_REGEX(cell, '[ \\t\\r\\n]+'))) AS word
            FROM heard WHERE cell <> '⊥'),
        rare AS (SELECT word FROM words WHERE word <> '' GROUP BY word HAVING SUM(n) BETWEEN 1 AND ?),
        told AS (SELECT {quoted(column)} AS cell, {weight_of(candidate.schema)} AS n FROM candidate),
        held AS (SELECT COALESCE(LIST_HAS_ANY(STRING_SPLIT_REGEX(cell, '[ \\t\\r\\n]+'),
            (SELECT LIST(word) FROM rare)), FALSE) AS bad, n FROM told)
        SELECT COALESCE(SUM(n) FILTER (WHERE bad), 0), COALESCE(SUM(n), 0) FROM held"""
    cells, rows = sql.rows(query, [requirement.min_count - 1])[0]
    return int(cells), int(rows)


def _figures(requirement, cells, rows):
    return {
        f"{requirement.id}.rare": Figure(cells / rows if rows else 0.0, "share"),
        f"{requirement.id}.rare_cells": Figure(cells, "rows"),
    }


def _measured(requirement, figures):
    share, cells = figures[f"{requirement.id}.rare"], figures[f"{requirement.id}.rare_cells"].value
    text = (
        f"{counted(cells, 'released cell')} of `{requirement.attribute}` ({share.value:.4g} of all) with a word of fewer"
        f" than {requirement.min_count} rows of the original; at most {requirement.max:g} is allowed."
    )
    return Measured(requirement.id, f"{requirement.id}.rare", share, requirement.max, at_most=True, sentence=text)


def _unverified(requirement, derived):
    text = f"{listed(derived)}: computed from `{requirement.attribute}`, and words of it may be in there in other forms."
    figure = Figure(None, "share", note=text)
    return Measured(requirement.id, f"{requirement.id}.rare", figure, requirement.max, True, text, verifiable=False)
