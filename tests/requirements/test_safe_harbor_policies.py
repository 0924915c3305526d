"""What `diff`, floors and `builtin:hipaa-safe-harbor` make of a clause `safe_harbor`."""

from __future__ import annotations

import pytest

HEAD = """version: 1
name: {name}
source: {{path: stays.csv}}
attributes: {{zip: {{role: insensitive}}, age: {{role: insensitive}}, note: {{role: insensitive}}}}
releases: {{study: {{path: stays.csv}}}}
"""


@pytest.fixture
def compared(cli, tmp_path):
    """Say what `diff` says of a change from one clause to another: its exit status with --forbid-weaker."""

    def run(one, other):
        for name, text in (("one", one), ("other", other)):
            privacy = f"privacy: {{safe_harbor: {text}}}\n" if text else ""
            (tmp_path / f"{name}.yaml").write_text(HEAD.format(name="stays") + privacy)
        done = cli("diff", "one.yaml", "other.yaml", "--forbid-weaker", cwd=tmp_path)
        assert done.returncode in (0, 1), done.stderr
        return done.returncode == 0

    return run


STRICTER = {
    "later": ("{as_of: 2025}", "{as_of: 2026}"),
    "more columns": ("{as_of: 2026, zip_codes: [zip]}", "{as_of: 2026, zip_codes: [zip, note], ages: [age]}"),
    "more areas": ("{as_of: 2026, small_areas: [census_2000]}", "{as_of: 2026}"),
    "fewer alone": ("{as_of: 2026, unique: 0.8}", "{as_of: 2026, unique: 0.5}"),
    "less cleared": ("{as_of: 2026, cleared: {note: [dates, names]}}", "{as_of: 2026, cleared: {note: [names]}}"),
    "nothing cleared": ("{as_of: 2026, cleared: {note: [names]}}", "{as_of: 2026}"),
}


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("name", STRICTER)
def test_stricter_one_way_and_weaker_the_other(name, compared):
    weak, strict = STRICTER[name]
    assert compared(weak, strict)
    assert not compared(strict, weak)


@pytest.mark.slow
def test_another_list_and_none_at_all_need_a_look(compared):
    assert not compared("{as_of: 2026, small_areas: [census_2000]}", "{as_of: 2026, small_areas: [census_2020]}")
    assert not compared("{as_of: 2026}", "")
    assert compared("{as_of: 2026, small_areas: ['036', '059']}", "{as_of: 2026, small_areas: [census_2000]}")


CHILD = """version: 1
name: stays
extends: [{{template: builtin:hipaa-safe-harbor, with: {{as_of: 2026}}}}]
source: {{path: stays.csv}}
attributes: {{zip: {{role: insensitive}}, note: {{role: insensitive}}}}
steps: {{areas: {{use: truncate_zip_codes, with: {{attributes: [zip]}}}}}}
releases: {{study: {{path: stays.csv}}}}
privacy: {privacy}
"""


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize(
    ("privacy", "fine"),
    [
        ("{safe_harbor: {small_areas: [census_2000, census_2020, '999']}}", True),
        ("{safe_harbor: {cleared: {note: [names, unique_codes]}}}", True),
        ("{safe_harbor: {small_areas: [census_2000]}}", False),
        ("{safe_harbor: {cleared: {note: [emails]}}}", False),
        ("{safe_harbor: {as_of: 1999}}", False),
        ("{safe_harbor: {unique: 0.99}}", False),
        ("{safe_harbor: {releases: [study]}}", False),
        ("{safe_harbor: null}", False),
        ("null", False),
    ],
)
def test_no_child_takes_the_template_back(privacy, fine, cli, tmp_path):
    (tmp_path / "p.yaml").write_text(CHILD.format(privacy=privacy))
    done = cli("check", "p.yaml", cwd=tmp_path)
    assert (done.returncode == 0) is fine, done.stdout + done.stderr


def test_a_year_is_asked_for(cli, tmp_path):
    (tmp_path / "p.yaml").write_text(CHILD.format(privacy="{}").replace(", with: {as_of: 2026}", ""))
    done = cli("check", "p.yaml", cwd=tmp_path)
    assert done.returncode == 1
    assert "as_of" in done.stdout + done.stderr


@pytest.mark.slow
def test_linked_tables_and_sets(cli, tmp_path):
    """Each table of a policy is looked through, and items of sets are cells."""
    (tmp_path / "people.csv").write_text("who,state\n" + "".join(f"p{i},NY\n" for i in range(20)))
    (tmp_path / "stays.csv").write_text("who,note\n" + "".join(f"p{i % 20},call 212-555-0123\n" for i in range(40)))
    (tmp_path / "linked.yaml").write_text(
        """version: 1
name: linked
people: {known_rows: 1}
tables:
  people: {source: {path: people.csv}, key: who, attributes: {who: {role: subject}, state: {role: insensitive}}}
  stays:
    source: {path: stays.csv}
    refers: {who: people}
    attributes: {who: {role: subject}, note: {role: insensitive}}
privacy: {safe_harbor: {as_of: 2026}}
releases:
  people: {from: people, path: people.csv}
  stays: {from: stays, path: stays.csv}
"""
    )
    done = cli("run", "linked.yaml", cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "40 cells of `note` may show telephone numbers (D)" in " ".join(done.stdout.split())
    lines = ["aspirin,a@b.org" if i == 3 else "aspirin,tea" for i in range(10)]
    (tmp_path / "sets.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "sets.yaml").write_text(
        """version: 1
name: sets
source: {path: sets.csv, format: baskets}
attributes: {items: {role: items}}
privacy: {safe_harbor: {as_of: 2026}}
releases: {study: {path: sets.csv, format: baskets}}
"""
    )
    done = cli("run", "sets.yaml", cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 cell of `items` may show email addresses (F)" in " ".join(done.stdout.split())
