"""Features: each is one folder with all that belongs to it, and can be deleted.

`FEATURES` is the one table of them: feature, sort of row, key, and `module:name` in the feature's
folder. The core finds rows through `reconciler/runtime/rows.py` and imports no feature. To delete a
feature, delete its folder and its entry here. Imports nothing, as `--help` reads it.
"""

from __future__ import annotations

FEATURES: dict[str, dict[str, dict[str, str]]] = {
    "adopt": {},
    "against": {
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
    },
    "graph": {},
    "history": {},
    "import_": {},
    "lint": {},
    "policy_samples": {
        "environment-settings": {
            "policySamples": "sample_settings:POLICY_SAMPLES",
        },
        "workspace-files": {"policySamples": "samples_file:SIDE_FILES"},
        "plan-members": {"policyImpact?": "policy_impact_formats:PolicyImpactDocument"},
    },
    "rollback": {},
    "rules": {
        "project-settings": {
            "rules": "rule_settings:RULES",
        },
    },
    "track_record": {
        "environment-settings": {
            "trackRecord": "track_record_settings:TRACK_RECORD",
        },
        "change-members": {"trackRecord?": "track_record_formats:TrackRecordMember"},
    },
    "watch": {
        "environment-settings": {
            "watch": "watch_settings:WATCH",
        },
    },
}
