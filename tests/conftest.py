"""How many random examples a run tries, which watches go along, and what is run first.

`--hypothesis-profile=long --longest 0 -o faulthandler_timeout=0` tries many.
"""

import gc
import signal
import sys
from collections.abc import Iterator

import pytest
from hypothesis import Phase, settings
from hypothesis.internal.conjecture import engine

from reconciler.__main__ import GARBAGE_THRESHOLDS
from reconciler.cli import console
from reconciler.runtime.advice import Here, lead_to
from reconciler.runtime.cache import VARIABLE

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LONG = frozenset(("campaigns", "recipes"))
"""The folders of tests that take longest."""

pytest_plugins = ["harness.patience", "harness.canaries", "harness.fixtures", "harness.golden"]

# A loaded machine is no fault of the code, so no example has a deadline.
settings.register_profile("short", deadline=None, max_examples=20)
settings.register_profile("quick", deadline=None, max_examples=5)
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
# jsonschema would build forty parsers of IRIs on import, for formats that no schema here has.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]  # so it is not there
# httpx looks for it at each request to an application in this process, and never finds it.
sys.modules["sniffio"] = None  # type: ignore[assignment]  # so it is not there
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


@pytest.fixture(autouse=True, scope="module")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let runs keep what they read apart from what this user's runs keep.

    Each module has its own: a run that keeps something looks at all that is kept.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(tmp_path_factory.mktemp("kept") / "cache"))
        yield


@pytest.fixture(autouse=True)
def _own_process() -> Iterator[None]:
    """Give back what a run in this process leaves: signals, where advice leads, known secrets."""
    lead_to(Here())
    console._redaction.clear()
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in before.items():
        if signal.getsignal(number) is not handler:
            signal.signal(number, handler)


def pytest_collection() -> None:
    """Look for no garbage while tests are collected: all that is made then is kept."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Leave what was collected out of every later look for garbage."""
    gc.freeze()
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes longest: at the end the other workers would wait for it."""
    promise = config.getoption("--promise")
    if promise:
        items[:] = [item for item in items if promise in promises_of(item)]
    items.sort(key=lambda item: LONG.isdisjoint(item.path.parts))


def promises_of(item: pytest.Item) -> set[str]:
    """Give the promises of docs/reliability.md that a test is a law of."""
    return {str(name) for mark in item.iter_markers("promise") for name in mark.args}
