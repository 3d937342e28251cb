"""What each task adds: small, but of the form of the real thing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from workbench import Workbench


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Tasks of CONTRIBUTING, how their headings begin, and the laws that must hold afterwards.

    `gaps` are what stands in the place of `<kind>`, `<name>` and such in its text.
    """

    name: str
    task: tuple[str, ...]
    perform: Callable[[Workbench], None]
    laws: tuple[str, ...]
    gaps: Mapping[str, str] = field(default_factory=dict)


VIEW_MODEL = "reconciler/kinds/saved_view/model.py"


def complaint(bench: Workbench) -> None:
    """Complain of a saved view that nobody has named."""
    said = "a name says nothing"
    bench.after("reconciler/source/diagnostic.py", '    "M314": ', f'    "M399": "{said}",')
    bench.after("docs/errors.md", "| M314 |", f"| M399 | {said} |")
    bench.replace(
        VIEW_MODEL,
        "    yield from ()\n",
        '    if spec.get("name") == "untitled":\n'
        '        yield Finding("M399", ("name",), "nobody has named it yet")\n',
    )
    bench.replace(
        "tests/manifests/wrong_manifests.py",
        "MANIFESTS = [*ENVELOPES,",
        'SPECS.append(text("an untitled view", "M399", "7:9", "nobody has named it", '
        'view().replace("Errors", "untitled")))\n'
        "MANIFESTS = [*ENVELOPES,",
    )


def guard(bench: Workbench) -> None:
    """Ask consent for the first SLO of a name."""
    rules = "reconciler/guards/rules.py"
    bench.after(rules, "LOOKS_LIKE_RENAME =", 'FIRST = "first-of-all"')
    bench.replace(rules, "TAKES_OVER),\n    *(code", "TAKES_OVER, FIRST),\n    *(code")
    bench.replace(
        rules,
        "        if change.protected:\n            yield",
        '        if change.action is Action.CREATE and change.ref.name == "first":\n'
        '            way = ("name it otherwise",)\n'
        '            yield Objection(ref=change.ref, said="", ways_out=way, code=FIRST)\n'
        "        if change.protected:\n            yield",
    )
    bench.after("docs/guards.md", "| `looks-like-rename` |", "| `first-of-all` | a first one | x |")
    bench.append(
        "tests/guards/test_consent.py",
        "\n\ndef test_the_first(site: Site) -> None:\n"
        '    """What is called the first needs consent."""\n'
        '    spec = {"name": "E", "targetThresholdPercentage": 99.0, "requestBasedMetricSli": {}}\n'
        "\n"
        '    found = refused(site, manifest("SLO/first", spec))\n'
        "\n"
        '    assert [one.code for one in found] == ["first-of-all"]\n',
    )


def retry_rule(bench: Workbench) -> None:
    """Take one more status for an answer that says nothing."""
    bench.replace("reconciler/api/retrying.py", "504, 520))", "504, 520, 521))")
    bench.replace("docs/network.md", "504 or 520", "504, 520 or 521")
    bench.replace("docs/assumptions.md", " 520 and a lost", " 520, 521 and a lost")
    bench.replace("tests/api/test_rules.py", "504, 520)", "504, 520, 521)")
    bench.replace("tests/api/test_rules.py", "504, 520}", "504, 520, 521}")
    bench.replace("tests/api/test_door_statuses.py", "504, 520]", "504, 520, 521]")


