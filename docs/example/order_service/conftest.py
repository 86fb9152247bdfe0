"""Which variant of the services is tested, and each of them as a fixture that runs beside the broker of the test."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from services import SECONDS, BuildError, Service, build_go, build_java, build_python, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from halfcheck.pytest_plugin import RocketmqBroker


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--variant``."""
    parser.addoption("--variant", choices=["buggy", "mended"], default="mended", help="which services are tested")


def pytest_report_header(config: pytest.Config) -> str:
    """Name the variant, and the halfcheck whose broker it is."""
    import halfcheck

    return f"order services: {config.getoption('--variant')}; halfcheck {halfcheck.__version__} of {halfcheck.__file__}"


@pytest.fixture(scope="session")
def java_program() -> list[str]:
    return _built(build_java)


@pytest.fixture(scope="session")
def go_program() -> list[str]:
    return _built(build_go)


@pytest.fixture(scope="session")
def python_program() -> list[str]:
    return _built(build_python)


@pytest.fixture
def java_service(
    java_program: list[str], rocketmq_broker: RocketmqBroker, variant: str, tmp_path: Path
) -> Iterator[Service]:
    """The Java service, connected to the broker of the test."""
    rocketmq_broker.create_topic("Orders")
    arguments = [f"-Drocketmq.client.logRoot={tmp_path}", "orders.OrderService"]
    arguments += [rocketmq_broker.address, str(tmp_path / "orders"), variant]
    with Service(java_program + arguments, tmp_path / "service.log") as service:
        rocketmq_broker.wait_for_producer("order-service", seconds=SECONDS)
        yield service


@pytest.fixture
def go_service(
    request: pytest.FixtureRequest, go_program: list[str], rocketmq_broker: RocketmqBroker, variant: str, tmp_path: Path
) -> Iterator[Service]:
    """The Go service, connected to the broker of the test; the marker ``keep_log`` says how long its log remembers."""
    rocketmq_broker.create_topic("Orders")
    arguments = [
        f"-name-server={rocketmq_broker.address}",
        f"-database={tmp_path / 'orders.db'}",
        f"-variant={variant}",
    ]
    arguments += [f"-keep-log={marker.args[0]}" for marker in request.node.iter_markers("keep_log")]
    with Service(go_program + arguments, tmp_path / "service.log") as service:
        rocketmq_broker.wait_for_producer("order-service", seconds=SECONDS)
        yield service


@pytest.fixture
def python_services(
    python_program: list[str], rocketmq_broker: RocketmqBroker, variant: str, tmp_path: Path
) -> Iterator[list[Service]]:
    """Two Python services that send to one topic, each with orders of its own."""
    rocketmq_broker.create_topic("Orders", message_type="TRANSACTION")
    with ExitStack() as stack:
        services = []
        for name in ("ours", "theirs"):
            arguments = [rocketmq_broker.grpc_address, str(tmp_path / name), variant]
            services.append(stack.enter_context(Service(python_program + arguments, tmp_path / f"{name}.log")))
        wait_until(
            lambda: len(rocketmq_broker.control.status()["producers"].get("Orders", ())) == len(services),
            "not both services told the broker of themselves",
        )
        yield services


@pytest.fixture
def variant(pytestconfig: pytest.Config) -> str:
    """``buggy`` or ``mended``."""
    return str(pytestconfig.getoption("--variant"))


def _built(build: Callable[[], list[str]]) -> list[str]:
    try:
        return build()
    except BuildError as error:
        refused = str(error)
    pytest.fail(refused, pytrace=False)
