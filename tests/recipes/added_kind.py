"""A kind that is not there: mutings, which are as saved views are but for their name."""

from __future__ import annotations

from workbench import Workbench

WORDS = {
    "SavedView": "Muting",
    "SAVED_VIEW": "MUTING",
    "saved_view": "muting",
    "saved-view": "muting",
    "Saved view": "Muting",
    "saved view": "muting",
    "answers(20": "answers(22",
    "answers(21": "answers(23",
}
"""What stands for what in the files of the kind."""
DOCUMENTED = "tests/harness/documented.py"


def kind(bench: Workbench) -> None:
    """Add the kind `Muting`."""
    _client(bench)
    _emulated(bench)
    _laws(bench)
    _laws_of_its_own(bench)
    _pages(bench)


def _client(bench: Workbench) -> None:
    home = "reconciler/kinds"
    for name in ("__init__", "remote"):
        bench.likewise(f"{home}/muting/{name}.py", f"{home}/saved_view/{name}.py", WORDS)
    bench.after(f"{home}/__init__.py", '    "SavedView": "saved_view",', '    "Muting": "muting",')
    line = '    "reconciler.kinds.muting",'
    bench.after("pyproject.toml", '    "reconciler.kinds.log_policy_set",', line)


def _emulated(bench: Workbench) -> None:
    home = "reconciler/emulator"
    views = (bench.folder / f"{home}/saved_view_endpoints.py").read_text(encoding="utf-8")
    imports = views[views.index("from reconciler.emulator") : views.index("ViewType =")]
    endpoints = views[views.index("SAVED_VIEWS =") :]
    for old, new in WORDS.items():
        endpoints = endpoints.replace(old, new)
    bench.write(
        f"{home}/muting_endpoints.py",
        '"""Mutings, which have the fields of saved views."""\n\nimport re\n\n'
        f"{imports.strip()}\n"
        "from reconciler.emulator.saved_view_endpoints import CreateSavedView, SavedView\n\n\n"
        "class CreateMuting(CreateSavedView):\n"
        '    """Request of endpoint 22."""\n\n\n'
        "class Muting(SavedView):\n"
        f'    """Request of endpoint 23 and reply of 22 and 23."""\n\n\n{endpoints}',
    )
    line = "from reconciler.emulator.muting_endpoints import MUTING_RECORDS, MUTINGS"
    bench.after(f"{home}/resources.py", "from reconciler.emulator.database", line)
    bench.after(f"{home}/resources.py", "    saved_view_endpoints.SAVED_VIEWS,", "    MUTINGS,")
    lines = '    22: ("createMuting", "Create a muting"),\n    23: ("replaceMuting", "Replace it"),'
    bench.after(f"{home}/app.py", "    21: (", lines)
    bench.replace(f"{home}/app.py", "endpoint.number == 21 ", "endpoint.number in (21, 23) ")
    line = '  {"endpoint": 22, "body": {"name": "At night", "timeSelection": {}}},'
    bench.after(f"{home}/demo.json", "[", line)
    page = f"{home}/overview_page.py"
    line = "from reconciler.emulator.muting_endpoints import Muting"
    bench.after(page, "from reconciler.emulator.database", line)
    line = '    "mutings": ("mutings", "id", Muting),'
    bench.after(page, '    "views": ("saved_views"', line)
    line = '            _section("Mutings", _table(_VIEWS, held["mutings"], "No mutings.")),'
    bench.after(page, '            _section("Saved views"', line)
    bench.after(f"{home}/app.py", '    "dashboards": ', '    "mutings": "Muting",')
    bench.after(f"{home}/resources.py", '    "SavedView": saved', '    "Muting": MUTING_RECORDS,')


