"""Pages: everything that is listed has one, and everything that can be asked for is listed."""

from __future__ import annotations

import re

import pytest

from ppdm_flow import api
from ppdm_flow.api.concepts import CONCEPTS
from ppdm_flow.core.codes import pages
from ppdm_flow.core.errors import UsageError
from ppdm_flow.core.roles import Role
from ppdm_flow.policy.models import Policy, Privacy
from ppdm_flow.sdk import registry

PLUGINS = sorted({p.name for group in registry.GROUPS for p in registry.listed(group)})


@pytest.mark.parametrize("term", [*pages(), *CONCEPTS, *PLUGINS])
def test_every_term_has_a_page(term):
    page = api.explain(term)
    assert page.startswith("# ")
    assert len(page.splitlines()) >= 3


@pytest.mark.parametrize("term", ["ppf401", "PPF401", "Quasi-Identifier", "quasi identifier", " k_anonymity "])
def test_terms_are_read_generously(term):
    assert api.explain(term).startswith("# ")


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


def test_the_list_is_complete():
    told = set(re.findall(r"`([^`]+)`", api.topics()))
    assert set(CONCEPTS) | set(pages()) | set(PLUGINS) <= told


def test_the_language_is_explained():
    assert {role.value for role in Role} <= set(CONCEPTS)
    assert set(Privacy.model_fields) <= set(CONCEPTS)
    about = {"version", "name", "description", "owner", "extends", "params", "floors", "report"}
    assert set(Policy.model_fields) - about <= set(CONCEPTS)


def test_parameters_are_told():
    page = api.explain("sample")
    assert "- `fraction`: a number above 0 and of at most 1" in page
    assert "  - `prefix`: a whole number of at least 0" in api.explain("generalize")
    assert "It takes none." in api.explain("shuffle_rows")
