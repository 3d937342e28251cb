"""Why a change of a plan is as it is. Source: docs/plan.md."""

from __future__ import annotations

from typing import Final

from reconciler.explaining.explanation import do as _do
from reconciler.explaining.explanation import of_plan as _told

_PLAN = "reconciler plan"
_APPLY = "reconciler apply"

REASON_CODES: Final = (
    _told(
        "cannot-be-asked",
        "the API has no way to ask for it",
        "The service has no request that returns this resource, so the plan compares the manifest "
        "with what the journal remembers of the last write.",
        "An edit in the web interface cannot be seen, and the plan says so instead of guessing.",
        "An alert definition: the API writes it and returns none.",
        _do("Nothing; where a service can be asked, `api: reads:` in the project file says how."),
    ),
    _told(
        "unread",
        "it was asked for, and the answer is of no use; the change is blocked",
        "The read failed or its answer lacks a part that it has to hold. The rest is planned and "
        "can be applied, and the command ends with the code of the failure all the same.",
        "A write over what nobody saw could undo the work of others.",
        "The read of a dashboard is answered with 500 each time.",
        _do("Plan again when the service answers.", _PLAN),
    ),
    _told(
        "cannot-be-created",
        "it is not there, and creating it would not make it so",
        "The manifest names an object of the service that is not there, and a write would make "
        "none or one of another id. The change is blocked.",
        "What is made under another id would be a second object, and the first is still missing.",
        "The id of an alert definition is one that the service does not have.",
        _do("Make it in the web interface, and write its id into `metadata.id`."),
    ),
    _told(
        "objected",
        "what the service objects to, asked before the write",
        "The service was asked whether it would take the write, and it would not. The words are "
        "its own, and the change is blocked.",
        "It would be refused at the apply, when a part of the plan is written already.",
        "The check of an SLO says that its query has no data.",
        _do("Mend what the words tell in the manifest, and plan again.", _PLAN),
    ),
    _told(
        "depends-on",
        "what it refers to is blocked",
        "The manifest has a `${ref:}` to a resource that this plan blocks, so it is blocked too.",
        "The id that it refers to may not exist, or lead elsewhere.",
        "An alert refers to an SLO whose read failed.",
        _do("Clear what blocks the other one; its reasons stand in the same plan.", _PLAN),
    ),
    _told(
        "not-selected",
        "what it refers to was left out by `--select` or `--exclude`, and has no id yet: blocked",
        "The manifest refers to a resource that is not selected and was never written, so there is "
        "no id to put in.",
        "What it refers to must exist before it, or be written with it.",
        "`plan --select kind=AlertDefinition`, and the SLO that an alert watches is new.",
        _do("Select both, or apply the other one first.", f"{_APPLY} --select kind=SLO"),
    ),
    _told(
        "create-lost",
        "the answer to its create was lost",
        "A create was sent and no answer came. `became` tells what a look since then showed: "
        "that it happened, that it never did, that something else stands there, or nothing.",
        "Sending a create twice can make two objects, so it is not sent again in the dark.",
        "The connection broke while a saved view was created.",
        _do(
            "Where `became` is `unknown`, look whether it is there and say so to the journal; the "
            "rest needs nothing.",
            "reconciler journal settle --help",
        ),
    ),
    _told(
        "write-lost",
        "the answer to an earlier write was lost, or no read showed what it did",
        "A write was sent and nobody knows whether it took effect, so it is sent again where that "
        "does no harm.",
        "The journal cannot say what the service holds until a write is answered.",
        "The process was killed while an SLO was updated.",
        _do("Apply again: the same write twice changes nothing.", _APPLY),
    ),
    _told(
        "gone-since",
        "it was written, and is gone: it will be created again",
        "The journal has a write of it that was answered, and the service has it no longer.",
        "Somebody deleted it, and the manifest still declares it.",
        "A dashboard was deleted in the web interface.",
        _do("Apply to make it again, or remove its manifest.", _PLAN),
    ),
    _told(
        "never-seen",
        "it was sent, and no read has shown it: it will be created again",
        "A create was sent or even answered, and neither the look after it nor this one found it.",
        "An answer that nothing follows is not worth more than none.",
        "The service said 200 to a new SLO and does not list it.",
        _do(
            "Apply again; if it happens twice, show the service's owners the `requestId`s.", _APPLY
        ),
    ),
    _told(
        "edited-by",
        "someone else edited it after our last write",
        "The service tells of an edit that the journal has no write for: who, when and how, as far "
        "as it says so.",
        "A plan that is applied now may undo that edit.",
        "A dashboard was edited in the web interface yesterday.",
        _do("Take the edit over into the manifest, or apply over it.", "reconciler adopt --all"),
    ),
    _told(
        "overwritten-since",
        "someone wrote it again since our last write, and these fields are not in the answer",
        "The ids or the revision show a write that is not ours, and the service does not return "
        "the fields named here, so nobody can see whether they changed.",
        "What cannot be seen cannot be compared: the fields are sent again.",
        "The log policies have other ids than those of our overwrite.",
        _do("Ask whoever wrote it, then apply.", _APPLY),
    ),
    _told(
        "never-written",
        "this journal neither wrote nor imported what has its id, and nobody can read it",
        "The manifest has the id of an alert definition or a saved view that no run of this "
        "journal wrote. `names` are what incidents and events call it.",
        "A write replaces whatever has the id, and what cannot be read cannot be restored.",
        "`metadata.id` was copied from another manifest.",
        _do("Compare the names, and correct the id or review the plan.", _PLAN),
    ),
    _told(
        "recalled",
        "these fields may not be returned; they are not in the answer, and are compared with the "
        "journal",
        "The service takes these fields and does not return them. What the journal remembers of "
        "our last write stands for them.",
        "An edit of these fields by others cannot be seen.",
        "The severities of a log policy.",
        _do("Nothing: the comparison is as good as the journal."),
    ),
    _told(
        "imported",
        "it cannot be asked for, and is compared with what `import` took for it",
        "Nothing was applied to it from here yet, and the API has no way to ask for it, so the "
        "export that the manifest was made of stands for what is live.",
        "What was edited after the export cannot be seen.",
        "An alert definition that was imported last week.",
        _do("Import again if the export is old, or apply.", _APPLY),
    ),
    _told(
        "not-in-answer",
        "these fields are not in the answer, and the journal has none: nobody knows what they are",
        "The manifest declares fields that the service does not return, and no write of them is "
        "remembered.",
        "Whether the write changes them cannot be told, so the plan sends them.",
        "The first plan of log policies that were made by hand.",
        _do("Hold them against the web interface once, then apply.", _APPLY),
    ),
    _told(
        "needed-unseen",
        "every write has to send these fields, and the manifest leaves them out: the change is "
        "blocked until they are declared",
        "A write replaces the object whole. The manifest does not declare these fields, and either "
        "no answer has them or they were declared at the last write.",
        "Services refuse a write without them, and an apply must not empty what nobody looked at.",
        "The severities of log policies, which a manifest or a rollback declares no more.",
        _do("Declare the fields in the manifest, and plan again.", _PLAN),
    ),
    _told(
        "lost-unseen",
        "of the members that are destroyed these fields are known to nobody, so they cannot be "
        "restored",
        "The overwrite destroys members of a list, and of them the service does not return every "
        "field.",
        "Before a destructive write all that can be kept is kept; these fields cannot.",
        "The severities of a log policy that somebody made by hand.",
        _do("Note them down from the web interface before the apply."),
    ),
    _told(
        "renamed-from",
        "the same object had another name at its last apply",
        "The manifest has a new `metadata.name` and the object of an earlier one.",
        "It is one resource with a new name here, and none that is created or left over.",
        "`metadata.name` was changed from `checkout` to `shop-checkout`, and the id was not.",
        _do("Nothing, if that was meant: the apply moves its memory to the new name.", _APPLY),
    ),
    _told(
        "looks-like",
        "it would be created, and is much like what is no longer declared",
        "A new manifest has much in common with a resource that the journal knows and no manifest "
        "declares by now.",
        "A renamed manifest without its id makes a second object beside the first.",
        "A saved view was renamed in its file, and the old one is still live.",
        _do("Write the id of the old one into `metadata.id`, if both are one.", _PLAN),
    ),
    _told(
        "another-object",
        "until now the manifest was about another object",
        "The declared id differs from the one of the last apply.",
        "The object of before stays as it is, and no manifest is about it any more.",
        "`metadata.id` was replaced by the one of a copy.",
        _do("Nothing, if that was meant; otherwise put the former id back.", _PLAN),
    ),
    _told(
        "another-id",
        "nothing has the declared id, and the journal or the slug leads to another object: blocked",
        "The id in the manifest leads nowhere, and what is known otherwise leads to an object of "
        "another id.",
        "To write to either would be a guess.",
        "A dashboard was deleted and made again by hand: its slug is the same, its id is not.",
        _do("Write the id of the object that is meant, or none.", _PLAN),
    ),
    _told(
        "same-object",
        "other manifests are about the same object; all are blocked",
        "Two manifests lead to one object of the service, by id, slug or journal.",
        "Each apply would undo the other.",
        "A manifest was copied with its `metadata.id`.",
        _do("Remove one of them, or give it the id of its own object.", _PLAN),
    ),
    _told(
        "protection",
        "it is protected from this apply on, or no longer",
        "`metadata.protect` changed. While it is true, no apply changes the resource without "
        "consent.",
        "Who may lift a protection is a question of review.",
        "`protect: true` was added to the SLO of the company's front page.",
        _do("Nothing: the apply remembers it.", _APPLY),
    ),
    _told(
        "incidents-unread",
        "it would be silenced, and its incidents could not be listed",
        "The change turns an alert off, and whether an incident of it is open could not be asked.",
        "To silence an alert in the middle of its incident hides the incident.",
        "The key may not read incidents.",
        _do("Look for open incidents in the web interface before the apply."),
    ),
    _told(
        "rule-warns",
        "a rule of your own of severity `warning` has something against it",
        "A rule of the project file with `on: plan` does not hold for this change. It is told and "
        "stops nothing.",
        "Whoever wrote the rule wanted it to be seen in a review.",
        "A rule asks that targets of SLOs change by at most one per cent at once.",
        _do("Change it as the rule's message says, or let it be.", "reconciler rules test"),
    ),
    _told(
        "put-back",
        "a rollback puts it back as it was then; `later` are the runs that wrote it since",
        "The plan is one of `rollback`: what is written is what the journal kept from before the "
        "run, as it was declared or as it was live.",
        "What later runs wrote to it is undone as well.",
        "`reconciler rollback last` after an alert got too loud.",
        _do("Read the differences, then consent.", "reconciler rollback last"),
    ),
    _told(
        "made-by-run",
        "the run that is rolled back created it, and the API has no delete: blocked",
        "Before the run it was not there, and nothing that this tool can send takes it away.",
        "A rollback that leaves it there must say so.",
        "A run that created an SLO is rolled back.",
        _do("Delete it in the web interface, and remove its manifest."),
    ),
    _told(
        "nothing-before",
        "nothing is known of it from before that run: blocked; `live` is true where what was live "
        "is kept",
        "The journal has no earlier declaration of it to put back.",
        "A rollback sends nothing that nobody declared or saw.",
        "The run that is rolled back was the first one to write it.",
        _do("Where `live` is true, put back what was live.", "reconciler rollback --help"),
    ),
    _told(
        "secrets-lost",
        "it held other values of these secrets, or a secret that no manifest declared: blocked",
        "Values of secrets are never kept. What was sent then had others than those that are set "
        "now.",
        "To put it back with the values of today would be another resource.",
        "The token of a webhook was changed after the run.",
        _do("Set the former values, or change the manifest and apply.", _APPLY),
    ),
    _told(
        "not-seen-then",
        "these fields were in no answer then, and nobody knew them: blocked",
        "What was live before the run is kept without these fields.",
        "To write it back would empty them.",
        "The severities of log policies that were made by hand.",
        _do("Declare them in the manifest, and apply.", _APPLY),
    ),
    _told(
        "fails-checks",
        "what it was has errors, with which no manifest is accepted: blocked",
        "The checks that `validate` makes of a manifest find errors in what would be put back: a "
        "required part is missing, or a value is out of range or in no list of the API document.",
        "The service would refuse the write, after others of the same rollback were done.",
        "It was written by an older version, which did not know of the check.",
        _do("Declare it in a manifest without these errors, and apply.", _APPLY),
    ),
    _told(
        "made-anew",
        "these members are gone and come back with other ids",
        "Members of a list were destroyed since, and the rollback makes them again.",
        "The content is the same; what refers to their former ids leads nowhere.",
        "A log policy that an overwrite destroyed.",
        _do("Look for what names the former ids."),
    ),
)
"""Of single changes; those that are guards too, as `takes-over`, are explained as such."""
