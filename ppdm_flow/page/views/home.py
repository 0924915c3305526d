"""The first page."""

from __future__ import annotations

from starlette.responses import Response

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.route import SIGNED_IN, reads


def home(call: Call) -> Response:
    """Show what somebody can do with the roles that they have."""
    return call.page("home/home.html", renewals=call.site.journal.renewals(call.user))


ROUTES = (reads("/", home, SIGNED_IN),)
