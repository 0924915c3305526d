"""Policies as files: whole, by name, and nobody overwrites what they have not seen."""

from __future__ import annotations

import threading

import pytest

from ppdm_flow.core.errors import PolicyError
from ppdm_flow.page.services.accounts.roles import PageRole
from ppdm_flow.page.services.policies import policies as module
from ppdm_flow.page.services.policies.history import _EACH
from ppdm_flow.page.services.policies.policies import (
    ChangedMeanwhileError,
    FileKind,
    PolicyFiles,
    UnknownPolicyError,
    UnusableNameError,
)
from ppdm_flow.page.services.refusal import RefusalError
from ppdm_flow.page.services.storage.database import PageDatabase

POLICY = "version: 1\nname: a\nreleases: {}\n"


@pytest.fixture
def policies(server):
    return server.site.policies


@pytest.fixture
def ann(server):
    return server.users[PageRole.STEWARD]


def test_the_list_tells_policies_templates_and_tests_apart(policies, ann):
    policies.create("b/credit.yaml", POLICY, ann)
    policies.create("org.yaml", "version: 1\nfloors: {}\n", ann)
    policies.create("credit.test.yaml", "policy: credit.yaml\ntests: {}\n", ann)
    policies.create("signers.yaml", "signers: {}\n", ann)
    policies.create("country.csv", "a,b\n", ann)
    assert {each.name: each.kind for each in policies.list()} == {
        "b/credit.yaml": FileKind.POLICY,
        "credit.test.yaml": FileKind.TESTS,
        "org.yaml": FileKind.TEMPLATE,
        "signers.yaml": FileKind.OTHER,
    }
    assert policies.names() == ("b/credit.yaml",)
    assert policies.tables() == ("country.csv",)


def test_of_two_who_write_the_second_is_told_and_nothing_is_lost(policies, ann):
    first = policies.create("a.yaml", POLICY, ann)
    second = policies.write("a.yaml", POLICY + "# mine\n", first.digest, ann)
    with pytest.raises(ChangedMeanwhileError) as caught:
        policies.write("a.yaml", POLICY + "# yours\n", first.digest, ann)
    assert caught.value.now == second == policies.read("a.yaml")
    kept = [policies.history.version(each.number).text for each in policies.history.of("a.yaml")]
    assert kept == [second.text, first.text]


def test_of_many_who_write_at_once_one_does(policies, ann):
    first = policies.create("a.yaml", POLICY, ann)
    outcomes = []

    def write(number):
        try:
            outcomes.append(policies.write("a.yaml", f"{POLICY}# {number}\n", first.digest, ann).text)
        except ChangedMeanwhileError:
            outcomes.append(None)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (written,) = [text for text in outcomes if text]
    assert policies.read("a.yaml").text == written
    assert [path.name for path in policies.folder.iterdir()] == ["a.yaml"]


def test_what_was_there_before_the_page_is_kept_before_it_is_overwritten(policies, ann):
    (policies.folder / "a.yaml").write_text("version: 1\n# by hand\n")
    policies.write("a.yaml", POLICY, policies.read("a.yaml").digest, ann)
    found = policies.history.version(policies.history.of("a.yaml")[-1].number)
    assert (found.text, found.account) == ("version: 1\n# by hand\n", None)


@pytest.mark.parametrize("before", [b"a: 1\r\nb: 2\r\n", b"\xef\xbb\xbfa: 1\n", b"a: 1\nb: 2", b"a: 1\n"])
def test_line_ends_and_mark_of_a_file_stay(policies, ann, before):
    (policies.folder / "a.yaml").write_bytes(before)
    read = policies.read("a.yaml")
    policies.write("a.yaml", read.text.replace("\n", "\r\n"), read.digest, ann)
    assert (policies.folder / "a.yaml").read_bytes() == before


def test_a_removed_file_can_be_had_back_and_a_renamed_one_is_where_it_went(policies, ann):
    made = policies.create("a.yaml", POLICY, ann)
    policies.remove("a.yaml", made.digest, ann)
    assert not policies.list()
    (removed,) = policies.history.removed()
    assert policies.history.many_removed() == 1
    assert policies.restore(policies.history.removed_version(removed.number), ann).digest == made.digest
    assert policies.history.removed_version(removed.number) is None  # it is there
    policies.rename("a.yaml", "x/b.yaml", made.digest, ann)
    assert policies.names() == ("x/b.yaml",)
    with pytest.raises(FileExistsError):
        policies.create("x/b.yaml", POLICY, ann)


