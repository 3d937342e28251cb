import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from harness.explained import EXPLAINED
from harness.golden import Golden
from harness.workspaces import Workspace
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it ships no types
from random_plans import HOSTILE

from reconciler.report.complaints.document import complaints_jsonl
from reconciler.report.complaints.for_ci import annotation_lines, complaints_junit, complaints_sarif
from reconciler.report.markdown import SHOWN_SARIF_RESULTS
from reconciler.syntax.diagnostic import CODES, Complaint, Excerpt, Severity

ROOT = Path(__file__).parent.parent.parent
VIEW = """\
apiVersion: reconciler/v1
kind: SavedView
metadata: {name: %s}
spec:
  name: Errors
  timeSelection: {quickSelection: {seconds: 900}}
"""


def complaint(number: int = 1, **more: Any) -> Complaint:
    """Give the error number so and so."""
    made = Complaint(
        f"a{number}.yaml", number, 3, code="M303", message="unknown field `nmae`", suggestion="name"
    )
    return replace(made, ref=f"SavedView/v{number}", path=("spec", "nmae"), **more)


def warning(number: int = 1) -> Complaint:
    """Give the warning number so and so."""
    return complaint(number, code="M304", severity=Severity.WARNING)


def log_of(*complaints: Complaint, **more: Any) -> Any:
    """Give the one run of a SARIF log."""
    (run,) = json.loads(complaints_sarif(complaints, **more))["runs"]
    return run


def fingerprints(run: Any) -> list[str]:
    """Give what code scanning knows each result by."""
    return [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]


def test_an_annotation(golden: Golden) -> None:
    """An annotation names file, line, column, code and resource, and says what to write."""
    (line,) = annotation_lines([complaint(7)], folder="ops")

    golden(line)


def test_an_annotation_of_a_whole_file() -> None:
    """A complaint about a file as a whole names no line."""
    (line,) = annotation_lines(
        [Complaint("/a.yaml", 0, 0, code="M112", message="this file does not exist")], "x"
    )

    assert line.startswith("::error file=/a.yaml,title=M112%3A ")


def test_the_worst_are_annotated() -> None:
    """Nine errors come first, then nine warnings, and each level says how many more there are."""
    many = [one for number in range(1, 1234) for one in (warning(number), complaint(number))]
    lines = annotation_lines(many)

    assert [line.split(" ")[0].split("::")[1] for line in lines] == ["error"] * 10 + [
        "warning"
    ] * 10
    assert lines[0].startswith("::error file=a1.yaml")
    assert lines[9] == "::error::and 1,224 more, which `reconciler validate -v` shows"
    assert annotation_lines(many[:2])[1].startswith("::warning file=a1.yaml")


TEXTS = st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=5)), max_size=4).map("".join)
FOREIGN = st.builds(
    Complaint,
    file=TEXTS,
    line=st.integers(0, 9),
    column=st.integers(1, 9),
    code=st.sampled_from(sorted(CODES)),
    message=TEXTS.map("said {}".format),
    suggestion=TEXTS,
    severity=st.sampled_from(Severity),
    excerpt=st.none() | TEXTS.map(lambda line: Excerpt(((1, line),), 0, 1)),
    ref=TEXTS,
    path=st.tuples(TEXTS, st.integers(0, 9)),
)
COMMAND = re.compile(r"::(error|warning)( \w+=[^:,]*(,\w+=[^:,]*)*)?::[^\r\n]*")


@given(st.lists(FOREIGN, max_size=3))
def test_foreign_annotations(complaints: list[Complaint]) -> None:
    """Whatever stands in a manifest, an annotation is one line and one command."""
    for line in annotation_lines(complaints):
        assert COMMAND.fullmatch(line)
        assert line.isprintable() or not re.search("[\x00-\x1f\x7f-\x9f\u2028\u202e]", line)


def test_the_sarif_log_of_one_complaint(golden: Golden) -> None:
    """A SARIF result names the rule, the place in the repository, the resource and its field."""
    shown = Excerpt(((6, "spec:"), (7, "  nmae: x")), 2, 4)
    run = log_of(complaint(7, excerpt=shown), folder="ops", environment="staging")

    assert run["automationDetails"] == {"id": "reconciler/staging/"}
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "M303"
    assert result["level"] == "error"
    golden(result["message"]["text"])
    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "ops/a7.yaml"},
                "region": {"startLine": 7, "startColumn": 3, "endColumn": 7},
            },
            "logicalLocations": [{"fullyQualifiedName": "SavedView/v7 spec nmae"}],
        }
    ]


