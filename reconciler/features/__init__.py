"""Features: each is one folder that can be deleted.

Codes of guards and journal entries are in the core. A feature imports the core below `ci`, and no
other feature.

`FEATURES` is the one table of them: feature, sort of row, key, and `module:name` in the feature's
folder; some sorts add a blank and a help text. The core finds rows through
`reconciler/runtime/rows.py` and imports no feature. To delete a feature, delete its folder and its
entry here. Imports nothing, as `--help` reads it.
"""

from __future__ import annotations

FEATURES: dict[str, dict[str, dict[str, str]]] = {
    "adopt": {
        "commands": {
            "adopt": "command:adopt Write live edits into the manifests, comments kept.",
        },
        "ci-proposals": {
            "adopt": "command:proposal",
        },
        "schemas": {
            "adopted": "adoption_formats:AdoptionDocument What adopt did",
        },
    },
    "against": {
        "options": {
            "plan --against": "against_option:against",
        },
        "planners": {
            "against": "base_drift:plan_against",
        },
        "base-comparisons": {
            "besideBase": "base_drift:beside_base",
        },
        "plan-members": {
            "besideBase": "base_drift:BesideBase",
        },
    },
    "alert_tests": {
        "commands": {
            "test": "command:test Run the tests of alerts on log lines, offline.",
        },
        "schemas": {
            "alert-tests": "test_formats:AlertTestsDocument What test found",
        },
        "change-checks": {
            "tests": "change_tests:tests_of_change",
        },
        "plan-sections": {
            "tests": "tested_changes:with_tested_changes",
        },
        "manifest-keys": {
            "tests": "alert_definition:TESTS Log lines on which it must fire, or stay quiet.",
        },
    },
    "approvals": {
        "commands": {
            "approve": "command:approve Read a plan, and sign that it may be applied.",
        },
        "schemas": {
            "approval": "approval_file:ApprovalDocument A signed approval of a plan",
        },
        "environment-settings": {
            "approvals": "approval_settings:APPROVALS",
            "approvers": "approval_settings:APPROVERS",
        },
        "reviewed-settings": {
            "approvals": "default_branch:reviewed_project",
        },
        "guards": {
            "approvals": "approval_guard:with_approvals_needed",
        },
        "plan-consents": {
            "not-approved": "approval_guard:judged",
        },
        "consent-files": {
            "approvals": "approval_guard:APPROVAL_FILES",
        },
        "consent-options": {
            "break-glass": "approval_guard:BROKEN_GLASS",
        },
        "ci-inputs": {
            "approvals": "approval_guard:check_folder",
        },
        "options": {
            "incidents close --break-glass": "unplanned_writes:break_glass",
            "policies add --break-glass": "unplanned_writes:break_glass",
        },
        "unplanned-writes": {
            "break-glass": "unplanned_writes:permitted",
        },
    },
    "audit": {
        "commands": {
            "audit": "command:audit Compare what is declared with what happened.",
        },
        "schemas": {
            "audited": "audit_formats:AuditDocument What an audit found",
        },
    },
    "baseline": {
        "project-settings": {"baseline": "baseline_setting:BASELINE"},
        "accepted-complaints": {"baseline": "baseline:without_accepted"},
        "change-notes": {"baseline": "baseline:growth"},
        "options": {"validate --update-baseline": "update_baseline:update_option"},
        "after-check": {"update_baseline": "update_baseline:updated"},
        "check-remarks": {"baseline": "update_baseline:remarks"},
    },
    "changed_complaints": {
        "options": {"validate --changed-since": "changed_since:since_option"},
        "after-check": {"changed_since": "changed_since:only_changed"},
    },
    "doctor": {
        "commands": {
            "doctor": "command:doctor Check everything that a run needs, with reads only.",
            "conformance": "api_conformance:conformance Compare a service with the API document.",
        },
        "schemas": {
            "doctor": "command:DoctorDocument What doctor found",
            "conformance": "api_conformance:ConformanceDocument What a service answered",
        },
    },
    "explain": {
        "commands": {
            "explain": "command:explain Explain a field or a code, with an example.",
        },
        "completions": {"explained": "offered_words:offered"},
        "schemas": {
            "explained": "explain_formats:ExplainedDocument What a field or a code means",
        },
    },
    "fmt": {
        "commands": {
            "fmt": "command:fmt Bring manifests and exports into their one layout.",
        },
    },
    "freeze": {
        "environment-settings": {
            "freeze": "freeze_settings:FREEZE",
        },
        "guards": {
            "freeze": "freeze_guard:with_freeze",
        },
        "consent-options": {
            "break-glass": "freeze_guard:BROKEN_GLASS",
            "wait-freeze": "freeze_guard:FREEZE_WAIT",
        },
        "before-lock": {
            "wait-freeze": "freeze_guard:wait_for_thaw",
        },
    },
    "graph": {
        "commands": {
            "graph": "command:graph Show what refers to what, and who uses a metric.",
        },
        "schemas": {
            "graph": "command:GraphDocument What refers to what",
        },
    },
    "history": {
        "subcommands": {
            "journal stats": "command:stats",
        },
        "schemas": {
            "journal-stats": "command:StatsDocument What became of what was applied",
        },
    },
    "import_": {
        "commands": {
            "import": "command:import_ Make manifests of what is there already.",
        },
        "schemas": {
            "imported": "import_resources:ImportDocument What an import wrote",
        },
    },
    "lint": {
        "workspace-checks": {
            "manifests": "lint:practice_complaints",
        },
        "codes-off-by-default": {
            "L": "lint:off_by_default",
        },
    },
    "policy_samples": {
        "environment-settings": {
            "policySamples": "policy_impact:POLICY_SAMPLES",
        },
        "plan-sections": {
            "policySamples": "sample_impact:with_policy_impact",
        },
        "after-write": {
            "PolicyImpact": "sample_impact:Proving",
        },
        "workspace-files": {
            "policySamples": "samples_file:SIDE_FILES",
        },
        "plan-members": {
            "policyImpact?": "policy_impact_formats:PolicyImpactDocument",
        },
        "guards": {
            "policySamples": "sample_impact:with_failing",
        },
    },
    "rollback": {
        "commands": {
            "rollback": "command:rollback Restore what was declared before a run.",
        },
        "ways-back": {
            "rollback": "roll_back:before_of",
        },
        "ci-proposing-steps": {
            "rollback": "command:proposal",
        },
        "ci-inputs": {
            "run": "command:check_run",
        },
        "schemas": {
            "written-back": "command:WrittenBackDocument What rollback --write edited",
        },
        "guards": {
            "undoes-rollback": "undone_rollbacks:with_undone",
        },
    },
    "rules": {
        "commands": {
            "rules": "command:rules Test the team's own rules against their examples.",
        },
        "explanations": {"R/": "command:own_rule"},
        "schemas": {
            "rule-tests": "command:RuleTestsDocument What rules test found",
        },
        "project-settings": {
            "rules": "rule_settings:RULES",
        },
        "guards": {
            "rules": "rule_guards:with_rules",
        },
        "workspace-checks": {"rules": "rule_checks:rule_complaints"},
        "project-checks": {"rules": "rule_checks:early_flaws"},
    },
    "track_record": {
        "environment-settings": {
            "trackRecord": "track_record_settings:TRACK_RECORD",
        },
        "options": {
            "plan --track-record": "track_record_settings:track_record",
        },
        "plan-sections": {
            "trackRecord": "track_records:with_track_records",
        },
        "change-members": {
            "trackRecord?": "track_records:TrackRecordMember",
        },
    },
    "watch": {
        "commands": {
            "watch": "command:watch Show whether alerts are noisier since a run.",
        },
        "ci-steps": {
            "watch": "command:WATCH",
        },
        "ci-inputs": {
            "watch-for": "command:read_wait",
        },
        "schemas": {
            "watched": "alert_noise:WatchedDocument Whether alerts are noisier since a run",
        },
        "environment-settings": {
            "watch": "watch_settings:WATCH",
        },
    },
}
