"""Where there is nothing to do, or nobody can know what was meant, it is said what to do next."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import click
import pytest
from harness.doors import on_terminal, typed
from harness.golden import Golden
from harness.repositories import begin
from harness.workspaces import PROJECT, VIEW, Shop, Workspace

from reconciler.cli.other_tools import COMMAND_WORDS, OPTION_WORDS
from reconciler.cli.root import cli
from reconciler.report.counts import FIRST_MANIFEST


@pytest.mark.promise("P49")
@pytest.mark.parametrize("command", ["validate", "plan", "drift", "apply --yes"])
def test_empty_folder(workspace: Workspace, command: str, golden: Golden) -> None:
    """A folder without manifests is named, with a manifest to begin with that validates."""
    name, *flags = command.split()

    ran = workspace.run(name, *flags)

    assert ran.code == 0
    golden(ran.err)
    assert "reconciler validate PATH" in ran.err
    begin = ran.err.index("      apiVersion")
    lines = ran.err[begin:].splitlines()[: len(FIRST_MANIFEST.splitlines())]
    workspace.write("checkout.yaml", "\n".join(line[6:] for line in lines))
    again = workspace.run(name, *flags)
    assert (again.code, "no manifests" in again.err) == (0, False)
    assert [change["ref"] for change in workspace.plan()["changes"]] == ["Dashboard/checkout"]


@pytest.mark.promise("P49")
def test_empty_folder_when_quiet(workspace: Workspace) -> None:
    """With -q nothing is said of it."""
    for command in ("validate", "plan"):
        assert workspace.run(command, "-q").err == ""


@pytest.mark.promise("P49")
def test_manifests_for_others(workspace: Workspace, golden: Golden) -> None:
    """Manifests that are all for other environments are counted, and the others named."""
    workspace.write("reconciler.yaml", f"{PROJECT}  eu: {{}}\ndefaultEnvironment: local\n")
    workspace.write("view.yaml", VIEW.replace("errors}", "errors, environments: [eu]}"))

    for command in ("validate", "plan"):
        ran = workspace.run(command, "-e", "local")
        golden(ran.err)
        assert "-e (eu)" in ran.err


@pytest.mark.promise("P49")
def test_plan_in_the_place_of_manifests(workspace: Workspace) -> None:
    """A plan that is given as a PATH is told from manifests, with the option that takes it."""
    workspace.write("view.yaml", VIEW)
    plan = workspace.root / "the.json"
    assert workspace.run("plan", "--out", str(plan)).code == 0

    ran = typed("apply", "--yes", str(plan))

    advised = re.search(rf"`reconciler (apply [^`]*--plan {plan})`", ran.err)
    assert advised is not None, ran.err
    assert workspace.requests() == 0
    assert typed(*advised[1].split()).code == 0


@pytest.mark.promise("P49")
@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_nothing_changed(workspace: Workspace, form: str, golden: Golden) -> None:
    """Where nothing changed since a revision, the plan says so, and how to examine the rest."""
    workspace.write("view.yaml", VIEW)
    begin(workspace.root)

    ran = workspace.run("plan", "--changed-since", "HEAD", "--format", form)

    assert ran.code == 0
    assert "nothing changed" in ran.out
    assert "nothing is declared" not in ran.out
    if form != "html":
        golden(ran.out)


@pytest.mark.promise("P49")
@pytest.mark.parametrize("answer", ["no\n", "y\n", "\n", "\x04"])
def test_declined(workspace: Workspace, answer: str) -> None:
    """A no to the question is 0 with nothing done, and says how to apply the same plan later."""
    workspace.write("view.yaml", VIEW)

    shown = on_terminal(["apply"], workspace.root, typed=answer, piped=True)

    assert (shown.code, shown.out) == (0, "")
    digest = re.search(
        r"nothing was applied[^`]*`[^`]*--expect\s+(sha256:[0-9a-f]{64})`", shown.terminal
    )
    assert digest is not None, shown.terminal
    assert workspace.requests() == 0
    assert workspace.run("apply", "--expect", digest[1]).code == 0


@pytest.mark.promise("P49")
@pytest.mark.parametrize("form", ["json", "junit"])
def test_declined_for_programs(workspace: Workspace, form: str) -> None:
    """What programs read of a declined apply is whole, and holds no outcome."""
    workspace.write("view.yaml", VIEW)

    shown = on_terminal(["apply", "--format", form], workspace.root, typed="no\n", piped=True)

    assert shown.code == 0
    if form == "json":
        document = json.loads(shown.out)
        assert (document["outcomes"], set(document["summary"].values())) == ([], {0})
    else:
        assert shown.out.startswith("<?xml")


def listed(shop: Shop, *arguments: str) -> list[dict[str, Any]]:
    """List records, and let go of the data before another process writes."""
    ran = shop.run(*arguments, "--format", "json")
    shop.apps[-1].state.store.close()
    found: list[dict[str, Any]] = json.loads(ran.out)
    return found


@pytest.mark.promise("P49")
@pytest.mark.parametrize("answer", ["n\n", "\n", "\x04", "y\n"])
def test_declined_writes(shop: Shop, answer: str) -> None:
    """So it is with policies and incidents, and the question never reaches stdout."""
    policies = shop.write("new.json", '[{"name": "added", "priority": "PRIORITY_TYPE_HIGH"}]')
    incident = listed(shop, "incidents", "list", "--open")[0]["id"]
    before = listed(shop, "policies", "list")
    is_yes = answer == "y\n"

    for arguments, said in (
        (["policies", "add", str(policies)], "nothing was added"),
        (["incidents", "close", incident], "nothing was closed"),
    ):
        shown = on_terminal([*arguments, "--format", "json"], shop.root, typed=answer, piped=True)
        assert shown.code == 0
        assert (said in shown.terminal) == (not is_yes)
        assert len(json.loads(shown.out)) == int(is_yes)
    assert len(listed(shop, "policies", "list")) - len(before) == int(is_yes)


def words() -> list[str]:
    return [part for listed in COMMAND_WORDS for part in listed.split()]


def options() -> list[str]:
    return [part for listed in OPTION_WORDS for part in listed.split()]


@pytest.mark.promise("P49")
@pytest.mark.parametrize(
    "word",
    [
        *("diff", "destroy", "up", "sync", "deploy", "delete", "get"),
        *("refresh", "login", "state", "preview", "create", "lint", "help"),
    ],
)
def test_words_of_other_tools(word: str) -> None:
    """A command of another tool is 64, with what does the same here."""
    ran = typed(word)

    assert (ran.code, ran.out) == (64, "")
    *_, error, advice = ran.err.splitlines()
    assert error == f"error: No such command `{word}`."
    assert "`" in advice


@pytest.mark.promise("P49")
@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("apply --auto-approve", "`--yes`"),
        ("apply -auto-approve", "`--yes`"),
        ("apply -y", "`--yes`"),
        ("apply -f manifests", "reconciler apply PATH"),
        ("apply --filename=manifests", "reconciler apply PATH"),
        ("apply -target=Dashboard/x", "reconciler apply PATH"),
        ("apply --dry-run", "`reconciler plan`"),
        ("plan -var team=a", "`variables:`"),
        ("plan -out=plan.json", "`--out`"),
        ("plan -detailed-exitcode", "--exit-code"),
        ("plan --json", "`--format json`"),
        ("plan -o json", "`--format json`"),
        ("plan --api-key x", "RECONCILER_API_KEY"),
        ("apply -lock-timeout=5m", "`--lock-timeout`"),
        ("drift --context production", "`-e NAME`"),
    ],
)
def test_options_of_other_tools(line: str, advice: str) -> None:
    """An option of another tool is 64, with what does the same here; one dash or two."""
    ran = typed(*line.split())

    assert (ran.code, ran.out) == (64, "")
    assert advice in ran.err.splitlines()[-1]


@pytest.mark.promise("P49")
@pytest.mark.parametrize("group", ["", "journal", "emulator", "incidents", "policies"])
def test_groups(group: str) -> None:
    """Where a command is missing or unknown, the commands that there are are named."""
    context = click.Context(cli)
    found = cli.get_command(context, group) if group else cli
    assert isinstance(found, click.Group)

    for arguments in (group.split(), [*group.split(), "xyzzy"]):
        ran = typed(*arguments)
        assert ran.code == 64
        assert ", ".join(found.list_commands(context)) in ran.err.splitlines()[-1]


def commands_and_options() -> Iterator[tuple[str, list[str]]]:
    """Give every command line's words, and the options it takes."""

    def walk(name: str, command: click.Command) -> Iterator[tuple[str, list[str]]]:
        yield (
            name,
            [flag for param in command.params for flag in (*param.opts, *param.secondary_opts)],
        )
        if isinstance(command, click.Group):
            context = click.Context(command)
            for one in command.list_commands(context):
                below = command.get_command(context, one)
                assert below is not None
                yield from walk(f"{name} {one}".strip(), below)

    return walk("", cli)


@pytest.mark.promise("P49")
def test_advice_can_be_followed() -> None:
    """Each command and option that advice names is one; no word is advised on twice."""
    known = dict(commands_and_options())
    flags = {flag for found in known.values() for flag in found} | {"--version", "--help"}

    for said in (*COMMAND_WORDS.values(), *OPTION_WORDS.values()):
        for line in re.findall(r"`reconciler ([^`]*)`", said):
            names = [part for part in line.split() if not part.startswith("-") and part.islower()]
            assert " ".join(names) in known, said
        for flag in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", said):
            assert flag in flags, said
    assert len(set(words())) == len(words())
    assert len(set(options())) == len(options())