def test_rules_are_the_codes() -> None:
    """Every code of a complaint is a rule, which says what docs/errors.md and `explain` say."""
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    rules = log_of()["tool"]["driver"]["rules"]

    assert [rule["id"] for rule in rules] == list(CODES)
    for rule in rules:
        one = EXPLAINED[rule["id"]]
        assert f"/{one.code}.md) | {rule['shortDescription']['text']} |" in page
        assert rule["fullDescription"]["text"] == one.means
        assert one.why in rule["help"]["text"]
        assert one.why in rule["help"]["markdown"]


def test_a_moved_line_is_no_new_finding() -> None:
    """A fingerprint stays when lines or files move, and differs by rule, resource and field."""
    one = complaint()
    moved = replace(one, file="b.yaml", line=99, column=7, message="said otherwise")
    others = [replace(one, code="M304"), complaint(2), replace(one, path=("spec", "nam"))]

    assert fingerprints(log_of(moved)) == fingerprints(log_of(one))
    assert len({*fingerprints(log_of(one, *others))}) == 4


def test_a_moved_flaw_of_the_text_is_no_new_finding() -> None:
    """A flaw of the text itself is known by its file and the words of its line."""
    flaw = Complaint(
        "a.yaml", 3, 1, code="M102", message="key `x` is at line 1 too", excerpt=words("x: 1")
    )
    moved = replace(flaw, line=5, message="key `x` is at line 3 too", excerpt=words("  x: 1"))
    other = replace(flaw, excerpt=words("y: 1"))

    assert fingerprints(log_of(moved)) == fingerprints(log_of(flaw)) != fingerprints(log_of(other))


def words(line: str) -> Excerpt:
    """Give an excerpt of one line."""
    return Excerpt(((1, line),), 0, 1)


def test_equal_findings_stay_apart() -> None:
    """Two findings with the same rule, resource and field have a fingerprint each."""
    twice = log_of(complaint(), replace(complaint(), message="another word"))

    assert len(set(fingerprints(twice))) == 2


def test_the_worst_results_are_kept() -> None:
    """A log holds 5,000 results, errors before warnings, and says how many it leaves out."""
    run = log_of(*(warning(number) for number in range(1, SHOWN_SARIF_RESULTS + 3)), complaint())

    assert len(run["results"]) == 5_000
    assert run["results"][0]["level"] == "error"
    (told,) = run["invocations"][0]["toolExecutionNotifications"]
    assert told["message"]["text"].startswith("3 more complaints")


