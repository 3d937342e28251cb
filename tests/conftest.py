"""How many random examples a run tries, and the demo company.

`--hypothesis-profile=long --longest 0 -o faulthandler_timeout=0` tries many.
"""

import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from canaries import no_canary_is_told
from hypothesis import Phase, settings
from hypothesis.internal.conjecture import engine
from shops import Shop, open_shop, seed

from reconciler.advice import Here, lead_to

__all__ = ["no_canary_is_told"]

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

pytest_plugins = ["patience", "served_fixtures", "site_fixtures", "store_fixtures"]

# A loaded machine is no fault of the code, so no example has a deadline.
settings.register_profile("short", deadline=None, max_examples=20)
settings.register_profile("long", deadline=None, max_examples=4_000)
# The same few examples for each mutant, of which there are thousands; a failure need not be short.
settings.register_profile(
    "mutation",
    deadline=None,
    max_examples=25,
    derandomize=True,
    database=None,
    phases=(Phase.explicit, Phase.generate),
)
settings.load_profile("short")
# A law that fails is told before the test counts as one that waits for ever.
engine.MAX_SHRINKING_SECONDS = 60


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let one promise of docs/reliability.md be tried by itself, as `--promise P14`."""
    parser.addoption("--promise", metavar="PN", help="only the laws of one promise, as P14")


def pytest_configure() -> None:
    """Take back the signals that a shell took away: children would ignore them too."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(autouse=True)
def _own_process() -> Iterator[None]:
    """Give back what a run in this process leaves: ignored signals, and where advice leads."""
    lead_to(Here())
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in before.items():
        if signal.getsignal(number) is not handler:
            signal.signal(number, handler)


@pytest.fixture(scope="session")
def demo_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return seed(tmp_path_factory.mktemp("demo"))


@pytest.fixture
def shop(
    tmp_path: Path,
    demo_data: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Shop:
    return open_shop(tmp_path, demo_data, monkeypatch, capsys)


@pytest.fixture
def unused_port() -> int:
    """Give a port of this machine that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the campaigns, which take longest: at the end the other workers would wait."""
    promise = config.getoption("--promise")
    if promise:
        items[:] = [item for item in items if promise in promises_of(item)]
    items.sort(key=lambda item: "campaigns" not in item.path.parts)


def promises_of(item: pytest.Item) -> set[str]:
    """Give the promises of docs/reliability.md that a test is a law of."""
    return {str(name) for mark in item.iter_markers("promise") for name in mark.args}
