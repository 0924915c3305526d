"""Where a form was sent from, as browsers say it: forms of other sites are refused, beside what the token does."""

from __future__ import annotations

from starlette.requests import Request


def from_own_page(request: Request, *, secure: bool) -> bool:
    """Whether a browser sent this from a page of this server. Programs that say nothing need the token alone.

    ``Sec-Fetch-Site`` cannot be set by a page, and ``none`` is somebody who loads a page again. ``Origin`` is ``null``
    where a browser hides it: it is believed only beside the other.
    """
    site = request.headers.get("sec-fetch-site")
    if site not in (None, "same-origin", "none"):
        return False
    origin = request.headers.get("origin")
    if origin is None:
        return True
    if origin == "null":
        return site is not None
    own = f"{'https' if secure else 'http'}://{request.headers.get('host', '')}"
    return origin.lower() == own.lower()
