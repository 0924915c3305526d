"""Data contracts as policies: roles with reasons, nothing opened, nothing dropped in silence, and hostile files."""

from __future__ import annotations

import json
import random
import re

import pytest
import yaml
from open_data_contract_standard.model import OpenDataContractStandard

from ppdm_flow.api.contract import from_contract
from ppdm_flow.core.errors import PolicyError, UsageError
from ppdm_flow.policy import load

HEAD = "kind: DataContract\napiVersion: v3.1.0\nid: c\nname: clinic\nversion: 1.0.0\nstatus: draft\n"


def contract(*properties: str, head: str = HEAD) -> str:
    lines = "".join(f"      - {{{each}}}\n" for each in properties)
    return f"{head}schema:\n  - name: t\n    properties:\n{lines}"


def drafted(tmp_path, text: str, table: str | None = None) -> str:
    file = tmp_path / "c.odcs.yaml"
    file.write_text(text, encoding="utf-8")
    return from_contract(file, table)


def role(tmp_path, text: str) -> str:
    """Return the role of a column beside one that can be released."""
    draft = drafted(tmp_path, contract(text, "name: region, logicalType: string"))
    file = tmp_path / "p.yaml"
    file.write_text(draft, encoding="utf-8")
    loaded = load(file)
    assert loaded.policy is not None, loaded.diagnostics
    assert not [d for d in loaded.diagnostics if d.severity.value == "error"]
    return next(iter(loaded.policy.attributes.values())).role.value


IDENTIFIER, QUASI, SENSITIVE = "identifier", "quasi_identifier", "sensitive"


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("name: x1, primaryKey: true", IDENTIFIER),
        ("name: x1, unique: true", IDENTIFIER),
        ("name: x1, encryptedName: x1_enc", IDENTIFIER),
        ("name: x1, relationships: [{to: other.id}]", IDENTIFIER),
        ("name: x1, logicalType: string, logicalTypeOptions: {format: email}", IDENTIFIER),
        ("name: x1, logicalType: string, logicalTypeOptions: {format: uuid}", IDENTIFIER),
        ("name: x1, tags: [pii]", IDENTIFIER),
        ("name: x1, tags: ['class:PII']", IDENTIFIER),
        ("name: x1, classification: PII", IDENTIFIER),
        ("name: x1, tags: [direct-identifier]", IDENTIFIER),
        ("name: e_mail", IDENTIFIER),
        ("name: x1, physicalName: phone_number", IDENTIFIER),
        ("name: case_nr", IDENTIFIER),
        ("name: x1, logicalType: object", IDENTIFIER),
        ("name: x1, logicalType: array, items: {logicalType: string}", IDENTIFIER),
        ("name: x1, logicalType: map", IDENTIFIER),
        ("name: diagnosis, unique: true", IDENTIFIER),
        ("name: region, physicalName: r, primaryKey: true", IDENTIFIER),
        ("name: birth_date, tags: [pii]", QUASI),
        ("name: age, tags: [personal], classification: restricted", QUASI),
        ("name: zip_code, classification: public", QUASI),
        ("name: x1, classification: public", QUASI),
        ("name: x1, classification: internal", QUASI),
        ("name: x1, classification: '3'", QUASI),
        ("name: x1, classification: whatever", QUASI),
        ("name: x1", QUASI),
        ("name: x1, tags: [non-pii]", QUASI),
        ("name: x1, tags: [quasi-identifier]", QUASI),
        ("name: x1, classification: not restricted", QUASI),
        ("name: x1, tags: ['PII, not masked']", IDENTIFIER),
        ("name: x1, tags: ['no restriction', 'restricted']", SENSITIVE),
        ("name: x1, classification: restricted", SENSITIVE),
        ("name: x1, classification: Highly Confidential", SENSITIVE),
        ("name: x1, tags: [sensitive]", SENSITIVE),
        ("name: diagnosis, classification: public", SENSITIVE),
        ("name: salary, tags: [pii]", SENSITIVE),
        ("name: x1, customProperties: [{property: ppdmFlowRole, value: sensitive}]", SENSITIVE),
        ("name: x1, customProperties: [{property: ppdmFlowRole, value: insensitive}]", QUASI),
        ("name: x1, customProperties: [{property: ppdmFlowRole, value: target}]", QUASI),
        ("name: x1, customProperties: [{property: ppdmFlowRole, value: nonsense}]", QUASI),
        (
            "name: x1, classification: restricted, customProperties: [{property: ppdmFlowRole, value: insensitive}]",
            SENSITIVE,
        ),
        ("name: x1, primaryKey: true, customProperties: [{property: ppdmFlowRole, value: sensitive}]", IDENTIFIER),
        ("name: outcome", QUASI),
        ("name: sampling weight, logicalType: number", QUASI),
    ],
)
def test_roles(tmp_path, column, expected):
    assert role(tmp_path, column) == expected


