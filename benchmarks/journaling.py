"""Journaling an apply: time and bytes of each append, in a file, in git and in a bucket.

`JOURNALING` is the number of resources, 20,000 unless told. The floor is the same number of
appends while the journal is short: where the ratio stays near 1, the work is not quadratic.
A journal of years is read.
The bucket is in memory, behind the client that a real one is asked by.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from obstore.store import MemoryStore

from benchmarks.manifests import dashboard_spec
from reconciler.journal.entries import Entry, Started, WrittenEntry
from reconciler.journal.file_store import FileStore
from reconciler.journal.git_store import GitRemote, GitStore
from reconciler.journal.journal import Journal
from reconciler.journal.object_store import Bucket, ObjectStore
from reconciler.journal.store import Store
from reconciler.model import Ref

TOGETHER = 16
AT = "2025-01-31T09:00:00Z"
TENTH = 10
TARGET = 2.0


def run() -> None:
    """Print the figures."""
    count = int(os.environ.get("JOURNALING", "20000"))
    print(f"journaling {count:,} resources, {TOGETHER} at once: each append twice, by the clock")
    for name in ("file", "git", "bucket"):
        with tempfile.TemporaryDirectory() as folder, _store(name, Path(folder)) as store:
            took, size = _journal(store, count)
            first, last = took[: len(took) // TENTH], took[-len(took) // TENTH :]
            again = time.perf_counter()
            _opened(store).load()
            again = time.perf_counter() - again
        print(
            f"  {name:8} {size / 1e6:6.1f} MB, {sum(took):7.1f} s in {len(took):,} appends; "
            f"the first tenth {median(first) * 1e3:.1f} ms each, the last {median(last) * 1e3:.1f} "
            f"ms ({median(last) / median(first):.2f} x, target {TARGET:g}); read {again:.1f} s"
        )
    with tempfile.TemporaryDirectory() as folder:
        _long(Path(folder), count // TENTH)


def _long(folder: Path, count: int) -> None:
    """Read a journal in which each resource was written ten times."""
    store = FileStore(folder / "own" / "journal.jsonl")
    for _ in range(TENTH):
        _journal(store, count)
    began = time.process_time()
    _opened(store).load()
    took = time.process_time() - began
    print(
        f"  {count:,} resources written {TENTH} times, {len(store.read()) / 1e6:.1f} MB: "
        f"read in {took:.2f} s of processor"
    )


def _opened(store: Store) -> Journal:
    return Journal(
        store=store,
        environment="default",
        target="https://x",
        clock=lambda: datetime.now(UTC),
    )


def _journal(store: Store, count: int) -> tuple[list[float], int]:
    """Append as an apply does; give the seconds of each append, and the bytes at the end."""
    journal = _opened(store)
    journal.load()
    took: list[float] = []

    def append(entries: list[Entry]) -> None:
        began = time.perf_counter()
        journal.append(entries)
        took.append(time.perf_counter() - began)

    spec = dashboard_spec(2)
    with journal.locked():
        journal.begin(journal.run_entry("run", "apply"))
        for begin in range(0, count, TOGETHER):
            refs = [Ref("Dashboard", f"service-{at}") for at in range(begin, begin + TOGETHER)]
            append(
                [
                    Started(
                        at=AT,
                        ref=ref,
                        run="run",
                        operation="create",
                        remote_id=None,
                        request_id=ref.name,
                        seen="",
                        declared=spec,
                    )
                    for ref in refs
                ]
            )
            append([WrittenEntry(at=AT, ref=ref, run="run", remote_id=ref.name) for ref in refs])
        size = len(store.read())
    return took, size


@contextmanager
def _store(name: str, folder: Path) -> Iterator[Store]:
    match name:
        case "file":
            yield FileStore(folder / "own" / "journal.jsonl")
        case "git":
            remote, checkout = folder / "remote.git", folder / "checkout"
            for words in (["init", "-q", "--bare", str(remote)], ["init", "-q", str(checkout)]):
                subprocess.run(["git", *words], check=True)  # noqa: S603, S607 - git of the PATH
            subprocess.run(  # noqa: S603 - git of the PATH
                ["git", "-C", str(checkout), "remote", "add", "origin", str(remote)],  # noqa: S607 - the same
                check=True,
            )
            yield GitStore(GitRemote(checkout, "refs/reconciler/bench", "", os.environ), "git")
        case _:
            bucket = Bucket("memory://", os.environ)
            bucket._opened = MemoryStore()  # noqa: SLF001 - what a bucket is asked by
            yield ObjectStore(bucket)
