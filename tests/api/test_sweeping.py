"""Sweeps: what is varied, where it goes, what is looked at, and that no data is left behind."""

from __future__ import annotations

import json
import threading

import pytest
from growth import growth
from hypothesis import given
from hypothesis import strategies as st

from ppdm_flow import api
from ppdm_flow.api.sweep import grid as grid_module
from ppdm_flow.api.sweep import points as sweeping_runs
from ppdm_flow.api.sweep.grid import axes, grid
from ppdm_flow.api.sweep.metrics import requested_metrics
from ppdm_flow.api.sweep.sweep import comparable_shares, together
from ppdm_flow.core.diagnostics import Diagnostic, Severity
from ppdm_flow.core.errors import DataError, PolicyError, RunError, UsageError
from ppdm_flow.core.results import Figure
from ppdm_flow.engine.judging.results import JudgedResults
from ppdm_flow.report.sweep.picture import plain
from ppdm_flow.report.sweep.rows import rows

POLICY = """version: 1
name: small
extends: [floors.yaml]
params:
  share: {type: float, default: 0.5}
source: {path: t.csv}
attributes:
  "a.b": {role: quasi_identifier}
  age: {role: quasi_identifier, type: integer, hierarchy: {intervals: [0, 30, 60, 100]}}
  ill: {role: sensitive, domain: [flu, cold, hiv]}
privacy:
  k_anonymity: {k: 3, attributes: [age]}
  sensitivities: {ill: {default: {tolerance: 3}}}
steps:
  coarsen: {use: generalize, with: {attributes: {age: {}}}}
  perturb: {use: fine_grain_perturbation}
  part: {use: sample, with: {fraction: "${params.share}"}}
audits:
  sizes: {use: class_sizes}
gates:
  enough: {metric: sizes.classes, max: 100}
releases:
  r: {path: r.csv}
randomness: {mode: reproducible, seed: one}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("sweep")
    rows = [f"{'xy'[i % 2]},{(i * 37) % 90},{('flu', 'flu', 'cold', 'hiv')[i % 4]}" for i in range(400)]
    (home / "t.csv").write_text("a.b,age,ill\n" + "\n".join(rows) + "\n")
    (home / "small.yaml").write_text(POLICY)
    (home / "floors.yaml").write_text('floors: {privacy.k_anonymity.k: ">= 2"}\n')
    return home


@pytest.fixture
def sweep(folder, tmp_path):
    def run(*over, metrics=(), **more):
        return api.sweep(folder / "small.yaml", over, metrics, out=tmp_path / "sweeps", **more)

    return run


@pytest.mark.parametrize(
    ("word", "values"),
    [
        ("a.b=1,5, 20", ("1", "5", "20")),
        ("a.b=2..5", ("2", "3", "4", "5")),
        ("a.b=5..2", ("5", "4", "3", "2")),
        ("a.b=0.1..0.9:5", ("0.1", "0.3", "0.5", "0.7", "0.9")),
        ("a.b=-1..1:3,x", ("-1", "0", "1", "x")),
        ("a.b=10..1000:3", ("10", "505", "1000")),
        ("a.b=1..1", ("1",)),
        ("a.b=[x,y],{k: [1,2]}", ("[x,y]", "{k: [1,2]}")),
        ('a.b=\'x,y\',"1..3",""', ("x,y", "1..3", "")),
        ("a.b=1,1,2", ("1", "2")),
        ("a.b=x=1", ("x=1",)),
        ("a.b=1.5..x", ("1.5..x",)),
    ],
)
def test_values(word, values):
    assert axes([word])[0].values == values


@pytest.mark.parametrize(
    "words", [["a"], ["=1"], ["a.=1"], ["a=1,,2"], ["a="], ["a=1", "a=2"], ["a=0.5..2"], ["a=1..9:1"], ["a=1..5000"]]
)
def test_words_that_say_nothing(words):
    with pytest.raises(UsageError) as caught:
        axes(words)
    assert [d.code for d in caught.value.diagnostics] == ["PPF120"]


def test_every_combination_is_a_point_and_a_thousand_are_enough():
    found = grid(axes(["a=1,2", "b=x,y,z"]))
    assert [tuple(p.values()) for p in found] == [(a, b) for a in "12" for b in "xyz"]
    assert len(grid(axes(["a=1..40", "b=1..25"]))) == 1000
    with pytest.raises(UsageError, match="PPF122"):
        grid(axes(["a=1..40", "b=1..26"]))


def test_values_are_counted_before_ranges_are_written_out(monkeypatch):
    monkeypatch.setattr(grid_module, "_plain", lambda value: pytest.fail(f"{value} was written out"))
    with pytest.raises(UsageError, match="PPF122"):
        axes(["a=" + ",".join(["0..999"] * 5_000)])
    monkeypatch.undo()
    assert len(axes(["a=0..499,0..499"])[0].values) == 500


@pytest.mark.parametrize("number", ["1" * 21, "0." + "1" * 20])
def test_numbers_of_a_range_that_cannot_be_computed_with(number):
    with pytest.raises(UsageError, match="PPF120"):
        axes([f"a={number}..{number}:2"])
    assert axes([f"a={number}"])[0].values == (number,)


def test_reading_values_is_linear():
    assert growth(lambda size: axes(["a=x" + "'" * size]), 2_000, 32_000) < 60


@pytest.mark.parametrize("word", ["", "a,", "a:up", "a:", "a,a"])
def test_metrics_that_say_nothing(word):
    with pytest.raises(UsageError, match="PPF120"):
        requested_metrics([word])


def test_places_with_and_without_with_and_names_with_dots(sweep):
    found = sweep(
        "params.share=0.4,0.8",
        "steps.coarsen.attributes.age.level=1",
        "steps.perturb.with.objective=record",
        "attributes.a.b.role=quasi_identifier",
        "privacy.sensitivities.ill.default.tolerance=3",
        "audits.sizes.use=class_sizes",
        metrics=["sizes.classes"],
    ).document
    assert [p["values"]["params.share"] for p in found["points"]] == ["0.4", "0.8"]
    assert {p["verdict"] for p in found["points"]} == {"released"}


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("steps.coarse.attributes=1", "steps.coarsen"),
        ("stepps.coarsen.attributes=1", "steps"),
        ("privacy.k_anonymity.kk=3", "privacy.k_anonymity.k"),
        ("privacy.templates.t.confidence=1", None),
        ("privacy.k_anonymity=3", "privacy.k_anonymity.k"),
        ("steps.coarsen=3", "steps.coarsen.use"),
    ],
)
def test_places_that_are_not_there(sweep, word, hint):
    with pytest.raises(UsageError) as caught:
        sweep(word)
    (fault,) = caught.value.diagnostics
    assert fault.code == "PPF121"
    assert hint is None or hint in fault.help


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("privacy.k_anonymity.kk=3", "`k_anonymity` has no `kk`"),
        ("steps.nowhere.use=drop", "the policy's `steps` has no `nowhere`"),
        ("nowhere=3", "the policy has no `nowhere`"),
    ],
)
def test_a_place_that_is_not_there_is_told_by_what_would_have_it(sweep, word, said):
    with pytest.raises(UsageError) as caught:
        sweep(word)
    assert [each.message for each in caught.value.diagnostics] == [said]


def test_all_points_are_checked_before_any_runs(sweep, tmp_path):
    told = []
    with pytest.raises(PolicyError) as caught:
        sweep("privacy.k_anonymity.k=1,3,x", "steps.perturb.objective=record,best", tell=told.append)
    errors = [d for d in caught.value.diagnostics if d.severity is Severity.ERROR]
    found = {(d.code, d.notes) for d in errors}
    assert sorted(d.code for d in errors) == ["PPF203", "PPF204", "PPF205", "PPF308"]
    assert all(d.span is not None and d.span.file.endswith("small.yaml") for d in errors)
    assert any("its value comes from --over privacy.k_anonymity.k=1" in notes for _, notes in found)
    assert any(any("and 1 more of 6 points" in n for n in notes) for _, notes in found)
    assert told == []
    assert not (tmp_path / "sweeps").exists()


def test_a_floor_holds_for_swept_values_too(folder, tmp_path):
    (folder / "floors.yaml").write_text('floors: {privacy.k_anonymity.k: ">= 5"}\n')
    try:
        with pytest.raises(PolicyError) as caught:
            api.sweep(folder / "small.yaml", ["privacy.k_anonymity.k=4,5,6"], out=tmp_path)
    finally:
        (folder / "floors.yaml").write_text('floors: {privacy.k_anonymity.k: ">= 2"}\n')
    (fault,) = [d for d in caught.value.diagnostics if d.severity is Severity.ERROR]
    assert fault.code == "PPF308"
    assert "its value comes from --over privacy.k_anonymity.k=4" in fault.notes
    assert fault.related[0].span.file.endswith("floors.yaml")


def test_params_are_set_once_and_known(sweep):
    with pytest.raises(UsageError, match="PPF120"):
        sweep("params.share=0.4", sets={"share": "0.3"})
    with pytest.raises(PolicyError, match="PPF310"):
        sweep("params.chair=0.4")


def test_metrics_of_nothing_are_refused_before_anything_runs(sweep):
    for word, hint in (("size.classes", "sizes.classes"), ("sizes", None), ("s/sizes.classes", None)):
        with pytest.raises(UsageError) as caught:
            sweep("params.share=0.4", metrics=[word])
        assert caught.value.diagnostics[0].code == "PPF615"
        assert hint is None or hint in caught.value.diagnostics[0].help


def test_by_default_what_the_policy_judges(sweep):
    found = sweep("params.share=0.4").document
    assert [(m["name"], m["direction"], m["requirement"]) for m in found["metrics"]] == [
        ("privacy.k_anonymity.k", "max", True),
        ("privacy.sensitivities.ill.margin", "min", True),
        ("sizes.classes", "min", False),
        ("information_kept.mean_kept", "max", False),
    ]


def test_requirements_by_their_id_directions_and_figures_that_nobody_has(sweep):
    words = ["privacy.k_anonymity:min,sensitivities.ill", "r/sizes.classes", "sizes.mean,sizes.nothing"]
    swept = sweep("params.share=0.4", metrics=words)
    assert [(m["name"], m["direction"]) for m in swept.document["metrics"]] == [
        ("privacy.k_anonymity.k", "min"),
        ("privacy.sensitivities.ill.margin", "min"),
        ("sizes.classes", "min"),
        ("sizes.mean", None),
    ]
    assert [d.code for d in swept.diagnostics] == ["PPF125", "PPF126"]


@pytest.mark.slow
def test_nothing_of_the_data_is_left(sweep, tmp_path):
    swept = sweep("params.share=0.4,0.8")
    assert sorted(p.name for p in swept.folder.iterdir()) == ["sweep.html", "sweep.json", "sweep.md", "sweep.svg"]
    assert [p for p in (tmp_path / "sweeps").rglob("*") if p.is_file() and p.parent != swept.folder] == []
    assert json.loads((swept.folder / "sweep.json").read_text()) == swept.document
    for file in swept.folder.iterdir():
        assert "hiv" not in file.read_text()


@pytest.mark.slow
def test_a_point_is_what_a_run_of_its_policy_gives(sweep, folder, tmp_path):
    found = sweep("params.share=0.3,0.9", metrics=["sizes.classes,sizes.mean,privacy.k_anonymity"]).document
    for point in found["points"]:
        ran = api.run(folder / "small.yaml", {"share": point["values"]["params.share"]}, out=tmp_path / "runs")
        assert point["verdict"] == ran.report.verdict
        for name, figure in point["metrics"].items():
            assert figure["value"] == ran.report.metrics[name].value


@pytest.mark.slow
def test_workers_change_nothing(sweep):
    several = [sweep("params.share=0.3..0.9:4", "privacy.k_anonymity.k=2,30", workers=n).document for n in (1, 3)]
    for one, other in zip(*(d["points"] for d in several), strict=True):
        assert one | {"seconds": 0} == other | {"seconds": 0}


@pytest.mark.slow
def test_the_data_is_read_once_for_all_points_that_read_it_alike(sweep, monkeypatch):
    opened, real = [], sweeping_runs.open_original

    def counting(context, data):
        opened.append(context.plan.digest)
        return real(context, data)

    monkeypatch.setattr(sweeping_runs, "open_original", counting)
    sweep("params.share=0.3,0.6,0.9", "source.missing=[x],[y]", repeat=2, workers=2)
    assert len(opened) == 2


@pytest.mark.slow
def test_repetitions_of_a_reproducible_policy_differ_and_come_again(sweep):
    words = {"metrics": ["sizes.classes"], "repeat": 4}
    first, again = (sweep("params.share=0.5", **words).document["points"][0]["metrics"] for _ in range(2))
    kept = first["perturb.record_utility"] if "perturb.record_utility" in first else first["sizes.classes"]
    assert len(kept["values"]) == 4
    assert first == again


@pytest.mark.slow
def test_a_point_that_fails_is_shown_and_the_others_go_on(sweep, monkeypatch):
    real = sweeping_runs.measure

    def failing(context, *rest):
        if context.plan.step("part").bound.document["fraction"] == 0.6:
            raise RunError(Diagnostic("PPF733", "no memory"))
        return real(context, *rest)

    monkeypatch.setattr(sweeping_runs, "measure", failing)
    swept = sweep("params.share=0.3,0.6,0.9")
    assert [p["verdict"] for p in swept.document["points"]] == ["released", "failed", "released"]
    assert swept.document["points"][1]["error"] == {"code": "PPF733", "message": "no memory", "exit_status": 3}
    assert swept.document["points"][1]["metrics"] == {}
    assert swept.exit_status == 3
    assert swept.diagnostics[0].notes == ("at share=0.6",)


def test_what_is_no_error_of_ours_quotes_nothing(sweep, monkeypatch):
    def failing(context, *rest):
        raise ValueError(f"hiv {context.plan.step('part').bound.document['share']}")

    monkeypatch.setattr(sweeping_runs, "measure", failing)
    with pytest.raises(RunError) as caught:  # all points for one reason: there is nothing to show
        sweep("params.share=0.3,0.6")
    assert "hiv" not in str(caught.value)


def test_data_that_cannot_be_used_is_one_error(sweep, tmp_path):
    (tmp_path / "bad.csv").write_text("a.b,age,ill\nx,1,measles\n")
    with pytest.raises(DataError):
        sweep("params.share=0.3,0.6", data=tmp_path / "bad.csv")
    assert [p for p in (tmp_path / "sweeps").rglob("*") if p.is_file()] == []


def test_an_interruption_stops_all_and_leaves_nothing(sweep, monkeypatch, tmp_path):
    started = threading.Event()
    real = sweeping_runs.measure

    def slow(context, original, scratch):
        started.set()
        while True:
            context.stop.check()
            real(context, original, scratch)

    def interrupted(running, return_when):
        started.wait(30)
        raise KeyboardInterrupt

    monkeypatch.setattr(sweeping_runs, "measure", slow)
    monkeypatch.setattr(sweeping_runs, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sweep("params.share=0.3,0.6,0.9", workers=2)
    assert [p for p in (tmp_path / "sweeps").rglob("*") if p.is_file()] == []


def test_one_run_keeps_the_figures_own_interval():
    assert together([Figure(0.5, "share", (0.4, 0.6))]) == {"value": 0.5, "interval": [0.4, 0.6]}
    assert together([Figure(None, "share", note="nobody")]) == {"value": None, "note": "nobody"}
    assert together([Figure(1, "rows"), None])["note"] == "not measured in 1 of 2 runs"


def test_several_runs_give_a_mean_with_students_interval():
    found = together([Figure(v, "share") for v in (1.0, 2.0, 3.0, 6.0)])
    assert found["value"] == 3.0
    low, high = found["interval"]  # s = sqrt(14 / 3), t(0.975, 3) = 3.182446
    assert low == pytest.approx(3 - 3.182446 * (14 / 3) ** 0.5 / 2, abs=1e-5)
    assert high == pytest.approx(6 - low)


@given(st.lists(st.sampled_from(["1", "x", "[a,b]", "'q,r'", "2..4", "0.5..1:3"]), min_size=1, max_size=5))
def test_values_are_split_where_they_were_joined(parts):
    one_by_one = [v for part in parts for v in axes([f"p={part}"])[0].values]
    assert axes(["p=" + ",".join(parts)])[0].values == tuple(dict.fromkeys(one_by_one))


@pytest.mark.slow
def test_only_what_would_be_released_is_on_the_frontier(sweep):
    found = sweep("privacy.k_anonymity.k=3,300", "steps.part.fraction=0.5,0.9", metrics=["sizes.smallest:max"]).document
    released = [p["verdict"] == "released" for p in found["points"]]
    assert released == [True, True, False, False]
    assert [p["on_frontier"] for p in found["points"]] == [False, True, False, False]
    assert [p["dominated_by"] for p in found["points"]] == [2, None, None, None]
    assert "None would be released" not in plain(found)
    none = sweep("privacy.k_anonymity.k=300", metrics=["sizes.smallest:max"]).document
    assert "None would be released, so none is compared." in plain(none)
    assert "*" not in plain(none)


@pytest.mark.slow
def test_the_policys_own_values_are_marked(sweep):
    """Written otherwise they are the same number; where the policy writes none, a point that does the same has them."""
    found = sweep("privacy.k_anonymity.k=2,3", "params.share=0.50,0.9").document["points"]
    assert [p["number"] for p in found if p.get("own")] == [3]
    assert not [p for p in sweep("privacy.k_anonymity.k=5,6").document["points"] if p.get("own")]
    objective = sweep("steps.perturb.objective=aggregate,record").document
    assert [p["number"] for p in objective["points"] if p.get("own")] == [2]
    assert "left_out" not in objective


@pytest.mark.slow
def test_the_frontier_has_the_policys_own_values_and_no_dominated_points(sweep):
    words, metrics = ("privacy.k_anonymity.k=2,300", "params.share=0.5,0.9"), ["sizes.smallest:max"]
    found = sweep(*words, metrics=metrics, frontier=True)
    points = found.document["points"]
    assert [p["values"]["privacy.k_anonymity.k"] for p in points] == ["2", "2", "300", "300", "3"]
    assert points[4] == {**points[4], "own": True, "values": {"privacy.k_anonymity.k": "3", "params.share": "0.5"}}
    assert [p["on_frontier"] for p in points] == [False, True, False, False, False]
    assert [row.number for row in rows(found.document).rows] == [2]
    assert "The policy's own values are point 5: dominated by 2." in plain(found.document)
    assert "hollow: dominated" not in found.rendered("svg")
    everything = sweep(*words, metrics=metrics)
    assert "shown" not in everything.document
    assert len(everything.document["points"]) == 4


POLICY_OF_PROMISES = """version: 1
name: promises
params: {bound: {type: integer, default: 3}}
source: {path: people.csv}
attributes:
  age: {role: quasi_identifier, type: integer}
  town: {role: quasi_identifier}
