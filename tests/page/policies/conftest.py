"""Policies of a test, and those who write them."""

from __future__ import annotations

import pytest

from ppdm_flow.page.services.accounts.roles import PageRole

TEMPLATE = """version: 1
owner: somebody@example.org
privacy:
  k_anonymity: {k: 5}
floors:
  privacy.k_anonymity.k: ">= 3"
"""
POLICY = """version: 1
name: people
extends: [{template: org.yaml}]   # stays
source: {path: people.csv}
attributes:
  id: {role: identifier}
  age: {role: quasi_identifier, type: integer}
  town: {role: quasi_identifier}
privacy:
  k_anonymity: {k: 7}
steps:
  recode: {use: full_domain_recoding}
releases:
  public: {from: recode, path: people.csv}
"""


@pytest.fixture
def filled(server):
    """Return a server whose folder has a policy in a folder of its own, beside its template."""
    folder = server.site.policies.folder
    (folder / "study").mkdir()
    (folder / "study" / "org.yaml").write_text(TEMPLATE)
    (folder / "study" / "people.yaml").write_text(POLICY)
    return server


@pytest.fixture
def steward(filled):
    return filled.browser(PageRole.STEWARD)
