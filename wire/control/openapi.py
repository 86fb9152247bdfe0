"""The control port's description in OpenAPI 3.1, made from the table of orders: ``python -m wire.control.openapi``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from wire.control.order_answers import whole
from wire.control.orders import ORDERS

if TYPE_CHECKING:
    from wire.control.orders import ControlOrder
    from wire.order_arguments import OrderArgument

DESCRIPTION: Final = "openapi.json"
"""The path under which the control port gives it."""

HEALTH: Final = "health"
"""The path under which it says, also without a token, whether clients reach the broker."""

_TYPES: Final[dict[type, str]] = {int: "integer", float: "number", str: "string", bool: "boolean"}
_ERRORS: Final = {
    "400": "It takes something else, or can't be done so; the error says what was expected.",
    "401": "The token is missing or wrong.",
    "409": "It can't be done now.",
}


def openapi() -> dict[str, Any]:
    """The description: a path an order, POST for each, GET besides for those that only read."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "halfcheck broker: orders",
            "version": "1",
            "description": "Orders to a broker for tests. When one is answered, its effect is there.",
        },
        "security": [{"token": []}],
        "paths": {f"/{name}": _path(name, order) for name, order in ORDERS.items()} | {f"/{HEALTH}": _health()},
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                "Error": {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
            },
        },
    }


def _path(name: str, order: ControlOrder) -> dict[str, Any]:
    given = {each: _schema(argument) for each, argument in order.takes.items()}
    required = [each for each, argument in order.takes.items() if argument.is_required]
    body = {"type": "object", "properties": given, "additionalProperties": False}
    body |= {"required": required} if required else {}
    post = {
        "operationId": name,
        "summary": order.about,
        "requestBody": {"required": bool(required), "content": {"application/json": {"schema": body}}},
        "responses": _responses(order),
    }
    if not order.reads:
        return {"post": post}
    parameters = [
        {"name": each, "in": "query", "required": each in required, "schema": schema} for each, schema in given.items()
    ]
    get = {
        "operationId": f"get_{name}",
        "summary": order.about,
        "parameters": parameters,
        "responses": _responses(order),
    }
    return {"get": get, "post": post}


def _health() -> dict[str, Any]:
    answer = {"content": {"application/json": {"schema": whole({"is_up": {"type": "boolean"}})}}}
    responses = {
        "200": {"description": "Clients reach it.", **answer},
        "503": {"description": "They do not: it has not started, or its process is gone.", **answer},
    }
    get = {"operationId": HEALTH, "summary": "whether clients reach the broker", "security": [], "responses": responses}
    return {"get": get}


def _schema(argument: OrderArgument) -> dict[str, Any]:
    kind = _TYPES[argument.kind]
    schema: dict[str, Any] = {
        "type": [kind, "null"] if argument.may_be_null else kind,
        "description": argument.about,
        "enum": list(argument.choices) or None,
        "minimum": argument.least,
        "maximum": argument.most,
        "default": argument.default,
    }
    return {name: value for name, value in schema.items() if value is not None}


def _responses(order: ControlOrder) -> dict[str, Any]:
    answer = {"content": {"application/json": {"schema": order.answers}}}
    error = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}
    refusals = {code: {"description": text, **error} for code, text in _ERRORS.items()}
    return {"200": {"description": "What the order answers.", **answer}, **refusals}


if __name__ == "__main__":
    print(json.dumps(openapi(), indent=2))
