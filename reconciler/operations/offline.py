"""Plans without a service, on an emulator in this process: empty, or filled from a revision.

What a revision declares is applied to the emulator, and the present declaration is planned on the
result. Emulator and journal are in a temporary folder. Source: docs/plan.md.
"""

import asyncio
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from reconciler import model
from reconciler.errors import InvalidInput
from reconciler.journal.journal import Journal
from reconciler.kinds import BY_NAME
from reconciler.model.guards import FLAGS
from reconciler.model.quoting import and_more
from reconciler.operations.apply_plan import Consent, plan_and_apply
from reconciler.operations.open_project import Options, Reporter, is_whole, today
from reconciler.operations.open_session import Session, open_workspace, read_journal
from reconciler.operations.plan_and_drift import plan_now
from reconciler.planning.guards import OverrideReasons
from reconciler.project import (
    Embedded,
    EmbeddedEmulator,
    Environment,
    Guards,
    Project,
    ProjectVariable,
)
from reconciler.report.safe import safe
from reconciler.workspace.expression_scope import Scope, withheld_from
from reconciler.workspace.revision import Revision, declared_at
from reconciler.workspace.workspace import Workspace

TARGET = "nothing live"
"""Target name of such plans. With it their digests differ from those of plans of a service."""

MOST_ERRORS = 10
_WHY = "nobody else sees it"
_AGREED = Consent(
    yes=True,
    flags=dict.fromkeys(FLAGS, _WHY),
    overridden=OverrideReasons(reason=_WHY),
)


class StandIns(Mapping[str, str]):
    """A substitute for any secret, the same for the same name, so no real secret is needed."""

    def __getitem__(self, name: str) -> str:
        """Return a substitute for a secret; it is not empty, as a service may refuse empty text."""
        return f"stand-in for {name}"

    def __iter__(self) -> Iterator[str]:
        """Yield nothing: no name is known in advance."""
        return iter(())

    def __len__(self) -> int:
        """Return 0: no name is known in advance."""
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Offline:
    """The present declaration, on an emulator of its own in a temporary `folder`.

    `refused` are resources that the emulator did not accept. `unknown` are declared with ids from
    the service that are unknown here.
    """

    session: Session
    options: Options
    folder: Path
    refused: tuple[model.Ref, ...] = ()
    unknown: tuple[model.Ref, ...] = ()

    def plan(self) -> model.Plan:
        """Plan the present declaration; against a revision, add what the emulator lacks."""
        made = asyncio.run(plan_now(self.session, self.session.journal().history))
        against = self.session.against
        if against is None:
            return made
        new = {change.ref for change in made.changes if change.action is model.Action.CREATE}
        unknown = tuple(ref for ref in self.unknown if ref in new)
        remarks = [model.BaseRefused(self.refused)] if self.refused else []
        return replace(
            made,
            against=against,
            remarks=(*made.remarks, *remarks, *([model.OnlyLiveKnows(unknown)] if unknown else [])),
            changes=tuple(replace(change, evidence=model.Evidence.BASE) for change in made.changes),
        )

    def holding(self, revision: Revision) -> Self:
        """Return a copy with a fresh emulator that holds what a revision declares.

        Raises UsageError where the revision cannot be read, and InvalidInput where its declaration
        is not valid.
        """
        declared = self._declared(revision)
        place = self.folder / "base"
        place.mkdir()
        session = _in_folder(self.session, place)
        refused = _apply(replace(session, workspace=_Ids({}).put_into(declared), whole=True))
        journal = cache(partial(read_journal, session))
        known = _Ids.of(declared, journal())
        return replace(
            self,
            session=replace(
                session,
                workspace=known.put_into(self.session.workspace),
                others=tuple(map(known.put, self.session.others)),
                early=journal,
                against=model.Against(revision.asked, revision.commit),
            ),
            refused=refused,
            unknown=tuple(
                manifest.ref
                for manifest in self.session.workspace.manifests
                if known.lacks(manifest)
            ),
        )

    def _declared(self, revision: Revision) -> Workspace:
        files = self.folder / "files"
        files.mkdir()
        scope = stand_in_scope(self.session.name, {})
        found = declared_at(revision, files, self.session.project, scope, self.options.paths)
        if found.wrong:
            more = filter(None, [and_more(len(found.wrong) - MOST_ERRORS)])
            headline = (
                f"nothing can be planned against {revision}, as what it declares is not valid "
                "there:"
            )
            raise InvalidInput("\n".join((headline, *found.wrong[:MOST_ERRORS], *more)))
        for remark in found.said:
            self.session.reporter.say(safe(f"{revision}: {remark}"))
        return found.workspace


