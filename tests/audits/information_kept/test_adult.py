"""Information kept of Adult: by one level for each attribute, by classes of their own, and by hiding columns."""

from __future__ import annotations

import pytest

from ppdm_flow.api.run import run

QUASI_IDENTIFIERS = 9


@pytest.fixture(scope="module")
def kept(root, data, tmp_path_factory, only_run, report_of):
    """Run the policy of the pipelines on Adult with changes, and return its shares by attribute."""
    place = data / "arx_adult" / "adult.csv.gz"
    if not place.is_file():
        pytest.skip("Adult is not at hand")

    def measured(**changes):
        text = (root / "pipelines" / "arx_adult.yaml").read_text()
        for old, new in changes.values():
            assert old in text
            text = text.replace(old, new)
        folder = tmp_path_factory.mktemp("adult")
        (folder / "policy.yaml").write_text(text)
        run(folder / "policy.yaml", {}, place, folder / "runs")
        metrics = report_of(only_run(folder / "runs"))["metrics"]
        return {
            n.removeprefix("information_kept."): m["value"]
            for n, m in metrics.items()
            if n.startswith("information_kept.")
        }

    return measured


def test_full_domain_recoding_and_local_recoding(kept):
    levels = kept()
    assert len(levels) == QUASI_IDENTIFIERS + 1
    assert 0.4 < levels["mean_kept"] < 0.7
    assert levels["occupation.kept"] == pytest.approx(0, abs=1e-9)  # its level is the top
    assert levels["sex.kept"] == pytest.approx(28_984 / 30_162, abs=0.005)  # the rows that are left
    local = kept(
        step=("use: full_domain_recoding", "use: mondrian"),
        params=('    with: {suppression: "${params.suppression}"}\n', ""),
    )
    assert levels["mean_kept"] + 0.15 < local["mean_kept"] < 0.95
    assert all(0 < share <= 1 for share in local.values())
