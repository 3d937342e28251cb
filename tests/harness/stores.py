"""Every store that a journal may be kept in, each in a place of its own.

A store is built by a callable without arguments. Each call gives another handle
on the same place, as another machine would have. Campaigns use these too.
"""

from __future__ import annotations

import os
import threading
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias
from unittest import mock
from uuid import uuid4

from harness.repositories import git_environ, repository
from reconciler.journal.file_store import FileStore
from reconciler.journal.git_store import GitRemote, GitStore
from reconciler.journal.journal import Journal
from reconciler.journal.object_store import Bucket, ObjectStore
from reconciler.journal.store import Lease, Store

Opening: TypeAlias = Callable[[], Store]

REF = "refs/reconciler/test"
BUCKET = "journals"


def git_store(checkout: Path, ref: str = REF) -> GitStore:
    """Give a store in a ref of a checkout's remote."""
    return GitStore(GitRemote(checkout, ref, "", git_environ(), lambda _: None), f"git:{ref}")


@contextmanager
def object_service() -> Iterator[Mapping[str, str]]:
    """Serve S3 on a port of this machine, one request after the other; give its environment.

    The emulated service looks and writes in two steps, so that two requests at
    once would both be the first.
    """
    from moto.moto_server.werkzeug_app import (  # noqa: PLC0415 - takes a second to import
        DomainDispatcherApplication,
        create_backend_app,
    )
    from werkzeug.serving import make_server  # noqa: PLC0415 - with it

    app = DomainDispatcherApplication(create_backend_app)
    server = make_server("127.0.0.1", 0, app, threaded=False)
    server.log_startup = lambda: None  # type: ignore[method-assign]  # silence
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    url = f"http://127.0.0.1:{server.port}"
    request = urllib.request.Request(f"{url}/{BUCKET}", method="PUT")  # noqa: S310 - loopback
    with urllib.request.urlopen(request):  # noqa: S310 - loopback
        pass
    try:
        yield {
            "AWS_ACCESS_KEY_ID": "canary-access",
            "AWS_SECRET_ACCESS_KEY": "canary-secret",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": url,
            "AWS_ALLOW_HTTP": "true",
        }
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _file(folder: Path) -> Opening:
    return lambda: FileStore(folder / "own" / "journal.jsonl")


def _git(folder: Path) -> Opening:
    checkout = repository(folder)
    return lambda: git_store(checkout)


def _s3(_: Path) -> Opening:
    url = f"s3://{BUCKET}/{uuid4()}"
    return lambda: ObjectStore(Bucket(url, os.environ))


STORES: dict[str, Callable[[Path], Opening]] = {"file": _file, "git": _git, "s3": _s3}
"""Every store: the only list of them in tests."""
SHARED = ("git", "s3")
"""Those that machines share."""


def opening(kind: str, folder: Path) -> Opening:
    """Give what opens a store of a kind in a place not used before.

    For `s3` the environment of `object_service` must be set.
    """
    return STORES[kind](folder)


NO_TIME = datetime(2025, 1, 31, 9, 0, tzinfo=UTC)


def journal_at(path: Path, *, environment: str = "local", target: str = "emulator") -> Journal:
    """Give the journal of a file, not read yet."""
    return Journal(
        store=FileStore(path), environment=environment, target=target, clock=lambda: NO_TIME
    )


def journal_on(
    store: Store, actor: str = "someone", *, environment: str = "local", target: str = "emulator"
) -> Journal:
    """Give a journal over a store, not read yet, at the present time."""
    return Journal(
        store=store,
        environment=environment,
        target=target,
        clock=lambda: datetime.now(UTC),
        who=lambda: actor,
    )


def lease(host: str = "host", pid: int = 1, run: str = "", actor: str = "someone") -> Lease:
    """Give a lease of fifteen minutes of long ago."""
    return Lease(
        owner="owner-1",
        host=host,
        pid=pid,
        since="2025-01-31T09:00:00Z",
        expires="2025-01-31T09:15:00Z",
        actor=actor,
        run=run,
    )


def with_environ(environ: Mapping[str, str]) -> mock._patch_dict:
    """Set an environment for a while."""
    return mock.patch.dict(os.environ, environ)
