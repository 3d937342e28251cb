"""What a workspace is told and looked up by: checks, terms, places of secrets."""

from __future__ import annotations

from workbench import CODES, Workbench

PRACTICE = "reconciler/features/lint/saved_view.py"
PLACES = "reconciler/project/settings.py"
SELECTION = "reconciler/workspace/selection.py"
SECRETS = "reconciler/operations/secret_sources.py"


def practice(bench: Workbench) -> None:
    """Tell of a saved view that is called as new ones are."""
    title, why = "a saved view has the name of a new one", "Nobody finds it again."
    bench.replace(
        PRACTICE,
        "PRACTICES = (LintRule(",
        "def _new(spec: dict[str, Json]) -> Iterator[SpecFinding]:\n"
        '    if spec.get("name") == "New view":\n'
        '        yield SpecFinding(("name",), "it is called as every new one", '
        'Advice("name it"))\n\n\n'
        'PRACTICES = (LintRule(code="L699", find=_new), LintRule(',
    )
    bench.likewise(
        f"{CODES}L699.md",
        f"{CODES}L601.md",
        {
            "L601: a saved view shows a fixed time": f"L699: {title}",
            "A view is opened again and again; one of a fixed time shows the same old logs, and "
            "nothing once their retention is over.": why,
            "  name: Errors\n  timeSelection: {customSelection: {fromTime: 2025-10-04T06:00:00Z, "
            "toTime: 2025-10-05T06:00:00Z}}": "  name: New view\n"
            "  timeSelection: {quickSelection: {seconds: 3600}}",
        },
    )


def term(bench: Workbench) -> None:
    """Select by how a name begins."""
    bench.after(SELECTION, '    FILE = "file"', '    PREFIX = "prefix"')
    bench.replace(
        SELECTION,
        "            case About.FILE:\n",
        "            case About.PREFIX:\n"
        "                return ref.name.startswith(self.glob)\n"
        "            case About.FILE:\n",
    )
    bench.replace(SELECTION, "label.KEY=VALUE, file=GLOB", "label.KEY=VALUE, prefix=X, file=GLOB")
    bench.replace(
        SELECTION,
        "{About.KIND.value: About.KIND, About.FILE.value: About.FILE}.get(name)",
        "{one.value: one for one in (About.KIND, About.PREFIX, About.FILE)}.get(name)",
    )
    bench.replace(SELECTION, '("kind", "file")', '("kind", "prefix", "file")')
    bench.replace(SELECTION, '"file": "file=",', '"file": "file=", "prefix": "prefix=",')
    bench.replace(
        "reconciler/cli/complete.py",
        '        *(f"file={manifest.file}" for',
        '        *(f"prefix={manifest.name}" for manifest in named),\n'
        '        *(f"file={manifest.file}" for',
    )
    bench.replace(
        "reconciler/cli/options.py",
        "`label.team=payments`, `file=",
        "`label.team=payments`, `prefix=a`, `file=",
    )
    bench.after("docs/plan.md", "| `kind=SLO` |", "| `prefix=a` | how a name begins |")
    bench.append(
        "tests/workspace/test_selection.py",
        '\n\n@pytest.mark.parametrize(("term", "taken"), [("prefix=check", 1), ("prefix=x", 0)])\n'
        "def test_prefix(term: str, taken: bool) -> None:\n"
        '    """A prefix takes what begins with it."""\n'
        "    assert selected(term) is bool(taken)\n",
    )


def secret_place(bench: Workbench) -> None:
    """Take secrets from files below the home folder."""
    bench.replace(
        PLACES,
        "    command: Annotated[\n",
        "    home: Annotated[\n"
        "        str | None,\n"
        '        Field(min_length=1, description="A file below the home folder."),\n'
        "    ] = None\n"
        "    command: Annotated[\n",
    )
    bench.replace(
        PLACES,
        "[self.environment, self.file, self.command]",
        "[self.environment, self.file, self.home, self.command]",
    )
    bench.replace(
        SECRETS,
        "        if place.file is not None:\n            return _filled(",
        "        if place.home is not None:\n"
        "            return _filled(_text(self._content(str(Path.home() / place.home))))\n"
        "        if place.file is not None:\n            return _filled(",
    )
    bench.replace(
        SECRETS,
        '        if place.file is not None:\n            return f"the file',
        "        if place.home is not None:\n"
        '            return f"the file ~/{place.home}"\n'
        '        if place.file is not None:\n            return f"the file',
    )
    bench.append("docs/manifests.md", "\n`{home: FILE}` is a file below the home folder.\n")
    bench.append(
        "tests/test_secret_places.py",
        "\n\ndef test_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:\n"
        '    """A secret can be had from a file below the home folder."""\n'
        '    monkeypatch.setenv("HOME", str(tmp_path))\n'
        '    (tmp_path / "kept").write_text("value", encoding="utf-8")\n\n'
        '    assert secrets(tmp_path / "shop", home="kept").get("TOKEN") == "value"\n',
    )
