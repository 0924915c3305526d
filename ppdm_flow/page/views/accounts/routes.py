"""Every address of accounts."""

from __future__ import annotations

from ppdm_flow.page.views.accounts import administration, entering, opening, own, providers

ROUTES = (*entering.ROUTES, *opening.ROUTES, *own.ROUTES, *administration.ROUTES, *providers.ROUTES)
