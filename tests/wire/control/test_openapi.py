"""The description of the orders is the table's, is kept as a file, and holds for what the control port takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from jsonschema import Draft202012Validator

from tests.wire.one_broker import broker
from tests.wire.one_producer import OneProducer
from wire.client.transactions import COMMIT
from wire.control.openapi import openapi
from wire.control.orders import ORDERS
from wire.errors import BadOrderError
from wire.order_arguments import checked

FILE = Path(__file__).parents[3] / "docs" / "generated" / "broker-orders.openapi.json"

SOME: list[tuple[str, dict[str, Any]]] = [
    ("push_clock", {"ms": 60_000}),
    ("push_clock", {"ms": 0}),
    ("push_clock", {"ms": 10**11}),
    ("push_clock", {}),
    ("push_clock", {"ms": True}),
    ("role", {"role": "slave"}),
    ("role", {"role": "king"}),
    ("topic", {"name": "Orders", "queues": 2}),
    ("topic", {"queues": 2}),
    ("status", {"key": "order-7"}),
    ("fault", {"fault": "lose_end", "times": None, "chance": 0.5}),
    ("fault", {"fault": "lose_end", "chance": 1.5}),
    ("fault", {"fault": "refuse", "request": "KILL"}),
    ("fault", {"times": 1}),
]


def body_of(name: str) -> dict[str, Any]:
    content = openapi()["paths"][f"/{name}"]["post"]["requestBody"]["content"]
    return dict(content["application/json"]["schema"])


def test_the_file_is_what_the_table_gives() -> None:
    assert json.loads(FILE.read_text(encoding="utf-8")) == openapi(), f"python -m wire.control.openapi > {FILE}"


def test_each_order_has_its_path_and_each_schema_is_one() -> None:
    description = openapi()
    assert list(description["paths"]) == [*(f"/{name}" for name in ORDERS), "/health"]
    assert description["paths"].pop("/health")["get"]["security"] == []
    operations = [operation for path in description["paths"].values() for operation in path.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(names) == len(set(names))
    assert {name for name in ORDERS if "get" in description["paths"][f"/{name}"]} == {"status", "transactions", "wait"}
    for name in ORDERS:
        Draft202012Validator.check_schema(body_of(name))
    for operation in operations:
        assert {"200", "401"} <= operation["responses"].keys()
        for parameter in operation.get("parameters", []):
            assert parameter.keys() == {"name", "in", "required", "schema"}
            Draft202012Validator.check_schema(parameter["schema"])
        for response in operation["responses"].values():
            reference = response["content"]["application/json"]["schema"].get("$ref", "")
            assert not reference or reference.rpartition("/")[2] in description["components"]["schemas"]


@pytest.mark.parametrize(("name", "arguments"), SOME)
def test_the_schema_takes_what_the_order_takes_and_nothing_else(name: str, arguments: dict[str, Any]) -> None:
    try:
        checked(name, ORDERS[name].takes, arguments)
        is_taken = True
    except BadOrderError:
        is_taken = False
    assert Draft202012Validator(body_of(name)).is_valid(arguments) == is_taken


def test_answers_are_as_described(tmp_path: Path) -> None:
    orders: list[tuple[str, dict[str, Any]]] = [
        ("status", {}), ("fault", {"fault": "double_end", "key": "order-7"}), ("fault", {"fault": "lose_check"}),
        ("unreachable_producer", {"group": "stock"}), ("unreachable_producer", {"group": "stock", "ends": True}),
        ("topic", {"name": "Orders"}), ("wait", {"delivered": "order-7", "timeout_ms": 0}),
        ("push_clock", {"ms": 5_000}),
        ("round", {}), ("step_clock", {"ms": 1}), ("transactions", {}), ("status", {}), ("group", {"name": "shipping"}),
        ("role", {"role": "slave"}), ("role", {"role": "master"}), ("restart_proxy", {}), ("drop_transaction_data", {}),
        ("clear", {}), ("restart", {}), ("crash", {}), ("status", {}),
    ]  # fmt: skip
    with broker(tmp_path, grpc_port=0, restart_ms=60_000) as running, OneProducer(running.address) as producer:
        producer.heartbeat("shipping")
        producer.end(producer.half("order-6"), COMMIT)
        producer.half("order-7")
        answers = [(name, running.controller.order(name, **takes)) for name, takes in orders]
    for name, answer in answers:
        Draft202012Validator(ORDERS[name].answers).validate(answer)
    assert {name for name, _ in orders} | {"stop"} == set(ORDERS)


def test_the_control_port_gives_it(tmp_path: Path) -> None:
    with broker(tmp_path) as running:
        control = running.controller
        address = f"http://{control.host}:{control.port}/openapi.json"
        request = Request(address, headers={"Authorization": f"Bearer {control.token}"})
        with urlopen(request, timeout=10) as answer:  # noqa: S310
            assert json.load(answer) == openapi()
