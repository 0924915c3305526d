"""Uploading tables, and removing them."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.responses import Response

from ppdm_flow.page.http.call import Call
from ppdm_flow.page.http.route import STEWARDS, asks, changes, reads
from ppdm_flow.page.services.uploads.first_rows import beginning_of
from ppdm_flow.page.services.uploads.kinds import endings
from ppdm_flow.page.services.uploads.uploads import LOOKS, Upload, columns_of, takes_rows
from ppdm_flow.page.views.form.layout import TableLayout

CELL = "cell-"
"""What the fields of a row begin with, before the number of their column."""


# Somebody's own uploads: sent, listed, filled in by hand, removed.


def listing(call: Call) -> Response:
    """Show somebody's uploads, and the form for another."""
    return _page(call)


def add(call: Call) -> Response:
    """Keep the file that came as an upload, and show how it is read."""
    if call.arrived is None or not call.arrived.bytes:
        return _page(call, 400, "uploads.no_file")
    layout = TableLayout.of(call.text)
    upload = call.site.uploads.keep(call.user, call.arrived, call.arrived.name, layout.options)
    return call.go(f"/uploads/{upload.id}", said="uploads.added", **layout.query)


def show(call: Call) -> Response:
    """Show an upload's first rows, read as the address says."""
    return _first_rows(call, TableLayout.of(lambda name: call.query.get(name, "")))


def show_as(call: Call) -> Response:
    """Show an upload's first rows, read as a form says."""
    return _first_rows(call, TableLayout.of(call.text))


def _first_rows(call: Call, layout: TableLayout) -> Response:
    """Show the first rows to the uploader: they are in this answer alone, which no cache keeps."""
    upload = call.site.uploads.of(call.user, call.path["upload"])
    if upload is None:
        raise HTTPException(404)
    read = LOOKS.run(beginning_of, upload.path, layout.options)
    response = call.page("uploads/one.html", 422 if read.fault else 200, upload=upload, read=read, layout=layout)
    response.headers["cache-control"] = "no-store"
    return response


def remove(call: Call) -> Response:
    """Remove an upload."""
    if not call.site.uploads.remove(call.user, call.path["upload"]):
        raise HTTPException(404)
    return call.go("/uploads", said="uploads.removed")


def show_row(call: Call) -> Response:
    """Show the form for one row more of a table."""
    upload = _own(call)
    return call.page("uploads/row.html", upload=upload, columns=LOOKS.run(columns_of, upload.path))


def add_row(call: Call) -> Response:
    """Write a row behind the others of a table, and show the form for the next."""
    upload = _own(call)
    many = sum(name.startswith(CELL) for name in call.form)
    call.site.uploads.add_row(call.user, upload, [call.text(f"{CELL}{number}") for number in range(many)])
    return call.go(f"/uploads/{upload.id}/row", said="uploads.row_added")


def _own(call: Call) -> Upload:
    """Return the caller's upload that the address names. Raises HTTPException 404 where rows are not added to it."""
    upload = call.site.uploads.of(call.user, call.path["upload"])
    if upload is None or not takes_rows(upload.path):
        raise HTTPException(404)
    return upload


def _page(call: Call, status: int = 200, wrong: str = "") -> Response:
    settings = call.site.settings
    return call.page(
        "uploads/list.html",
        status,
        uploads=call.site.uploads.all_of(call.user),
        most=settings.upload_bytes,
        hours=f"{settings.upload_hours:g}",
        endings=endings(),
        takes_rows=takes_rows,
        size_key=size_key,
        size_number=size_number,
        wrong=wrong,
        layout=TableLayout(),
    )


ROUTES = (
    reads("/uploads", listing, STEWARDS),
    changes("/uploads", add, STEWARDS, "uploads.add", takes_file=True),
    reads("/uploads/{upload}", show, STEWARDS),
    asks("/uploads/{upload}", show_as, STEWARDS),
    reads("/uploads/{upload}/row", show_row, STEWARDS),
    changes("/uploads/{upload}/row", add_row, STEWARDS, "uploads.add_row", "upload"),
    changes("/uploads/{upload}/remove", remove, STEWARDS, "uploads.remove", "upload"),
)

_UNITS = ((1 << 20, "uploads.megabytes"), (1 << 10, "uploads.kilobytes"), (1, "uploads.bytes"))


def size_key(size: int) -> str:
    """Return the key of the text with the unit of a size."""
    return next((key for unit, key in _UNITS if size >= unit), "uploads.bytes")


def size_number(size: int) -> str:
    """Return the number of that unit, with one place after the point from a kilobyte on.

    >>> size_number(0), size_number(1536), size_number(5 << 20)
    ('0', '1.5', '5.0')
    """
    unit = next((unit for unit, _ in _UNITS if size >= unit), 1)
    return f"{size:,}" if unit == 1 else f"{size / unit:,.1f}"
