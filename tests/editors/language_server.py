"""The YAML language server that editors use, asked by hand over its own streams."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import pytest

ROOT = Path(__file__).parents[2]
SERVER = ROOT / "build/editors/node_modules/yaml-language-server/bin/yaml-language-server"
# Whatever would ask another host stays off.
SETTINGS = {
    "yaml": {
        "validate": True,
        "hover": True,
        "completion": True,
        "schemaStore": {"enable": False},
        "kubernetesCRDStore": {"enable": False},
    }
}


@dataclass
class LanguageServer:
    """A running server, and what it said last of each file."""

    said: IO[bytes]
    asked: IO[bytes]
    number: int = 0
    diagnostics: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def ask(self, method: str, params: object) -> Any:
        """Ask, and wait for the answer."""
        self.number += 1
        number = self.number
        self._send({"id": number, "method": method, "params": params})
        while True:
            message = self._next()
            if message.get("id") == number and "method" not in message:
                assert "error" not in message, message
                return message["result"]

    def tell(self, method: str, params: object) -> None:
        """Tell something that has no answer."""
        self._send({"method": method, "params": params})

    def open(self, file: Path, text: str) -> None:
        """Open a file as an editor does."""
        document = {"uri": file.as_uri(), "languageId": "yaml", "version": 1, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})

    def first_wrong(self, file: Path) -> list[dict[str, Any]]:
        """Wait until something is wrong with a file, and give all that is."""
        while not self.diagnostics.get(file.as_uri()):
            self._next()
        return self.diagnostics[file.as_uri()]

    def completion(self, file: Path, line: int, column: int) -> list[str]:
        """Give what could be written at a place, from 0."""
        found = self.ask("textDocument/completion", _place(file, line, column))
        items = found["items"] if isinstance(found, dict) else found or []
        return [value["label"] for value in items]

    def hover(self, file: Path, line: int, column: int) -> str:
        """Give what is told of a place, from 0."""
        found = self.ask("textDocument/hover", _place(file, line, column))
        return found["contents"]["value"] if found else ""

    def _send(self, message: dict[str, object]) -> None:
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.asked.write(b"Content-Length: %d\r\n\r\n%s" % (len(content), content))
        self.asked.flush()

    def _next(self) -> dict[str, Any]:
        """Take a message; what the server asks back is answered at once."""
        length = 0
        while (line := self.said.readline().strip()) != b"":
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        assert length, "the language server has ended"
        message: dict[str, Any] = json.loads(self.said.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            given = message["params"]
            self.diagnostics[given["uri"]] = given["diagnostics"]
        elif "method" in message and "id" in message:
            self._send({"id": message["id"], "result": _answer(message)})
        return message


def _place(file: Path, line: int, column: int) -> dict[str, object]:
    return {
        "textDocument": {"uri": file.as_uri()},
        "position": {"line": line, "character": column},
    }


def _answer(message: dict[str, Any]) -> object:
    if message["method"] != "workspace/configuration":
        return None
    return [SETTINGS.get(item.get("section", "")) for item in message["params"]["items"]]


@contextmanager
def language_server(folder: Path) -> Iterator[LanguageServer]:
    """Start a server for a folder; skip where it is not installed."""
    node = shutil.which("node")
    if node is None or not SERVER.exists():
        pytest.skip("needs Debian package npm, and `make build/editors/.done`")
    with subprocess.Popen(
        [node, SERVER, "--stdio"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        server = LanguageServer(process.stdout, process.stdin)
        able = {
            "workspace": {"configuration": True},
            "textDocument": {"hover": {"contentFormat": ["markdown"]}, "completion": {}},
        }
        folders = [{"uri": folder.as_uri(), "name": "shop"}]
        server.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": folder.as_uri(),
                "workspaceFolders": folders,
                "capabilities": able,
            },
        )
        server.tell("initialized", {})
        server.tell("workspace/didChangeConfiguration", {"settings": SETTINGS})
        yield server
        process.kill()
