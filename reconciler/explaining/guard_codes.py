"""What an apply refuses without consent, code by code. Source: docs/guards.md."""

from __future__ import annotations

from typing import Final

from reconciler.explaining.explanation import Explanation, Sample


def _guard(  # noqa: PLR0917 - a row of a table
    code: str, title: str, means: str, why: str, wrong: Sample, right: Sample
) -> Explanation:
    return Explanation(
        code=code,
        title=title,
        means=means,
        why=why,
        wrong=wrong,
        right=right,
        command="",
        page="guards",
    )


def _says(says: str, *typed: str) -> Sample:
    return Sample(says=says, typed=typed)


_REVIEW = ("reconciler plan --out plan.json", "reconciler apply --plan plan.json")

GUARD_CODES: Final = (
    _guard(
        "too-many-changes",
        "more of a kind would change at once than the limit",
        "One apply would update, destroy, disable or lower in priority more of the known resources "
        "of a kind than `guards:` of the environment allows: 30 % by default, from ten on.",
        "So much at once is most often a slip: a wrong variable, a wrong folder, a lost journal.",
        _says("4 of 10 alerts would change, and the guard allows 3."),
        _says(
            "Review the plan and apply just that, change fewer at once, or set `maxChangePercent` "
            "or `maxChanges` in an earlier merge.",
            *_REVIEW,
        ),
    ),
    _guard(
        "destroys",
        "log policies would be destroyed",
        "The declared list of log policies leaves out policies that the service has. One write "
        "replaces the whole list, so what is left out is lost permanently.",
        "A policy that was made in the web interface would be lost, and nothing brings it back.",
        _says("The service has a policy `audit`, and the manifest does not list it."),
        _says(
            "Declare it, or allow that it is lost; what is lost is printed whole.",
            "reconciler apply --yes --allow-destroy",
        ),
    ),
    _guard(
        "destroys-all",
        "every log policy would be destroyed",
        "The declared list of log policies is empty, and the service has some.",
        "An empty list is most often an unfinished manifest or a wrong environment.",
        _says("`policies: []` is declared, and the service has five."),
        _says(
            "Declare what shall stay, or allow that all are lost.",
            "reconciler apply --yes --allow-destroy",
        ),
    ),
    _guard(
        "protected",
        "a protected resource would change",
        "The resource had `metadata.protect: true` at its last apply, and something of it would "
        "change now.",
        "What is protected shall not change in passing: it takes a merge of its own that says so.",
        _says("One change takes `protect` away and edits the resource too."),
        _says(
            "Take `protect` away in an earlier merge and apply that, or consent once.",
            "reconciler apply --yes --override-guard 'protected=agreed with the team'",
        ),
    ),
    _guard(
        "new-journal",
        "a create that could not be looked up, without a journal",
        "The environment has no journal, or an old copy of it, and an SLO or a saved view without "
        "an id would be made. The API cannot look them up, so it is unknown whether they are there "
        "already.",
        "Where the journal was lost, a second one of each would be made, and the API cannot delete "
        "them.",
        _says("The journal was moved from a file to git, and its entries stayed behind."),
        _says(
            "Where nothing was ever applied, make a journal; else move the old one to its place.",
            "reconciler journal init",
        ),
    ),
    _guard(
        "looks-like-rename",
        "a create much like what is no longer declared",
        "An SLO or a saved view would be made that is much like one that was applied before and is "
        "no longer declared under its name.",
        "A new `metadata.name` makes a second object, and the API cannot delete the old one.",
        _says(
            "`metadata.name: checkout` became `checkout-availability`, and nothing else changed."
        ),
        _says(
            "Record in the journal which it is: the same under a new name, or another.",
            "reconciler journal rename SLO/checkout SLO/checkout-availability",
        ),
    ),
    _guard(
        "overwrites-edit",
        "a write would undo what someone changed since our last one",
        "Live differs from what we wrote last in fields that this write sets, or someone overwrote "
        "what the service does not show.",
        "A colleague's repair in the web interface would be lost without a review.",
        _says(
            "Someone raised a threshold at night; the manifest still has the old value.",
            "reconciler apply --yes",
        ),
        _says(
            "Take the edit into the manifest, or review the plan and apply just that.",
            "reconciler adopt --all",
        ),
    ),
    _guard(
        "takes-over",
        "a first write of something that is there and differs, or that cannot be read",
        "The resource is there already, differs from the manifest, and this journal never wrote "
        "it; or it is an alert definition or a saved view, which the API cannot read, and this "
        "journal neither wrote nor imported what has its id.",
        "It may belong to another team, or have been made by hand with care. What cannot be read "
        "cannot be restored either.",
        _says(
            "A new dashboard has the slug of a dashboard that someone made; or `metadata.id` of an "
            "alert was copied from another manifest.",
            "reconciler apply --yes",
        ),
        _says(
            "Compare the names that the objection has from incidents and events, review the plan "
            "and apply just that.",
            "reconciler plan --out plan.json",
            "reconciler apply --plan plan.json",
        ),
    ),
    _guard(
        "undoes-rollback",
        "a write would bring back what was rolled back",
        "A field is declared as it was before a rollback, and live has what the rollback put back.",
        "It was rolled back because it did harm, and the manifests still declare it.",
        _says(
            "Alice ran `reconciler rollback last` at night, and in the morning a job applies git.",
            "reconciler apply --yes",
        ),
        _says(
            "Revert the change in the manifests, or consent once.",
            "reconciler apply --yes --override-guard 'undoes-rollback=the cause is repaired'",
        ),
    ),
    _guard(
        "policy-samples",
        "a sample of logs would not have the policy that is expected",
        "A row of `policySamples` says which policy a log should meet, and under the declared list "
        "it would meet another one, or none.",
        "The first policy that takes a log decides, so a new order may block logs that a team "
        "needs, and the diff does not show that.",
        _says(
            "A policy that blocks debug logs was moved before the policy that keeps `audit` logs.",
            "reconciler apply --yes",
        ),
        _says(
            "Put the policies in an order in which each sample meets its policy, correct the "
            "sample, or review the plan and apply just that.",
            "reconciler plan --out plan.json",
            "reconciler apply --plan plan.json",
        ),
    ),
    _guard(
        "frozen",
        "it is no time to write anything",
        "A window of the environment's `freeze:` holds, incidents are open for which it freezes, "
        "or it cannot be found out whether it is frozen.",
        "During an incident, or while no one watches what a change does, a change does more harm "
        "than good.",
        _says("It is Friday evening, and a window holds until Monday morning."),
        _says(
            "Wait for its end, or break the glass in an emergency; it lifts nothing else.",
            "reconciler apply --yes --wait-freeze 2h",
            "reconciler apply --yes --break-glass 'the alert pages the wrong team'",
        ),
    ),
    _guard(
        "alert-silenced",
        "an alert with open incidents would be silenced",
        "An alert would be disabled or set to phantom while it has open incidents.",
        "Those who work on the incident would get no more notifications.",
        _says("`enabled: false` while two incidents of the alert are open."),
        _says(
            "Wait until they are closed, or review the plan and apply just that.",
            *_REVIEW,
        ),
    ),
    _guard(
        "alert-deleted",
        "an alert would be marked as deleted",
        "The manifest of an alert says `deleted: true`.",
        "The API cannot create alert definitions, so nothing here brings it back.",
        _says("The manifest has `deleted: true`."),
        _says(
            "Leave `enabled: false` if it may be wanted again, or review the plan and apply just "
            "that.",
            *_REVIEW,
        ),
    ),
    _guard(
        "slo-target-lowered",
        "the target of an SLO would go down",
        "`targetThresholdPercentage` of an SLO is lower than live.",
        "A lower target hides that the service got worse: those who rely on it should agree.",
        _says("The target goes from 99.9 to 99."),
        _says(
            "Agree with those who rely on it, review the plan and apply just that.",
            *_REVIEW,
        ),
    ),
    _guard(
        "dashboard-locked",
        "a locked dashboard would change",
        "The dashboard is locked in the web interface, and a write would change it.",
        "It was locked so that it stays as it is.",
        _says("The live dashboard has `isLocked: true`."),
        _says(
            "Have it unlocked, allow it for the environment (`guards: {allow: [dashboard-"
            "locked]}`), or review the plan and apply just that.",
            *_REVIEW,
        ),
    ),
)
