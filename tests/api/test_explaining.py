"""Pages: everything that is listed has one, and everything that can be asked for is listed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

import pytest
import yaml

from ppdm_flow import api
from ppdm_flow.api.explain.cards import parameters
from ppdm_flow.api.explain.explain import CONCEPTS, KINDS, concept_of
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.gate import MAX_WIDTH
from ppdm_flow.core.pages import MalformedPageError, pages, parsed, synonyms
from ppdm_flow.core.roles import Role
from ppdm_flow.policy.language.kinds import built_in
from ppdm_flow.policy.language.models import Policy, SourceEntry, Step
from ppdm_flow.policy.language.shape import homes
from ppdm_flow.report.forms import CHECK, JUDGED, PORTABLE
from ppdm_flow.report.verify import VERIFIED
from ppdm_flow.sdk import registry
from ppdm_flow.sdk.spec import Params

CLAUSES = [spec.name for spec in built_in() if spec.written]
PLUGINS = sorted({p.name for group in registry.GROUPS for p in registry.listed(group)})


@cache
def explained(term: str) -> str:
    """Return the page of a term, or what is said where there is none."""
    try:
        return api.explain(term)
    except (UsageError, MalformedPageError) as error:
        return str(error)


@pytest.mark.slow
def test_every_term_has_a_page():
    faults = []
    for term in [*pages(), *CONCEPTS, *PLUGINS]:
        page = explained(term)
        if not page.startswith("# ") or len(page.splitlines()) < 3:
            faults.append(f"{term}: {page}")
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("term", ["ppf401", "PPF401", "Quasi-Identifier", "quasi identifier", " k_anonymity "])
def test_terms_are_read_generously(term):
    assert api.explain(term).startswith("# ")


@pytest.mark.parametrize("former", ["PPF691", "ppf691"])
def test_a_code_that_was_merged_has_the_page_of_its_new_name(former):
    page, renamed = api.explain(former), "`PPF691` is called `PPF120` now.\n\n"
    assert renamed in page
    assert page.replace(renamed, "") == api.explain("PPF120")
    assert "`PPF691`" not in api.topics()


def test_a_plugin_and_a_requirement_of_one_name_are_both_explained():
    page = api.explain("k_anonymity")
    assert "# k_anonymity\n" in page
    assert "# k_anonymity: audit of ppdm_flow" in page


@pytest.mark.parametrize(
    ("term", "meant"), [("generalise", "generalize"), ("PPF4O1", "PPF401"), ("senstive", "sensitive")]
)
def test_an_unknown_term_is_suggested(term, meant):
    with pytest.raises(UsageError) as caught:
        api.explain(term)
    assert caught.value.diagnostics[0].hint == f"did you mean `{meant}`?"


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("KRIMP", "# krimp_generator:"),
        ("laplace", "of the anonymizer `krimp_generator`: a number of at least 0 and of at most"),
        ("cut-and-paste", "# randomize_transactions:"),
        ("select-a-size", "`operator: select_a_size` of the anonymizer `randomize_transactions`"),
        ("LDS", "# discoverable_support:"),
        ("privacy breach", "# itemset_breach"),
        ("temporal attack", "# cumulative_k"),
        ("class id", "# assign_class_id:"),
        ("genetic algorithm", "# genetic_encode:"),
        ("gamma amplification", "# sensitivities"),
        ("iterative Bayesian", "# reconstruction"),
        ("IC tree", "# progressive_disclosure:"),
        ("InfoGain", "# progressive_disclosure:"),
        ("PDA", "# progressive_disclosure:"),
        ("normalization", "# recode:"),
        ("base error", "# base:"),
        ("BE", "# base:"),
        ("SE", "# suppressed:"),
        ("RE", "# removed:"),
        ("C4.5", "# classification_error:"),
        ("minsup", "# blend"),
        ("code table", "# code_table"),
        ("cluster", "# cluster_analysis:"),
        ("guest", "# serve"),
        ("operator", "of the anonymizer `fine_grain_perturbation`: one of `fine_grain`, `uniform`"),
        ("uniform", "`operator: uniform` of the anonymizer `randomize_transactions`"),
    ],
)
def test_words_of_the_papers_lead_to_our_pages(word, told):
    assert told in explained(word)


@pytest.mark.slow
def test_every_synonym_leads_to_a_page_or_to_a_word_of_the_language():
    known = {*PLUGINS, *CONCEPTS, *homes()}
    values = {"boolean", "float", "integer", "text", "both", "upward", "ordered", "minsup"}
    faults = [
        f"{word}: {each}"
        for word, ours in synonyms().items()
        for each in ours
        if each not in known | values and explained(each).startswith("PPF692")
    ]
    assert not faults, "\n".join(faults)


def test_lists_name_the_words_of_papers():
    card = next(card for card in api.plugins("anonymizers") if card.name == "progressive_disclosure")
    assert {"pda", "ic tree", "infogain"} <= set(card.also)


def test_the_list_is_complete():
    told = set(re.findall(r"`([^`]+)`", api.topics()))
    assert set(CONCEPTS) | set(pages()) | set(PLUGINS) <= told


def test_the_language_is_explained():
    assert {role.value for role in Role} <= set(CONCEPTS)
    assert set(CLAUSES) <= set(CONCEPTS)
    about = {"version", "name", "description", "owner", "report"}
    assert set(Policy.model_fields) - about <= set(CONCEPTS)


HEADINGS = ("Why it matters", "For recipients", "Formula", "Reference", "Example", "Not so", "What to do")
FOLDERS = {"Roles": "roles", "Requirements": "requirements"}


def faults_on_pages(terms: Iterable[str], check: Callable[[str], Iterator[str]]) -> list[str]:
    """Return what a check finds on the page of each term, with the term before it."""
    faults = []
    for term in terms:
        try:
            faults += [f"{term}: {fault}" for fault in check(term)]
        except MalformedPageError as error:
            faults.append(f"{term}: {error}")
    return faults


def irregularities(term: str) -> Iterator[str]:
    """Yield what is wrong with the page of a term. Raises MalformedPageError."""
    concept = CONCEPTS[term]
    name = f"{FOLDERS.get(concept.kind, 'concepts')}/{term}"
    if concept.page.name != name:
        yield f"its page is {concept.page.name}, not {name}"
    if set(concept.page.front) != {"kind", "summary", "order"}:
        yield f"its front matter has {list(concept.page.front)}"
    if concept.summary.endswith("."):
        yield "its summary ends with a full stop"
    headings = [heading for heading in concept.page.sections if heading]
    if headings != [heading for heading in HEADINGS if heading in headings]:
        yield f"its headings are {headings}; the order is {HEADINGS}"
    yield from (f"nothing under `{heading}`" for heading in headings if not concept.page.sections[heading])
    if not concept.text().startswith(f"# {term}\n\n"):
        yield "its text does not begin with its name"
    for block in re.findall(r"```yaml\n(.*?)\n```", concept.page.body, re.DOTALL):
        try:
            yaml.safe_load(block)
        except yaml.YAMLError as error:
            yield f"an example is no YAML: {error}"


def test_pages_of_terms_are_regular():
    faults = faults_on_pages(CONCEPTS, irregularities)
    assert not faults, "\n".join(faults)


def test_terms_of_a_kind_have_an_order():
    places = [concept.place for concept in CONCEPTS.values()]
    assert len(set(places)) == len(places)
    assert {kind for kind, _ in places} == set(range(len(KINDS)))


def gaps(term: str) -> Iterator[str]:
    """Yield what the page of a role or a requirement lacks. Raises MalformedPageError."""
    concept = CONCEPTS[term]
    told = {heading for heading in concept.page.sections if heading and concept.page.section(heading)}
    if lacking := set(HEADINGS) - told - {"Formula", "For recipients"}:
        yield f"it says nothing under {sorted(lacking)}"
    if ("For recipients" in told) != (concept.kind == "Requirements"):
        yield "`For recipients` is for requirements, and for each of them"
    if "Formula" not in told and concept.kind != "Roles":
        yield "it has no `Formula`"
    examples = {heading: concept.page.example(heading) for heading in ("Example", "Not so")}
    for heading, example in examples.items():
        if unknown := set(yaml.safe_load(example)) - set(Policy.model_fields):
            yield f"`{heading}` has keys that no policy has: {sorted(unknown)}"
    if examples["Example"] == examples["Not so"]:
        yield "both examples are the same"


def test_roles_and_requirements_have_whole_pages():
    """What, why, formula (where there is something to count), reference, examples good and bad, what to do."""
    faults = faults_on_pages([*(role.value for role in Role), *CLAUSES], gaps)
    assert not faults, "\n".join(faults)


def test_a_term_of_no_kind_is_malformed():
    with pytest.raises(MalformedPageError, match=r"concepts/x\.md: there is no kind of terms `Things`"):
        concept_of(parsed("concepts/x", "---\nkind: Things\nsummary: a thing\norder: 1\n---\n"))


def test_the_page_on_formats_has_those_that_there_are():
    page = CONCEPTS["formats"].page.body
    verbs = {"`check`": CHECK, "`run`, `audit`, `report`": JUDGED, "`verify`": VERIFIED}
    verbs["`report` alone, for other programs (`ppdm-flow explain portable`)"] = PORTABLE
    for verb, forms in verbs.items():
        listed = "\n".join(f"- `{form.name}`: {form.what}" for form in forms.values())
        assert f"\n\n{verb}:\n\n{listed}\n\n" in page


def test_the_page_on_gates_has_the_width_that_is_taken():
    assert f"at most `max_width` wide ({MAX_WIDTH:g} if not said," in CONCEPTS["gates"].page.body


@pytest.mark.slow
def test_every_key_of_the_language_has_a_page():
    faults = [f"{name}: {explained(name)}" for name in homes() if not explained(name).startswith(f"# {name}")]
    assert not faults, "\n".join(faults)
    assert "hierarchy: {intervals:" in api.explain("hierarchy")


@pytest.mark.slow
def test_every_figure_of_a_report_has_a_page(tmp_path, root):
    """Of one report by `explain` itself; the fixture `report_of` holds it of all that tests read."""
    found = api.run(root / "pipelines/bank_credit.yaml", out=tmp_path).report.metrics
    assert len(found) > 20
    for figure in sorted(found):
        heads = re.findall("^# (\\w+): a figure of", api.explain(figure), re.MULTILINE)
        assert heads, figure
        assert set(heads) <= set(figure.split("."))


@pytest.mark.slow
@pytest.mark.parametrize("group", ["anonymizers", "sources"])
def test_examples_of_plugins_are_pieces_of_a_policy(group):
    for plugin in registry.listed(group):
        example = registry.load(group, plugin.name).info.example
        assert "PydanticUndefined" not in api.explain(plugin.name)
        if example:
            tree = yaml.safe_load(example)
            assert set(tree) <= set(Policy.model_fields)
            for part, model in (("steps", Step), ("source", SourceEntry)):
                for each in tree.get(part, {}).values() if part == "steps" else [tree.get(part, {})]:
                    if each:
                        params = registry.load(group, plugin.name).params
                        own = {key: each[key] for key in each.keys() & params.model_fields.keys()}  # handed on
                        assert params.model_validate({**own, **each.get("with", {})})
                        assert set(each) <= {f.alias or n for n, f in model.model_fields.items()}


def test_parameters_are_told():
    page = api.explain("sample")
    assert "- `fraction`: a number above 0 and of at most 1" in page
    assert "  - `prefix`: a whole number of at least 0" in api.explain("generalize")
    assert "It takes none." in api.explain("shuffle_rows")
    assert "It takes none.\n\nThis is one figure" in api.explain("information_kept")


def test_without_a_page_the_docstring_tells_of_parameters():
    class Own(Params):
        """``rows`` is how many."""

        rows: int = 1

    assert parameters(Own).split("\n\n")[1] == "`rows` is how many."
    assert parameters(Own, "How many `rows`.").split("\n\n")[1] == "How many `rows`."


@pytest.mark.slow
def test_empty_texts_are_shown_as_such():
    empty = [name for name in PLUGINS if re.search(r"(?<!`)``[,;\n]", api.explain(name))]
    assert empty == []
    text = api.explain("csv")
    assert "- `escape`: a text" in text
    assert '- `thousands`: one of `""`, `.`' in text
