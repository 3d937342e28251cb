"""Features: each is one folder with all that belongs to it, and can be deleted.

`FEATURES` is the one table of them: feature, sort of row, key, and `module:name` in the feature's
folder. The core finds rows through `reconciler/runtime/rows.py` and imports no feature. To delete a
feature, delete its folder and its entry here. Imports nothing, as `--help` reads it.
"""

from __future__ import annotations

FEATURES: dict[str, dict[str, dict[str, str]]] = {
    "adopt": {},
    "against": {
        "options": {"plan --against": "against_option:against"},
        "planners": {"against": "plan_against:plan_against"},
        "base-comparisons": {"besideBase": "base_drift:beside_base"},
        "plan-members": {"besideBase": "base_drift_formats:BesideBase"},
    },
    "audit": {},
    "doctor": {},
    "explain": {},
    "fmt": {},
    "freeze": {
        "environment-settings": {
            "freeze": "freeze_settings:FREEZE",
        },
        "guards": {
            "freeze": "freeze_guard:with_freeze",
        },
    },
    "graph": {},
    "history": {},
    "import_": {},
    "lint": {},
    "policy_samples": {
        "environment-settings": {
            "policySamples": "sample_settings:POLICY_SAMPLES",
        },
        "plan-sections": {"policySamples": "sample_impact:with_policy_impact"},
        "after-write": {"PolicyImpact": "policy_proof:Proving"},
        "workspace-files": {"policySamples": "samples_file:SIDE_FILES"},
        "plan-members": {"policyImpact?": "policy_impact_formats:PolicyImpactDocument"},
        "guards": {
            "policySamples": "failing_samples:with_failing",
        },
    },
    "rollback": {
        "guards": {
            "undoes-rollback": "undone_rollbacks:with_undone",
        },
    },
    "rules": {
        "project-settings": {
            "rules": "rule_settings:RULES",
        },
        "guards": {
            "rules": "rule_guards:with_rules",
        },
    },
    "track_record": {
        "environment-settings": {
            "trackRecord": "track_record_settings:TRACK_RECORD",
        },
        "options": {"plan --track-record": "track_record_option:track_record"},
        "plan-sections": {"trackRecord": "track_records:with_track_records"},
        "change-members": {"trackRecord?": "track_record_formats:TrackRecordMember"},
    },
    "watch": {
        "environment-settings": {
            "watch": "watch_settings:WATCH",
        },
    },
}
