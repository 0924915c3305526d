"""Rules on what reaches a release, beyond what a policy alone can break."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ppdm_flow.core.diagnostics import Diagnostic
from ppdm_flow.plan.rules import columns, joins, perturbation, protection, rows, sets, values
from ppdm_flow.plan.rules.compiled_flow import CompiledFlow

RULES: tuple[Callable[[CompiledFlow], Iterator[Diagnostic]], ...] = (
    protection.contradicting_requirements,
    values.spelled_numbers,
    columns.alike,
    rows.surviving_identifiers,
    rows.uncounted_subjects,
    rows.uncounted_wildcards,
    rows.changed_weights,
    rows.other_rows,
    protection.unprotected_sensitive,
    sets.source_without_sets,
    sets.releases_without_sets,
    sets.values_of_sets,
    sets.raw_sets,
    sets.unrandomized,
    sets.without_originals,
    protection.uncovered_quasi_identifiers,
    protection.unperturbed,
    protection.uncounted_rows,
    perturbation.twice_on_one_path,
    perturbation.changed_afterwards,
    perturbation.two_draws,
    perturbation.draws_by_row,
    perturbation.draw_and_truth,
    perturbation.variety_of_draws,
    perturbation.classes_of_draws,
    perturbation.read_afterwards,
    perturbation.unsupported_crowds,
    joins.counted_tuples,
    joins.unmeasured_parts,
    joins.unknown_partners,
    joins.unbounded_joins,
    joins.keyed_columns,
    joins.public_and_apart,
    protection.without_columns,
    protection.unshuffled,
    protection.public_values,
    protection.public_frequencies,
    protection.public_domains,
)


def violations(flow: CompiledFlow) -> list[Diagnostic]:
    """Return what the rules have to say."""
    return [violation for rule in RULES for violation in rule(flow)]


__all__ = ["RULES", "CompiledFlow", "violations"]
