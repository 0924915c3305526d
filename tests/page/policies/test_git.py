"""The Git working tree of policies: commits of chosen files by whom they are, and what is refused."""

from __future__ import annotations

import subprocess

import pytest

from ppdm_flow.api.diff.revisions import place
from ppdm_flow.core.errors import UsageError
from ppdm_flow.page.services.accounts.roles import PageRole, User
from ppdm_flow.page.services.policies import working_tree
from ppdm_flow.page.services.policies import working_tree as asked
from ppdm_flow.page.services.policies.working_tree import GitRefusedError, WorkingTree

ANN = User(1, 'Ann <b@c>"\n$(x)', frozenset({PageRole.STEWARD}))


@pytest.fixture
def git(tmp_path):
    def run(*words):
        fixed = ["-c", "user.name=Someone", "-c", "user.email=some@one.example", "-c", "init.defaultBranch=main"]
        done = subprocess.run(["git", *fixed, *words], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout

    run("init", "--quiet")
    (tmp_path / "pol").mkdir()
    (tmp_path / "pol" / "a.yaml").write_text("a: 1\n")
    (tmp_path / "other.txt").write_text("x\n")
    run("add", ".")
    run("commit", "--quiet", "-m", "first")
    return run


@pytest.fixture
def tree(git, tmp_path):
    return WorkingTree(tmp_path / "pol")


@pytest.mark.parametrize("asked_by", ["owner", "page", "revision"])
def test_a_folder_that_looks_like_a_repository_has_git_run_nothing(git, tree, tmp_path, asked_by):
    """Git looks for a repository in the folder itself first, and runs the monitor that its configuration names."""
    folder, ran = tmp_path / "pol", tmp_path / "ran"
    monitor = f"touch {ran}; false"
    if asked_by == "owner":  # what the repository itself is configured with is carried out
        git("config", "core.fsmonitor", monitor)
        assert tree.state() is not None
        assert ran.exists()
        return
    for name in ("objects", "refs"):
        (folder / name).mkdir()
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "config").write_text(
        f'[core]\nrepositoryformatversion = 0\nbare = false\nworktree = "{folder}"\nfsmonitor = "{monitor}"\n'
    )
    if asked_by == "page":
        assert tree.state() is None
    else:
        with pytest.raises(UsageError, match="no git repository"), place("HEAD:a.yaml", folder):
            pass
    assert not ran.exists()


def _seen(tree, *names):
    marks = tree.state().marks
    return {name: marks.get(name, "") for name in names}


def test_what_was_written_since_it_was_looked_at_is_not_committed(git, tree, tmp_path):
    file = tmp_path / "pol" / "a.yaml"
    file.write_text("a: 2\n")
    seen = _seen(tree, "a.yaml")
    (tmp_path / "pol" / "b.yaml").write_text("b: 1\n")
    for later in (lambda: file.write_text("a: 3\n"), file.unlink):
        later()
        with pytest.raises(GitRefusedError, match="changed"):
            tree.commit(seen, "x", ANN)
    with pytest.raises(GitRefusedError, match="changed"):
        tree.commit({"a.yaml": ""}, "x", ANN)
    assert tree.committed("a.yaml") == "a: 1\n"
    file.write_text("a: 2\n")
    assert tree.commit(_seen(tree, "a.yaml"), "x", ANN)


def test_what_is_written_while_it_is_committed_waits(git, tree, tmp_path, monkeypatch):
    """Else one person's text would be committed under the name of another one who has not seen it."""
    file, change = tmp_path / "pol" / "a.yaml", working_tree.change
    file.write_text("a: 2\n")

    def changed(*words, **more):
        file.write_text("a: 3\n")
        return change(*words, **more)

    monkeypatch.setattr(working_tree, "change", changed)
    tree.commit(_seen(tree, "a.yaml"), "x", ANN)
    assert tree.committed("a.yaml") == "a: 2\n"
    assert tree.state().changed == ("a.yaml",)


def test_links_and_programs_are_committed_as_what_they_are(git, tree, tmp_path):
    (tmp_path / "pol" / "link.yaml").symlink_to("a.yaml")
    (tmp_path / "pol" / "run.yaml").write_text("b: 1\n")
    (tmp_path / "pol" / "run.yaml").chmod(0o755)
    tree.commit(_seen(tree, "link.yaml", "run.yaml"), "x", ANN)
    lines = git("ls-tree", "HEAD", "pol/link.yaml", "pol/run.yaml").splitlines()
    assert [line[:6] for line in lines] == ["120000", "100755"]
    assert git("status", "--porcelain") == ""


