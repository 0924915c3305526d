"""Answers in pieces hold a turn while they are sent: one person takes few of them, and gives each back."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest
from sites import Server
from starlette.responses import Response, StreamingResponse

from ppdm_flow.page.http import answering
from ppdm_flow.page.http.turns import ResponseInTurn, turn
from ppdm_flow.page.services.accounts.roles import Role
from ppdm_flow.page.services.journal import journal
from ppdm_flow.page.services.places import BusyError


async def _sent(response: Response) -> list[str]:
    told = []

    async def send(message) -> None:
        told.append(message["type"])

    async def receive():
        await asyncio.Event().wait()

    await response({"type": "http", "asgi": {"spec_version": "2.4"}, "method": "GET"}, receive, send)
    return told


async def _in_turn(pieces, name: str = "stream") -> ResponseInTurn:
    held = AsyncExitStack()
    await held.enter_async_context(turn(name, at_once=1, waiting=0))
    return ResponseInTurn(StreamingResponse(pieces), held)


def test_a_turn_is_held_until_the_answer_is_sent_and_no_longer():
    async def scenario() -> None:
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def pieces():
            begun.set()
            await go_on.wait()
            yield b"end"

        async def answered() -> list[str]:
            return await _sent(await _in_turn(pieces()))  # one task takes the turn and sends, as the server has it

        sending = asyncio.create_task(answered())
        await begun.wait()
        with pytest.raises(BusyError):
            await _in_turn(pieces())
        other = await _sent(await _in_turn(iter([b"x"]), "stream of another"))
        assert other[0] == "http.response.start"
        go_on.set()
        assert (await sending)[-1] == "http.response.body"
        await _sent(await _in_turn(iter([b"x"])))

    asyncio.run(scenario())


def test_a_turn_comes_back_where_the_answer_fails():
    async def scenario() -> None:
        def pieces():
            yield b"x"
            raise KeyError

        with pytest.raises(KeyError):
            await _sent(await _in_turn(pieces()))
        await _sent(await _in_turn(iter([b"x"])))

    asyncio.run(scenario())


def test_streams_take_a_turn_and_pages_do_not(server: Server, monkeypatch):
    names = []
    taken = answering.turn

    def noting(name, *words, **more):
        names.append(name)
        return taken(name, *words, **more)

    monkeypatch.setattr(answering, "turn", noting)
    administrator = server.browser(Role.ADMINISTRATOR)
    names.clear()
    assert administrator.get("/journal").status_code == 200
    assert not [name for name in names if name.startswith("stream")]
    answer = administrator.get("/journal/journal.csv")
    assert (answer.status_code, answer.text.partition(",")[0]) == (200, "number")
    assert [name for name in names if name.startswith("stream")] == [f"stream for account {administrator.user.id}"]
    assert "content-security-policy" in answer.headers


def test_downloads_beyond_a_number_are_counted(server: Server, monkeypatch):
    monkeypatch.setattr(server.site.journal._downloads, "_most", 3)
    guest, steward = (server.users[role] for role in (Role.GUEST, Role.STEWARD))
    book = server.site.journal
    for user in (guest, guest, guest, guest, guest, steward):
        book.add(user, journal.DOWNLOAD, "p/r/public", "done")
    book.tidy(whole=True)
    entries = [(entry.account, entry.action, entry.outcome) for entry in book.newest(100)][::-1]
    assert entries.count(("guest", journal.DOWNLOAD, "done")) == 3
    assert entries.count(("steward", journal.DOWNLOAD, "done")) == 1
    (more,) = [entry for entry in book.newest(100) if entry.action == journal.MORE_DOWNLOADS]
    assert (more.account, more.outcome, more.subject.partition(" ")[0]) == ("guest", "done", "2")
    assert book.is_whole()
