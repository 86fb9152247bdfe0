"""Statuses: what the proxy answers, and refuses with (``ResponseBuilder``, ``GrpcProxyException``)."""

from __future__ import annotations

from typing import Any, Final

from wire.errors import WireError
from wire.proxy.protocol.messages import Code, Status
from wire.remoting.codes import ResponseCode

OK: Final = Status(code=Code.OK, message="OK")

_CODES: Final[dict[int, Any]] = {
    ResponseCode.SUCCESS: Code.OK,
    ResponseCode.SYSTEM_BUSY: Code.TOO_MANY_REQUESTS,
    ResponseCode.REQUEST_CODE_NOT_SUPPORTED: Code.NOT_IMPLEMENTED,
    ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST: Code.CONSUMER_GROUP_NOT_FOUND,
    ResponseCode.TOPIC_NOT_EXIST: Code.TOPIC_NOT_FOUND,
}
"""``ResponseBuilder#RESPONSE_CODE_MAPPING``, with ``TopicRouteHelper#isTopicNotExistError``."""

_MORE: Final = "For more information, please visit the url, https://rocketmq.apache.org/docs/bestPractice/06FAQ"


class ProxyRefusal(WireError):  # noqa: N818 - it is answered, and no failure of the proxy
    """A call is refused: the client gets the code and the sentence."""

    def __init__(self, code: Any, message: str) -> None:
        super().__init__(message)
        self.code = code

    @property
    def status(self) -> Any:
        """What is answered."""
        return Status(code=self.code, message=str(self))


def thrown(code: Any, message: str) -> ProxyRefusal:
    """A refusal that the proxy throws deeper inside: its sentence names the exception (``GrpcProxyException``)."""
    return ProxyRefusal(code, f"org.apache.rocketmq.proxy.common.ProxyException: {message}")


def no_route(topic: str) -> ProxyRefusal:
    """The name server has no such topic (``TopicRouteService#getCacheMessageQueueWrapper``, ``MQClientException``)."""
    message = f"CODE: 17  DESC: No topic route info in name server for the topic: {topic}\n{_MORE}"
    return ProxyRefusal(Code.TOPIC_NOT_FOUND, message)


def status_named(code: Any) -> Any:
    """A status whose sentence is the code's name."""
    return Status(code=code, message=code.name)


def status_of_broker(code: int, remark: str | None) -> Any:
    """What the proxy answers where the broker gave a code and a remark (``ResponseBuilder#buildStatus``)."""
    known = _CODES.get(code, Code.INTERNAL_SERVER_ERROR)
    return Status(code=known, message=str(code) if remark is None else remark)


def status_of_all(codes: set[Any]) -> Any:
    """The status of an answer with several entries."""
    return status_named(next(iter(codes)) if len(codes) == 1 else Code.MULTIPLE_RESULTS)
