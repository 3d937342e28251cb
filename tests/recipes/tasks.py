"""What each task adds: small, but of the form of the real thing."""

from __future__ import annotations

from workbench import CODES, Workbench

VIEW_MODEL = "reconciler/kinds/saved_view/__init__.py"


def complaint(bench: Workbench) -> None:
    """Complain of an SLO that has no real name yet."""
    said = "a name says nothing"
    bench.likewise(
        f"{CODES}M399.md",
        f"{CODES}M314.md",
        {
            "M314: a number is likely in another unit": f"M399: {said}",
            "  name: Checkout\n  targetThresholdPercentage: 0.999\n": "  name: untitled\n"
            "  targetThresholdPercentage: 99.9\n",
        },
    )
    bench.replace(
        "reconciler/kinds/slo/__init__.py",
        '    target = spec.get("targetThresholdPercentage")\n',
        '    target = spec.get("targetThresholdPercentage")\n'
        '    if spec.get("name") == "untitled":\n'
        '        yield Finding("M399", ("name",), "it has no name of its own yet")\n',
    )
    bench.replace(
        "tests/workspace/wrong_manifests.py",
        "MANIFESTS = [*ENVELOPES,",
        'SPECS.append(text("an untitled SLO", "M399", "6:9", "no name of its own", '
        'slo().replace("Checkout", "untitled")))\n'
        "MANIFESTS = [*ENVELOPES,",
    )


def guard(bench: Workbench) -> None:
    """Ask consent for the first SLO of a name."""
    rules = "reconciler/planning/guards/plan_limits.py"
    bench.after(rules, "LOOKS_LIKE_RENAME =", 'FIRST = "first-of-all"')
    bench.after(
        "reconciler/model/guards.py",
        '    "protected"',
        '    "first-of-all": Guard(EXPLICIT_LEVEL),',
    )
    bench.explain("first-of-all", "guard", "a first one")
    bench.replace(
        rules,
        "        if change.protected:\n            yield",
        '        if change.action is Action.CREATE and change.ref.name == "first":\n'
        '            way = ("name it otherwise",)\n'
        '            yield GuardViolation(ref=change.ref, said="", remedies=way, code=FIRST)\n'
        "        if change.protected:\n            yield",
    )
    bench.append(
        "tests/guards/test_consent.py",
        "\n\ndef test_the_first(site: Site) -> None:\n"
        '    """What is called the first needs consent."""\n'
        '    spec = {"name": "E", "targetThresholdPercentage": 99.0, "requestBasedMetricSli": {}}\n'
        "\n"
        '    found = refused(site, manifest("SLO/first", spec))\n'
        "\n"
        '    assert [violation.code for violation in found] == ["first-of-all"]\n',
    )


def retry_rule(bench: Workbench) -> None:
    """Take one more status for an answer that says nothing."""
    bench.replace("reconciler/api/retry.py", "((408, 499,", "((408, 444, 499,")
    bench.replace("docs/network.md", "is 408, 499,", "is 408, 444, 499,")
    bench.replace("docs/assumptions.md", "| 408, 499,", "| 408, 444, 499,")
    bench.replace("tests/api/test_rules.py", "in (408, 499,", "in (408, 444, 499,")
    bench.replace("tests/api/test_rules.py", "{408, 499,", "{408, 444, 499,")
    bench.replace("tests/api/test_door_statuses.py", "[408, 499,", "[408, 444, 499,")


def expression(bench: Workbench) -> None:
    """Give a variable in capitals."""
    syntax, filling = "reconciler/syntax/expressions.py", "reconciler/workspace/expression_scope.py"
    bench.after(syntax, '    REFERENCE = "ref"', '    CAPITALS = "capitals"')
    bench.after(
        syntax,
        "    ExpressionKind.REFERENCE: re.",
        '    ExpressionKind.CAPITALS: re.compile("[A-Za-z]+"),',
    )
    bench.after(
        syntax, '    ExpressionKind.REFERENCE: "Kind/name",', '    ExpressionKind.CAPITALS: "NAME",'
    )
    bench.replace(
        filling,
        "                case Expression():\n",
        "                case Expression(word=ExpressionKind.CAPITALS):\n"
        "                    parts.append(str(self._variable(part, path)).upper())\n"
        "                case Expression():\n",
    )
    bench.after("docs/manifests.md", "| `${var:NAME}` |", "| `${capitals:NAME}` | in capitals |")
    bench.append(
        "tests/workspace/test_expressions.py",
        "\n\ndef test_capitals() -> None:\n"
        '    """A variable can be had in capitals."""\n'
        '    scope = Scope("local", {"team": "payments"})\n'
        "\n"
        '    assert fill("the ${capitals:team}", scope).document == "the PAYMENTS"\n',
    )