def test_only_chosen_files_are_committed_and_by_whom(git, tree, tmp_path):
    (tmp_path / "pol" / "a.yaml").write_text("a: 2\n")
    (tmp_path / "pol" / "new -f.yaml").write_text("b: 1\n")
    (tmp_path / "pol" / "left.yaml").write_text("c: 1\n")
    (tmp_path / "other.txt").write_text("staged by somebody\n")
    git("add", "other.txt")
    assert tree.state().changed == ("a.yaml", "left.yaml", "new -f.yaml")
    assert tree.committed("a.yaml") == "a: 1\n"
    made = tree.commit(_seen(tree, "a.yaml", "new -f.yaml", "../other.txt", "--amend"), "k is 2 now\n\nbecause", ANN)
    assert git("show", "--format=%an|%ae|%cn|%s", "--name-only", made).split("\n")[:4] == [
        "Ann b@c x|Ann.b.c.x@localhost|ppdm_flow|k is 2 now",
        "",
        "pol/a.yaml",
        "pol/new -f.yaml",
    ]
    assert git("status", "--porcelain") == "M  other.txt\n?? pol/left.yaml\n"
    assert tree.committed("a.yaml") == "a: 2\n"
    assert [(each.author, each.subject) for each in tree.log("a.yaml")] == [
        ("Ann b@c x", "k is 2 now"),
        ("Someone", "first"),
    ]


def test_a_removed_file_is_committed_as_removed(git, tree, tmp_path):
    (tmp_path / "pol" / "a.yaml").unlink()
    tree.commit(_seen(tree, "a.yaml"), "no more", ANN)
    assert tree.committed("a.yaml") is None
    assert tree.state().changed == ()


def test_nothing_is_committed_in_the_middle_of_a_merge_or_on_no_branch(git, tree, tmp_path):
    git("checkout", "--quiet", "-b", "side")
    (tmp_path / "pol" / "a.yaml").write_text("a: side\n")
    git("commit", "--quiet", "-am", "side")
    git("checkout", "--quiet", "main")
    (tmp_path / "pol" / "a.yaml").write_text("a: main\n")
    git("commit", "--quiet", "-am", "main")
    with pytest.raises(subprocess.CalledProcessError):
        git("merge", "side")
    with pytest.raises(GitRefusedError, match="unfinished"):
        tree.commit(_seen(tree, "a.yaml"), "x", ANN)
    git("merge", "--abort")
    git("checkout", "--quiet", "--detach")
    (tmp_path / "pol" / "a.yaml").write_text("a: 3\n")
    with pytest.raises(GitRefusedError, match="detached"):
        tree.commit(_seen(tree, "a.yaml"), "x", ANN)
    git("checkout", "--quiet", "main")
    with pytest.raises(GitRefusedError, match="nothing"):
        tree.commit({}, "x", ANN)
    assert tree.commit(_seen(tree, "a.yaml"), "x", ANN)


@pytest.mark.slow
def test_hooks_are_kept_and_what_they_say_is_told(git, tree, tmp_path, monkeypatch):
    hook = tmp_path / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'policies must pass' >&2\nexit 1\n")
    hook.chmod(0o755)
    (tmp_path / "pol" / "a.yaml").write_text("a: 2\n")
    with pytest.raises(GitRefusedError) as caught:
        tree.commit(_seen(tree, "a.yaml"), "x", ANN)
    assert (caught.value.reason, caught.value.errors) == ("refused", "policies must pass")
    hook.write_text("#!/bin/sh\nsleep 600\n")
    monkeypatch.setattr(asked, "_COMMITTING", 1.0)
    with pytest.raises(GitRefusedError, match="slow"):
        tree.commit(_seen(tree, "a.yaml"), "x", ANN)
    assert tree.committed("a.yaml") == "a: 1\n"
    hook.unlink()
    assert tree.commit(_seen(tree, "a.yaml"), "x", ANN)


def test_a_folder_without_git_has_no_state(tmp_path):
    (tmp_path / "plain").mkdir()
    assert WorkingTree(tmp_path / "plain").state() is None