def expression(bench: Workbench) -> None:
    """Give a variable in capitals."""
    syntax, filling = "reconciler/expressions.py", "reconciler/manifests/expressions.py"
    bench.after(syntax, '    REFERENCE = "ref"', '    CAPITALS = "capitals"')
    bench.after(syntax, "    Word.REFERENCE: re.", '    Word.CAPITALS: re.compile("[A-Za-z]+"),')
    bench.replace(syntax, '"Kind/name"}', '"Kind/name", Word.CAPITALS: "NAME"}')
    bench.replace(
        filling,
        "        case Word.SECRET:\n            return _secret(",
        "        case Word.CAPITALS:\n"
        "            return _spelled(_variable(part, scope, path, filled)).upper()\n"
        "        case Word.SECRET:\n            return _secret(",
    )
    bench.after("docs/manifests.md", "| `${var:NAME}` |", "| `${capitals:NAME}` | in capitals |")
    bench.append(
        "tests/manifests/test_expressions.py",
        "\n\ndef test_capitals() -> None:\n"
        '    """A variable can be had in capitals."""\n'
        '    scope = Scope("local", {"team": "payments"})\n'
        "\n"
        '    assert fill("the ${capitals:team}", scope).document == "the PAYMENTS"\n',
    )


def observed_field(bench: Workbench) -> None:
    """Let a saved view have an icon, which the API document does not know."""
    bench.after(VIEW_MODEL, "    ObservedPart,", "    Observed,")
    bench.after(VIEW_MODEL, "    view_type:", "    icon: Annotated[Text, Observed()] = None")


def use_case(bench: Workbench) -> None:
    """Count what a workspace declares, as a use case with a command on it."""
    bench.write(
        "reconciler/session/counting.py",
        '"""Count what is declared, kind by kind."""\n\n'
        "from __future__ import annotations\n\n"
        "from collections import Counter\n\n"
        "from reconciler.session.checking import check\n"
        "from reconciler.session.projects import Asked\n\n\n"
        "def count(asked: Asked) -> Counter[str]:\n"
        '    """Give how many manifests there are of each kind, by its name."""\n'
        "    return Counter(one.ref.kind for one in check(asked).workspace.manifests)\n",
    )
    bench.write(
        "reconciler/commands/count.py",
        '"""`reconciler count`: how many manifests there are."""\n\n'
        "from __future__ import annotations\n\n"
        "import click\n\n"
        "from reconciler.commands import options\n"
        "from reconciler.console import data\n"
        "from reconciler.session.counting import count as counted\n"
        "from reconciler.session.projects import Asked\n\n\n"
        "@click.command\n"
        "@options.reading\n"
        "def count(*, asked: Asked) -> int:\n"
        '    """Print how many manifests there are of each kind."""\n'
        '    lines = (f"{kind} {n}\\n" for kind, n in sorted(counted(asked).items()))\n'
        '    return data("".join(lines))\n',
    )
    bench.after(
        "reconciler/commands/overview.py",
        '    "drift": (',
        '    "count": ("count", "count", "Count manifests."),',
    )
    bench.after(
        "pyproject.toml",
        '    "reconciler.commands.conformance",',
        '    "reconciler.commands.count",',
    )
    bench.replace(
        "docs/commands.md", "## schema\n", "## count\n\n```sh\nreconciler count\n```\n\n## schema\n"
    )
    bench.after(
        "tests/commands/test_bad_input.py",
        '    "drift --format csv"',
        '    "count -e nope": (64, "there is no environment `nope`"),',
    )
    bench.write(
        "tests/commands/test_count.py",
        '"""`count`: how many manifests there are."""\n\n'
        "from __future__ import annotations\n\n"
        "import pytest\n"
        "from pathlib import Path\n\n"
        "from reconciler.commands.root import run\n\n\n"
        "def test_count(capsys: pytest.CaptureFixture[str]) -> None:\n"
        '    """Each kind that is declared is counted."""\n'
        "    examples = Path(__file__).parents[2] / 'examples'\n"
        '    assert run(["count", "--project", str(examples / "reconciler.yaml")]) == 0\n'
        '    assert "SLO 3" in capsys.readouterr().out\n',
    )