def test_something_is_always_required(tmp_path):
    """Sensitive columns alone would be released with nothing required of them."""
    alone = drafted(
        tmp_path, contract("name: diagnosis", "name: income, logicalType: number", "name: mail, unique: true")
    )
    policy = yaml.safe_load(alone)
    assert [each["role"] for each in policy["attributes"].values()] == [QUASI, QUASI, IDENTIFIER]
    assert policy["privacy"] == {"k_anonymity": {"k": 5}}
    assert "nothing could be required" in re.sub(r"\n +# ", " ", alone)
    beside = yaml.safe_load(drafted(tmp_path, contract("name: diagnosis", "name: region")))
    assert [each["role"] for each in beside["attributes"].values()] == [SENSITIVE, QUASI]
    assert set(beside["privacy"]) == {"k_anonymity", "l_diversity"}


@pytest.mark.slow
def test_no_contract_opens_a_column(tmp_path):
    """For any combination of properties, no column becomes `insensitive`, `target` or a weight."""
    dice = random.Random(11)
    words = ("public", "open", "internal", "restricted", "3", "insensitive", "target", "pii", "non-pii", "none", "")
    names = ("x1", "outcome", "class", "weight", "flag", "age", "city", "income", "id", "label", "target")
    kinds = ("string", "integer", "number", "date", "boolean", "time", "object", "decimal")
    for _ in range(150):
        columns = [
            f"name: {name}, logicalType: {dice.choice(kinds)}, classification: '{dice.choice(words)}',"
            f" tags: ['{dice.choice(words) or 'x'}'], unique: {dice.choice(('true', 'false'))},"
            f" customProperties: [{{property: ppdmFlowRole, value: '{dice.choice(words)}'}}]"
            for name in dice.sample(names, 4)
        ]
        draft = yaml.safe_load(drafted(tmp_path, contract(*columns, "name: region, logicalType: string")))
        roles = {each["role"] for each in draft["attributes"].values()}
        assert roles <= {IDENTIFIER, QUASI, SENSITIVE}
        assert len(draft["attributes"]) == 5, "no column is missing"
        assert "k_anonymity" in draft["privacy"]


def test_what_is_not_taken_over_is_named(tmp_path):
    head = (
        HEAD + "servers: [{server: p, type: postgres, host: h}]\ndescription: {purpose: All of it, usage: research}\n"
    )
    text = contract(
        "name: r, physicalName: region, logicalType: string, physicalType: varchar, examples: [zqexample],"
        " enum: [{value: zqvalue}], required: true, businessName: B, customProperties: [{property: owner, value: zqx}],"
        " logicalTypeOptions: {maxLength: 5}",
        head=head,
    ).replace("  - name: t\n", "  - name: t\n    tags: [gold]\n")
    draft = drafted(tmp_path, text)
    plain = re.sub(r"\n +# ", " ", draft.replace("\n# ", " "))
    for key in ("physicalType", "examples", "enum", "required", "businessName", "customProperties.owner"):
        assert key in plain
    assert "logicalTypeOptions.maxLength" in plain
    assert "Not taken over from the contract: status, servers, description.usage, schema.tags." in plain
    assert "The contract calls it `r`" in plain
    assert "zq" not in draft, "no value of the contract's data is copied"
    assert yaml.safe_load(draft)["description"] == "All of it"


@pytest.mark.parametrize(
    ("column", "expected", "comment"),
    [
        ("logicalType: integer", "integer", ""),
        ("logicalType: number", "float", ""),
        ("logicalType: date", "date", ""),
        ("logicalType: date, logicalTypeOptions: {format: yyyy-MM-dd}", "date", ""),
        ("logicalType: date, logicalTypeOptions: {format: dd.MM.yyyy}", "text", "`dd.MM.yyyy` is not ISO 8601"),
        ("logicalType: timestamp", "timestamp", ""),
        ("logicalType: boolean", "text", ""),
        ("logicalType: string", "text", ""),
        ("logicalType: decimal", "text", "no attribute has the type `decimal`".capitalize()),
        ("description: x", "text", "gives it no type"),
    ],
)
def test_types(tmp_path, column, expected, comment):
    draft = drafted(tmp_path, contract(f"name: region, {column}"))
    assert yaml.safe_load(draft)["attributes"]["region"].get("type", "text") == expected
    assert comment in re.sub(r"\n +# ", " ", draft)


