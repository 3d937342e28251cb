"""Init: create a workspace to start from. Existing files stay as they are.

The files of `template/` are written for an environment `production` of the service at
https://api.example.com; the real name and address replace these. examples/workflows/ holds the same
workflows (tests/cli/test_init.py).
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from reconciler.errors import InvalidInput, UsageError
from reconciler.kinds import KINDS
from reconciler.operations.open_project import Options, lead_here
from reconciler.project import Project
from reconciler.project.project import ENVIRONMENT_NAME, leads_inside, unsafe_base_url
from reconciler.report.safe import safe
from reconciler.runtime.advice import on_journal, on_manifests
from reconciler.runtime.git import GitStuck, ask
from reconciler.syntax.files import PROJECT_FILE, find_files, folder_in_repository
from reconciler.workspace.project_file import load_project
from reconciler.workspace.write_files import (
    default_environment,
    sync_folder,
    with_modeline,
    write_new_files,
)

ENVIRONMENT = "production"
"""Default name for the environment of a service."""

EMULATED = "local"
EXAMPLES = "examples"
WORKFLOWS = ".github/workflows"
HOOKS = ".pre-commit-config.yaml"
_ADDRESS = "https://api.example.com"
_AT_ADDRESS = re.compile(rf"^( *)(?=\S.*{re.escape(_ADDRESS)})", re.MULTILINE)
_ACTION = re.compile(r"uses: (example-org/reconciler@0+)")
_JOURNAL = re.compile(r"(?m)^    # What was written.*\n(?:    #.*\n)*    journal: (git:\S+)$")
_IN_FILE = (
    "    # What was written, and the ids that came back: the only memory of what the service\n"
    "    # cannot show. Here it is a file of this machine, which `journal move` takes to a\n"
    "    # remote or a bucket before CI or others apply.\n"
)
_NO_NAME = re.compile(r"(?:true|false|null|yes|no|on|off|y|n|[0-9._+-].*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Start:
    """Environment of a service that a workspace is created for, and its address, "" if unknown."""

    environment: str = ENVIRONMENT
    base_url: str = ""


@with_config(ConfigDict(extra="forbid"))
class InitDocument(TypedDict):
    """Output of `init --format json`."""

    created: Annotated[list[str], Field(description="Files, by their paths in the folder.")]
    kept: Annotated[list[str], Field(description="Files that were there, and stay as they are.")]
    next: Annotated[list[str], Field(description="Commands to go on with.")]


def has_project(folder: Path) -> bool:
    """Return whether a folder is a workspace already."""
    return os.path.lexists(folder / PROJECT_FILE)


def wrong_name(name: str) -> str:
    """Return why an environment cannot have this name, "" for a valid name."""
    if name == EMULATED:
        return f"`{EMULATED}` is the emulator: the service needs another name"
    if not ENVIRONMENT_NAME.fullmatch(name) or _NO_NAME.fullmatch(name):
        return f"`{name}` is no name of an environment: letters, digits and `.`, `_`, `-`"
    return ""


def wrong_base_url(url: str) -> str:
    """Return why a base URL is refused, "" for a valid URL."""
    why = unsafe_base_url(url) or ("must not hold `$` or braces" if re.search("[${}]", url) else "")
    return f"the base URL {why}" if why else ""


def start(
    options: Options, folder: Path, wanted: Start, schemas: Mapping[str, str]
) -> tuple[InitDocument, Sequence[str]]:
    """Write the files that do not exist yet; return what was done, and remarks for a person.

    `schemas` are the schemas for editors, by name. Examples are written only together with the
    project file, so removed examples do not return. Raises UsageError for an unusable folder, and
    for a refused name or address. Raises InvalidInput where a file cannot be written.
    """
    for why in (
        wrong_name(wanted.environment),
        wanted.base_url and wrong_base_url(wanted.base_url),
    ):
        if why:
            raise UsageError(why)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is no folder")
    is_new = not has_project(folder)
    texts = {
        name: text if name in schemas else _filled(text, wanted)
        for name, text in _texts(folder, is_new=is_new, schemas=schemas)
    }
    alone = is_new and not _has_remote(folder)
    shared = _JOURNAL.search(texts[PROJECT_FILE]) if alone else None
    if shared is not None:
        place = f".reconciler/{wanted.environment}.journal.jsonl"
        texts[PROJECT_FILE] = _JOURNAL.sub(f"{_IN_FILE}    journal: {place}", texts[PROJECT_FILE])
    _check_places(folder, texts)
    created: list[str] = []
    left = [] if is_new else [PROJECT_FILE]
    for name, text in texts.items():
        (created if _write(folder, name, text) else left).append(name)
    remarks = (*_tasks(folder, texts, created), *(_strangers(folder, created) if is_new else ()))
    if shared is not None and PROJECT_FILE in created:
        move = on_journal("move", f"--to {shared[1]}", environment=wanted.environment)
        later = (
            f"the journal of `{wanted.environment}` is a file of this machine, as there is no git "
            f"remote: before CI or others apply, add one, run `{move}`, and write "
            f"`journal: {shared[1]}`"
        )
        remarks = (*remarks, later)
    project = None if is_new else load_project(folder / PROJECT_FILE)[0]
    is_emulated = is_new or (project is not None and EMULATED in project.settings.environments)
    following = _next_commands(options, folder, EMULATED if is_emulated else "")
    return {"created": created, "kept": left, "next": following}, remarks


def known_target(folder: Path) -> Start:
    """Return the only service that the project file of a folder names, else the defaults."""
    project, _ = load_project(folder / PROJECT_FILE)
    environments = project.settings.environments if project is not None else {}
    services = {
        name: environment.base_url
        for name, environment in environments.items()
        if environment.base_url
    }
    if len(services) != 1:
        return Start()
    ((name, url),) = services.items()
    return Start(name, url) if not wrong_name(name) and not wrong_base_url(url) else Start()


def _texts(folder: Path, *, is_new: bool, schemas: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield names and texts, the project file last: after a crash, a new run starts over."""
    yield ".gitignore", _template("gitignore")
    yield HOOKS, _template("pre-commit-config.yaml")
    for name in ("plan", "apply", "drift"):
        yield f"{WORKFLOWS}/{name}.yml", _template(f"{name}.yml")
    yield from schemas.items()
    yield ".vscode/settings.json", _editor_settings(folder, schemas)
    yield ".vscode/extensions.json", _as_json({"recommendations": ["redhat.vscode-yaml"]})
    if is_new:
        for kind in KINDS:
            yield f"{EXAMPLES}/{kind.name}.yaml", _led(f"{EXAMPLES}/{kind.name}.yaml")
        yield PROJECT_FILE, _led(PROJECT_FILE)


