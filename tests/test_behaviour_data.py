"""The campaign `behaviour.py` has data for every good example, and its data fit: one policy of each source format.

The campaign itself runs all policies.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "campaigns"))

from behaviour import GOOD, write_with_data
from behaviour_data import FILES

TESTS = Path(__file__).parent
FORMATS = [path.relative_to(TESTS.parent).as_posix() for path in sorted((TESTS / "campaigns/formats").glob("*.yaml"))]
EXAMPLES = [f"{GOOD}/{name}.yaml" for name in ("minimal", "baskets", "two_releases")]


def test_every_good_example_has_data(root: Path) -> None:
    assert {path.stem for path in (root / GOOD).glob("*.yaml")} == set(FILES)


@pytest.mark.slow(quick=1)
@pytest.mark.parametrize("policy", [*EXAMPLES, *FORMATS])
def test_data_fit(policy: str, tmp_path: Path, cli) -> None:
    data = write_with_data(policy, tmp_path) or ["--own-data"]
    done = cli("plan", Path(policy).name, *map(str, data), cwd=(tmp_path / policy).parent)
    assert done.returncode == 0, done.stderr
