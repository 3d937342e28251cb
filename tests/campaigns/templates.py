"""`template`: random manifests with overrides, forEach, variables and files, expanded twice.

What the reader makes of them is held against an expansion of its own here, which is written
naively, on plain data, and shares no code with it.
"""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from stage import Stage, Tally

from reconciler.workspace.expression_scope import Scope
from reconciler.workspace.workspace import load_workspaces

ENVIRONMENTS = ("local", "prod")
_EXPRESSION = re.compile(r"\$\$\{|\$\{(var|each|file):([^}]*)\}")
_KEYS = ("zqa", "zqb", "zqc", "zqd")
_WORDS = ("plain", "a: b", "", "# x", "é", "$${var:x}", "$${each:name}", "12", "yes", "${other}")


@dataclass
class Drawn:
    """Draws one project: variables, items, files and a template."""

    chance: Random
    files: dict[str, Any] = field(default_factory=dict)
    variables: dict[str, dict[str, Any]] = field(default_factory=dict)
    items: list[dict[str, Any]] = field(default_factory=list)

    def scalar(self) -> Any:
        """Give a plain value."""
        return self.chance.choice((*_WORDS, 1, 0, -2, 1.5, True, False, 10**9))

    def data(self, depth: int = 0) -> Any:
        """Give a value without expressions."""
        roll = self.chance.random()
        if depth < 3 and roll < 0.25:
            return {
                key: self.data(depth + 1)
                for key in self.chance.sample(_KEYS, self.chance.randint(0, 3))
            }
        if depth < 3 and roll < 0.4:
            return [self.data(depth + 1) for _ in range(self.chance.randint(0, 3))]
        value = self.scalar()
        return value if not isinstance(value, str) else value.replace("$$", "§").replace("$", "§")

    def expression(self, *, inside: bool, deep: int) -> str:
        """Give an expression that leads somewhere; `inside` a text it is one of a scalar."""
        words = ["var.text", "var.number", "var.map.zqa"]
        words += ["each.name", "each.n", "each.more.zqa"] if self.items else []
        if not inside:
            words += ["var.map", "var.list"] + (["each.more", "each.list"] if self.items else [])
            words += ["file"] if deep < 3 else []
        word, _, name = self.chance.choice(words).partition(".")
        return f"${{{word}:{name or self.file(deep)}}}"

    def file(self, deep: int) -> str:
        """Make a file, or take one that is there, and give its path from the root."""
        name = f"part{len(self.files)}.{self.chance.choice(('yaml', 'json', 'yml'))}"
        self.files[name] = None
        self.files[name] = self.value(deep + 1, deep=deep + 1) or "empty"
        return name

    def value(self, depth: int = 0, *, deep: int = 0) -> Any:
        """Give a value that may hold expressions."""
        roll = self.chance.random()
        if depth < 3 and roll < 0.25:
            return {
                key: self.value(depth + 1, deep=deep)
                for key in self.chance.sample(_KEYS, self.chance.randint(0, 3))
            }
        if depth < 3 and roll < 0.35:
            return [self.value(depth + 1, deep=deep) for _ in range(self.chance.randint(0, 3))]
        if roll < 0.6:
            return self.expression(inside=False, deep=deep)
        if roll < 0.75:
            parts = (self.expression(inside=True, deep=deep), self.chance.choice(_WORDS))
            return "-".join(self.chance.sample(parts, 2))
        return self.scalar()

    def patch(self, base: Any, depth: int = 0) -> Any:
        """Give a patch of what stands there: fields taken away, changed and added."""
        if not isinstance(base, dict) or depth > 3:
            return self.value(2)
        made: dict[str, Any] = {}
        for key in (*base, *_KEYS):
            roll = self.chance.random()
            if roll < 0.15:
                made[key] = None
            elif roll < 0.4:
                made[key] = self.patch(base.get(key), depth + 1)
        return made

    def policies(self, names: tuple[str, ...]) -> list[Any]:
        """Give policies, whose key is their name."""
        return [
            {"policy": {"name": name, "zqa": self.value(2)}, "zqb": self.value(2)} for name in names
        ]


def drawn(chance: Random) -> tuple[Drawn, dict[str, Any], Any]:
    """Give a project, its template, and the `forEach` of that as it is written."""
    made = Drawn(chance)
    for environment in ENVIRONMENTS:
        made.variables[environment] = {
            "text": f"in {environment}",
            "number": chance.choice((1, 2.5, True)),
            "map": {"zqa": made.data(3), "zqb": made.data()},
            "list": [made.data(1) for _ in range(chance.randint(0, 3))],
        }
    made.items = [
        {
            "name": f"s{nth}",
            "n": made.data(3),
            "more": {"zqa": made.data(3), "zqc": made.data()},
            "list": [made.data(1) for _ in range(chance.randint(0, 2))],
        }
        for nth in range(chance.choice((0, 1, 2, 5)))
    ]
    written: Any = made.items
    roll = chance.random()
    if made.items and roll < 0.3:
        made.files["items.yaml"] = made.items
        written = "${file:items.yaml}"
    elif made.items and roll < 0.6:
        for variables in made.variables.values():
            variables["items"] = made.items
        written = {"var": "items"} if roll < 0.45 else "${var:items}"
    many = bool(made.items)
    if chance.random() < 0.5:
        kind, spec = "SLO", {"name": "x", **{key: made.value() for key in _KEYS[:3]}}
        patches = {name: made.patch(spec) for name in ENVIRONMENTS if chance.random() < 0.6}
    else:
        kind, spec = (
            "LogPolicySet",
            {"policies": made.policies(("a", "b", "c")), "zqa": made.value()},
        )
        patches = {
            name: {
                **made.patch({"zqa": spec["zqa"]}),
                "policies": [
                    {**policy, **({"zqb": None} if chance.random() < 0.3 else {})}
                    for policy in made.policies(tuple(chance.sample(("a", "b", "d", "e"), 2)))
                ],
            }
            for name in ENVIRONMENTS
            if chance.random() < 0.6
        }
    template: dict[str, Any] = {
        "apiVersion": "reconciler/v1",
        "kind": kind,
        "metadata": {"name": "x-${each:name}" if many else "x", "labels": {"l": "${var:text}"}},
        "spec": spec,
    }
    if patches:
        template["overrides"] = patches
    if many:
        template["forEach"] = written
    return made, template, written


