"""What a broker's access control says when it refuses a request."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from wire.remoting.codes import ResponseCode

if TYPE_CHECKING:
    from wire.client.credentials import Credentials
    from wire.remoting.command import RemotingCommand

_OF_4: Final = re.compile(r"AclException: (?P<reason>.*?)(?:, org\.apache\.rocketmq\.\S+)?$", re.MULTILINE)
"""``RemotingHelper#exceptionSimpleDesc``: the exception, and where it was thrown."""
_OF_5: Final = re.compile(
    r"username cannot be null|check signature failed|User:.* (?:not found|disabled)|has no permission to access|"
    r"The subject\b|Authentication failed|Authorization failed|auth(?:entication|orization) context error"
)
"""Of 5.3 and later: ``DefaultAuthenticationHandler``, ``AclAuthorizationHandler``, and what is around them."""


def reason_of_refusal(answer: RemotingCommand) -> str:
    """Why the access control refuses a request; empty if it does not, whatever else the answer says.

    4.4 to 5.2 answer SYSTEM_ERROR (``PlainPermissionManager#validate``), 5.3 and later NO_PERMISSION, as other parts
    of a broker do for reasons of their own.
    """
    remark = answer.remark or ""
    if answer.code == ResponseCode.NO_PERMISSION and _OF_5.search(remark):
        return remark.rstrip(". ")
    if answer.code == ResponseCode.SYSTEM_ERROR and (refused := _OF_4.search(remark)) is not None:
        return refused["reason"]
    return ""


def remedy(reason: str, credentials: Credentials | None) -> str:
    """What to do about a refusal."""
    if credentials is None:
        return "give --acl-file FILE, or --access-key with the secret key"
    if "signature" in reason.lower():
        return "its secret key is another one there"
    return "have the broker's operator grant it, or give the key of one who may"