def test_texts_of_a_contract_stay_texts(tmp_path):
    """Nothing in a contract can end a comment, become a key or a param, or turn a terminal."""
    evil = 'x"\\n    evil: {role: insensitive}\\n # ${env:HOME} \\u202e \\x1b[31m *a &b <<: !!python/object'
    text = contract(
        f'name: "re gion", description: "{evil}", tags: ["{evil}"], classification: "{evil}"',
    ).replace("name: clinic\n", f'name: "{evil}"\n')
    text = text.replace('x"', "x'").replace("\\x1b[31m", "\\e[31m")
    file = tmp_path / "p.yaml"
    file.write_text(drafted(tmp_path, text), encoding="utf-8")
    loaded = load(file)
    assert loaded.policy is not None, loaded.diagnostics
    assert list(loaded.policy.attributes) == ["re gion"]
    assert "${env:HOME}" in loaded.policy.attributes["re gion"].description
    assert "\x1b" not in file.read_text()
    assert "\u202e" not in file.read_text()


def test_a_table_is_chosen(tmp_path):
    two = contract("name: region") + "  - name: u\n    properties: [{name: city}]\n"
    with pytest.raises(UsageError) as caught:
        drafted(tmp_path, two)
    assert [d.code for d in caught.value.diagnostics] == ["PPF694"]
    with pytest.raises(UsageError, match="no table `v`"):
        drafted(tmp_path, two, "v")
    draft = drafted(tmp_path, two, "u")
    assert list(yaml.safe_load(draft)["attributes"]) == ["city"]
    assert "Other tables of the contract" in draft
    assert yaml.safe_load(draft)["name"] == "clinic-u"


DEEP = "schema: " + "[" * 90 + "]" * 90 + "\n"
BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{c}: &{c} [*{p},*{p},*{p},*{p},*{p},*{p},*{p},*{p},*{p}]\n" for p, c in zip("abcdefg", "bcdefgh", strict=True)
)


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("", "PPF980", 1),
        ("[1, 2]", "PPF980", 1),
        ("kind: Policy\napiVersion: v3.1.0\n", "PPF980", 1),
        ("kind: DataContract\napiVersion: v2.2.2\n", "PPF980", 2),
        ("version: 1\nname: p\n", "PPF980", 1),
        (HEAD, "PPF981", 1),
        (HEAD + "schema: yes please\n", "PPF981", 7),
        (HEAD + "schema: [text]\n", "PPF981", 7),
        (HEAD + "schema:\n  - name: t\n    properties: {a: b}\n", "PPF981", 9),
        (HEAD + "schema:\n  - properties: [{name: a}]\n", "PPF981", 8),
        (HEAD + "description: text\nschema: [{name: t, properties: [{name: a}]}]\n", "PPF981", 7),
        (contract("logicalType: string"), "PPF981", 10),
        (contract("name: [a, b]"), "PPF981", 10),
        (contract("name: a, primaryKey: perhaps"), "PPF981", 10),
        (contract("name: a, tags: pii"), "PPF981", 10),
        (contract("name: a, tags: [[pii]]"), "PPF981", 10),
        (contract("name: a, classification: {level: high}"), "PPF981", 10),
        (contract("name: a, customProperties: [{value: x}]"), "PPF981", 10),
        (contract("name: a, logicalTypeOptions: [x]"), "PPF981", 10),
        (contract("name: a", "name: a"), "PPF982", 11),
        (contract("name: a", "name: b, physicalName: a"), "PPF982", 11),
        (contract("name: a") + "  - name: t\n    properties: [{name: b}]\n", "PPF982", 11),
        (contract('name: "a[1]"'), "PPF984", 10),
        (contract('name: "*"'), "PPF984", 10),
        (contract("name: a, name: b"), "PPF107", 10),
        (contract("name: a").replace("status: draft\n", "status: draft\nstatus: active\n"), "PPF107", 7),
        (contract("name: !!python/object/apply:os.system a"), "PPF108", 10),
        (contract("name: a, <<: {b: c}"), "PPF109", 10),
        (contract("name: a, tags: *nothing"), "PPF113", 10),
        (HEAD + DEEP, "PPF115", 7),
        (BOMB, "PPF114", None),
        (HEAD + "schema: [\n", "PPF104", None),
        (HEAD + "---\nkind: DataContract\n", "PPF112", 7),
        (HEAD + "note: \x07\n", "PPF103", 7),
        (HEAD + "note: " + "x" * 10_000_000, "PPF101", None),
        (contract(*(f"name: c{i}, logicalType: string" for i in range(30_000))), "PPF101", None),
    ],
)
def test_hostile_contracts(tmp_path, text, code, line):
    """Each is refused by a diagnostic with a place, and never by an exception of another kind."""
    with pytest.raises(PolicyError) as caught:
        drafted(tmp_path, text)
    first = next(d for d in caught.value.diagnostics if d.code == code)
    assert first.span is not None
    if line is not None:
        assert first.span.line == line
    assert len(first.message) < 300