def _laws(bench: Workbench) -> None:
    models, pasted = "tests/kinds/spec_models.py", "tests/workspace/pasted_records.py"
    line = "from reconciler.kinds import muting"
    bench.after(models, "from reconciler.kinds import", line)
    line = "MUTING = SpecModel(muting.MutingSpec, VIEW.check, VIEW.least)"
    bench.replace(models, "\nMODELS = {", f"{line}\n\nMODELS = {{")
    bench.after(models, '    "SavedView": VIEW', '    "Muting": MUTING,')
    line = '    22: SAVED_VIEW,\n    23: f"isCompactMode {SAVED_VIEW}",'
    bench.after(DOCUMENTED, "    21: f", line)
    bench.after(DOCUMENTED, "    21: STORED_VIEW", "    22: STORED_VIEW,\n    23: STORED_VIEW,")
    bench.replace(DOCUMENTED, "BODIES = {", 'BODIES = {"Muting": 23, ')
    line = '    "Muting": {"id"},'
    bench.after("tests/kinds/test_documented_fields.py", '    "SavedView": {"id"}', line)
    line = '        ("Muting", "filters.filters", ("name",)),'
    bench.after("tests/kinds/test_model_shapes.py", '        ("SavedView", "filters', line)
    line = '    "Muting": {"name": "Night", "timeSelection": {"quickSelection": {"seconds": 1}}},'
    bench.after(pasted, "SPECS: dict", line)
    bench.after(pasted, '    "SavedView": {},', '    "Muting": {},')
    bench.after(pasted, '            "SavedView": self._with', '            "Muting": self._with,')
    bench.replace(pasted, '"SavedView": 12}', '"SavedView": 12, "Muting": 12}')
    endpoints = "tests/test_endpoints.py"
    line = '    "Muting": "  {name: WORD, timeSelection: {}, isCompactMode: true}",'
    bench.after(endpoints, '    "SavedView": ', line)
    bench.after(
        endpoints,
        '    (21, "PUT"',
        '    (22, "POST", "/data-exploration/mutings/v1"),\n'
        '    (23, "PUT", "/data-exploration/mutings/v1/{id}"),',
    )
    line = '        created("Muting", "errors", NEW_VIEW),'
    bench.after("tests/report/sample_plans.py", '        created("SavedView", "errors"', line)
    bench.after(
        "tests/report/test_essentials.py",
        "NEW = {",
        '    "Muting": (\n'
        '        NEW_BY_KIND["Muting"],\n'
        """        ["viewType: LOGS", "quickSelection: 15 min", 'query: "level:error"'],\n"""
        "    ),",
    )
    bench.replace(
        "tests/campaigns/worlds.py",
        "WITHOUT: dict[str, str] = {}",
        'WITHOUT: dict[str, str] = {"Muting": "lives as saved views do"}',
    )


def _laws_of_its_own(bench: Workbench) -> None:
    bench.write(
        "tests/kinds/test_muting_remote.py",
        '"""Mutings over the wire: created once, then replaced by id."""\n\n'
        "from __future__ import annotations\n\n"
        "from harness.sites import VIEW_SPEC, Site, manifest\n\n"
        'PATH = "/data-exploration/mutings/v1"\n'
        'NIGHT = manifest("Muting/night", VIEW_SPEC)\n\n\n'
        "def test_create(site: Site) -> None:\n"
        '    """A muting is created with one request."""\n'
        "    site.apply(NIGHT)\n\n"
        '    assert [(one.method, one.path) for one in site.sent] == [("POST", PATH)]\n\n\n'
        "def test_replace(site: Site) -> None:\n"
        '    """A changed muting is replaced at the path of its id."""\n'
        "    site.apply(NIGHT)\n"
        '    site.apply(manifest("Muting/night", {**VIEW_SPEC, "name": "Other"}))\n\n'
        '    assert (site.sent[-1].method, site.sent[-1].path) == ("PUT", f"{PATH}/1")\n',
    )
    bench.write(
        "tests/emulator/test_emulated_mutings.py",
        '"""Endpoints 22 and 23: mutings."""\n\n'
        "from harness.emulated import Emulated\n\n"
        'PATH = "/data-exploration/mutings/v1"\n'
        'NIGHT = {"name": "Night", "timeSelection": {}}\n\n\n'
        "def test_created_muting() -> None:\n"
        '    """Ids count up from 1."""\n'
        "    emulator = Emulated()\n\n"
        '    assert [emulator.post(PATH, NIGHT).body["id"] for _ in range(2)] == [1, 2]\n\n\n'
        "def test_replaced_muting() -> None:\n"
        '    """A replace answers with what it stored."""\n'
        "    emulator = Emulated()\n"
        "    emulator.post(PATH, NIGHT)\n\n"
        '    stored = emulator.put(f"{PATH}/1", {**NIGHT, "name": "Day"})\n'
        '    assert (stored.status, stored.body["name"]) == (200, "Day")\n',
    )


def _pages(bench: Workbench) -> None:
    bench.write(
        "examples/shop/muting.yaml",
        "apiVersion: reconciler/v1\nkind: Muting\nmetadata: {name: at-night}\n"
        "spec:\n  name: At night\n  viewType: VIEW_TYPE_LOGS\n"
        "  timeSelection: {quickSelection: {seconds: 900, caption: Short}}\n",
    )
    bench.after("docs/manifests.md", "| `SavedView` |", "| `Muting` | the muting | an integer |")
    bench.after("docs/limits.md", "| `SavedView` |", "| `Muting` | read one | As for alerts. |")
    bench.replace("docs/network.md", "an SLO or a saved view.", "an SLO, a saved view or a muting.")
    rows = "".join(
        f"    {number}: Row(\n"
        '        ("apply",),\n'
        '        (f"{KINDS}.muting.remote:write",),\n'
        "        (\n"
        f'            "tests/kinds/test_muting_remote.py::test_{verb}",\n'
        f'            "tests/emulator/test_emulated_mutings.py::test_{verb}d_muting",\n'
        "        ),\n"
        "    ),\n"
        for number, verb in ((22, "create"), (23, "replace"))
    )
    bench.after("scripts/write_endpoints.py", "ROWS: dict", rows)
