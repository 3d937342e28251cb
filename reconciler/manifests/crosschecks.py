"""What no single manifest shows: twins, references that lead nowhere, cycles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reconciler.complaint import Complaint
from reconciler.document import Json
from reconciler.finding import Finding, warning
from reconciler.manifests.expressions import reference_findings
from reconciler.manifests.loading import Declared, Loader
from reconciler.resource import Ref


def workspace_complaints(loader: Loader) -> Iterator[Complaint]:
    """Yield what is wrong between the manifests of a workspace."""
    for check in (_twins, _shared_ids, _singletons, _cycles):
        yield from check(loader)


def _twins(loader: Loader) -> Iterator[Complaint]:
    """Complain of two manifests with one name, id or other identity, naming both places."""
    names: dict[Ref, Declared] = {}
    identities: dict[tuple[str, str, str], Declared] = {}
    for one in loader.declared:
        manifest = one.manifest
        other = names.setdefault(manifest.ref, one)
        if other is not one:
            said = f"`{manifest.ref}` is declared at {other.manifest.source} already"
            path = ("metadata", "name")
            yield one.text.complaint(Finding("M401", path, said))
            continue
        shared = dict(one.kind.identities(manifest))
        if manifest.remote_id is not None:
            shared["id"] = str(manifest.remote_id)
        for what, value in shared.items():
            twin = identities.setdefault((manifest.ref.kind, what, value.casefold()), one)
            if twin is not one:
                said = f"`{twin.manifest.ref}` at {twin.manifest.source} has this {what} too"
                path = ("metadata", "id" if what == "id" else "name")
                yield one.text.complaint(Finding("M402", path, f"{said}: `{value}`"))


def _shared_ids(loader: Loader) -> Iterator[Complaint]:
    """Warn of an id that every service gives out, where it is used in several environments."""
    for one in loader.declared:
        metadata = _metadata(one)
        value = metadata.get("id") if one.manifest.remote_id is not None else None
        limits = metadata.get("environments")
        names = limits if isinstance(limits, list) else sorted(loader.environments)
        if one.kind.id_form.counted and isinstance(value, int) and len(names) > 1:
            said = (
                f"the id {value} is used in {', '.join(map(str, names))}, and may be another "
                f"{one.kind.name} in each: write `ids: {{ENVIRONMENT: {value}}}`"
            )
            yield one.text.complaint(warning("M209", ("metadata", "id"), said))


def _metadata(one: Declared) -> dict[str, Json]:
    """Give `metadata` as it was written, expressions and all."""
    document = one.text.document.value
    metadata = document.get("metadata") if isinstance(document, dict) else None
    return metadata if isinstance(metadata, dict) else {}


def _singletons(loader: Loader) -> Iterator[Complaint]:
    first: dict[str, Declared] = {}
    for one in loader.declared:
        if not one.kind.singleton:
            continue
        other = first.setdefault(one.kind.name, one)
        if other is not one:
            said = (
                f"there is one {one.kind.name} for the whole service, and "
                f"`{other.manifest.ref}` at {other.manifest.source} is it: put all in one manifest"
            )
            yield one.text.complaint(Finding("M403", ("kind",), said))


def complain_of_lost_references(loader: Loader) -> None:
    """Note the references that lead to nothing in this environment."""
    known = dict.fromkeys(loader.elsewhere, False)
    known |= {one.manifest.ref: True for one in loader.declared}
    # One mistake is said once: what cannot be read is there all the same.
    known |= dict.fromkeys(loader.unusable, True)
    for one in loader.declared:
        for text, references in one.references:
            findings = reference_findings(references, known, loader.scope.environment)
            loader.complain(text, findings)


def _cycles(loader: Loader) -> Iterator[Complaint]:
    """Complain once of each cycle of references, at a manifest on it."""
    by_ref = {one.manifest.ref: one for one in loader.declared}
    done: set[Ref] = set()
    for start in by_ref:
        cycle = _cycle_from(start, by_ref, done)
        if cycle:
            said = "references form a cycle: " + " → ".join(map(str, (*cycle, cycle[0])))
            one = by_ref[cycle[0]]
            text, reference = next(
                (text, reference)
                for text, references in one.references
                for reference in references
                if reference.ref in cycle
            )
            yield text.complaint(Finding("M405", reference.path, said, spot=reference.spot))


def _cycle_from(start: Ref, by_ref: Mapping[Ref, Declared], done: set[Ref]) -> list[Ref]:
    """Walk depth first without recursion; give the first cycle met."""
    trail: dict[Ref, None] = {}
    stack: list[tuple[Ref, bool]] = [(start, False)]
    while stack:
        ref, left = stack.pop()
        if left:
            trail.popitem()
            done.add(ref)
            continue
        if ref in done or ref not in by_ref:
            continue
        if ref in trail:
            done.update(trail)
            walked = list(trail)
            return walked[walked.index(ref) :]
        trail[ref] = None
        stack.append((ref, True))
        stack.extend((inner, False) for inner in sorted(by_ref[ref].manifest.references))
    return []