def looked_up(values: Any, name: str) -> Any:
    """Follow a name, key by key; no key that is drawn has a dot in it."""
    for step in name.split("."):
        values = values[step]
    return values


def spelled(value: Any) -> str:
    """Give a value as it stands in a text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def filled(value: Any, project: Drawn, environment: str, item: Any) -> Any:
    """Fill in expressions, naively."""

    def of(word: str, name: str) -> Any:
        if word == "file":
            return filled(project.files[name], project, environment, item)
        return looked_up(project.variables[environment] if word == "var" else item, name)

    if isinstance(value, dict):
        return {key: filled(member, project, environment, item) for key, member in value.items()}
    if isinstance(value, list):
        return [filled(element, project, environment, item) for element in value]
    if not isinstance(value, str):
        return value
    whole = _EXPRESSION.fullmatch(value)
    if whole is not None and whole[1]:
        return of(whole[1], whole[2])

    def said(match: re.Match[str]) -> str:
        return spelled(of(match[1], match[2])) if match[1] else "${"

    return _EXPRESSION.sub(said, value)


def stripped(patch: Any) -> Any:
    if isinstance(patch, dict):
        return {key: stripped(value) for key, value in patch.items() if value is not None}
    return [stripped(value) for value in patch] if isinstance(patch, list) else patch


def with_policies(base: list[Any], patch: list[Any]) -> list[Any]:
    """Merge policies by their names."""
    result = list(base)
    for value in patch:
        names = [other["policy"]["name"] for other in result]
        name = value["policy"]["name"]
        if name in names:
            nth = names.index(name)
            result[nth] = patched(result[nth], value)
        else:
            result.append(stripped(value))
    return result


def patched(base: Any, patch: Any, key: str = "") -> Any:
    """Merge a patch; only `policies` have names here."""
    if key == "policies":
        return with_policies(base, patch)
    if not isinstance(base, dict) or not isinstance(patch, dict):
        return stripped(patch)
    result = dict(base)
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = patched(result[name], value, name) if name in result else stripped(value)
    return result


def expected(project: Drawn, template: dict[str, Any], environment: str) -> dict[str, Any]:
    """Give the manifests of one environment by their names: labels and spec."""
    made = {}
    items: list[Any] = [*project.items] or [None]
    for item in items:
        metadata = filled(template["metadata"], project, environment, item)
        spec = filled(template["spec"], project, environment, item)
        patch = template.get("overrides", {}).get(environment)
        if patch is not None:
            spec = patched(spec, filled(patch, project, environment, item))
        made[metadata["name"]] = {"labels": metadata["labels"], "spec": spec}
    return made


def as_text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def check(folder: Path, chance: Random, tally: Tally, case: str) -> None:
    """Draw one project, read it, and compare."""
    project, template, _ = drawn(chance)
    for name, content in {**project.files, "template.yaml": template}.items():
        indent = chance.choice((None, 2))
        (folder / name).write_text(json.dumps(content, indent=indent), encoding="utf-8")
    scopes = [Scope(name, project.variables[name]) for name in ENVIRONMENTS]
    found = load_workspaces([folder], folder, scopes)
    tally.counts["cases"] += 1
    tally.counts["files"] += len(project.files)
    tally.counts["with items"] += bool(project.items)
    tally.counts["with overrides"] += "overrides" in template
    for environment in ENVIRONMENTS:
        wanted = expected(project, template, environment)
        got = {
            manifest.ref.name: {"labels": dict(manifest.labels), "spec": manifest.spec}
            for manifest in found[environment].manifests
        }
        tally.counts["resources"] += len(got)
        if as_text(got) != as_text(wanted):
            said = [str(error) for error in found[environment].errors[:3]]
            tally.fail("T1", f"{case} in {environment}: {as_text(got)} != {as_text(wanted)} {said}")


def expand_templates(stage: Stage, count: int, seed: int) -> Tally:
    """Expand so many projects; nothing is asked of the service."""
    tally = Tally()
    for nth in range(count):
        chance = Random(f"{seed}-{nth}")  # noqa: S311 - repeatable
        with tempfile.TemporaryDirectory(dir=stage.root) as folder:
            check(Path(folder).resolve(), chance, tally, f"case {seed}-{nth}")
    return tally
