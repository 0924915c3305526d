"""Of a file that is no policy no line is quoted, nor a key of it: it may be data, or a secret."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppdm_flow.report.forms import CHECK

CANARY = "zqcanary"
FILES = {
    "table.csv": f"{CANARY}-patient,illness\n{CANARY},HIV\nbob,{CANARY}\n",
    "table.tsv": f"patient\tillness\n{CANARY}\tHIV\n\t{CANARY}: x\n",
    "semicolons.csv": f"patient;illness: {CANARY}\n{CANARY};HIV\n",
    "record.yaml": f"{CANARY}patient: ann\nname: {CANARY}\nillness: {CANARY}\n",
    "twice.yaml": f"name: {CANARY}\nname: {CANARY}\n{CANARY}: 1\n{CANARY}: 2\n",
    "insurance.yaml": f"policy: {CANARY}\nname: {CANARY}\nowner: {CANARY}\n",
    "record.json": json.dumps({"name": CANARY, f"{CANARY}key": "HIV"}),
    "records.json": json.dumps([{"name": CANARY, f"{CANARY}key": "HIV"}]),
    "records.jsonl": f'{{"name": "{CANARY}"}}\n{{"name": "{CANARY}"}}\n',
    "people.ldif": f"version: 1\n\ndn: cn={CANARY}\ncn: {CANARY}\nsn: {CANARY}\nmail: {CANARY}@example\n",
    "hex.key": f"{CANARY}{'deadbeef' * 8}\n",
    "pem.key": f"-----BEGIN PRIVATE KEY-----\n{CANARY}: {CANARY}\n-----END PRIVATE KEY-----\n",
    "settings.env": f"PASSWORD={CANARY}\nTOKEN: {CANARY}@x\n",
    "at.yaml": f"a: @{CANARY}\n",
    "tag.yaml": f"a: !{CANARY} x\n",
    "anchor.yaml": f"- *{CANARY}\n",
    "comment.yaml": f"# {CANARY}\n",
    "bell.txt": f"name: {CANARY}\x07\n",
    "merge.csv": f"<<<<<<< {CANARY}\n{CANARY}\n>>>>>>> {CANARY}\n",
    "latin1.csv": f"{CANARY};ä\n",
}
GOOD = (
    "version: 1\nname: fine\nextends: {EXTENDS}\nattributes: {job: {role: sensitive}}\nreleases: {r: {path: r.csv}}\n"
)


@pytest.fixture(params=FILES)
def file(request, tmp_path: Path) -> str:
    text = FILES[request.param]
    (tmp_path / request.param).write_bytes(text.encode("latin-1" if "latin" in request.param else "utf-8"))
    (tmp_path / "user.yaml").write_text(GOOD.replace("{EXTENDS}", request.param))
    (tmp_path / "its.test.yaml").write_text(
        f"policy: {request.param}\ntests: {{a: {{expect: {{verdict: released}}}}}}\n"
    )
    return request.param


def commands(file: str) -> Iterator[tuple[str, ...]]:
    """Yield what can be typed about a file: as a policy, as a template, and as the policy of tests."""
    for form in CHECK:
        if form != "concise":
            yield "check", file, "--format", form
            yield "check", "user.yaml", "--format", form
    for verb in ("plan", "show", "run", "lock", "test"):
        yield verb, file
    yield "hierarchy", file, "job", "--by", "prefix", "--policy", file
    yield "diff", "user.yaml", file
    yield "sweep", "--over", "privacy.k_anonymity.k=2,3", file
    yield "test", "its.test.yaml"
    yield "check", "its.test.yaml", "user.yaml"


@pytest.mark.slow(quick=3)
def test_no_command_quotes_the_file(here, file, tmp_path):
    faults = []
    for words in commands(file):
        done = here(*words, cwd=tmp_path)
        said = done.stdout + done.stderr
        if done.returncode not in (1, 2) or not said or CANARY in said:
            faults.append(f"{' '.join(words)}: status {done.returncode}\n{said}")
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "text",
    [
        "version: 1\nname: fine\nattributs: {job: {role: sensitive}}\n",
        "privacy: {k_anonymity: {k: 2}\nversion: 1\n",
        '{"version": 1, "name": "fine", "atributes": {}}',
        "releases:\n  r: {path: [}\n",
    ],
)
def test_a_policy_with_a_fault_is_quoted_as_ever(here, tmp_path, text):
    (tmp_path / "p.yaml").write_text(text)
    done = here("check", "p.yaml", cwd=tmp_path)
    assert done.returncode == 1
    assert "PPF595" not in done.stdout
    assert text.splitlines()[0] in done.stdout or text.splitlines()[-1] in done.stdout


@pytest.mark.parametrize("text", ["owner: me\n", "owner: me\ndescription: who answers\n", "nulls: exclude\n"])
def test_a_template_may_be_of_a_few_common_keys(here, tmp_path, text):
    (tmp_path / "t.yaml").write_text(text)
    (tmp_path / "p.yaml").write_text(GOOD.replace("{EXTENDS}", "t.yaml"))
    assert here("check", "p.yaml", cwd=tmp_path).returncode == 0
