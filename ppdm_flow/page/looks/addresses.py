"""Addresses with names in them: every file name makes a valid address."""

from __future__ import annotations

from urllib.parse import quote, urlencode


def policy_address(name: str, page: str = "", **query: str) -> str:
    """Return the address of a policy, or of one of its pages: ``policy_address("a/b.yaml", "edit")``."""
    path = f"/policies/{quote(name)}" + (f"/{page}" if page else "")
    return f"{path}?{urlencode(query)}" if query else path


def run_address(run: str, page: str = "", **query: str) -> str:
    """Return the address of a run by its key, or of one of its pages: ``run_address("bank/2026…", "report")``."""
    path = f"/runs/{quote(run)}" + (f"/{page}" if page else "")
    return f"{path}?{urlencode(query)}" if query else path


def own_address(text: str) -> str:
    """Return an address that a form brought, if it is one of this page; empty for any other."""
    return text if text.startswith("/") and text[1:2] not in ("/", "\\") and text.isprintable() else ""


def approval_address(run: str) -> str:
    """Return the address of what a held run waits for, by its key."""
    return f"/approvals/{quote(run)}"


def shown_address(run: str, page: str = "") -> str:
    """Return the address of what guests are shown of a run, by its key, or of a form about one of its releases."""
    return f"/shown/{quote(run)}" + (f"/{quote(page)}" if page else "")
