from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from reconciler.document import Json
from reconciler.errors import InvalidInput, UsageError
from reconciler.project import (
    BASE_URL,
    Embedded,
    Environment,
    Project,
    ProjectFile,
    Service,
    choose_environment,
    choose_target,
    journal_place,
    leads_out,
    project_findings,
)
from reconciler.project.settings import InFile, InGit, InObjects, JournalPlace
from reconciler.workspace.project_file import load_project

ROOT = Path("/shop")
API = "https://api.example.com"
OTHER = "https://other.example.com"


def project(file: str | None = "reconciler.yaml", **environments: Environment) -> Project:
    """Give a project of these environments."""
    settings = ProjectFile(environments=environments)
    return Project(ROOT, ROOT / file if file else None, settings)


def at(url: str) -> Environment:
    """Give an environment that names a service."""
    return Environment.model_validate({"baseUrl": url})


def target(environment: Environment, given: str | None = None) -> Service | Embedded:
    """Give where a run leads with `RECONCILER_BASE_URL` as given."""
    environ = {} if given is None else {BASE_URL: given}
    return choose_target(project(local=environment), "local", environment, environ)


EMULATED = Environment.model_validate({"emulator": {"data": "x.db"}})


def test_an_unsafe_url_from_the_process_environment() -> None:
    """A base URL is checked wherever it comes from, and not repeated in the error."""
    with pytest.raises(InvalidInput, match=f"{BASE_URL} must not hold a user name") as raised:
        target(Environment(), "https://me:hunter2@api.example.com")

    assert "hunter2" not in str(raised.value)
    assert raised.value.exit_code == 4


@pytest.mark.parametrize(
    ("own", "given", "leads_to"),
    [
        (API, None, API),
        (API, "", API),
        (API, "  ", API),
        (f"{API}/", None, API),
        (API, API, API),
        (f"{API}/", API, API),
        (API, f"{API}//", API),
        (None, API, API),
        (None, f"{API}/base/", f"{API}/base"),
        (None, f" {API}\n", API),
        ("http://localhost:8080", "http://localhost:8080/", "http://localhost:8080"),
    ],
)
def test_a_target(own: str | None, given: str | None, leads_to: str) -> None:
    """A run leads where the environment says, else where the variable says, if they agree."""
    assert target(Environment.model_validate({"baseUrl": own}), given) == Service(leads_to)


@pytest.mark.parametrize(
    ("environment", "given"),
    [
        (at(API), OTHER),
        (at(API), f"{API}:8443"),
        (at(API), f"{API}/base"),
        (at(API), "http://localhost:8080"),
        (EMULATED, API),
        (at(API), "https://me:hunter2@other.example.com"),
        (EMULATED, "https://me:hunter2@other.example.com"),
    ],
)
def test_targets_that_disagree(environment: Environment, given: str) -> None:
    """Two targets that differ are a usage error that names both, without a password."""
    with pytest.raises(UsageError) as raised:
        target(environment, given)

    said = str(raised.value)
    own = environment.base_url or "the embedded emulator"
    assert own in said
    assert given.replace("me:hunter2@", "") in said
    assert "hunter2" not in said
    assert raised.value.exit_code == 64


def test_no_target() -> None:
    """Without a target the error names both ways to give one, and the emulator."""
    with pytest.raises(UsageError, match="baseUrl") as raised:
        target(Environment())

    assert BASE_URL in str(raised.value)
    assert "emulator" in str(raised.value)
    assert raised.value.exit_code == 64


def test_the_embedded_emulator() -> None:
    """The emulator's data is a file of the project, and plans call the target `emulator`."""
    found = target(EMULATED)

    assert found == Embedded(ROOT / "x.db")
    assert found.name == "emulator"


def test_a_service_is_called_by_its_url() -> None:
    """Plans and journals call a service by its URL, and the key's form is kept."""
    environment = Environment.model_validate({"baseUrl": API, "authorization": "bearer"})

    found = target(environment)

    assert found == Service(API, "bearer")
    assert found.name == API