def observed_field(bench: Workbench) -> None:
    """Let a saved view have an icon, which the API document does not know."""
    bench.after(VIEW_MODEL, "    view_type:", "    icon: Annotated[of.Text, of.Observed()] = None")


def use_case(bench: Workbench) -> None:
    """Count what a workspace declares, as a use case with a command on it."""
    bench.write(
        "reconciler/operations/counting.py",
        '"""Count what is declared, kind by kind."""\n\n'
        "from __future__ import annotations\n\n"
        "from collections import Counter\n\n"
        "from reconciler.operations.check_project import check\n"
        "from reconciler.operations.open_project import Options\n\n\n"
        "def count(options: Options) -> Counter[str]:\n"
        '    """Return the number of manifests of each kind, by its name."""\n'
        "    found = check(options).workspace.manifests\n"
        "    return Counter(manifest.ref.kind for manifest in found)\n",
    )
    bench.write(
        "reconciler/cli/count.py",
        '"""`reconciler count`: how many manifests there are."""\n\n'
        "from __future__ import annotations\n\n"
        "import click\n\n"
        "from reconciler.cli import options\n"
        "from reconciler.cli.console import data\n"
        "from reconciler.operations.counting import count as counted\n"
        "from reconciler.operations.open_project import Options\n\n\n"
        "@click.command\n"
        "@options.reading\n"
        "def count(*, options: Options) -> int:\n"
        '    """Print how many manifests there are of each kind."""\n'
        '    lines = (f"{kind} {n}\\n" for kind, n in sorted(counted(options).items()))\n'
        '    return data("".join(lines))\n',
    )
    bench.after(
        "reconciler/cli/overview.py",
        '    "drift": "cli.drift',
        '    "count": "cli.count:count Count manifests.",',
    )
    bench.after(
        "pyproject.toml",
        '    "reconciler.cli.completion",',
        '    "reconciler.cli.count",',
    )
    bench.replace(
        "scripts/command_examples.md",
        "## schema\n",
        "## count\n\n```sh\nreconciler count\n```\n\n## schema\n",
    )
    bench.after(
        "tests/cli/test_bad_input.py",
        '    "drift --format no-such"',
        '    "count -e nope": (64, "there is no environment `nope`"),',
    )
    bench.after("scripts/compare_scenarios.py", "LINES: ", '    "count": [""],')
    bench.write(
        "tests/cli/test_count.py",
        '"""`count`: how many manifests there are."""\n\n'
        "from __future__ import annotations\n\n"
        "import pytest\n"
        "from pathlib import Path\n\n"
        "from reconciler.cli.root import run\n\n\n"
        "def test_count(capsys: pytest.CaptureFixture[str]) -> None:\n"
        '    """Each kind that is declared is counted."""\n'
        "    examples = Path(__file__).parents[2] / 'examples'\n"
        '    assert run(["count", "--project", str(examples / "reconciler.yaml")]) == 0\n'
        '    assert "SLO 3" in capsys.readouterr().out\n',
    )


def output_format(bench: Workbench) -> None:
    """Print drift as one line a resource."""
    bench.append(
        "reconciler/report/drift_formats.py",
        "\n\ndef drift_names(look: DriftReport) -> str:\n"
        '    """Give the name of each resource that drifted, on a line of its own."""\n'
        "    names = (str(drift.ref) for drift in look.found if drift.drifted)\n"
        '    return "".join(f"{safe(name)}\\n" for name in names)\n',
    )
    command = "reconciler/cli/drift.py"
    bench.replace(
        command,
        "import drift_json, drift_markdown",
        "import drift_json, drift_markdown, drift_names",
    )
    bench.replace(
        command,
        "_page(look, session),\n",
        '_page(look, session),\n    "names": lambda look, *_: drift_names(look),\n',
    )


