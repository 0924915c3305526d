"""Every figure of a built-in plugin says what it is, which side is better, and has a page and a place in the lists."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from ppdm_flow import api
from ppdm_flow.api.explain.cards import GROUPS, cards, figure_pages
from ppdm_flow.core.card_pages import figures_on, page_of
from ppdm_flow.core.plugin_info import FigureInfo, Kind, PluginInfo, figures_of
from ppdm_flow.mining.classes.measures import PAGE, PREFIX, TOGETHER
from ppdm_flow.sdk import registry

CARDS = {p.name: registry.load(group, p.name).info for group in GROUPS for p in registry.listed(group) if p.built_in}
FIGURES = [(info, name) for info in CARDS.values() for name in info.figures]

NEITHER = {
    "it says what the data, or the work on them, is like": {
        "alone", "alphabet", "bits_before", "bottom_rows", "candidates", "cells", "classes", "code_table_itemsets",
        "codes", "columns", "combinations", "contribution", "control_records", "disclosures", "distinct", "earlier",
        "empty", "frequent", "groups", "groups_with_total", "holdout_rows", "items_after", "items_before", "itemsets",
        "largest", "largest_support", "lattice_nodes", "learned_rows", "left_out", "longer", "longest", "matched",
        "mean_size_before", "original_itemsets", "people", "people_known", "population", "rare_original",
        "rare_released", "records", "records_known", "redundant_templates", "released_itemsets", "released_with_worst",
        "removed_candidates", "risky_rows", "rows", "rows_left_out", "rows_shown", "shorter", "slices", "top_rows",
        "transactions", "tuples", "values", "values_after", "values_before",
    },
    "others are compared with it": {
        "as_of_original", "base", "baseline", "between_classes", "between_classes_highest",
        "between_classes_lowest", "by_chance", "chance_difference", "chance_share", "confidence_before",
        "constant_share", "control", "euclidean_control_share", "euclidean_near_share", "expected_pmse",
        "explained_original", "explained_released", "guessed_without", "guessing", "holdout_copies", "holdout_median",
        "holdout_p05", "inferences_before", "internal", "largest_difference_of_halves",
        "largest_relative_error_of_halves", "least_overlap_of_halves", "mahalanobis_control_share",
        "mahalanobis_near_share", "mean_difference_of_halves", "mean_overlap_of_halves", "measured",
        "measured_at_own_prior", "prior_of_worst", "rank_control_share", "rank_near_share", "real",
        "recovered_by_chance", "removed", "removed_dependence_before", "same_conclusions_of_halves",
        "same_patterns_internal", "smallest_group_before", "total_variation_of_halves", "training_median",
        "uncorrelated", "value_distance_before", "violating_groups_before", "violating_rows_before", "worst_before",
    },
    "it is best at 0, and worse on both sides": {
        "fit_correct_matches", "fit_population_uniques", "mean_shift", "shift",
    },
}  # fmt: skip
"""Why a figure has no better side."""
SILENT = {"drop", "interval_bounds", "rename", "shuffle_rows"}
"""What they do is all in the plan."""


def faults_of(name: str, figure: FigureInfo) -> Iterator[str]:
    if name != name.lower() or "." in name:
        yield "its name has capitals or a full stop"
    if len(figure.what) <= 10:
        yield "it does not say what it is"
    yield from (f"{text!r} ends with a full stop" for text in (figure.what, figure.formula) if text.endswith("."))
    if not figure.better and not any(name in names for names in NEITHER.values()):
        yield "say which side is better, or why none is"
    if figure.what.startswith(("the share", "how many of the")) and not figure.formula:
        yield "of what is it a share?"


def test_every_figure_says_what_it_is():
    faults = [f"{info.name}.{name}: {fault}" for info, name in FIGURES for fault in faults_of(name, info.figures[name])]
    assert not faults, "\n".join(faults)


def test_no_reason_is_left_over():
    told = {name for info, name in FIGURES if not info.figures[name].better}
    assert {name for names in NEITHER.values() for name in names} == told


def test_every_plugin_that_measures_tells_its_figures():
    assert {name for name, info in CARDS.items() if not info.figures} == SILENT


@pytest.mark.slow
def test_figures_have_pages_and_are_on_their_plugins():
    faults = []
    for info in CARDS.values():
        plugin = api.explain(info.name)
        for name, figure in info.figures.items():
            page = next((p for p in figure_pages(name) if f"`{info.name}`\n" in p), "")
            wanted = [figure.what[1:], figure.formula, "- reference: " if info.reference or figure.reference else ""]
            faults += [f"{info.name}.{name}: not on its page: {text!r}" for text in wanted if text not in page]
            if f"- `{name}`: {figure.what}" not in plugin:
                faults.append(f"{info.name}.{name}: not on the page of its plugin")
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("group", registry.GROUPS)
def test_every_built_in_has_a_page_and_every_page_a_plugin(root, group):
    cards = [registry.load(group, plugin.name).info for plugin in registry.listed(group) if plugin.built_in]
    assert {info.page for info in cards} == {
        f"{group}/{page.stem}" for page in (root / "ppdm_flow/pages" / group).iterdir()
    }
    assert all(info.page == f"{group}/{info.name}" for info in cards)


def test_every_figure_is_on_the_page_of_its_plugin_or_shared():
    faults = []
    for info in CARDS.values():
        told = set(figures_on(page_of(info.page)))
        derived = {name.removeprefix(PREFIX).removeprefix(TOGETHER) for name in set(info.figures) - told}
        faults += [f"{info.page}: it has `{name}`, the card does not" for name in told - set(info.figures)]
        faults += [f"{info.page}: it has no `{name}`" for name in derived - told - set(figures_of(PAGE))]
    assert not faults, "\n".join(faults)


def test_every_shared_figure_is_somebodys(root):
    held = {(figure.what, figure.formula) for info in CARDS.values() for figure in info.figures.values()}
    for page in (root / "ppdm_flow/pages/figures").iterdir():
        for name, figure in figures_of(f"figures/{page.stem}").items():
            assert (figure.what, figure.formula) in held, name


def test_the_whole_name_of_a_figure_is_understood():
    def heads(term: str) -> list[str]:
        return [line for line in api.explain(term).splitlines() if line.startswith("# ")]

    assert heads("privacy.k_anonymity.k") == ["# k: a figure of the audit `k_anonymity`"]
    assert heads("study/privacy.t_closeness.pay.t") == ["# t: a figure of the audit `t_closeness`"]
    assert heads("privacy.first_draw.releases") == ["# releases: a figure of the audit `first_draw`"]
    assert heads("privacy.l_diversity.pay.cumulative_l") == ["# cumulative_l: a figure of the audit `l_diversity`"]
    assert heads("found.frequent.2") == ["# frequent: a figure of the audit `itemset_recovery`"]
    assert heads("perturb.disease.shadow_price.HIV") == [
        "# shadow_price: a figure of the anonymizer `fine_grain_perturbation`"
    ]
    assert len(heads("k")) > 4


def test_the_last_part_that_is_a_figure_counts():
    info = PluginInfo("p", Kind.AUDIT, "", figures={"rows": FigureInfo("rows"), "values": FigureInfo("values")})
    assert info.figure_of("rows.values") == "values"
    assert info.figure_of("rows.2") == "rows"
    assert info.figure_of("row") is None


@pytest.mark.slow
def test_figures_are_listed(cli):
    done = cli("list", "figures", "--format", "json")
    found = [(card["of"], card["name"]) for card in json.loads(done.stdout)]
    assert found == [(info.name, name) for info in cards() for name in info.figures]
    text = cli("list", "figures").stdout
    assert "figure of k_anonymity; ppdm_flow" in text


def test_the_list_of_all_pages_has_them_by_kind():
    told = api.topics()
    assert (
        told.index("## Figures of anonymizers") < told.index("- `mondrian`: `ncp`") < told.index("## Figures of audits")
    )
    assert "- `k_anonymity`: `k`, `k_own_category`" in told