@contextmanager
def opened_offline(
    options: Options, project: Project, name: str, environment: Environment
) -> Iterator[Offline]:
    """Open the present declaration, on an emulator that is still empty.

    No target, key or secret is needed, and nothing of the environment itself is touched. Raises
    InvalidInput for wrong manifests.
    """
    scope = replace(stand_in_scope(name, environment.variables), selection=options.selection)
    workspace = open_workspace(options, project, scope)
    whole = is_whole(options, project) and not options.selection
    with TemporaryDirectory(prefix="reconciler-") as folder:
        place = Path(folder)
        session = Session(
            project=project,
            name=name,
            environment=Environment(guards=environment.guards, **environment.settings_offline()),
            target=Embedded(place, TARGET),
            workspace=workspace,
            whole=whole,
            others=workspace.left_out,
            selected=options.selection.leaving_out(len(workspace.left_out)),
            waits=options.waits,
            reporter=options.reporter,
        )
        yield Offline(session=_in_folder(session, place), options=options, folder=place)


def in_folder(environment: Environment, folder: Path) -> Environment:
    """Return an environment on the embedded emulator, with data and journal in a folder."""
    places = {
        "emulator": EmbeddedEmulator(data=str(folder / "emulator.db")),
        "journal": str(folder / "journal.jsonl"),
    }
    return environment.model_copy(update=places)


def _in_folder(session: Session, folder: Path) -> Session:
    environment = in_folder(session.environment, folder)
    return replace(
        session, environment=environment, target=Embedded(folder / "emulator.db", TARGET)
    )


def stand_in_scope(name: str, variables: Mapping[str, ProjectVariable]) -> Scope:
    """Return what expressions may name in both declarations, with substitutes for secrets.

    Seals have the salt of the temporary journal.
    """
    return Scope(
        name,
        variables,
        StandIns(),
        salt=lambda: f"{name}\0{TARGET}",
        withheld=withheld_from(os.environ),
        today=today(),
    )


def _apply(session: Session) -> tuple[model.Ref, ...]:
    """Apply what the revision declares, without output; return what the emulator did not accept.

    Guards and rules of plans do not apply to merged manifests. Raises KeyboardInterrupt
    where a signal ended the run.
    """
    settings = session.project.settings.model_copy(update={"rules": []})
    session = replace(
        session,
        project=replace(session.project, settings=settings),
        environment=session.environment.model_copy(update={"guards": Guards()}),
        others=(),
        selected=None,
        reporter=Reporter(),
    )
    made, applied = plan_and_apply(session, lambda _: _AGREED, "plan")
    if applied is None or applied.signal_code is not None:
        raise KeyboardInterrupt
    done = {
        outcome.ref
        for outcome in applied.outcomes
        if isinstance(outcome, model.Written | model.Unchanged)
    }
    unchanged = {change.ref for change in made.changes if change.action is model.Action.KEEP}
    return tuple(change.ref for change in made.declared if change.ref not in done | unchanged)


@dataclass(frozen=True, slots=True)
class _Ids:
    """Ids from the service, by kind: each with the id of the same object on the emulator."""

    here: Mapping[tuple[str, model.RemoteId], model.RemoteId | None]

    @classmethod
    def of(cls, declared: Workspace, journal: Journal) -> Self:
        return cls(
            {
                (manifest.ref.kind, manifest.remote_id): journal.history.of(manifest.ref).remote_id
                for manifest in declared.manifests
                if manifest.remote_id is not None and _is_given(manifest)
            }
        )

    def put(self, manifest: model.Manifest) -> model.Manifest:
        """Return a manifest with the id that its object has here, so a rename is recognised."""
        if manifest.remote_id is None or not _is_given(manifest):
            return manifest
        return replace(manifest, remote_id=self.here.get((manifest.ref.kind, manifest.remote_id)))

    def put_into(self, workspace: Workspace) -> Workspace:
        return replace(
            workspace,
            manifests=tuple(map(self.put, workspace.manifests)),
            left_out=tuple(map(self.put, workspace.left_out)),
        )

    def lacks(self, manifest: model.Manifest) -> bool:
        """Return whether a manifest names an object that does not exist here."""
        return manifest.remote_id is not None and self.put(manifest).remote_id is None


def _is_given(manifest: model.Manifest) -> bool:
    """Return whether only the service assigns the ids of such an object."""
    kind = BY_NAME[manifest.ref.kind]
    return not (kind.id_form.required or kind.findable)
