"""Somebody's own uploads: sent, listed, removed."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.responses import Response

from ppdm_flow.page.http.access import STEWARDS
from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.route import changes, reads
from ppdm_flow.page.services.uploads.kinds import endings
from ppdm_flow.page.views.uploads.sizes import size_key, size_number


def listing(call: Call) -> Response:
    """Show somebody's uploads, and the form for another."""
    return _page(call)


def add(call: Call) -> Response:
    """Keep the file that came as an upload."""
    if call.arrived is None or not call.arrived.bytes:
        return _page(call, 400, "uploads.no_file")
    call.site.uploads.keep(call.user, call.arrived, call.arrived.name)
    return call.go("/uploads", said="uploads.added")


def remove(call: Call) -> Response:
    """Remove an upload."""
    if not call.site.uploads.remove(call.user, call.path["upload"]):
        raise HTTPException(404)
    return call.go("/uploads", said="uploads.removed")


def _page(call: Call, status: int = 200, wrong: str = "") -> Response:
    settings = call.site.settings
    return call.page(
        "uploads/list.html",
        status,
        uploads=call.site.uploads.all_of(call.user),
        most=settings.upload_bytes,
        hours=f"{settings.upload_hours:g}",
        endings=endings(),
        size_key=size_key,
        size_number=size_number,
        wrong=wrong,
    )


ROUTES = (
    reads("/uploads", listing, STEWARDS),
    changes("/uploads", add, STEWARDS, "uploads.add", takes_file=True),
    changes("/uploads/{upload}/remove", remove, STEWARDS, "uploads.remove", "upload"),
)
