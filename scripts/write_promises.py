"""Write the table of docs/reliability.md of what was tried from outside, and what closed it.

Commits name the promises that they close in a line `Promise: P14, P15`; laws are marked with
`@pytest.mark.promise("P14")`.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- promises -->\n", "<!-- /promises -->\n"

PROMISES = {
    "P1": "In CI trust belongs to a commit: whatever the event, no key for a checkout that is "
    "neither the event's own commit nor in the default branch",
    "P2": "Under `ci` the project file is a regular file at its own path, in checkout and base",
    "P3": "Of an untrusted change only manifests, `manifests:` and `variables:` count; no dot "
    "segments in `basePath`",
    "P4": "Every path that a job reads is asked where it comes from, sub-folders too",
    "P5": "A project file that is a link is not followed, so no other file is quoted",
    "P6": "Emulator data and journals of a change stay inside the project or the temporary folder",
    "P7": "What is asked of this machine never passes a proxy",
    "P8": "Neither the key nor a job's own credentials can be in a body",
    "P9": "No slug or id leaves its part of the path, whoever gives it",
    "P10": "Memory follows the id: a rename is said, journaled, and guarded as before",
    "P11": "Two manifests about one object are both blocked and named",
    "P12": "The first write of an alert is guarded by what it sends, and shows it",
    "P13": "A create that looks like a rename is refused until a person says which it is",
    "P14": "An item of a dashboard keeps the id that it was given; a retitle is one field",
    "P15": "What a colleague changed is overwritten only by a reviewed plan",
    "P16": "An environment without a journal says so, and makes no twins unasked",
    "P17": "A journal can be begun, moved, and learn of renames and of what is gone",
    "P18": "An id belongs to its environment",
    "P19": "A declared dashboard id that leads nowhere blocks, with both ids named",
    "P20": "Policies overwritten by someone with the same names are noticed by their ids",
    "P21": "A write body is a list of what may be written; severities that come back are read",
    "P22": "An SLO is validated before a replace; before a create where a setting says so",
    "P23": "A required part that is missing makes an answer unreadable, never empty",
    "P24": "Required parts are errors offline; a failure before sending leaves nothing open",
    "P25": "Every plan and drift proves target and key",
    "P26": "A read-back that finds nothing is no success",
    "P27": "A lost journal repeats no `requestId`, and the answer's id is read back",
    "P28": "What may have happened is an outcome of its own",
    "P29": "What is destroyed is judged after what the service is known to rewrite",
    "P30": "Not declared and zero are two things on our side",
    "P31": "Zero values of enumerations equal absent only where the field is an enumeration",
    "P32": "Two secrets of one value are compared by what was sent",
    "P33": "A plan file is evidence whole: an edited one is refused",
    "P34": "A plan that names a file with a name that is no text can be read back",
    "P35": "A stale plan names every field that differs",
    "P36": "Closed lists, missing parts, odd values and near misses are reported offline",
    "P37": "A near miss of a documented word is an error everywhere",
    "P38": "A pair of surrogate escapes is one character",
    "P39": "A pasted record is one complaint, and `validate --fix` repairs it",
    "P40": "Complaints are at their own place, with the repaired value; all environments at once",
    "P41": "What tools install, what git ignores and what `exclude:` names is no manifest",
    "P42": "A stdout that cannot be written has an exit code, and an apply goes on unread",
    "P43": "SIGHUP ends as SIGTERM does",
    "P44": "A journal takes no line after its folder was replaced during a run",
    "P45": "A journal's folder that is a link is refused",
    "P46": "The journal keeps itself out of `git add -A`",
    "P47": "The distribution has a name of its own, and a wheel of it works anywhere",
    "P48": "What is waited for is said",
    "P49": "A run that did nothing says what to do next",
    "P50": "Create lines show what matters",
    "P51": "Pages say when, from what and by whom, and can be read on a telephone",
    "P52": "Assumptions are called so, and failures hint at the setting that may fix them",
    "P53": "The published OpenAPI describes every body whole",
    "P54": "Queries of cases, ranges and labels take the forms that a deployment wants",
    "P55": "Every place that has to name something new is found by a test",
    "S1": "A dashboard that the service stores without a slug is kept as it is, and gets none",
    "S2": "What the emulator fills in has a switch each, and the default fills in least",
    "S3": "Rules of one name are all imported, with names that do not depend on their order",
    "S4": "A query that names an undeclared variable is reported; fixed variables of Grafana come "
    "over",
    "S5": "A key of a converted file is taken or named, with its panel or rule",
    "S6": "OpenSLO documents in one list are read like documents of one file",
    "S7": "An id that begins with a hyphen is an id on the command line",
    "S8": "An imported manifest is laid out as `fmt` lays it out",
    "S9": "The emulator requires of a policy what the API document requires",
    "S10": "What was read is counted apart from what is only remembered",
    "S11": "A track record is incomplete where versions of the alert are unknown",
    "S12": "A policy list that was just read is live, with the remembered part named",
    "S13": "A blind first write over an id that someone else may have made asks first",
    "S14": "An apply that would undo a rollback asks first",
    "S15": "A rollback that the service would refuse is blocked before anything is sent",
    "S16": "A reviewed change can be applied by CI, and a review consents to what it listed",
    "S17": "What the service does not return is never shown as live in the comment",
    "S18": "After a refused apply the comment says whether the plan is the reviewed one",
    "S19": "Outside of `validate` warnings are one line",
    "S20": "Consent is one block a guard: its resources, then each remedy once",
    "S21": "A plan says something of the samples only where a policy changes, or with `-v`",
    "S22": "A page opens few changes, and folds consent on a phone",
    "S23": "What comes or goes says its title and its queries first",
    "S24": "A part of a reviewed plan can be applied",
    "S25": "No key goes to an address from a submodule, a nested repository or a linked work tree",
    "S26": "Manifests are edited in place by position, and replaced whole or not at all",
    "S27": "`journal write-ids` writes the ids of items, or says what to write",
    "S28": "What a stranger can make long costs linear work",
    "S29": "A job removes only a plan file of its own",
    "S30": "A command secret gets no search path that leads into an untrusted checkout",
    "S31": "Nothing beyond a link on the way to the project file is read or quoted in CI",
    "S32": "A deleted folder, no temporary space and a pipe in place of a file are plain errors",
    "S33": "What cannot work on any service is an error, and `init` makes broken queries errors",
    "S34": "What a complaint names as the only repair, `--fix` does; likely ones are counted",
    "S35": "A mistake of the text is reported at its line in its own words, and an expression once",
    "S36": "`import --minimal` leaves out what services fill in; the next plan keeps all resources",
    "S37": "A code is explained without models, and a finding of a rule is at its field",
    "S38": "`policies test --file` takes a file of `policySamples`",
    "S39": "Editors know every file of `manifests:`, and which extension reads it",
    "S40": "Ctrl-C while completing prints nothing, and ends with 130",
    "S41": "What the manifests of a PATH refer to is read, and not planned",
    "S42": "`init` keeps the journal where the repository can keep it, and errors name both ways",
    "S43": "`import -e NAME` offers to make NAME the default, and `init` for a service does",
    "S44": "A refused apply makes no journal, and a missing one with known ids is a warning",
    "S45": "A rollback names file and line of each value, and `--write` edits the manifests there",
    "S46": "The rows of `--timings` add up to the whole",
    "S47": "The demo is read in two minutes: at most 120 lines",
    "S48": "`--help` groups the commands",
    "S49": "The README says which installation is quick",
    "S50": "Lists and counts in prose are held, and a full disk under any journal ends with 8",
    "S51": "One place knows where a key comes from",
    "S52": "An orphan is a change without a manifest: seen by guards, in no digest, never sent",
    "S53": "The version of digests and that of plan documents have two names",
    "S54": "A journal in git that was rewound is refused like a lost one",
    "S55": "What small text expands to is bounded by what it makes, early",
    "S56": "An export in snake_case is converted at any depth",
    "S57": "`adopt` keeps a literal block with leading blanks a block",
    "S58": "Of a trusted checkout the newest commit of the default branch decides",
    "S59": "Real payloads import, apply and keep on the emulator",
    "S61": "A plan that differs from the reviewed one names every field that differs",
    "S62": "`adopt` writes an alias out where a comment follows its anchor",
    "S63": "An empty file is named by an import",
    "S64": "What `explain` says is needed of a log policy is what `validate` asks for",
}

OPEN: frozenset[str] = frozenset()
"""What does not hold yet: it has no law."""


def commits() -> dict[str, list[str]]:
    """Map each promise to the short ids of the commits that name it, oldest first."""
    log = subprocess.run(
        ["git", "log", "--reverse", "--abbrev=7", "--format=%h%x00%B%x01"],  # noqa: S607 - git of the PATH
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    found: dict[str, list[str]] = {}
    for entry in log.split("\x01"):
        commit, _, body = entry.strip().partition("\0")
        for line in re.findall(r"^Promises?: (.*)$", body, re.MULTILINE):
            for name in re.findall(r"[PS]\d+", line):
                found.setdefault(name, []).append(commit)
    return found


def table() -> str:
    """Give the table, one row a promise."""
    known = commits()
    rows = [
        f"| {name} | {said} | {_closed_by(name, known)} | `pytest --promise {name}` |"
        for name, said in PROMISES.items()
    ]
    return "\n".join(("| | What holds now | Closed by | Try it |", "|---|---|---|---|", *rows, ""))


def _closed_by(name: str, known: dict[str, list[str]]) -> str:
    return "not yet" if name in OPEN else ", ".join(dict.fromkeys(known.get(name, ())))


def main() -> None:
    """Put the table in the place of the one that stands there."""
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    PAGE.write_text(f"{head}{BEGIN}{table()}{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
