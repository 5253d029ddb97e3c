"""Fixtures of a server per run of pytest, shared by the workers of pytest-xdist.

dynalith            the server (dynalith.Dynalith), one for the whole run
dynalith_namespace  this worker's own tables (dynalith.Namespace)
dynalith_seed       does nothing: override it, with scope="session", to make tables and items once in each worker
dynamodb            .client and .resource of boto3 in that namespace; what the test changes is rolled back after it
dynalith_clock      the clock of that namespace, set back after the test
dynalith_faults     rules by which requests fail, cleared after the test
dynalith_races      dynalith.races(): finds an order of the requests of some functions that fails

Options, in pyproject.toml under [tool.pytest.ini_options]: dynalith_arguments, options of the server; dynalith_files, what `dynalith apply` reads before
the first test; dynalith_url, a server that runs already; dynalith_in_process = true, a server within each worker's own process, without a socket.
"""
from __future__ import annotations

import functools
from typing import Any, Iterator

import pytest

from dynalith import Clock, Dynalith, DynalithError, Faults, Namespace, races

CHECKPOINT = "pytest"


def pytest_addoption(parser):
    parser.addini("dynalith_arguments", "options of the server, as on its command line", type="args", default=[])
    parser.addini("dynalith_files", "templates and data that are loaded for each worker before its first test", type="paths", default=[])
    parser.addini("dynalith_in_process", "the server is a library in the process of the tests", type="bool", default=False)
    parser.addini("dynalith_url", "address of a server that runs already; else one is started", default="")


def _server(config):
    """The run's server, started when it is wanted first."""
    if not hasattr(config, "_dynalith"):
        from_controller = getattr(config, "workerinput", {}).get("dynalith")
        url = config.getini("dynalith_url")
        if from_controller:
            config._dynalith = Dynalith(url=from_controller[0], log_path=from_controller[1])
        else:
            in_process = config.getini("dynalith_in_process")
            try:
                config._dynalith = Dynalith(url=url) if url else Dynalith(*config.getini("dynalith_arguments"), in_process=in_process)
            except DynalithError as error:  # no test can run: the reason alone, without a traceback for each
                pytest.exit(str(error), returncode=pytest.ExitCode.USAGE_ERROR)
    return config._dynalith


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """In the controller of pytest-xdist, once for each worker before it starts."""
    if node.config.getini("dynalith_in_process") and not node.config.getini("dynalith_url"):
        return  # each worker has its own
    server = _server(node.config)
    node.workerinput["dynalith"] = (server.url, server.log_path)


def pytest_unconfigure(config):
    if hasattr(config, "_dynalith"):
        config._dynalith.stop()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.failed and hasattr(item.config, "_dynalith"):
        text = item.config._dynalith.log(getattr(item, "_dynalith_log_start", 0))
        if text:
            report.sections.append(("log of dynalith", text))


def pytest_runtest_setup(item):
    server = getattr(item.config, "_dynalith", None)
    if server:
        item._dynalith_log_start = server.log_size()


@pytest.fixture(scope="session")
def dynalith(pytestconfig: pytest.Config) -> Dynalith:
    """The server, one for the whole run."""
    return _server(pytestconfig)


@pytest.fixture(scope="session")
def dynalith_namespace(dynalith: Dynalith, pytestconfig: pytest.Config) -> Iterator[Namespace]:
    """This worker's own tables."""
    worker = getattr(pytestconfig, "workerinput", {}).get("workerid", "gw0")
    namespace = dynalith.namespace(int(worker[2:]) + 1)
    files = pytestconfig.getini("dynalith_files")
    if files:
        namespace.apply(*files)
    yield namespace
    namespace.reset()


@pytest.fixture(scope="session")
def dynalith_seed(dynalith_namespace: Namespace) -> None:
    """Override it to make tables and items once in each worker: def dynalith_seed(dynalith_namespace): ..."""


class DynamoDB:
    """What the fixture dynamodb gives: a client and a resource of boto3 for this worker's tables."""

    def __init__(self, namespace: Namespace) -> None:
        self.namespace = namespace
        self.client: Any = namespace.client()
        self.resource: Any = namespace.resource()


@pytest.fixture(scope="session")
def _dynalith_sdk(dynalith_namespace: Namespace) -> DynamoDB:
    return DynamoDB(dynalith_namespace)  # once: making a client of boto3 takes longer than most tests


@pytest.fixture
def _dynalith_rollback(dynalith_namespace: Namespace, dynalith_seed: None) -> Iterator[None]:
    dynalith_namespace.checkpoint(CHECKPOINT)
    yield
    dynalith_namespace.rollback(CHECKPOINT)
    dynalith_namespace.forget(CHECKPOINT)


@pytest.fixture
def dynamodb(_dynalith_sdk: DynamoDB, _dynalith_rollback: None) -> DynamoDB:
    """.client and .resource of boto3; what the test changes is rolled back after it."""
    return _dynalith_sdk


@pytest.fixture
def dynalith_clock(dynalith_namespace: Namespace, _dynalith_rollback: None) -> Clock:
    """The clock of this worker's tables, set back after the test."""
    return dynalith_namespace.clock


@pytest.fixture
def dynalith_races(pytestconfig: pytest.Config) -> Any:
    """dynalith.races(); it has servers of its own, or engines where the server of the run is in this process."""
    return functools.partial(races, in_process=True) if pytestconfig.getini("dynalith_in_process") else races


@pytest.fixture
def dynalith_faults(dynalith_namespace: Namespace) -> Iterator[Faults]:
    """Rules by which requests fail, cleared after the test."""
    yield dynalith_namespace.faults
    dynalith_namespace.faults.clear()