def strict(**properties: Any) -> dict[str, Any]:
    """Give the schema of an object that has these properties and no other."""
    required = [name for name, schema in properties.items() if not schema.pop("optional", False)]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def many(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Give the schema of a list."""
    return {"type": "array", "items": schema, **more}


def text(pattern: str = r"(?s)^.+$") -> dict[str, Any]:
    """Give the schema of a text."""
    return {"type": "string", "pattern": pattern}


def whole(least: int) -> dict[str, Any]:
    """Give the schema of a whole number."""
    return {"type": "integer", "minimum": least}


def optional(schema: dict[str, Any]) -> dict[str, Any]:
    """Mark a property that may be left out."""
    return {**schema, "optional": True}


# No copy of the SARIF schema is part of this project: this holds what SARIF 2.1.0 says of the
# properties that are written here, and allows no other.
MESSAGE = strict(text=text())
RULE = strict(
    id=text(r"^[ALMPT]\d{3}$"),
    shortDescription=strict(text=text()),
    fullDescription=strict(text=text()),
    help=strict(text=text(), markdown=text()),
    defaultConfiguration=strict(
        enabled={"type": "boolean"}, level={"enum": ["none", "note", "warning", "error"]}
    ),
    properties=strict(tags=many(text(), uniqueItems=True, maxItems=20)),
)
REGION = strict(startLine=whole(1), startColumn=optional(whole(1)), endColumn=optional(whole(1)))
URI = text(r"^(?:[A-Za-z0-9/_.~-]|%[0-9A-F]{2})*$")
LOCATION = strict(
    physicalLocation=strict(artifactLocation=strict(uri=URI), region=REGION),
    logicalLocations=optional(many(strict(fullyQualifiedName=text()), uniqueItems=True)),
)
RESULT = strict(
    ruleId=text(r"^[ALMPT]\d{3}$"),
    ruleIndex=whole(0),
    level={"enum": ["none", "note", "warning", "error"]},
    message=MESSAGE,
    locations=many(LOCATION, minItems=1, maxItems=10),
    partialFingerprints={"type": "object", "additionalProperties": text(r"^[0-9a-f]{32}:\d+$")},
)
NOTIFICATION = strict(level={"enum": ["warning"]}, message=MESSAGE)
RUN = strict(
    tool=strict(
        driver=strict(
            name=text(), semanticVersion=text(r"^\d+\.\d+\.\d+"), rules=many(RULE, uniqueItems=True)
        )
    ),
    automationDetails=strict(id=text(r"/$")),
    columnKind={"enum": ["unicodeCodePoints", "utf16CodeUnits"]},
    invocations=many(
        strict(
            executionSuccessful={"type": "boolean"},
            toolExecutionNotifications=optional(many(NOTIFICATION)),
        )
    ),
    properties=strict(ignored=whole(0)),
    results=many(RESULT, maxItems=5000),
)
SARIF = Draft202012Validator(strict(version={"const": "2.1.0"}, runs=many(RUN, maxItems=20)))


@given(st.lists(FOREIGN, max_size=3))
def test_foreign_sarif(complaints: list[Complaint]) -> None:
    """Whatever stands in a manifest, the log is valid and holds no character that acts."""
    log = complaints_sarif(complaints, "a b", "local")

    SARIF.validate(json.loads(log))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e\ud800-\udfff]|##\\[", log)


def test_one_complaint_a_line() -> None:
    """JSON Lines hold a complaint on each line, also where its text has line breaks."""
    lines = complaints_jsonl([complaint(1, message="a\nb\u2028c"), warning(2)]).splitlines()

    assert [json.loads(line)["message"] for line in lines] == [
        "a\nb\u2028c",
        "unknown field `nmae`",
    ]


@given(st.lists(FOREIGN, max_size=3))
def test_foreign_junit(complaints: list[Complaint]) -> None:
    """Whatever stands in a manifest, the XML is well-formed, and errors are failures."""
    suite = ET.fromstring(complaints_junit(complaints, (), ()))[0]  # noqa: S314 - our own text

    failed = {one.ref or one.file for one in complaints if one.is_error}
    assert int(suite.attrib["failures"]) == len(failed)
    assert len(suite.findall("testcase/failure")) == len(failed)


@pytest.fixture
def project(tmp_path: Path) -> Workspace:
    """Give a workspace of a good, a doubtful and a wrong manifest, one elsewhere, a broken text."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)  # noqa: S607 - git of the PATH
    made = Workspace(tmp_path / "ops")
    made.write("reconciler.yaml", "environments: {local: {emulator: {data: x}}, other: {}}\n")
    limited = VIEW.replace("{name: %s}", "{name: %s, environments: [other]}")
    made.write("a.yaml", VIEW % "good" + "---\n" + limited % "elsewhere")
    made.write("b.yaml", VIEW % "doubtful" + "  zebra: 1\n---\n" + VIEW % "wrong" + "  nmae: x\n")
    made.write("c.yaml", "a: [\n")
    return made


def test_validate_as_junit(project: Workspace) -> None:
    """`validate --format junit` has a test for each manifest and each file that cannot be read."""
    ran = project.run("validate", "-e", "local", "--format", "junit")

    suite = ET.fromstring(ran.out)[0]  # noqa: S314 - our own text
    cases = {case.attrib["name"]: case for case in suite}
    assert ran.code == 4
    assert {name: [child.tag for child in case] for name, case in cases.items()} == {
        "good": [],
        "doubtful": ["system-out"],
        "wrong": ["failure"],
        "c.yaml": ["failure"],
        "elsewhere": ["skipped"],
    }
    assert cases["wrong"].attrib == {"classname": "SavedView", "name": "wrong", "file": "b.yaml"}
    assert suite.attrib == {
        "name": "reconciler validate",
        "tests": "5",
        "failures": "2",
        "errors": "0",
        "skipped": "1",
    }


def test_validate_as_sarif(project: Workspace) -> None:
    """`validate --format sarif` names files from the root of the repository around the project."""
    ran = project.run("validate", "-e", "local", "--format", "sarif")

    SARIF.validate(ran.json)
    places = [
        result["locations"][0]["physicalLocation"] for result in ran.json["runs"][0]["results"]
    ]
    assert [
        (place["artifactLocation"]["uri"], place["region"]["startLine"]) for place in places
    ] == [
        ("ops/b.yaml", 15),
        ("ops/c.yaml", 1),
        ("ops/b.yaml", 7),
    ]


@pytest.mark.parametrize("form", ["json", "jsonl", "sarif", "junit"])
def test_a_malformed_project_file(project: Workspace, form: str, golden: Golden) -> None:
    """What is wrong with the project file is told in every format, and is exit 4."""
    project.write("reconciler.yaml", "enviroments: {}\n")
    ran = project.run("validate", "--format", form)

    assert ran.code == 4
    assert "P101" in ran.out
    golden(ran.err)
