"""What is declared in a world at the moment, and how people change it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from world_content import Content, Spec
from world_deeds import WAITING_DEEDS, Deed, alert_id
from world_edits import Editor

NAMES = {
    "SLO": "slo",
    "AlertDefinition": "alert",
    "Dashboard": "board",
    "LogPolicySet": "all",
    "SavedView": "view",
}
TAILS = ("", "", ".x", "_y", "-z", "." + "n" * 150)
FILES = ("all.yaml", "deep/er/more.yml", "dir \u00fc/x.yaml")


@dataclass
class Thing:
    """One resource of ours; `known` is the id that the service has for it."""

    thing: str
    name: str
    spec: Spec
    file: str
    word: str
    remote_id: str | int | None = None
    known: str | None = None

    @property
    def kind(self) -> str:
        """Its kind."""
        return self.thing.partition("#")[0]

    @property
    def ref(self) -> str:
        """What manifests call it."""
        return f"{self.kind}/{self.name}"

    @property
    def is_found(self) -> bool:
        """Whether it is found again under another name, without the journal."""
        findable = self.kind in ("AlertDefinition", "LogPolicySet")
        slug = self.kind == "Dashboard" and "slugName" in self.spec["dashboard"]
        return findable or slug or self.remote_id is not None

    def document(self) -> dict[str, Any]:
        """Give the manifest."""
        identity = {} if self.remote_id is None else {"id": self.remote_id}
        metadata = {"name": self.name, **identity}
        head = {"apiVersion": "reconciler/v1", "kind": self.kind}
        return {**head, "metadata": metadata, "spec": self.spec}


@dataclass
class Files:
    """The manifests. `blind` and `hopeless` are as a `Round` has them.

    `renamed` are old and new refs of what the journal has to be told of.
    """

    profile: Mapping[str, Any]
    things: dict[str, Thing] = field(default_factory=dict)
    removed: dict[str, Thing] = field(default_factory=dict)
    blind: set[str] = field(default_factory=set)
    hopeless: set[str] = field(default_factory=set)
    renamed: list[tuple[str, str]] = field(default_factory=list)

    def content(self, deed: Deed) -> Content:
        """Give what draws content for a deed."""
        plain = "rewritten policy names" in WAITING_DEEDS
        return Content(deed.chance, self.profile, plain_policies=plain)

    @property
    def slos(self) -> list[str]:
        """The SLOs that may be referred to."""
        return [one.ref for one in self.things.values() if one.kind == "SLO"]

    @property
    def still(self) -> bool:
        """Whether an SLO stays as it was made: from one SLI, where replacing takes the other."""
        return self.profile.get("slis") == "documented"

    def declare(self, deed: Deed) -> bool:
        """Write a new manifest; tells, as all of these, whether anything was done."""
        if deed.thing in self.things or deed.thing in self.removed:
            return False
        content, number = self.content(deed), deed.thing.partition("#")[2]
        word = f"{deed.kind[0]}{deed.kind[-1]}{number}x"
        spec = content.spec(deed.kind, word, self.slos)
        own = f"own/{deed.thing.replace('#', '-')}.json"
        thing = Thing(
            deed.thing,
            f"{NAMES[deed.kind]}{number}{content.chance.choice(TAILS)}",
            spec,
            content.chance.choice((*FILES, own)),
            word,
        )
        if deed.kind == "AlertDefinition":
            thing.remote_id = thing.known = alert_id(deed.thing)
        self.things[deed.thing] = thing
        return True

    def edit(self, deed: Deed) -> bool:
        """Change a manifest in one to three places."""
        thing = self.things.get(deed.thing)
        if thing is None or (thing.kind == "SLO" and self.still):
            return False
        slos = [ref for ref in self.slos if ref != thing.ref]
        slos = slos if thing.kind != "SLO" else []
        before = thing.spec
        thing.spec = Editor(self.content(deed)).edited(thing.kind, before, thing.word, slos)
        return thing.spec != before

    def move(self, deed: Deed) -> bool:
        """Put a manifest into another file."""
        if deed.thing not in self.things:
            return False
        self.things[deed.thing].file = deed.chance.choice((*FILES, f"moved/{deed.seed % 7}.yaml"))
        return True

    def rename(self, deed: Deed) -> bool:
        """Give a resource another name, and what refers to it that name."""
        thing = self.things.get(deed.thing)
        if thing is None:
            return False
        before = thing.ref
        thing.name = f"{NAMES[thing.kind]}{thing.thing.partition('#')[2]}-r{deed.seed % 97}"
        if thing.ref == before:
            return False
        for one in self.things.values():
            text = json.dumps(one.spec).replace("${ref:" + before + "}", "${ref:" + thing.ref + "}")
            one.spec = json.loads(text)
        for refs in (self.blind, self.hopeless):
            if before in refs:
                refs.add(thing.ref)
        if thing.known is not None and not thing.is_found:
            self.renamed.append((before, thing.ref))
        return True

    def pin(self, deed: Deed) -> bool:
        """Write the id that the service gave into the manifest, or take it out."""
        thing = self.things.get(deed.thing)
        if (
            thing is None
            or thing.known is None
            or thing.kind in ("AlertDefinition", "LogPolicySet")
        ):
            return False
        pinned = int(thing.known) if thing.kind == "SavedView" else thing.known
        thing.remote_id = pinned if thing.remote_id is None else None
        return True

    def _is_referred_to(self, thing: Thing) -> bool:
        hole = "${ref:" + thing.ref + "}"
        return any(hole in json.dumps(one.spec) for one in self.things.values())

    def remove(self, deed: Deed) -> bool:
        """Take a manifest away that nothing refers to."""
        thing = self.things.get(deed.thing)
        if thing is None or self._is_referred_to(thing):
            return False
        self.removed[deed.thing] = self.things.pop(deed.thing)
        return True

    def restore(self, deed: Deed) -> bool:
        """Put a manifest back that was taken away."""
        if deed.thing not in self.removed:
            return False
        thing = self.removed[deed.thing]
        if "${ref:" in json.dumps(thing.spec):
            # What it refers to may be gone or have another name by now.
            return False
        self.things[deed.thing] = self.removed.pop(deed.thing)
        return True

    def write(self, folder: Path, journal: str) -> None:
        """Write the project and all manifests into a folder."""
        shutil.rmtree(folder / "manifests", ignore_errors=True)
        environment: dict[str, Any] = {"journal": journal}
        profile = self.profile
        if profile.get("authorization") == "bearer":
            environment["authorization"] = "bearer"
        if self.still:
            environment.setdefault("api", {})["documentedSliOnly"] = True
        if profile.get("validation") == "documented":
            # It refuses to judge an SLO that it would take.
            environment.setdefault("api", {})["validateSlos"] = "none"
        if profile.get("queryObjects") == "json":
            environment.setdefault("api", {})["queryStyle"] = "json"
        project = {"manifests": ["manifests"], "environments": {"default": environment}}
        (folder / "reconciler.yaml").write_text(json.dumps(project), encoding="utf-8")
        texts: dict[str, list[str]] = {}
        for thing in self.things.values():
            # A pair of escapes is one character in JSON.
            escaped = thing.file.endswith(".json")
            document = thing.document()
            texts.setdefault(thing.file, []).append(json.dumps(document, ensure_ascii=escaped))
        for name, documents in texts.items():
            file = folder / "manifests" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("\n---\n".join(documents) + "\n", encoding="utf-8")
        (folder / "manifests").mkdir(exist_ok=True)
