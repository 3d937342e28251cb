"""No test hangs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HANGING = """\
import os, socket, subprocess, sys, threading
from concurrent.futures import ThreadPoolExecutor

def test_barrier():
    threading.Barrier(2).wait()

def test_child():
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]):
        raise ValueError

def test_line():
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"ready"

def test_socket():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.accept()

def test_caught():
    try:
        threading.Event().wait()
    except Exception:
        pass

def test_next():
    assert subprocess.run([sys.executable, "-c", ""], check=True).returncode == 0
"""


def test_what_waits_for_ever(tmp_path: Path) -> None:
    """A test that waits for ever fails at the line where it waits, and the next ones run."""
    file = tmp_path / "test_hanging.py"
    file.write_text(HANGING, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "harness.patience", "-p", "no:randomly"]
    command += ["-p", "no:cacheprovider", "--longest", "1", "--tb=short", file.name]
    ended = subprocess.run(
        command,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert "5 failed, 1 passed" in ended.stdout
    for line in (5, 9, 14, 18, 22):
        assert f"test_hanging.py:{line}: in " in ended.stdout
    assert "were ended: " in ended.stdout
