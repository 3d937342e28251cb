from __future__ import annotations

from spec_models import DASHBOARD, MODELS, POLICIES, board, policy, widget_board

from reconciler.document import Json
from reconciler.kinds.shape import camel_case_known_fields, without_read_only


def test_known_fields_are_renamed_in_their_places() -> None:
    """An exported field in snake case gets the spelling of the API, at any depth."""
    export: dict[str, Json] = {
        "is_locked": True,
        "dashboard": {
            "relative_time_frame": "900s",
            "variables_v2": [{"display_full_row": True}],
            "layout": {"sections": [{"rows": [{"widgets": [{"definition": {"data_table": {}}}]}]}]},
        },
    }

    assert camel_case_known_fields(export, DASHBOARD.spec) == {
        "isLocked": True,
        "dashboard": {
            "relativeTimeFrame": "900s",
            "variablesV2": [{"displayFullRow": True}],
            "layout": {"sections": [{"rows": [{"widgets": [{"definition": {"dataTable": {}}}]}]}]},
        },
    }


def test_data_is_never_renamed() -> None:
    """Keys of maps, opaque content and unknown fields stay as they are."""
    alert: dict[str, Json] = {"entity_labels": {"group_by_keys": "1"}, "my_own_field": 1}
    assert camel_case_known_fields(alert, MODELS["AlertDefinition"].spec) == {
        "entityLabels": {"group_by_keys": "1"},
        "my_own_field": 1,
    }
    opaque = widget_board(definition={"dataTable": {"is_locked": {"data_table": 1}}})
    assert camel_case_known_fields(opaque, DASHBOARD.spec) == opaque


def test_no_field_is_overwritten() -> None:
    """Where both spellings stand, both stay."""
    both = board(slug_name="a", slugName="b")

    assert camel_case_known_fields(both, DASHBOARD.spec) == both


def test_read_only_fields_are_dropped_at_any_depth() -> None:
    """What only the service sets is gone, and all else stays."""
    record = {**widget_board(createdAt="x", title="CPU"), "authorId": "1", "isLocked": False}
    assert without_read_only(record, DASHBOARD.spec) == {
        **widget_board(title="CPU"),
        "isLocked": False,
    }
    stored = policy(id="7", order=1, enabled=True, more={"id": "kept"})
    assert without_read_only({"policies": [stored]}, POLICIES.spec) == {
        "policies": [policy(more={"id": "kept"})]
    }