def _template(name: str) -> str:
    return (files("reconciler.operations") / "template" / name).read_text(encoding="utf-8")


def _led(name: str) -> str:
    """Return a template with the line that points editors to its schema."""
    return with_modeline(_template(name), Path(name), Path())


def _filled(text: str, wanted: Start) -> str:
    """Fill in name and address, and make this environment the default.

    Without an address, the line of the address becomes a comment, and the default stays.
    """
    text = re.sub(rf"\b{ENVIRONMENT}\b", wanted.environment, text)
    if wanted.base_url:
        chosen = default_environment(wanted.environment)
        text = text.replace(default_environment(EMULATED), chosen)
        return text.replace(_ADDRESS, wanted.base_url)
    return _AT_ADDRESS.sub(r"\1# ", text)


def _has_remote(folder: Path) -> bool:
    """Return whether the repository around a folder has a remote; False where git cannot answer."""
    there = next(
        parent for parent in (folder.absolute(), *folder.absolute().parents) if parent.is_dir()
    )
    try:
        return bool((ask(there, os.environ, "remote") or b"").strip())
    except GitStuck:
        return False


def _editor_settings(folder: Path, schemas: Mapping[str, str]) -> str:
    project, manifest = schemas
    globs = [*_globs_of_manifests(folder)]
    return _as_json({"yaml.schemas": {project: PROJECT_FILE, manifest: globs}})


