"""The numbers of the protocol: kinds of request, answers, languages, header encodings and versions.

From ``RequestCode``, ``ResponseCode``, ``RemotingSysResponseCode``, ``LanguageCode`` and ``SerializeType`` of 5.5.0; a
number never changes its meaning from one release to the next. A version is the place of a release in the enum
``MQVersion.Version``: each minor release has ten patch releases there, each behind a snapshot, from 4.3.0 on.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from spec.releases.broker_defaults import release_numbers


class RequestCode(IntEnum):
    """Kinds of request: those that are handled here, and those that a broker sends to a client."""

    SEND_MESSAGE = 10
    PULL_MESSAGE = 11
    QUERY_MESSAGE = 12
    QUERY_CONSUMER_OFFSET = 14
    UPDATE_CONSUMER_OFFSET = 15
    UPDATE_AND_CREATE_TOPIC = 17
    GET_ALL_TOPIC_CONFIG = 21
    UPDATE_BROKER_CONFIG = 25
    GET_BROKER_CONFIG = 26
    GET_BROKER_RUNTIME_INFO = 28
    SEARCH_OFFSET_BY_TIMESTAMP = 29
    GET_MAX_OFFSET = 30
    GET_MIN_OFFSET = 31
    GET_EARLIEST_MSG_STORETIME = 32
    VIEW_MESSAGE_BY_ID = 33
    HEART_BEAT = 34
    UNREGISTER_CLIENT = 35
    CONSUMER_SEND_MSG_BACK = 36
    END_TRANSACTION = 37
    GET_CONSUMER_LIST_BY_GROUP = 38
    CHECK_TRANSACTION_STATE = 39
    NOTIFY_CONSUMER_IDS_CHANGED = 40
    LOCK_BATCH_MQ = 41
    UNLOCK_BATCH_MQ = 42
    GET_ALL_CONSUMER_OFFSET = 43
    CHECK_CLIENT_CONFIG = 46
    GET_KV_CONFIG = 101
    DELETE_KV_CONFIG = 102
    GET_ROUTEINFO_BY_TOPIC = 105
    GET_BROKER_CLUSTER_INFO = 106
    UPDATE_AND_CREATE_SUBSCRIPTIONGROUP = 200
    GET_ALL_SUBSCRIPTIONGROUP_CONFIG = 201
    GET_TOPIC_STATS_INFO = 202
    GET_CONSUMER_CONNECTION_LIST = 203
    GET_PRODUCER_CONNECTION_LIST = 204
    GET_ALL_TOPIC_LIST_FROM_NAMESERVER = 206
    GET_CONSUME_STATS = 208
    DELETE_TOPIC_IN_BROKER = 215
    DELETE_TOPIC_IN_NAMESRV = 216
    QUERY_TOPIC_CONSUME_BY_WHO = 300
    SEND_MESSAGE_V2 = 310
    SEND_BATCH_MESSAGE = 320
    QUERY_CONSUME_QUEUE = 321
    RESUME_CHECK_HALF_MESSAGE = 323
    GET_TOPIC_CONFIG = 351
    GET_SUBSCRIPTIONGROUP_CONFIG = 352
    LITE_PULL_MESSAGE = 361


class ResponseCode(IntEnum):
    """Codes of answers."""

    SUCCESS = 0
    SYSTEM_ERROR = 1
    SYSTEM_BUSY = 2
    REQUEST_CODE_NOT_SUPPORTED = 3
    FLUSH_DISK_TIMEOUT = 10
    SLAVE_NOT_AVAILABLE = 11
    FLUSH_SLAVE_TIMEOUT = 12
    MESSAGE_ILLEGAL = 13
    SERVICE_NOT_AVAILABLE = 14
    NO_PERMISSION = 16
    TOPIC_NOT_EXIST = 17
    PULL_NOT_FOUND = 19
    PULL_RETRY_IMMEDIATELY = 20
    PULL_OFFSET_MOVED = 21
    QUERY_NOT_FOUND = 22
    SUBSCRIPTION_PARSE_FAILED = 23
    SUBSCRIPTION_NOT_EXIST = 24
    SUBSCRIPTION_NOT_LATEST = 25
    SUBSCRIPTION_GROUP_NOT_EXIST = 26
    INVALID_PARAMETER = 29
    CONSUMER_NOT_ONLINE = 206
    ILLEGAL_OPERATION = 604


class Serialization(IntEnum):
    """How a header is written (``SerializeType``)."""

    JSON = 0
    ROCKETMQ = 1


LANGUAGES: Final = (
    "JAVA", "CPP", "DOTNET", "PYTHON", "DELPHI", "ERLANG", "RUBY", "OTHER", "HTTP", "GO", "PHP", "OMS", "RUST",
    "NODE_JS",
)  # fmt: skip
"""By their number in a binary header (``LanguageCode``)."""


CLOCK_FIELD: Final = "halfcheckClockSpeed"
"""A field of the answer to GET_BROKER_CONFIG: how fast the clock of a broker of ours goes; RocketMQ has none such."""

_FIRST, _FIRST_MINOR = 273, 43
_A_MINOR = 20


def version_of(release: str) -> int:
    """The number of a release from 4.3.0 on.

    Examples
    --------
    >>> [version_of(release) for release in ("4.3.0", "4.5.1", "4.9.7", "5.0.0", "5.3.3", "5.5.0")]
    [273, 315, 407, 413, 479, 513]
    """
    major, minor, patch = release_numbers(release)
    return _FIRST + (10 * major + minor - _FIRST_MINOR) * _A_MINOR + 2 * patch


def release_of(version: int) -> str | None:
    """The release that a number stands for; None for one before 4.3.0, or a snapshot.

    Examples
    --------
    >>> release_of(315), release_of(513), release_of(512), release_of(5)
    ('4.5.1', '5.5.0', None, None)
    """
    minors, patches = divmod(version - _FIRST, _A_MINOR)
    if version < _FIRST or patches % 2:
        return None
    minor = _FIRST_MINOR + minors
    return f"{minor // 10}.{minor % 10}.{patches // 2}"