def reason(bench: Workbench) -> None:
    """Say of what is called the first that it is."""
    reasons = "reconciler/model/reason.py"
    bench.replace(
        reasons,
        "class NoJournal(",
        'class FirstOfAll(Reason, code="called-first"):\n'
        '    """It is called the first."""\n\n'
        '    words = "it is called the first"\n\n\n'
        "class NoJournal(",
    )
    deciding = "reconciler/planning/decide.py"
    bench.after(deciding, "    Evidence,", "    FirstOfAll,")
    bench.replace(
        deciding,
        "    if not change.action.writes:\n        return change\n    return replace(",
        '    if manifest.ref.name == "first":\n'
        "        change = replace(change, reasons=(*change.reasons, FirstOfAll()))\n"
        "    if not change.action.writes:\n        return change\n    return replace(",
    )
    bench.explain("called-first", "reason", "its name")
    bench.append(
        "tests/planning/test_decisions.py",
        "\n\ndef test_the_first() -> None:\n"
        '    """What is called the first is told so."""\n'
        '    change = decided(Ref("SLO", "first"), SPEC, Absent())\n\n'
        '    assert notes_of(change)[-1] == "it is called the first"\n',
    )


def setting(bench: Workbench) -> None:
    """Let an environment have a note for people."""
    bench.replace(
        "reconciler/project/settings.py",
        "    guards: Guards = Guards()\n",
        '    note: Annotated[str, Field(description="Words for people.")] = "-"\n'
        "    guards: Guards = Guards()\n",
    )
    bench.replace(
        "reconciler/project/project.py",
        "    if environment.base_url is not None and environment.emulator is not None:\n",
        "    if not environment.note:\n"
        '        yield Finding("P101", (*path, "note"), "`note` says nothing")\n'
        "    if environment.base_url is not None and environment.emulator is not None:\n",
    )
    bench.after(
        "tests/workspace/wrong_projects.py",
        '    _setting("another authorization"',
        """    _setting("an empty note", "3:11", "`note` says nothing", 'note: ""'),""",
    )
    bench.append("docs/manifests.md", "\n`note:` of an environment is for people.\n")


def exit_code(bench: Workbench) -> None:
    """End with a code of its own where stdin is lost."""
    line = '    LOST = 99, "internal", "stdin could not be read"'
    bench.after("reconciler/errors.py", "    OUTPUT_LOST = 74", line)
    bench.explain("exit-99", "exit", "stdin could not be read")


def switch(bench: Workbench) -> None:
    """Let an emulator give ids of saved views that begin far from 1."""
    bench.replace(
        "reconciler/emulator/profile.py",
        '    duplicate_names: Literal["taken", "conflict"] = "taken"\n',
        '    duplicate_names: Literal["taken", "conflict"] = "taken"\n'
        "    # Ids of saved views count from 1, or from 1001.\n"
        '    view_ids: Literal["near", "far"] = "near"\n',
    )
    bench.replace(
        "reconciler/emulator/saved_view_endpoints.py",
        """    view_id = call.store.write("INSERT INTO saved_views (record) VALUES ('')")\n""",
        '    first = 1000 if call.profile.view_ids == "far" else 0\n'
        "    counted = \"INSERT INTO saved_views SELECT max(ifnull(max(id), 0), ?) + 1, '' \"\n"
        '    view_id = call.store.write(counted + "FROM saved_views", first)\n',
    )
    bench.append(
        "tests/emulator/test_emulated_profiles.py",
        "\n\n@pytest.mark.parametrize(('how', 'first'), [('near', 1), ('far', 1001)])\n"
        "def test_view_ids(how: str, first: int) -> None:\n"
        '    """The first saved view has this id, and the next the one after it."""\n'
        "    emulator = under(view_ids=how)\n\n"
        '    ids = [emulator.post(VIEWS, VIEW).body["id"] for _ in range(2)]\n'
        "    assert ids == [first, first + 1]\n",
    )
