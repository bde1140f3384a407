"""Options, marks and the order of the tests; the fixtures of all are in `fixtures/`."""

import signal

import pytest
from hypothesis import settings
from tests.kept_processes import share_processes
from tests.successor import use_zensical

from xlareport.runtime.garbage_collection import collect_rarely

pytest_plugins = [
    "tests.fixtures.browser",
    "tests.fixtures.reports",  # before those that import it
    "tests.fixtures.dumps",
    "tests.fixtures.processes",
    "tests.fixtures.snapshots",
]
SLOW = ("browser", "packaging")
"""Marks of tests that take seconds each."""

# No test looks at a clock: under load an example may take any time.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--snapshot-update",
        action="store_true",
        help="write the goldens under tests/**/expected/ instead of comparing with them",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "browser: drives Chromium over the built pages")
    config.addinivalue_line("markers", "packaging: builds and installs the wheel (slow, network)")
    use_zensical()
    share_processes()
    collect_rarely()  # as a build does
    config.option.loadscopereorder = False  # of pytest-xdist: files in the order that follows
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a job in the background, with nohup
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, so that no worker ends with one of them alone."""
    slow = {item.path for item in items if any(map(item.get_closest_marker, SLOW))}
    items.sort(key=lambda item: item.path not in slow)
