"""Answers hold a turn, or bytes, while they are sent: one person takes few of them, and gives each back."""

from __future__ import annotations

import asyncio
import random
from contextlib import AsyncExitStack

import pytest
from prepared_runs import prepared_run
from sites import PATIENCE, Server
from starlette.responses import Response, StreamingResponse

from ppdm_flow.page.http import answering, turns
from ppdm_flow.page.http.turns import AT_ONCE, PIECE, AnsweredInTurn, ResponseInTurn, turn
from ppdm_flow.page.services import journal
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.places import BusyError, WorkPlaces


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
    administrator = server.browser(PageRole.ADMINISTRATOR)
    names.clear()
    assert administrator.get("/journal").status_code == 200
    assert not [name for name in names if name.startswith("stream")]
    answer = administrator.get("/journal/journal.csv")
    assert (answer.status_code, answer.text.partition(",")[0]) == (200, "number")
    assert [name for name in names if name.startswith("stream")] == [f"stream for account {administrator.user.id}"]
    assert "content-security-policy" in answer.headers


def test_downloads_beyond_a_number_are_counted(server: Server, monkeypatch):
    monkeypatch.setattr(server.site.journal._downloads, "_most", 3)
    guest, steward = (server.users[role] for role in (PageRole.GUEST, PageRole.STEWARD))
    book = server.site.journal
    for user in (guest, guest, guest, guest, guest, steward):
        book.add(user, journal.DOWNLOAD, "p/r/public", "done")
    book.tidy(all_spans=True)
    entries = [(entry.account, entry.action, entry.outcome) for entry in book.newest(100)][::-1]
    assert entries.count(("guest", journal.DOWNLOAD, "done")) == 3
    assert entries.count(("steward", journal.DOWNLOAD, "done")) == 1
    (more,) = [entry for entry in book.newest(100) if entry.action == journal.MORE_DOWNLOADS]
    assert (more.account, more.outcome, more.subject.partition(" ")[0]) == ("guest", "done", "2")
    assert book.is_whole()


@pytest.mark.parametrize("size", [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 3 * PIECE + 1])
def test_an_answer_goes_out_in_pieces_that_a_connection_may_hold(size):
    body = random.Random(size).randbytes(size)
    told = []

    async def send(message) -> None:
        told.append(message)

    asyncio.run(ResponseInTurn(Response(body), AsyncExitStack())({"type": "http"}, None, send))
    begin, *pieces = told
    assert dict(begin["headers"])[b"content-length"] == str(size).encode()
    assert b"".join(piece["body"] for piece in pieces) == body
    assert max(len(piece["body"]) for piece in pieces) <= PIECE
    assert [piece.get("more_body", False) for piece in pieces] == [True] * (len(pieces) - 1) + [False]


def test_large_pages_count_until_they_are_sent_and_small_ones_do_not(server: Server, monkeypatch):
    steward, approver = server.browser(PageRole.STEWARD), server.browser(PageRole.APPROVER)
    long, short = "/policies/words", "/sign-in"
    size = len(steward.get(long).content)
    monkeypatch.setattr(answering, "_LARGE", size - 1)
    monkeypatch.setattr(answering, "_UNREAD", WorkPlaces(2 * size, size))
    assert [steward.get(long).status_code for _ in range(3)] == [200] * 3, "each gives its bytes back"
    monkeypatch.setattr(answering, "_UNREAD", WorkPlaces(2 * size, size - 1))
    assert (steward.get(long).status_code, steward.get(short).status_code) == (429, 200)
    assert approver.get("/policies").status_code == 200


def test_files_of_runs_take_turns_of_streams(server: Server, monkeypatch):
    run = prepared_run(server.folder / "runs")
    names = []
    taken = answering.turn

    def noting(name, *words, **more):
        names.append(name)
        return taken(name, *words, **more)

    monkeypatch.setattr(answering, "turn", noting)
    steward = server.browser(PageRole.STEWARD)
    answer = steward.get(f"/runs/{run.parent.name}/{run.name}/files/report.json")
    assert answer.content == (run / "report.json").read_bytes()
    assert names.count(f"stream for account {steward.user.id}") == 1


def _asked(app: AnsweredInTurn, client: str, send) -> asyncio.Task[None]:
    return asyncio.create_task(app({"type": "http", "client": (client, 1)}, None, send))


def test_what_all_visitors_see_is_answered_to_few_of_one_address_at_once():
    async def scenario() -> None:
        begun, go_on = [], asyncio.Event()

        async def app(scope, _receive, send) -> None:
            begun.append(scope["client"][0])
            await go_on.wait()
            await send({"type": "http.response.body"})

        async def send(_message) -> None:
            return

        limited = AnsweredInTurn(app)
        tasks = [_asked(limited, "192.0.2.1", send) for _ in range(AT_ONCE + 5)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        other = _asked(limited, "192.0.2.2", send)
        await asyncio.sleep(0.01)
        assert begun == [*["192.0.2.1"] * AT_ONCE, "192.0.2.2"]
        go_on.set()
        await asyncio.gather(*tasks, other)
        assert begun.count("192.0.2.1") == AT_ONCE + 5

    asyncio.run(scenario())


def test_who_reads_slowly_keeps_no_turn_of_the_address():
    async def scenario() -> None:
        begun, read = [], asyncio.Event()

        async def app(_scope, _receive, send) -> None:
            begun.append(1)
            await send({"type": "http.response.body"})

        async def send_slowly(_message) -> None:
            await read.wait()

        async def send(_message) -> None:
            return

        limited = AnsweredInTurn(app)
        slow = [_asked(limited, "192.0.2.1", send_slowly) for _ in range(AT_ONCE)]
        await asyncio.wait_for(_asked(limited, "192.0.2.1", send), PATIENCE)
        assert not any(task.done() for task in slow)
        read.set()
        await asyncio.gather(*slow)

    asyncio.run(scenario())


def test_more_requests_than_may_wait_are_told_so():
    async def scenario() -> None:
        go_on = asyncio.Event()

        async def app(_scope, _receive, send) -> None:
            await go_on.wait()
            await send({"type": "http.response.body"})

        told: list[int] = []

        async def send(message) -> None:
            told.append(message.get("status", 0))

        limited = AnsweredInTurn(app)
        tasks = [_asked(limited, "192.0.2.1", send) for _ in range(AT_ONCE + 512 + 2)]
        await asyncio.sleep(0.5)
        assert told.count(429) == 2
        go_on.set()
        await asyncio.gather(*tasks)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("path", "host"), [("/nowhere", ""), ("/sign-in", "elsewhere.example"), ("/static/page.css", "")]
)
def test_answers_to_strangers_take_turns_of_their_address(shared_server: Server, monkeypatch, path, host):
    names = []
    taken = turns.turn

    def noting(name, *words, **more):
        names.append(name)
        return taken(name, *words, **more)

    monkeypatch.setattr(turns, "turn", noting)
    answer = shared_server.browser().client.get(path, headers={"host": host} if host else {})
    assert answer.status_code in {404, 421, 200}
    assert names == ["visit from address testclient"]
