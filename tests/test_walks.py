"""How-to pages: each command of them runs, on a seeded emulator or on a copy of the examples."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import httpx
import pytest
from harness.doors import KEY, typed
from harness.served import Served, served
from harness.workspaces import examples_at

from reconciler.cli.overview import COMMANDS
from reconciler.cli.root import run
from reconciler.emulator.resources import ALERTS

DOCS = Path(__file__).parent.parent / "docs"
API = "/mgmt/openapi/latest"
BOARD = "checkout-overview-001"
COMMENT = re.compile(r"\s+# exit (\d+)$")
FILE = re.compile(r"# (\S+\.yaml)\n")
STEP = re.compile(r"^## ([^\n]*)$|^```(sh|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WALKED = (
    "getting-started.md",
    "rename.md",
    "environments.md",
    "adopt.md",
    "rollback.md",
    "secrets.md",
    "lost-journal.md",
)
"""Pages that lead through one workspace, in this order; the page of a deleted feature is gone."""
# Until these are here, what needs them is passed over.
TO_COME = {"import", "adopt", "rollback"} - set(COMMANDS)


def steps_of(page: str) -> Iterator[tuple[str, str, str]]:
    """Yield the headings, shell blocks and files of a page, in their order."""
    for found in STEP.finditer((DOCS / page).read_text(encoding="utf-8")):
        heading, language, text = found.groups()
        yield ("heading", heading, "") if heading is not None else (language, "", text)


class Walk:
    """A reader who follows a page: in a folder, with a service and a repository of their own."""

    def __init__(self, service: Served, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
        self.service = service
        self.patch = monkeypatch
        self.instead = {
            "https://api.example.com": service.base_url,
            "https://git.example.com/shop/observability.git": str(home / "remote.git"),
            "RECONCILER_API_KEY=...": f"RECONCILER_API_KEY={KEY}",
        }
        self.place = home
        self.ran: list[str] = []

    def follow(self, page: str, before: Mapping[str, Callable[[Served], None]]) -> None:
        """Do what a page says; `before` is what others do before some of its sections."""
        skipped = needs_what_is_to_come((DOCS / page).read_text(encoding="utf-8").split("\n## ")[0])
        for what, heading, text in steps_of(page):
            if what == "heading":
                skipped = needs_what_is_to_come(section(page, heading))
                if heading in before and not skipped:
                    before[heading](self.service)
            elif what == "yaml" and not skipped and (named := FILE.match(text)):
                (self.place / named[1]).write_text(text, encoding="utf-8")
            elif what == "sh" and not skipped:
                for line in text.splitlines():
                    self.do(line)

    def do(self, line: str) -> None:
        """Type one line; it ends with the code that the page gives, or with 0."""
        given = COMMENT.search(line)
        line = COMMENT.sub("", line)
        for there, here in self.instead.items():
            line = line.replace(there, here)
        word, _, rest = line.partition(" ")
        if word == "cd":
            self.place = self.place / rest
            self.patch.chdir(self.place)
            return
        if word == "export":
            self.patch.setenv(*rest.split("=", 1))
            return
        self.ran.append(line)
        if word == "reconciler":
            code = run(shlex.split(rest))
        else:
            code = subprocess.run(["/bin/sh", "-c", line], check=False).returncode
        assert code == (int(given[1]) if given else 0), line


def needs_what_is_to_come(text: str) -> bool:
    """Return whether a part of a page runs a command that is not here."""
    return bool(TO_COME & set(re.findall(r"reconciler (\w+)", text)))


def section(page: str, heading: str) -> str:
    """Return the text below a heading."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return text.split(f"## {heading}\n")[1].split("\n## ")[0]


def edited_by_hand(service: Served) -> None:
    """Change the title of a widget as the web interface does."""
    headers = {"Authorization": KEY}
    with httpx.Client(base_url=service.base_url + API, headers=headers, trust_env=False) as web:
        dashboard = web.get(f"/v1/dashboards/dashboards/{BOARD}").json()["dashboard"]
        dashboard["layout"]["sections"][0]["rows"][0]["widgets"][0]["title"] = "Orders, by minute"
        body = {"requestId": "by-hand", "dashboard": dashboard}
        web.put("/v1/dashboards/dashboards", json=body).raise_for_status()


def lost(*refs: str) -> Callable[[Served], None]:
    """Return what deletes refs of the remote, as a person who may do so does by mistake."""

    def lose(_: Served) -> None:
        gone = [f":refs/reconciler/{ref}" for ref in refs]
        subprocess.run(["git", "push", "--quiet", "origin", *gone], check=True)  # noqa: S607 - git of the PATH

    return lose