@pytest.mark.parametrize("content", [b"\xff\xfek\0i\0", b"kind: \xff\xff"])
def test_other_encodings(tmp_path, content):
    file = tmp_path / "c.yaml"
    file.write_bytes(content)
    with pytest.raises(PolicyError, match="PPF102"):
        from_contract(file)


def test_a_missing_contract_is_called_one(tmp_path):
    with pytest.raises(UsageError, match="PPF100: cannot read the contract"):
        from_contract(tmp_path / "none.yaml")


def test_a_table_of_identifiers_has_nothing_to_release(tmp_path):
    for text in (contract("name: id, primaryKey: true"), HEAD + "schema: [{name: t}]\n"):
        with pytest.raises(UsageError, match="PPF984"):
            drafted(tmp_path, text)


@pytest.mark.slow
def test_damaged_contracts_end_in_diagnostics(tmp_path):
    """A thousand contracts with bytes changed at random: a policy or diagnostics, nothing else."""
    dice = random.Random(3)
    base = contract("name: region, logicalType: string, tags: [pii]", "name: b, primaryKey: true").encode()
    file = tmp_path / "c.yaml"
    outcomes = {True: 0, False: 0}
    for _ in range(1000):
        content = bytearray(base)
        for _ in range(dice.randint(1, 4)):
            content[dice.randrange(len(content))] = dice.choice(b"{}[]:,-#&*!|>'\"%@` \n\tabz019\x00\xc3")
        file.write_bytes(bytes(content))
        try:
            outcomes[bool(from_contract(file))] += 1
        except (PolicyError, UsageError):
            outcomes[False] += 1
    assert min(outcomes.values()) > 50


def test_it_reads_what_other_tools_write(tmp_path):
    """A contract from the model of the standard's own package, as YAML and as JSON."""
    model = OpenDataContractStandard.from_string(contract("name: region, logicalType: string, classification: public"))
    for text in (model.to_yaml(), json.dumps(yaml.safe_load(model.to_yaml()))):
        assert "region: {role: quasi_identifier}" in drafted(tmp_path, text)


@pytest.mark.slow
def test_the_command_line(cli, tmp_path):
    file, out = tmp_path / "c.odcs.yaml", tmp_path / "policy.yaml"
    file.write_text(contract("name: region, logicalType: string", "name: mail, tags: pii"), encoding="utf-8")
    wrong = cli("init", "--from-contract", file)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "error[PPF981]: `tags` must be a list of texts" in wrong.stderr
    assert "^^^" in wrong.stderr
    file.write_text(file.read_text().replace("tags: pii", "tags: [pii]"), encoding="utf-8")
    shown = cli("init", "--from-contract", file)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert cli("init", "--from-contract", file, "--out", out).returncode == 0
    assert out.read_text() == shown.stdout
    again = cli("init", "--from-contract", file, "--out", out)
    assert "PPF673" in again.stderr
    assert cli("check", out, "--strict").returncode == 0
    for words in (("init",), ("init", tmp_path / "d", "--table", "x"), ("init", "d", "--from-contract", file)):
        refused = cli(*words, cwd=tmp_path)
        assert (refused.returncode, "PPF120" in refused.stderr) == (2, True)
