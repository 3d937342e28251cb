"""`reconciler doctor`: check all that a run needs, with reads only."""

from __future__ import annotations

import asyncio
import os
import ssl
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import click

from reconciler.api.secret import key_from
from reconciler.api.wire import proxy_for
from reconciler.cli import options
from reconciler.cli.console import data, json_data, stdout_style
from reconciler.errors import ExitCode, ReconcilerError, worst
from reconciler.features.doctor.permissions import Check, DoctorDocument, check_service
from reconciler.journal.entries import RunEntry
from reconciler.journal.journal import Journal
from reconciler.operations.offline import stand_in_scope
from reconciler.operations.open_project import Options, lead_here, now, open_project
from reconciler.operations.open_session import Session, open_api, read_workspace
from reconciler.operations.secret_sources import named_secrets, secrets_of
from reconciler.project import (
    BASE_URL,
    Embedded,
    Environment,
    Service,
    Target,
    choose_environment,
    choose_target,
    in_shard,
)
from reconciler.report.safe import columns, safe
from reconciler.report.table import Colour, Style, wrapped
from reconciler.report.words import plural
from reconciler.runtime.advice import bring_back, on_journal
from reconciler.runtime.cache import open_cache
from reconciler.runtime.connection import KEY_VARIABLE
from reconciler.workspace.workspace import Workspace

_MARGIN = " " * len("warning  ")
_COLOURS = {"ok": Colour.GREEN, "warning": Colour.YELLOW, "failed": Colour.RED}


@click.command
@options.connected
@options.formats("text", "json")
def doctor(*, options: Options, form: str) -> int:
    """Check project file, cache, target, key, permissions, clock, proxy, TLS and journal.

    Nothing is changed, and no secret is printed. Exits with the code of the
    worst that was found.
    """
    checks = _checks(options)
    code = worst({check.exit_code for check in checks if check.exit_code})
    if form == "json":
        document: DoctorDocument = [
            {"check": check.name, "state": check.state, "detail": check.detail} for check in checks
        ]
        return json_data(document, ending=code)
    style, widest = stdout_style(verbose=options.verbose), max(len(check.name) for check in checks)
    lines = [line for check in checks for line in _lines(check, widest, style)]
    return data("".join(f"{line}\n" for line in lines), ending=code)


def _lines(check: Check, widest: int, style: Style) -> Iterator[str]:
    """Yield the lines of one check; its detail is on lines below where one line is too short."""
    state = style.paint(check.state.ljust(len(_MARGIN) - 2), _COLOURS[check.state])
    beside = f"{check.name.ljust(widest)}  {safe(check.detail)}"
    if not style.terminal or len(_MARGIN) + columns(beside) <= style.width:
        yield f"{state}  {beside}"
        return
    yield f"{state}  {check.name}"
    yield from wrapped(check.detail, style, margin=_MARGIN + "  ")


def _failed(name: str, error: ReconcilerError) -> Check:
    return Check(name, "failed", str(error), error.exit_code)


def _checks(options: Options) -> list[Check]:
    """Return the checks in their order; a failed check ends those that depend on it."""
    try:
        project = open_project(options)
    except ReconcilerError as error:
        return [_failed("project file", error)]
    where = str(project.file) if project.file is not None else f"none; root {project.root}"
    checks = [Check("project file", "ok", where), _cache(project.root)]
    try:
        name, environment = choose_environment(project, options.environment)
        environment = in_shard(environment, options.shard)
        lead_here(options, project, name)
        checks.append(Check("environment", "ok", name))
        target = choose_target(project, name, environment, os.environ)
    except ReconcilerError as error:
        return [*checks, _failed("target", error)]
    named = named_secrets(options, project, name, environment)
    session = Session(
        project=project,
        name=name,
        environment=environment,
        target=target,
        workspace=Workspace(),
        whole=False,
        named=named,
        waits=options.waits,
        reporter=options.reporter,
    )
    way = [Check("target", "ok", _describe(target, environment))]
    if isinstance(target, Service):
        way += [_key(), _proxy(target), _tls(target)]
    checks += [*way, *_journal(session, options), *_secrets(session)]
    if all(check.state != "failed" for check in way):
        checks += asyncio.run(_service(session))
    return checks


def _describe(target: Target, environment: Environment) -> str:
    if isinstance(target, Embedded):
        return f"the embedded emulator, {target.data}"
    return f"{target.base_url}, from {'reconciler.yaml' if environment.base_url else BASE_URL}"


def _key() -> Check:
    try:
        key_from(os.environ)
    except ReconcilerError as error:
        return _failed("key", error)
    return Check("key", "ok", f"present, from {KEY_VARIABLE}")