NAMES = [
    "../a.yaml",
    "/etc/a.yaml",
    "a/../../b.yaml",
    "a//b.yaml",
    ".a.yaml",
    ".git/a.yaml",
    "a.txt",
    "a.yaml/b.yaml",
    "link/b.yaml",
    "a\n.yaml",
    "a\0.yaml",
    "-" * 300 + ".yaml",
    "",
    "a.yaml ",
    "ä.yaml",
]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_new_files_lead_nowhere_else(policies, ann, tmp_path, name):
    policies.create("a.yaml", POLICY, ann)
    (tmp_path / "elsewhere").mkdir()
    (policies.folder / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnusableNameError):
        policies.create(name, POLICY, ann)
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize("name", [*NAMES, "link.yaml", "state/page.sqlite3", "../state/page.sqlite3"])
def test_what_the_folder_does_not_list_cannot_be_read(policies, ann, tmp_path, name):
    policies.create("b.yaml", POLICY, ann)
    (tmp_path / "secret.yaml").write_text(POLICY)
    (policies.folder / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    (policies.folder / "link").symlink_to(tmp_path)
    for read in (policies.read, policies.path):
        with pytest.raises(UnknownPolicyError):
            read(name)


def test_a_file_that_is_no_text_is_told_as_that(policies):
    (policies.folder / "a.yaml").write_bytes(b"name: \xff\n")
    with pytest.raises(PolicyError, match="PPF102"):
        policies.read("a.yaml")


def test_of_the_versions_of_a_file_those_of_some_characters_are_kept(policies, monkeypatch):
    monkeypatch.setattr("ppdm_flow.page.services.policies.history._MOST", 250)
    for number in range(5):
        policies.history.keep("large.yaml", "saved", str(number), str(number) * 100, None)
    policies.history.keep("small.yaml", "saved", "x", "x" * 1_000, None)
    policies.history.keep("large.yaml", "saved", "5", "5" * 1_000, None)
    assert [version.digest for version in policies.history.of("large.yaml")] == ["5"]
    assert [version.digest for version in policies.history.of("small.yaml")] == ["x"]
    policies.history.keep("few.yaml", "saved", "a", "a" * 100, None)
    policies.history.keep("few.yaml", "saved", "b", "b" * 100, None)
    assert [version.digest for version in policies.history.of("few.yaml")] == ["b", "a"]


def test_versions_of_others_take_the_place_of_none(policies, ann, server, monkeypatch):
    monkeypatch.setattr("ppdm_flow.page.services.policies.history._MOST", 250)
    bob = server.users[PageRole.ADMINISTRATOR]
    policies.history.keep("a.yaml", "wrote", "ann", "a" * 200, ann)
    for number in range(5):
        policies.history.keep("a.yaml", "wrote", str(number), str(number) * 100, bob)
    assert [version.digest for version in policies.history.of("a.yaml")] == ["4", "3", "2", "ann"]


def test_versions_that_one_person_wrote_are_bounded_and_none_goes_for_them(policies, ann, server, monkeypatch):
    monkeypatch.setattr("ppdm_flow.page.services.policies.history._MOST_OF_PERSON", 8 * (len(POLICY) + _EACH))
    first = policies.create("a.yaml", POLICY, ann)
    policies.rename("a.yaml", "b.yaml", first.digest, ann)
    policies.rename("b.yaml", "a.yaml", first.digest, ann)
    policies.rename("a.yaml", "b.yaml", first.digest, ann)
    for refused in (
        lambda: policies.rename("b.yaml", "c.yaml", first.digest, ann),
        lambda: policies.write("b.yaml", POLICY + "# more\n", first.digest, ann),
        lambda: policies.create("d.yaml", POLICY, ann),
        lambda: policies.remove("b.yaml", first.digest, ann),
    ):
        with pytest.raises(RefusalError, match="many_versions"):
            refused()
    assert [each.name for each in policies.list()] == ["b.yaml"]
    assert [version.deed for version in policies.history.of("a.yaml")] == ["removed", "wrote", "removed", "wrote"]
    policies.create("d.yaml", POLICY, server.users[PageRole.ADMINISTRATOR])


def test_characters_of_a_version_count_whatever_they_are(policies, ann, monkeypatch):
    monkeypatch.setattr("ppdm_flow.page.services.policies.history._MOST_OF_PERSON", 9_000)
    hidden, wide = "\0" + "x" * 3_000, "\N{GRINNING FACE}" * 750
    for name, text in (("plain.yaml", "x" * 3_000), ("hidden.yaml", hidden), ("wide.yaml", wide)):
        policies.create(name, text, ann)
        with pytest.raises(RefusalError, match="many_versions"):
            policies.create(f"more-{name}", text, ann)
        with policies.history._database.changing() as connection:
            connection.execute("DELETE FROM policy_versions")


def test_of_the_versions_of_a_file_those_with_hidden_characters_go_as_well(policies, monkeypatch):
    monkeypatch.setattr("ppdm_flow.page.services.policies.history._MOST", 250)
    for number in range(5):
        policies.history.keep("a.yaml", "saved", str(number), "\0" + str(number) * 100, None)
    assert [version.digest for version in policies.history.of("a.yaml")] == ["4", "3", "2"]


def test_versions_of_empty_files_are_bounded_as_well(policies, ann, monkeypatch):
    monkeypatch.setattr("ppdm_flow.page.services.policies.history._MOST_OF_PERSON", 4 * _EACH)
    first = policies.create("a.yaml", "", ann)
    policies.rename("a.yaml", "b.yaml", first.digest, ann)
    with pytest.raises(RefusalError, match="many_versions"):
        policies.rename("b.yaml", "c.yaml", first.digest, ann)
    assert [each.name for each in policies.list()] == ["b.yaml"]


def test_folders_go_with_their_last_file_and_no_others(policies, ann):
    (policies.folder / "house").mkdir()
    first = policies.create("a/b/c/one.yaml", POLICY, ann)
    policies.create("a/two.yaml", POLICY, ann)
    policies.rename("a/b/c/one.yaml", "d/e/one.yaml", first.digest, ann)
    assert sorted(each.name for each in policies.folder.rglob("*") if each.is_dir()) == ["a", "d", "e", "house"]
    policies.remove("d/e/one.yaml", first.digest, ann)
    assert sorted(each.name for each in policies.folder.rglob("*") if each.is_dir()) == ["a", "house"]
    assert [each.name for each in policies.list()] == ["a/two.yaml"]


def test_no_version_takes_the_last_room_of_the_disk(policies, ann, monkeypatch):
    first = policies.create("a.yaml", POLICY, ann)
    monkeypatch.setattr(PageDatabase, "free_bytes", property(lambda _self: policies.history._free_bytes + 10))
    with pytest.raises(RefusalError, match="no_room"):
        policies.rename("a.yaml", "b.yaml", first.digest, ann)
    assert [each.name for each in policies.list()] == ["a.yaml"]


def test_the_yaml_of_one_person_is_bounded_and_may_always_become_smaller(policies, ann, server, monkeypatch):
    monkeypatch.setattr("ppdm_flow.page.services.policies.policies._MOST_BYTES", 2 * len(POLICY))
    first = policies.create("a.yaml", POLICY, ann)
    policies.create("b.yaml", POLICY, ann)
    for refused in (
        lambda: policies.create("c.yaml", "x", ann),
        lambda: policies.write("a.yaml", POLICY + "#", first.digest, ann),
        lambda: policies.write("a.yaml", POLICY[:-9] + 9 * "\N{GRINNING FACE}", first.digest, ann),
    ):
        with pytest.raises(RefusalError, match="large_files"):
            refused()
    policies.create("c.csv", "a;b\n", ann)
    policies.create("d.yaml", POLICY, server.users[PageRole.ADMINISTRATOR])
    same = policies.write("a.yaml", POLICY.replace("7", "6"), first.digest, ann)
    policies.write("a.yaml", POLICY[:-9], same.digest, ann)
    policies.create("e.yaml", "x: 1", ann)


def test_requests_that_come_at_once_share_the_files_that_are_to_be_parsed(policies, ann, monkeypatch):
    for name in "abcd":
        policies.create(f"{name}.yaml", POLICY, ann)
    parsed: list[list[str]] = []
    beside: list[tuple[str, ...]] = []
    plain = module._bounded_identities

    def spied(paths):
        parsed.append([path.name for path in paths])
        if len(parsed) == 2:  # another request, while this one parses its second file
            beside.append(again.names())
        return plain(paths)

    monkeypatch.setattr(module, "_bounded_identities", spied)
    monkeypatch.setattr(module, "_BYTES_TOGETHER", len(POLICY))
    again = PolicyFiles(policies.folder, policies.history)
    assert again.names() == beside[0] == ("a.yaml", "b.yaml", "c.yaml", "d.yaml")
    assert parsed == [["a.yaml"], ["b.yaml"], ["c.yaml"], ["d.yaml"], ["b.yaml"]]
    monkeypatch.setattr(module, "_BYTES_TOGETHER", 3 * len(POLICY))
    assert PolicyFiles(policies.folder, policies.history).names() == beside[0]
    assert parsed[5:] == [["a.yaml", "b.yaml", "c.yaml"], ["d.yaml"]]


def test_one_person_makes_so_many_files_and_more_once_some_are_gone(policies, ann, server, monkeypatch):
    monkeypatch.setattr("ppdm_flow.page.services.policies.policies._MOST_FILES", 2)
    first = policies.create("a.yaml", POLICY, ann)
    policies.create("b.csv", "a;b\n", ann)
    for refused in ("c.yaml", "c.csv"):
        with pytest.raises(RefusalError, match="too_many_files"):
            policies.create(refused, POLICY, ann)
    policies.rename("a.yaml", "c.yaml", first.digest, ann)
    policies.create("d.yaml", POLICY, server.users[PageRole.ADMINISTRATOR])
    policies.path("b.csv").unlink()  # by Git
    policies.create("e.yaml", POLICY, ann)
    policies.remove("c.yaml", first.digest, ann)
    policies.create("f.yaml", POLICY, ann)