DEEDS = {
    "adopt.md": edited_by_hand,
    "lost-journal.md": lost("production"),
    "There is no copy": lost("production", "production.newest"),
}
"""What others do before a page, or before a section."""


def test_the_newcomers_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From an account full of dashboards to a merged change, and through each recipe after it."""
    (tmp_path / "exports").mkdir()
    subprocess.run(["git", "init", "--quiet", "--bare", tmp_path / "remote.git"], check=True)  # noqa: S607 - git of the PATH
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Mira")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "mira@shop.example")
    monkeypatch.chdir(tmp_path)
    with served(seed="demo") as service:
        alerts = service.rows("SELECT id, record FROM alert_definitions ORDER BY id LIMIT 3")
        export = [json.loads(record) for _, record in alerts]
        (tmp_path / "exports" / "alerts.json").write_text(json.dumps(export), encoding="utf-8")
        walk = Walk(service, monkeypatch, tmp_path)
        if "import" in TO_COME:
            pytest.skip("import is not here yet")
        walk.follow("getting-started.md", {})
        capsys.readouterr()
        assert run(["plan", "-e", "production"]) == 0
        (shown,) = re.findall(r"^Nothing to do: .*$", capsys.readouterr().out, re.MULTILINE)
        assert shown in section("getting-started.md", "2. What is there already")
        for page in (page for page in WALKED[1:] if (DOCS / page).exists()):
            if page in DEEDS:
                DEEDS[page](service)
            walk.follow(page, DEEDS)
        shown = capsys.readouterr().out
        (quoted,) = re.findall(
            r"The plan shows `([^`]*)`", section("secrets.md", "Rotate a secret")
        )
        assert re.search(re.escape(quoted).replace("…", "[0-9a-f]+"), shown), shown


def test_no_recipe_declares_what_was_imported() -> None:
    """An alert that a recipe declares is none of the demo's: whoever imported it has it already."""
    text = "".join((DOCS / page).read_text("utf-8") for page in WALKED if (DOCS / page).exists())

    assert [alert for alert in ALERTS if alert in text] == []


ON_EXAMPLES = (
    "audit.md",
    "emulator.md",
    "fmt.md",
    "freeze.md",
    "graph.md",
    "identity.md",
    "plan.md",
    "policy-impact.md",
    "reports.md",
    "reuse.md",
    "rules.md",
    "track-record.md",
    "watch.md",
)
"""Pages with commands that run on a copy of the examples."""

ELSEWHERE = ("alert-tests.md", "approvals.md")
"""Pages that tests of their feature run."""


@pytest.mark.parametrize("name", [page for page in ON_EXAMPLES if (DOCS / page).exists()])
def test_commands_of_tasks_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line of a shell block runs, ends as the page says, and prints what is shown below it."""
    monkeypatch.chdir(examples_at(tmp_path / "shop").root)
    if name in {"identity.md", "watch.md"}:
        assert typed("apply", "--yes").code == 0
    text = (DOCS / name).read_text(encoding="utf-8")

    for block, shown in re.findall(r"```sh\n(.*?)```\n(?:\n```text\n(.*?)```)?", text, re.DOTALL):
        printed: list[str] = []
        for line in block.splitlines():
            ends = re.search(r"  # exit (\d+)$", line)
            word, *arguments = shlex.split(line.partition(" > ")[0], comments=True)
            if word == "reconciler":
                ran = typed(*arguments)
                code, printed = ran.code, [*printed, ran.out, ran.err]
            else:
                code = subprocess.run([word, *arguments], check=False).returncode
            assert code == (int(ends[1]) if ends else 0), line
        lines = {" ".join(line.split()) for line in "\n".join(printed).splitlines()}
        assert {" ".join(line.split()) for line in shown.splitlines()} <= lines


def test_commands_of_every_task_are_tried() -> None:
    """Each how-to page with a shell block is one that a test runs."""
    nav = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8")
    pages = re.findall(
        r"- ([\w-]+\.md)$", nav.partition("- How-to:")[2].partition("- Reference:")[0], re.MULTILINE
    )
    here = [name for name in pages if (DOCS / name).exists()]

    assert [
        name
        for name in here
        if "```sh\n" in (DOCS / name).read_text(encoding="utf-8")
        and name not in {*ON_EXAMPLES, *WALKED, *ELSEWHERE}
    ] == []