def output_format(bench: Workbench) -> None:
    """Print drift as one line a resource."""
    bench.append(
        "reconciler/report/drift.py",
        "\n\ndef drift_names(drifts: Sequence[Drift]) -> str:\n"
        '    """Give the name of each resource that drifted, on a line of its own."""\n'
        '    return "".join(f"{safe(str(one.ref))}\\n" for one in drifts if one.drifted)\n',
    )
    command = "reconciler/commands/drift.py"
    bench.replace(command, '"markdown", "html")', '"markdown", "html", "names")')
    bench.replace(
        command,
        "import drift_json, drift_markdown",
        "import drift_json, drift_markdown, drift_names",
    )
    bench.replace(
        command,
        '        case "markdown":\n',
        '        case "names":\n            return drift_names(found)\n        case "markdown":\n',
    )
    bench.replace(
        "docs/reports.md",
        "| `drift` | `text`, `json`, `markdown`, `html` |",
        "| `drift` | `text`, `json`, `markdown`, `html`, `names` |",
    )
    bench.replace(
        "docs/commands.md", "# or markdown, or html: see", "# or markdown, html, names: see"
    )


def store(bench: Workbench) -> None:
    """Keep journals in a folder of their own, by the store for files."""
    bench.write(
        "reconciler/journal/folder_store.py",
        '"""A journal in a file of a folder that has nothing else."""\n\n'
        "from __future__ import annotations\n\n"
        "from pathlib import Path\n\n"
        "from reconciler.journal.file_store import FileStore\n\n\n"
        "class FolderStore(FileStore):\n"
        '    """`folder:PATH`."""\n\n'
        "    def __init__(self, folder: Path) -> None:\n"
        '        """Keep the lines below this folder."""\n'
        '        super().__init__(folder / "lines.jsonl")\n',
    )
    settings = "reconciler/project/settings.py"
    bench.replace(
        settings,
        "JournalPlace: TypeAlias = InFile | InGit | InObjects\n",
        "@dataclass(frozen=True, slots=True)\n"
        "class InFolder:\n"
        '    """A folder of its own."""\n\n'
        "    path: Path\n\n\n"
        "JournalPlace: TypeAlias = InFile | InGit | InObjects | InFolder\n",
    )
    bench.replace(
        settings, 'FORMS = "a path, `git:REF`', 'FORMS = "a path, `folder:PATH`, `git:REF`'
    )
    bench.replace(
        settings,
        '    if text.startswith(("s3://"',
        '    if text.startswith("folder:"):\n'
        '        return InFolder(Path(text.removeprefix("folder:")))\n'
        '    if text.startswith(("s3://"',
    )


RECIPES = (
    Recipe(
        name="complaint",
        task=("Add a complaint",),
        perform=complaint,
        gaps={"kind": "saved_view"},
        laws=(
            "tests/manifests/test_golden_complaints.py",
            "tests/manifests/test_wrong_manifests.py",
            "tests/report/test_complaint_formats.py::test_rules_are_the_codes",
        ),
    ),
    Recipe(
        name="guard",
        task=("Add a guard",),
        perform=guard,
        laws=("tests/guards/test_consent.py", "tests/guards/test_settings.py"),
    ),
    Recipe(
        name="retry",
        task=("Change a retry rule",),
        perform=retry_rule,
        laws=("tests/api/test_rules.py", "tests/api/test_door_statuses.py"),
    ),
    Recipe(
        name="expression",
        task=("Add an expression",),
        perform=expression,
        laws=("tests/manifests/test_expression_syntax.py", "tests/manifests/test_expressions.py"),
    ),
    Recipe(
        name="observed-field",
        task=("Add a field of a kind",),
        perform=observed_field,
        gaps={"kind": "saved_view"},
        laws=("tests/kinds/test_documented_fields.py", "tests/kinds/test_model_shapes.py"),
    ),
    Recipe(
        name="command",
        task=("Add a use case", "Add a command"),
        perform=use_case,
        gaps={"command": "count", "use case": "counting"},
        laws=("tests/commands/test_count.py", "tests/commands/test_overview.py"),
    ),
    Recipe(
        name="format",
        task=("Add an output format",),
        perform=output_format,
        laws=("tests/report/test_drift_markdown.py", "tests/report/test_reports_documented.py"),
    ),
)
