"""One request, as the features of the page see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse

from ppdm_flow.page.http.noted import JournalNote
from ppdm_flow.page.looks.templates import LongPageError, rendered
from ppdm_flow.page.services.accounts.roles import User
from ppdm_flow.page.services.accounts.sessions import Visit
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.uploads.arriving import ArrivingFile
from ppdm_flow.page.site import Site

_LONGEST = 30_000
"""Characters of an address: the server takes heads of 32 KB."""


@dataclass(frozen=True, slots=True)
class Call:
    """What was asked for, by whom, with which form.

    ``arrived`` is the file among its fields, where the route takes one: gone after the answer, unless it was kept.
    """

    site: Site
    request: Request
    visit: Visit
    form: FormData
    arrived: ArrivingFile | None = None
    noted: JournalNote = field(default_factory=JournalNote)

    @property
    def path(self) -> Mapping[str, str]:
        """The parts of the address that its route names: text that anybody may have written."""
        return self.request.path_params

    @property
    def query(self) -> Mapping[str, str]:
        """What follows the question mark of the address; of a name given twice, the last."""
        return self.request.query_params

    @property
    def user(self) -> User:
        """Who is signed in. Routes that are not public have somebody."""
        if self.visit.user is None:
            raise LookupError("nobody is signed in: the route is public")
        return self.visit.user

    @property
    def replaces_part(self) -> bool:
        """Whether a script of the page asks for a part of it."""
        return self.request.headers.get("hx-request") == "true"

    def text(self, field: str, default: str = "") -> str:
        """Return a field of the form as text; files are none."""
        value = self.form.get(field, default)
        return value if isinstance(value, str) else default

    def texts(self, field: str) -> list[str]:
        """Return all values of a field that may occur several times."""
        return [value for value in self.form.getlist(field) if isinstance(value, str)]

    def page(self, template: str, status: int = 200, **values: object) -> HTMLResponse:
        """Answer with a page. ``user``, ``form_token``, ``here`` (its path) and ``said`` are always there.

        Raises RefusalError where it would be too long.
        """
        said = self.query.get("said", "")
        try:
            html = rendered(
                template,
                user=self.visit.user,
                form_token=self.visit.form_token,
                here=self.request.url.path,
                said=said,
                **values,
            )
        except LongPageError:
            raise RefusalError("errors.long_page", 413) from None
        return HTMLResponse(html, status)

    def go(self, address: str, said: str = "", **query: str) -> RedirectResponse:
        """Answer a form by sending the browser to a page; ``said`` is the key of a text that it shows once.

        Raises RefusalError where the server would not take the address.
        """
        words = urlencode({**query, **({"said": said} if said else {})})
        whole = f"{address}?{words}" if words else address
        if len(whole) > _LONGEST:
            raise RefusalError("errors.long_address", 413)
        return RedirectResponse(whole, 303)
