"""Which task is performed by what, and the laws that hold afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from added_checks import practice, secret_place, term
from added_entry import entry
from added_kind import kind
from added_store import store
from tasks import (
    complaint,
    exit_code,
    expression,
    guard,
    observed_field,
    output_format,
    reason,
    retry_rule,
    setting,
    switch,
    use_case,
)
from workbench import Workbench

HOUSE = (
    "tests/test_registries.py::test_every_finding_code_is_listed",
    "tests/test_registries.py::test_every_guard_code_is_listed",
    "tests/test_registries.py::test_every_weakening_that_asks_is_declared",
    "tests/test_schemas.py::test_schemas_are_fresh",
    "tests/test_docs.py::test_what_contributing_names_is_there",
    "tests/test_house.py::test_short_files",
    "tests/test_house.py::test_faces",
    "tests/test_house.py::test_kinds_are_known_in_their_folders",
    "tests/test_house.py::test_commands_are_independent",
    "tests/test_house.py::test_kinds_are_independent",
    "tests/test_house.py::test_each_package_has_a_floor",
    "tests/test_house.py::test_exit_codes_are_documented",
    "tests/test_lists_in_prose.py::test_the_order_of_exit_codes",
    "tests/test_lists_in_prose.py::test_requests_of_a_kind",
)
"""Laws that hold for every change."""
LEFT = ("git", "s3", "million", "screenshot", "meant", "stands_in_one_file", "escaped", "pieces")
ELSEWHERE = " and ".join(f"not {text}" for text in LEFT)
"""What needs programs or a minute, and is held to what these tasks do not touch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Tasks of CONTRIBUTING, how their headings begin, and the laws that must hold afterwards.

    `gaps` are what stands in the place of `<kind>`, `<name>` and such in its text. What is
    `golden` changes golden texts.
    """

    name: str
    task: tuple[str, ...]
    perform: Callable[[Workbench], None]
    laws: tuple[str, ...]
    gaps: Mapping[str, str] = field(default_factory=dict)
    golden: bool = False


WRONG = "tests/workspace/test_wrong_manifests.py"
EXPLAINED = "tests/report/test_explanations.py"

RECIPES = (
    Recipe(
        name="complaint",
        golden=True,
        task=("Add a complaint",),
        perform=complaint,
        gaps={"kind": "slo"},
        laws=(
            "tests/workspace/test_golden_complaints.py::test_the_text_of_a_complaint[M399]",
            f"{WRONG}::test_a_wrong_manifest[an untitled SLO]",
            "tests/report/test_complaint_formats.py::test_rules_are_the_codes",
            f"{EXPLAINED}::test_everything_with_a_code_is_explained",
            f"{EXPLAINED}::test_the_wrong_sample[M399]",
        ),
    ),
    Recipe(
        name="guard",
        task=("Add a guard",),
        perform=guard,
        laws=(
            "tests/guards/test_consent.py",
            "tests/guards/test_levels.py",
            "tests/guards/test_settings.py",
            f"{EXPLAINED}::test_everything_with_a_code_is_explained",
        ),
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
        laws=(
            "tests/workspace/test_expression_syntax.py",
            "tests/workspace/test_expressions.py::test_capitals",
        ),
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
        laws=("tests/cli/test_count.py", "tests/cli/test_overview.py"),
    ),
    Recipe(
        name="format",
        task=("Add an output format",),
        perform=output_format,
        laws=(
            "tests/test_docs.py::test_tables_of_the_program_are_fresh",
            "tests/test_compare_commits.py::test_every_command_is_played",
        ),
    ),
    Recipe(
        name="kind",
        golden=True,
        task=("Add a kind",),
        perform=kind,
        gaps={"kind": "muting"},
        laws=(
            "tests/kinds/test_documented_fields.py",
            "tests/kinds/test_muting_remote.py",
            "tests/emulator/test_emulated_mutings.py",
            "tests/emulator/test_emulated_documented.py",
            "tests/emulator/test_emulated_openapi.py",
            "tests/emulator/test_emulated_page.py::test_all_sections",
            "tests/workspace/test_fixing_laws.py::test_every_kind_has_its_wrapper_told",
            "tests/report/test_essentials.py::test_what_is_said_of_something_new",
            "tests/campaigns/test_world_laws.py::test_every_kind_lives_through_accidents",
            "tests/test_docs.py::test_every_kind_has_a_row",
            "tests/test_endpoints.py",
            "tests/test_examples.py::test_all_kinds",
        ),
    ),
    Recipe(
        name="store",
        task=("Add a store for journals",),
        perform=store,
        gaps={"name": "kept"},
        laws=(
            "tests/journal/test_kept_store.py",
            "tests/journal/test_store_contract.py",
            "tests/test_project.py::test_every_place_has_its_store",
        ),
    ),
    Recipe(
        name="entry",
        task=("Add an entry of the journal",),
        perform=entry,
        laws=(
            "tests/journal/test_entries.py",
            "tests/journal/test_journal_docs.py::test_every_field_is_documented",
            "tests/journal/test_journal_docs.py::test_every_entry_is_documented",
            "tests/journal/test_history.py",
        ),
    ),
    Recipe(
        name="reason",
        golden=True,
        task=("Add a reason",),
        perform=reason,
        laws=(
            "tests/report/test_reasons.py",
            "tests/planning/test_decisions.py::test_the_first",
            f"{EXPLAINED}::test_everything_with_a_code_is_explained",
        ),
    ),
    Recipe(
        name="setting",
        task=("Add a setting of the project file",),
        perform=setting,
        laws=(f"{WRONG}::test_what_stops_a_run_before_the_manifests[an empty note]",),
    ),
    Recipe(
        name="practice",
        golden=True,
        task=("Add a check of practice",),
        perform=practice,
        gaps={"kind": "saved_view"},
        laws=(
            "tests/workspace/test_practice.py",
            f"{WRONG}::test_a_wrong_manifest[practice L699]",
            f"{EXPLAINED}::test_the_wrong_sample[L699]",
        ),
    ),
    Recipe(
        name="term",
        task=("Add a term of `--select`",),
        perform=term,
        laws=("tests/workspace/test_selection.py",),
    ),
    Recipe(
        name="secret-place",
        task=("Add a place of secrets",),
        perform=secret_place,
        laws=("tests/test_secret_places.py",),
    ),
    Recipe(
        name="exit-code",
        task=("Add an exit code",),
        perform=exit_code,
        laws=(
            "tests/cli/test_ci_inputs.py::test_every_reason_has_words",
            f"{EXPLAINED}::test_everything_with_a_code_is_explained",
        ),
    ),
    Recipe(
        name="switch",
        task=("Add a switch",),
        perform=switch,
        laws=(
            "tests/emulator/test_emulated_profile_files.py",
            "tests/emulator/test_emulated_profiles.py::test_view_ids",
            "tests/emulator/test_emulated_views.py",
        ),
    ),
)
