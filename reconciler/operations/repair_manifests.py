"""`validate --fix`: what can be repaired, and what is left to complain of."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reconciler.kinds.judge_spec import BY_FIX
from reconciler.operations.check_project import Checked, check_in
from reconciler.operations.open_project import Options, manifest_paths
from reconciler.project import Project
from reconciler.syntax.diagnostic import Advice, Complaint
from reconciler.syntax.files import display_name
from reconciler.workspace.fixes import (
    CERTAIN,
    LIKELY,
    NO_VERSION,
    UNSAID,
    Fix,
    Fixes,
    find_fixes,
    repair_text,
)
from reconciler.workspace.workspace import Workspace
from reconciler.workspace.write_files import replace_text

MOST_ROUNDS = 8
"""Rounds of repairs: a missing quote hides the mistakes after it until it is repaired."""


@dataclass(frozen=True, slots=True)
class Repaired:
    """The files that are repaired, those that cannot be, and what is left to complain of.

    `unrepaired` has the line of the first error in each text, by the name of the file; 0 means:
    edit by hand. `likely` counts the repairs that were not made, as they are guesses.
    """

    fixes: Sequence[Fix]
    unrepaired: Mapping[str, int]
    checked: Checked
    likely: int


def count_repairs(checked: Checked, options: Options) -> tuple[int, int]:
    """Return how many repairs `validate --fix` makes, and how many more are likely."""
    found = [*filter(_may_be_repaired, checked.workspace.complaints)]
    if checked.project is None or not found:
        return 0, 0
    paths = {display_name(path, checked.project.root): path for path in checked.workspace.read}
    wrong = {complaint.file: paths.get(complaint.file) for complaint in found}
    if all(map(_declares, wrong.values())):
        # The other files need no repair, and reading them all is slow.
        options = replace(options, paths=tuple(filter(None, wrong.values())))
    made = repair(checked.project, options, guess=False, only_shown=True)
    return sum(fix.repairs for fix in made.fixes), made.likely


def _may_be_repaired(complaint: Complaint) -> bool:
    if isinstance(complaint.suggestion, Advice):
        return complaint.suggestion == BY_FIX or complaint.code in (NO_VERSION, "M305")
    has_repair = complaint.suggestion != "" or complaint.code in UNSAID
    return has_repair and complaint.code in CERTAIN | LIKELY


def _declares(path: Path | None) -> bool:
    """Return whether a file is a manifest itself, and not a part of another."""
    return path is not None and b"apiVersion" in path.read_bytes()


def repair(project: Project, options: Options, *, guess: bool, only_shown: bool) -> Repaired:
    """Make every certain repair; with `guess`, the likely repairs too.

    With `only_shown`, no file is written. Raises InvalidInput for a file that cannot be written;
    files before it are repaired.
    """
    pasted = find_fixes(
        manifest_paths(options, project),
        project.root,
        project.settings,
        _left_out(project, options),
    )
    fixes = {fix.path.resolve(): fix for fix in pasted.found}
    codes = CERTAIN | LIKELY if guess else CERTAIN
    checked = _check(project, options, fixes)
    for _ in range(MOST_ROUNDS):
        more = _repairs(checked.workspace, fixes, pasted, codes)
        if not more:
            break
        fixes |= {fix.path.resolve(): fix for fix in more}
        checked = _check(project, options, fixes)
    for fix in () if only_shown else fixes.values():
        replace_text(fix.path, fix.name, fix.roots, before=fix.before, after=fix.after)
    more = [] if guess else _repairs(checked.workspace, fixes, pasted, LIKELY)
    likely = sum(fix.repairs for fix in more) - sum(
        fixes[fix.path.resolve()].repairs for fix in more if fix.path.resolve() in fixes
    )
    unrepaired = {
        name: line
        for name, line in pasted.unrepaired.items()
        if name not in {fix.name for fix in fixes.values()}
    }
    return Repaired([*fixes.values()], unrepaired, checked, likely)


def _check(project: Project, options: Options, fixes: Mapping[Path, Fix]) -> Checked:
    texts = {path: fix.after for path, fix in fixes.items()}
    return check_in(project, options, in_all=True, instead=texts)


def _left_out(project: Project, options: Options) -> set[tuple[str, int]]:
    """Return file and first line of the documents that are not selected."""
    if not options.selection:
        return set()
    found = check_in(project, options, in_all=True).workspace
    left = {(manifest.source.file, manifest.source.line) for manifest in found.left_out}
    return left - {(manifest.source.file, manifest.source.line) for manifest in found.manifests}


def _repairs(
    workspace: Workspace, fixes: Mapping[Path, Fix], pasted: Fixes, codes: frozenset[str]
) -> list[Fix]:
    """Return the files that complaints repair, each with all that was repaired before."""
    made: list[Fix] = []
    for fix, complaints in _files(workspace, fixes, pasted):
        is_json = fix.path.suffix == ".json"
        found = repair_text(fix.after, complaints, codes, is_json=is_json)
        if found is not None:
            after, repairs = found
            made.append(replace(fix, after=after, repairs=fix.repairs + repairs))
    return made


def _files(
    workspace: Workspace, fixes: Mapping[Path, Fix], pasted: Fixes
) -> list[tuple[Fix, Sequence[Complaint]]]:
    """Return each file that is complained of, once, even if several links lead to it."""
    paths = {display_name(path, pasted.root): path for path in workspace.read}
    by_path: dict[Path, list[Complaint]] = defaultdict(list)
    for complaint in workspace.complaints:
        if complaint.file in paths:
            by_path[paths[complaint.file].resolve()].append(complaint)
    names = {path.resolve(): (name, path) for name, path in paths.items()}
    found: list[tuple[Fix, Sequence[Complaint]]] = []
    for real, complaints in by_path.items():
        fix = fixes.get(real)
        if fix is None:
            name, path = names[real]
            text = pasted.sources.text_of(path, name)
            if isinstance(text, Complaint):
                continue
            fix = Fix(path, name, text, text, 0, pasted.sources.roots)
        found.append((fix, complaints))
    return found