def test_the_only_environment_is_chosen() -> None:
    """One environment needs no name."""
    assert choose_environment(project(production=at(API)), None) == ("production", at(API))


def test_the_default_environment_is_chosen() -> None:
    """Without -e the default is taken, and -e goes before it."""
    settings = ProjectFile.model_validate(
        {"defaultEnvironment": "local", "environments": {"local": {}, "production": {}}}
    )
    chosen = Project(ROOT, ROOT / "reconciler.yaml", settings)

    assert choose_environment(chosen, None)[0] == "local"
    assert choose_environment(chosen, "production")[0] == "production"


def test_no_environments() -> None:
    """A project without environments has one called `default` that names nothing."""
    assert choose_environment(project(), None) == ("default", Environment())
    assert choose_environment(project(file=None), None) == ("default", Environment())


@pytest.mark.parametrize(
    ("chosen", "wanted", "says"),
    [
        (project(a=EMULATED, b=EMULATED), None, "choose an environment with -e: a, b"),
        (project(local=EMULATED), "locla", "did you mean `local`? (known: local)"),
        (project(local=EMULATED), "x", "there is no environment `x` (known: local)"),
        (project(), "x", "(known: none)"),
        (project(file=None), "x", "there is no project file"),
    ],
)
def test_an_environment_that_cannot_be_told(chosen: Project, wanted: str | None, says: str) -> None:
    """An unknown or ambiguous environment is a usage error that lists what there is."""
    with pytest.raises(UsageError) as raised:
        choose_environment(chosen, wanted)

    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("file", "place", "journal"),
    [
        ("reconciler.yaml", None, ".reconciler/local.journal.jsonl"),
        (None, None, ".reconciler/journal.jsonl"),
        ("reconciler.yaml", "state/a.jsonl", "state/a.jsonl"),
        ("reconciler.yaml", "./a1:b.jsonl", "a1:b.jsonl"),
        ("reconciler.yaml", "/var/lib/a.jsonl", "/var/lib/a.jsonl"),
    ],
)
def test_where_the_journal_is(file: str | None, place: str | None, journal: str) -> None:
    """A journal is a file beside the manifests, or where the environment says."""
    environment = Environment(journal=place)

    kept = journal_place(project(file, local=environment), "local", environment)
    assert kept == InFile(ROOT / journal)


@pytest.mark.parametrize("kind", get_args(JournalPlace), ids=lambda kind: kind.__name__)
def test_every_place_has_its_store(kind: type[JournalPlace]) -> None:
    """Each kind of place names a module of the journal that opens it."""
    opened = import_module(f"reconciler.journal.{kind.store}").opened

    assert get_type_hints(opened)["place"] is kind


@pytest.mark.parametrize(
    ("setting", "place"),
    [
        ("git:refs/reconciler/production", InGit("refs/reconciler/production", "")),
        (
            "git:refs/reconciler/eu.1/prod@up-stream",
            InGit("refs/reconciler/eu.1/prod", "up-stream"),
        ),
        ("s3://my-bucket/journals/eu", InObjects("s3://my-bucket/journals/eu")),
        ("gs://bucket", InObjects("gs://bucket")),
        ("az://container/a/", InObjects("az://container/a")),
    ],
)
def test_a_shared_journal(setting: str, place: JournalPlace) -> None:
    """A journal may be kept in a ref of the remote or in a bucket."""
    environment = Environment(journal=setting)

    assert journal_place(project(local=environment), "local", environment) == place


