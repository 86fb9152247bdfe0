"""What orders answer, in JSON Schema: each name that is always there, and its type."""

from __future__ import annotations

from typing import Any, Final

Schema = dict[str, Any]

_INTEGER: Final[Schema] = {"type": "integer"}
_INTEGER_OR_NULL: Final[Schema] = {"type": ["integer", "null"]}
_TEXT: Final[Schema] = {"type": "string"}
_TEXT_OR_NULL: Final[Schema] = {"type": ["string", "null"]}
_FLAG: Final[Schema] = {"type": "boolean"}
_FAULT_NUMBER: Final[Schema] = {"ordered": _INTEGER | {"description": "its number among unused_faults"}}


def _list_of(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def _by_name(value: Schema) -> Schema:
    return {"type": "object", "additionalProperties": value}


def whole(names: dict[str, Schema]) -> Schema:
    """An object that has all of these names, and no other."""
    return {"type": "object", "properties": names, "required": list(names), "additionalProperties": False}


_UNUSED: Final = _list_of(whole({"number": _INTEGER, "order": _TEXT, "says": _TEXT}))
_PLACES: Final = _list_of(
    whole({
        "topic": _TEXT, "queue": _INTEGER, "queue_offset": _INTEGER, "commit_log_offset": _INTEGER,
        "stored_at": _INTEGER,
    })
)  # fmt: skip
_CLIENTS_BY_GROUP: Final = _by_name(_list_of(_TEXT))
_STATE: Final[Schema] = {"enum": ["pending", "delivered", "rolled_back", "parked", "doubled", "lost"]}

STATUS: Final = whole(
    {
        "profile": _TEXT,
        "address": _TEXT,
        "is_up": _FLAG,
        "role": _TEXT,
        "now": _INTEGER | {"description": "milliseconds since 1970, by the wall clock, which step_clock sets"},
        "elapsed": _INTEGER | {"description": "milliseconds since 1970, by a clock that never steps"},
        "clock": {"enum": ["real", "virtual"]},
        "speed": {"type": ["number", "null"], "description": "null with a virtual clock"},
        "seed": _INTEGER,
        "transactionCheckInterval": _INTEGER,
        "transactionTimeOut": _INTEGER,
        "transactionCheckMax": _INTEGER,
        "transactionOpBatchInterval": _INTEGER_OR_NULL,
        "rounds_ended": _INTEGER,
        "died": _INTEGER,
        "connections": _INTEGER,
        "waiting_pulls": _INTEGER,
        "grpc_address": _TEXT_OR_NULL,
        "proxies": _list_of(
            whole({"grpc_address": _TEXT, "transaction_data": _INTEGER, "producers": _CLIENTS_BY_GROUP})
        ),
        "popped": _INTEGER_OR_NULL,
        "producers": _CLIENTS_BY_GROUP,
        "consumers": _CLIENTS_BY_GROUP,
        "commit_log_end": _INTEGER_OR_NULL,
        "writes": _INTEGER,
        "faults": _list_of({"type": "object"}),
        "befell": _by_name(_INTEGER),
        "unused_faults": _UNUSED,
    }
)
TRANSACTIONS: Final = whole({
    "now": _INTEGER,
    "next_round": _INTEGER_OR_NULL,
    "transactions": _list_of(
        whole({
            "unique_key": _TEXT, "keys": _TEXT, "group": _TEXT, "topic": _TEXT, "state": _STATE,
            "checks": _INTEGER, "op": {"enum": ["stored", "in_memory", None]}, "stored_at": _INTEGER,
            "checked_not_before": _INTEGER_OR_NULL, "halves": _PLACES, "deliveries": _PLACES, "discards": _PLACES,
            "consumed": _by_name(_INTEGER),
        })
    ),
})  # fmt: skip
WAITED: Final = whole({"came": _FLAG, "says": _TEXT_OR_NULL, "producers": _list_of(_TEXT), "rounds_ended": _INTEGER})
PUSHED: Final = whole({"now": _INTEGER})
ONE_ROUND: Final = whole({"now": _INTEGER, "passed_ms": _INTEGER, "rounds_ended": _INTEGER})
TOPIC_MADE: Final = whole({"topic": _TEXT, "queues": _INTEGER})
BEFALLS: Final = whole(_FAULT_NUMBER)
STEPPED: Final = whole(_FAULT_NUMBER | {"now": _INTEGER})
CRASHED: Final = whole(_FAULT_NUMBER | {"writes": _INTEGER})
DROPPED: Final = whole(_FAULT_NUMBER | {"dropped": _INTEGER})
ROLE: Final = whole(_FAULT_NUMBER | {"role": _TEXT})
UNREACHABLE: Final = whole({"ordered": _INTEGER_OR_NULL, "unreachable": _list_of(_TEXT)})
FAULT: Final = whole(_FAULT_NUMBER | {"faults": _INTEGER})
GROUP: Final[Schema] = {"type": "object", "description": "its settings, as the release has them"}
NOTHING: Final = whole({})

_BROKEN: Final = {
    "property": _TEXT, "claims": _TEXT, "event": _INTEGER, "only_by_the_stop": _FLAG, "ordered": _list_of(_TEXT),
}  # fmt: skip
_LEFT: Final = {"state": _TEXT, "unique_key": _TEXT, "keys": _TEXT, "group": _TEXT, "topic": _TEXT}
_UNANSWERED: Final = {
    "group": _TEXT, "client": _TEXT, "delivered": _INTEGER, "unanswered": _INTEGER, "keys": _list_of(_TEXT),
}  # fmt: skip

VERDICT: Final = whole(
    {
        "no_verdict": {"type": "null"},
        "unused_faults": _UNUSED,
        "broken": _list_of(whole(_BROKEN)),
        "resembles": _by_name(_list_of(_TEXT)),
        "transactions": _by_name(_INTEGER),
        "left": _list_of(whole(_LEFT)),
        "unanswered_checks": _list_of(whole(_UNANSWERED)),
        "refused_ends": _list_of(whole({"code": _INTEGER, "remark": _TEXT, "times": _INTEGER})),
        "in_memory_at_the_stop": _list_of(_TEXT),
    }
)
"""What a stop answers, and ``--json`` prints."""

NO_VERDICT: Final = whole({"no_verdict": _TEXT, "unused_faults": _UNUSED})
"""And where there is none."""

STOPPED: Final[Schema] = {"anyOf": [VERDICT, NO_VERDICT]}