def _globs_of_manifests(folder: Path) -> Iterator[str]:
    """Yield globs for the files of `manifests:`, and for those that `init` and `import` write.

    Not every editor supports excluding globs, and the project's folder has files of other tools. So
    the files and folders of manifests in that folder are named one by one.
    """
    opened = load_project(folder / PROJECT_FILE)[0] if has_project(folder) else None
    project = opened or Project(folder.resolve())
    settings, root = project.settings, project.root
    places = [root / path for path in settings.manifests]
    found = find_files(places, root, settings.exclude, settings.limits.files).files
    own = (EXAMPLES, *(kind.name for kind in KINDS))
    named = (os.path.normpath(path) for path in settings.manifests if (root / path).is_dir())
    folders = dict.fromkeys(path for path in (*own, *named) if path != ".")
    for file in found:
        top, inside, _ = file.name.partition("/")
        if not any(file.name.startswith(f"{path}/") for path in folders):
            if inside and not file.named:
                folders[top] = None
            elif not file.is_json:
                yield file.name
    yield from (f"{path}/**/*{suffix}" for path in folders for suffix in (".yaml", ".yml"))


def _as_json(document: Mapping[str, object]) -> str:
    return json.dumps(document, indent=2) + "\n"


def _check_places(root: Path, names: Iterable[str]) -> None:
    """Raise InvalidInput where a file cannot be created, before anything is created."""
    for name in names:
        file = root / name
        if not leads_inside(file.parent, root):
            raise InvalidInput(f"{name} is behind a link that leads out of {root}")
        above = next(parent for parent in file.parents if os.path.lexists(parent))
        if not above.is_dir():
            raise InvalidInput(f"{file} cannot be written: {above} is no folder")


def _write(root: Path, name: str, text: str) -> bool:
    """Write a file unless the name is taken; return whether it was written.

    Raises InvalidInput where writing fails.
    """
    file = root / name
    try:
        _check_places(root, (name,))
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.name.casefold() in {path.name.casefold() for path in file.parent.iterdir()}:
            return False
        with suppress(FileExistsError):
            write_new_files([(file, text.encode("utf-8"))])
            sync_folder(file.parent)
            return True
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}") from error
    return False


def _tasks(folder: Path, texts: Mapping[str, str], created: list[str]) -> Iterator[str]:
    flows = [name for name in created if name.startswith(WORKFLOWS)]
    found = _ACTION.search(texts[flows[0]]) if flows else None
    if found is not None:
        yield (
            f"{WORKFLOWS}: write where you keep the action, and the commit of a release, in the "
            f"place of `{found[1]}`"
        )
    above = folder_in_repository(folder.resolve())
    if above and (flows or HOOKS in created):
        yield (
            f"{WORKFLOWS} and {HOOKS} are read at the root of the repository only, and this is "
            f"{above}/: move them there, with `path: {above}` for the action"
        )


def _strangers(folder: Path, created: list[str]) -> Iterator[str]:
    """Yield a warning if existing files will be read as manifests."""
    root = folder.resolve()
    others = [file for file in find_files([root], root).files if file.name not in created]
    if others:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        yield (
            f"{others[0].name}{more} will be read as manifests: `exclude:` of {PROJECT_FILE} "
            "leaves out what is none"
        )


def _next_commands(options: Options, folder: Path, environment: str) -> list[str]:
    there = replace(options, paths=() if folder.resolve() == Path.cwd() else (folder,))
    lead_here(there, Project(folder.resolve(), folder.resolve() / PROJECT_FILE), environment)
    return [*map(on_manifests, ("validate", "plan", "apply"))]


def format_init(made: InitDocument, remarks: Sequence[str]) -> str:
    """Return what was left as it is and what is left to do, the next commands last."""
    lines = [f"left as it is: {safe(name)}" for name in made["kept"]]
    lines += [safe(remark) for remark in remarks]
    lines += ["Next:", *(f"  {safe(command)}" for command in made["next"])]
    return "\n".join(lines)
