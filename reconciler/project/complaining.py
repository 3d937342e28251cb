"""Everything that is wrong with a project file, as findings."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from pydantic import BaseModel, ValidationError

from reconciler.assumptions import Assumptions, Listing, ParameterNames, Read
from reconciler.document import Json
from reconciler.project.choosing import unsafe_base_url
from reconciler.project.freeze import Freeze, Incidents, Window
from reconciler.project.levels import level_findings
from reconciler.project.rules import Examples, Rule
from reconciler.project.samples import PolicySamples
from reconciler.project.secret_places import SecretPlace
from reconciler.project.settings import (
    DriftIgnore,
    EmbeddedEmulator,
    Environment,
    Guards,
    InFile,
    Limits,
    ProjectFile,
    parse_journal_place,
)
from reconciler.slips import nearest
from reconciler.source.diagnostic import WANTED, Finding

_PATTERN = re.compile(r"[*?\[\s~^:\\]")
_SECRET_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
ENVIRONMENT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


def project_findings(document: Json) -> Iterator[Finding]:
    """Yield what is wrong with the document of a project file."""
    if not isinstance(document, dict):
        yield Finding("P101", (), "a project file is a mapping, as `manifests: [.]`")
        return
    try:
        settings = ProjectFile.model_validate(document)
    except ValidationError as invalid:
        yield from _setting_findings(invalid)
        return
    default = settings.default_environment
    if default is not None and default not in settings.environments:
        near = nearest(default, settings.environments)
        listed = ", ".join(sorted(settings.environments)) or "none"
        said = f"there is no environment `{default}` (known: {listed})"
        yield Finding("P101", ("defaultEnvironment",), said, suggestion=near)
    yield from _list_findings(settings)
    yield from level_findings(settings.checks, [rule.name for rule in settings.rules])
    yield from _secret_findings(settings.secrets, ("secrets",))
    for name, environment in settings.environments.items():
        yield from _environment_findings(name, environment)


def _list_findings(settings: ProjectFile) -> Iterator[Finding]:
    for index, path in enumerate(settings.manifests):
        if leads_out(path):
            said = f"`{path}` leads out of the folder of the project file"
            yield Finding("P101", ("manifests", index), said)
    for index, pattern in enumerate(settings.exclude):
        if leads_out(pattern) or not pattern.strip("./ "):
            said = f"`{pattern}` must be a glob that is relative to the folder of the project file"
            yield Finding("P101", ("exclude", index), said)
    for index, branch in enumerate(settings.trusted_branches):
        if not branch or _PATTERN.search(branch):
            said = f"`{branch}` is no branch: name each one whole, as anyone may make another"
            yield Finding("P101", ("trustedBranches", index), said)


def leads_out(path: str) -> bool:
    """Tell whether a relative path climbs above where it starts, or is not relative."""
    return path.startswith("/") or os.path.normpath(path).split("/")[0] == ".."


def _path_findings(setting: str, path: str, place: tuple[str, ...]) -> Iterator[Finding]:
    """Yield a file of ours that would stand outside, though nobody said where in full."""
    if path.startswith("/"):
        if ".." in path.split("/"):
            said = f"`{setting}` must not hold `..`: write the path that it leads to"
            yield Finding("P101", place, said)
    elif leads_out(path):
        said = (
            f"`{setting}` leads out of the folder of the project file: keep it inside, or write "
            "an absolute path"
        )
        yield Finding("P101", place, said)


def _secret_findings(
    secrets: Mapping[str, SecretPlace], path: tuple[str, ...]
) -> Iterator[Finding]:
    for name, place in secrets.items():
        if not _SECRET_NAME.fullmatch(name):
            said = f"`{name}` is no name of a secret: letters, digits and `_`"
            yield Finding("P101", (*path, name), said, at_key=True)
        if place.file is not None:
            yield from _path_findings("file", place.file, (*path, name, "file"))


def _environment_findings(name: str, environment: Environment) -> Iterator[Finding]:
    path = ("environments", name)
    if not ENVIRONMENT_NAME.fullmatch(name):
        said = f"`{name}` is no name of an environment: letters, digits and `.`, `_`, `-`"
        yield Finding("P101", path, said, at_key=True)
    if environment.base_url is not None and environment.emulator is not None:
        said = f"environment `{name}` has both `baseUrl` and `emulator`: remove one"
        yield Finding("P101", (*path, "emulator"), said, at_key=True)
    if environment.base_url is not None and (why := unsafe_base_url(environment.base_url)):
        yield Finding("P102", (*path, "baseUrl"), f"`baseUrl` {why}")
    if environment.emulator is not None:
        yield from _path_findings("data", environment.emulator.data, (*path, "emulator", "data"))
    yield from _secret_findings(environment.secrets, (*path, "secrets"))
    yield from _sample_findings(environment, (*path, "policySamples"))
    match parse_journal_place(environment.journal) if environment.journal else None:
        case InFile(path=kept):
            yield from _path_findings("journal", str(kept), (*path, "journal"))
        case _:
            return


def _sample_findings(environment: Environment, path: tuple[str, ...]) -> Iterator[Finding]:
    """Yield a file of samples that stands outside the project, or is neither YAML nor JSON."""
    if environment.policy_samples is None:
        return
    file = environment.policy_samples.file
    said = ""
    if leads_out(file):
        said = f"`policySamples` must be inside the folder of the project file: `{file}` is not"
    elif not file.endswith(_SAMPLE_SUFFIXES):
        said = (
            f"`policySamples` must be YAML or JSON: `{file}` ends with none of .yaml, .yml, .json"
        )
    if said:
        yield Finding("P101", path, said)


_SAMPLE_SUFFIXES = (".yaml", ".yml", ".json")

_MODELS: dict[tuple[str, ...], type[BaseModel]] = {
    (): ProjectFile,
    ("driftIgnore",): DriftIgnore,
    ("rules",): Rule,
    ("rules", "examples"): Examples,
    ("environments",): Environment,
    ("environments", "emulator"): EmbeddedEmulator,
    ("environments", "secrets"): SecretPlace,
    ("secrets",): SecretPlace,
    ("environments", "policySamples"): PolicySamples,
    ("environments", "guards"): Guards,
    ("environments", "guards", "kinds"): Limits,
    ("environments", "freeze"): Freeze,
    ("environments", "freeze", "windows"): Window,
    ("environments", "freeze", "incidents"): Incidents,
    ("environments", "api"): Assumptions,
    ("environments", "api", "parameterNames"): ParameterNames,
    ("environments", "api", "reads"): Read,
    ("environments", "api", "reads", "lists"): Listing,
}


def _setting_findings(invalid: ValidationError) -> Iterator[Finding]:
    """Yield what is wrong with single settings, a variable of no type only once."""
    said: set[tuple[str | int, ...]] = set()
    for error in invalid.errors(include_url=False):
        path = error["loc"]
        if "variables" in path[2:3] and len(path) > _VARIABLE_DEPTH:
            path = path[:_VARIABLE_DEPTH]
            if path not in said:
                words = f"the variable `{path[-1]}` must not be null"
                yield Finding("P101", path, words)
        else:
            found = _finding(error["type"], error["msg"], path)
            near = error.get("ctx", {}).get("near")
            yield replace(found, suggestion=near) if near else found
        said.add(path)


_VARIABLE_DEPTH = len(("environments", "local", "variables", "team"))


_SHOULD = re.compile("^(Input|String) should")


def _finding(kind: str, message: str, path: tuple[str | int, ...]) -> Finding:
    if kind == "extra_forbidden":
        place = tuple(map(str, path[:1] + path[2:-1] if len(path) > 1 else ()))
        # Below `kinds` stands the name of one, as below `environments`.
        model = _MODELS.get(place) or _MODELS.get(place[:-1], ProjectFile)
        names = [info.alias or name for name, info in model.model_fields.items()]
        said = f"unknown setting `{path[-1]}` (known: {', '.join(names)})"
        near = nearest(str(path[-1]), names)
        return Finding("P101", path, said, suggestion=near, at_key=True)
    if kind == "missing":
        return Finding("P101", path[:-1], f"`{path[-1]}` is required")
    what = f"item {path[-1] + 1}" if isinstance(path[-1], int) else f"`{path[-1]}`"
    said = f"must be {WANTED[kind]}" if kind in WANTED else _SHOULD.sub("must", message)
    return Finding("P101", path, f"{what} {said}")