def _secrets(session: Session) -> Iterator[Check]:
    """Yield for each listed secret where it comes from, and whether a plan can read it."""
    known = secrets_of(session.project, session.name, session.environment, os.environ)
    for name in known.places:
        if why := known.why(name):
            yield Check(f"secret {name}", "failed", why, ExitCode.INVALID)
        else:
            yield Check(f"secret {name}", "ok", f"present, from {known.origin(name)}")


def _proxy(target: Service) -> Check:
    proxy = proxy_for(target.base_url)
    if not proxy:
        return Check("proxy", "ok", "none for this target")
    try:
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return Check("proxy", "failed", "that of the environment is not a URL", ExitCode.USAGE)
    # Without its user name and password.
    return Check("proxy", "ok", f"{parts.scheme}://{parts.hostname}{port}")


def _cache(root: Path) -> Check:
    """Return the state of the cache. A run without a cache is slower, and otherwise the same."""
    cache = open_cache(os.environ, root)
    if not cache.is_on:
        return Check("cache", "warning", f"none: {cache.why_not}")
    count, size = cache.held()
    entries = plural(count, "entry", "entries")
    return Check("cache", "ok", f"{cache.folder}, {entries}, {size / 1e6:,.1f} MB")


def _tls(target: Service) -> Check:
    if target.base_url.startswith("http:"):
        return Check("TLS", "warning", "none: the target is on this machine")
    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    try:
        if file or folder:
            ssl.create_default_context(cafile=file, capath=None if file else folder)
    except OSError as error:
        detail = f"the certificates of {file or folder} cannot be read: {error.strerror or error}"
        return Check("TLS", "failed", detail, ExitCode.USAGE)
    return Check("TLS", "ok", f"certificates of {file or folder or 'the bundled authorities'}")


def _journal(session: Session, options: Options) -> list[Check]:
    try:
        journal = session.journal()
        holder = journal.holder()
    except ReconcilerError as error:
        return [_failed("journal", error)]
    if journal.header is None and not journal.torn:
        return [_no_journal(session, journal, options)]
    torn = "; the last line is torn, as by a crash" if journal.torn else ""
    detail = f"{journal.place}, {plural(len(journal.entries), 'entry', 'entries')}{torn}"
    runs = [entry for entry in journal.entries if isinstance(entry, RunEntry)]
    if runs:
        newest = max(runs, key=lambda run: run.at)
        detail += f"; the newest run: {newest.command} by {newest.actor} at {newest.at}"
    if journal.is_old_copy:
        detail += f"; an old copy, as the end of a run is missing: {bring_back('the newer one')}"
    is_open = _is_open_to_others(journal.place)
    if is_open:
        detail += "; others can write to it, so it proves nothing: take that away with `chmod o-w`"
    bad = torn or journal.is_old_copy or is_open
    checks = [Check("journal", "warning" if bad else "ok", detail)]
    unsettled = [*map(str, journal.history.unsettled())]
    if unsettled:
        settle = on_journal("settle", f"{unsettled[0]} --id ID", environment=session.name)
        ways = f"`{settle}`, or `--never-happened` in place of `--id ID`"
        detail = f"{', '.join(unsettled)}; say what became of each: {ways}"
        checks.append(Check("unsettled", "failed", detail, 7))
    lock = Check("lock", "warning", f"held by {holder}") if holder else Check("lock", "ok", "free")
    return [*checks, lock]


def _is_open_to_others(place: str) -> bool:
    """Return whether everyone can write to a journal; False where it is no file."""
    with suppress(OSError, ValueError):
        return bool(Path(place).stat().st_mode & stat.S_IWOTH)
    return False


def _no_journal(session: Session, journal: Journal, options: Options) -> Check:
    """Return the check of a missing journal: after a loss it is unknown what was applied."""
    if journal.is_gone:
        return Check("journal", "warning", journal.why_missing)
    known = 0 if isinstance(session.target, Embedded) else _declared_ids(session, options)
    if known:
        detail = (
            f"none at {journal.place}, and {known:,} declared resources have an id: if they were "
            f"applied before, it is lost: {bring_back()}"
        )
        return Check("journal", "warning", detail)
    return Check("journal", "ok", f"none yet; it will be {journal.place}")


def _declared_ids(session: Session, options: Options) -> int:
    """Return the number of declared resources with an id; 0 if the manifests cannot be read."""
    scope = stand_in_scope(session.name, session.environment.variables)
    try:
        workspace = read_workspace(options, session.project, scope)
    except ReconcilerError:
        return 0
    return sum(manifest.remote_id is not None for manifest in workspace.manifests)


async def _service(session: Session) -> list[Check]:
    try:
        async with open_api(session) as api:
            checks = await check_service(api, now())
    except ReconcilerError as error:
        return [_failed("service", error)]
    if isinstance(session.target, Embedded):
        # It uses the clock of this process, and there is no server that reports the time.
        return [check for check in checks if check.name != "clock"]
    return checks