privacy: {k_anonymity: {k: "${params.bound}"}}
randomness: {mode: reproducible, seed: "1"}
steps: {recode: {use: mondrian, with: {partitioning: strict}}}
releases: {study: {path: study.csv}}
"""


def test_no_point_is_recommended_over_one_that_promises_more(tmp_path):
    rows = [f"{20 + i * 7 % 40},t{i % 3}" for i in range(120)]
    (tmp_path / "people.csv").write_text("\n".join(["age,town", *rows, ""]))
    (tmp_path / "p.yaml").write_text(POLICY_OF_PROMISES)

    def swept(*over):
        return api.sweep(tmp_path / "p.yaml", over, out=tmp_path / "sweeps").document

    alone = swept("steps.recode.partitioning=strict,relaxed")
    assert "recommended_by_promise" not in alone
    assert alone["recommended"]["among"] == 2
    for path in ("params.bound", "privacy.k_anonymity.k"):
        both = swept(f"{path}=3,6", "steps.recode.partitioning=strict,relaxed")
        assert "recommended" not in both
        assert both["recommended_by_promise"]["axes"] == [path]
        chosen = both["recommended_by_promise"]["points"]
        assert [each["among"] for each in chosen] == [2, 2]
        assert not [p for p in both["points"] if p.get("recommended")]  # none is, so no row says so
        best = {number for each in chosen for number in (each["point"], *each.get("tied", ()))}
        assert best == {p["number"] for p in both["points"] if p.get("keeps_most")}
    assert "recommended_by_promise" in swept("releases.study.audience=internal,partner")


BASKETS = """version: 1
name: baskets
source: {path: sets.csv, format: baskets}
attributes: {items: {role: items}}
privacy: {km_anonymity: {k: 3}}
randomness: {mode: reproducible, seed: "1"}
steps: {frequent: {use: apriori_anonymization}}
releases: {study: {path: sets.baskets}}
"""


def test_sweeps_of_sets_know_what_is_kept_and_what_the_policy_leaves_out(tmp_path):
    """Sets have a figure of utility; defaults are the policy's own values; ties are no recommendation."""
    rows = [f"a,b,c{i // 2}" if i % 3 else "a,b" for i in range(40)]
    (tmp_path / "sets.csv").write_text("\n".join([*rows, ""]))
    (tmp_path / "p.yaml").write_text(BASKETS)

    def swept(*over, **more):
        return api.sweep(tmp_path / "p.yaml", over, out=tmp_path / "sweeps", **more).document

    bounds = swept("privacy.km_anonymity.m=1,2")
    assert [p["number"] for p in bounds["points"] if p.get("own")] == [2]
    assert "information_kept.mean_kept" in [m["name"] for m in bounds["metrics"]]
    assert "Points 1 and 2 keep equally much: there a looser bound gains nothing." in plain(bounds)
    tied = swept("steps.frequent.m=2,3")
    assert tied["recommended"]["tied"] == [2]
    assert not [p for p in tied["points"] if p.get("recommended") or p.get("own")]
    assert "None is recommended: points 1 and 2, all whose requirements hold, keep" in plain(tied)
    assert "No point has the policy's own values, as it leaves out `m`" in plain(tied)
    every = swept("steps.frequent.m=2,3", frontier=True)
    assert every["points"][2] == {**every["points"][2], "own": True, "values": {"steps.frequent.m": "default"}}


def test_what_is_not_compared_makes_no_point_better():
    def judged(**shares):
        total = [s for s in shares.values() if s is not None]
        metrics = {f"information_kept.{name}.kept": Figure(share, "share") for name, share in shares.items()}
        metrics["information_kept.mean_kept"] = Figure(sum(total) / len(total) if total else None, "share")
        metrics["other.kept"] = Figure(None, "share")
        return [JudgedResults((), (), metrics, (), (), ())]

    whole, hidden = judged(age=0.4, town=0.2, one=None), judged(age=0.5, town=None, one=None)
    assert comparable_shares([hidden, whole, whole]) == [None, pytest.approx(0.3), pytest.approx(0.3)]
    assert comparable_shares([hidden, hidden]) == [0.5, 0.5]
    assert comparable_shares([judged(age=None)]) == [None]
    assert comparable_shares([]) == []