@pytest.mark.parametrize(
    "setting",
    [
        *("", " ", "s3:bucket/key", "file:///x", "https://x.example/y", "S3://b/c", "redis:x"),
        *("s3://", "s3:///x", "s3://user:key@bucket/x", "s3://b/../c", "s3://b/c?x=1", "s3://b/ c"),
        *("git:", "git:refs", "git:refs/x", "git:main", "git:refs/heads/main", "git:refs/tags/v1"),
        *("git:refs/remotes/o/x", "git:refs/pull/1", "git:refs/replace/x", "git:refs/for/main"),
        *(
            "git:refs/a/../b",
            "git:refs/a/b.lock",
            "git:refs/a/.b",
            "git:refs/a/b.",
            "git:refs/a//b",
        ),
        *(
            "git:refs/a/b c",
            "git:refs/a/b~1",
            "git:refs/a/b:c",
            "git:--upload-pack=x",
            "git:refs/a/b/",
        ),
        *(
            "git:refs/a/b@",
            "git:refs/a/b@--x",
            "git:refs/a/b@https://x.example",
            "git:refs/a/b@{1}",
        ),
        *("git:refs/a/b\n", "a\0b"),
    ],
)
def test_no_place_for_a_journal(setting: str) -> None:
    """A setting that is no place is an error of the project file, and never taken for a path."""
    document: Json = {"environments": {"local": {"journal": setting}}}

    (finding,) = project_findings(document)

    assert finding.path == ("environments", "local", "journal")
    assert "`journal` must" in finding.message


@pytest.mark.parametrize(
    ("path", "out"),
    [
        (".", False),
        ("a/b", False),
        ("a/../b", False),
        ("./a/.", False),
        ("..a/b", False),
        ("..", True),
        ("../a", True),
        ("a/../../b", True),
        ("/a", True),
        ("/", True),
        ("//a", True),
    ],
)
def test_paths_that_lead_out(path: str, out: bool) -> None:
    """A path leads out where it climbs above its start, however it is written."""
    assert leads_out(path) is out


def test_types_of_variables(tmp_path: Path) -> None:
    """A variable keeps the type that YAML gives it."""
    file = tmp_path / "reconciler.yaml"
    file.write_text(
        "environments:\n  local:\n    variables:\n"
        '      {a: x, b: 5, c: 0.5, d: true, e: "5", f: yes, g: 1:30, h: 1.0, i: 0x10}\n',
        encoding="utf-8",
    )

    loaded, complaints = load_project(file)

    assert complaints == []
    assert loaded is not None
    variables = loaded.settings.environments["local"].variables
    expected = {
        "a": "x",
        "b": 5,
        "c": 0.5,
        "d": True,
        "e": "5",
        "f": "yes",
        "g": "1:30",
        "h": 1.0,
        "i": 16,
    }
    assert variables == expected
    assert {key: type(variable) for key, variable in variables.items()} == {
        key: type(value) for key, value in expected.items()
    }


def test_settings_of_a_whole_file(tmp_path: Path) -> None:
    """The example of the design is read as it is meant."""
    file = tmp_path / "reconciler.yaml"
    file.write_text(
        "manifests: [.]\ndefaultEnvironment: local\nenvironments:\n  local:\n"
        "    emulator: {data: .reconciler/local.db}\n"
        "    journal: .reconciler/local.journal.jsonl\n  production:\n"
        f"    baseUrl: {API}\n    authorization: raw\n"
        "    journal: git:refs/reconciler/production\n    variables: {team: payments}\n",
        encoding="utf-8",
    )

    loaded, complaints = load_project(file)

    assert complaints == []
    assert loaded is not None
    assert loaded.root == tmp_path
    assert loaded.settings.manifests == ["."]
    assert loaded.settings.environments["production"].authorization == "raw"


def test_all_complaints_of_a_project_file(tmp_path: Path) -> None:
    """Every mistake of a project file is told in one run."""
    file = tmp_path / "reconciler.yaml"
    file.write_text(
        "manifests: [..]\ndefaultEnvironment: lost\nenvironments:\n"
        "  a b: {baseUrl: http://x.example}\n  c: {baseUrl: https://x, emulator: {data: y}}\n",
        encoding="utf-8",
    )

    loaded, complaints = load_project(file)

    assert loaded is None
    assert [(complaint.code, complaint.line) for complaint in complaints] == [
        ("P101", 2),
        ("P101", 1),
        ("P101", 4),
        ("P102", 4),
        ("P101", 5),
    ]
