"""The credentials of RocketMQ's access control: the signature that they put on a request, and the file of ``mqadmin``.

Access control of 4.4 to 5.2 (``aclEnable``) and that of 5.3 and later (``authenticationEnabled``) take the same fields.
"""

from __future__ import annotations

import hmac
import re
from base64 import b64encode
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from files.reading import SETTINGS_BYTES, read_text
from wire.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_KEYS: Final = ("accessKey", "secretKey", "securityToken")
_ITEM: Final = re.compile(r"\s*-\s+(?=\w+\s*:)")
_PAIR: Final = re.compile(rf"\s*({'|'.join(_KEYS)})\s*:(\s.*)?")
_SCALAR: Final = re.compile(r"""\s+(?:'((?:[^']|'')*)'|"([^"\\]*)"|([^\s'"#&*!|>%@`{}\[\],]\S*))\s*(?:\s#.*)?""")
_DECIMAL: Final = re.compile(r"0|[1-9]\d*")
_NO_TEXT: Final = re.compile(
    r"[-+]?(?:0b[01_]+|0x[\da-f_]+|[\d_.:]+(?:e[-+]?\d+)?|\.inf)|\.nan|~|null|true|false|yes|no|on|off|\d{4}-\d.*",
    re.IGNORECASE,
)
"""What YAML 1.1 reads as a number, a truth value, nothing or a date."""


class BadCredentialsError(WireError):
    """A file that holds no credentials, or those of several accounts."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """A user of a broker's access control (``SessionCredentials``)."""

    access_key: str
    secret_key: str = field(repr=False)
    security_token: str = field(default="", repr=False)

    def signed(self, fields: Mapping[str, str], body: bytes) -> dict[str, str]:
        """A request's fields with AccessKey, Signature and, where there is one, SecurityToken.

        RocketMQ: AclClientRPCHook#doBeforeRequest, AclUtils#combineRequestContent, AclSigner#calSignature: HmacSHA1
        of the fields' values in the order of their names, with the body behind them, in Base64.
        """
        named = {**fields, "AccessKey": self.access_key}
        if self.security_token:
            named["SecurityToken"] = self.security_token
        content = "".join(named[name] for name in sorted(named)).encode("utf-8", "replace") + body
        named["Signature"] = b64encode(hmac.digest(self.secret_key.encode(), content, "sha1")).decode()
        return named


def credentials_in(path: Path, access_key: str | None = None) -> Credentials:
    """The credentials in a file with the lines ``accessKey: KEY`` and ``secretKey: SECRET``.

    ``mqadmin`` reads such a file, ``conf/tools.yml`` (``AclUtils#getAclRPCHook``); a broker of 4.4 to 5.2 has one for
    its accounts, ``conf/plain_acl.yml``, of which `access_key` chooses one.

    Raises
    ------
    BadCredentialsError
        It holds none, or several and none is chosen, or a value that YAML does not read as it is written.
    UnreadableFileError, BadContentError, OSError
        As :func:`files.reading.read_text`.
    """
    accounts = [each for each in _accounts(path) if each.get("accessKey") and each.get("secretKey")]
    if not accounts:
        message = (
            f"{path}: no credentials; expected the lines accessKey: KEY and secretKey: SECRET of mqadmin's tools.yml"
        )
        raise BadCredentialsError(message)
    chosen = [each for each in accounts if access_key in (None, each["accessKey"])]
    if len(chosen) != 1:
        names = ", ".join(each["accessKey"] for each in accounts)
        wanted = "several accounts" if access_key is None else f"not one account {access_key}"
        message = f"{path}: {wanted}; give --access-key with one of {names}"
        raise BadCredentialsError(message)
    return Credentials(chosen[0]["accessKey"], chosen[0]["secretKey"], chosen[0].get("securityToken", ""))


def _accounts(path: Path) -> Iterator[dict[str, str]]:
    """The keys of each item of a list, and of what stands before the first item."""
    account: dict[str, str] = {}
    for number, line in enumerate(read_text(path, SETTINGS_BYTES).split("\n"), 1):
        item = _ITEM.match(line)
        if item is not None:
            yield account
            account = {}
        pair = _PAIR.fullmatch(line, item.end() if item is not None else 0)
        if pair is not None:
            account[pair[1]] = _text(pair[2] or "", f"{path}, line {number}: {pair[1]}")
    yield account


def _text(value: str, what: str) -> str:
    """The text of a YAML scalar; one that Java takes for something else than a text is another text there."""
    if not value.partition("#")[0].strip():
        return ""
    scalar = _SCALAR.fullmatch(value)
    plain = "" if scalar is None else scalar[3] or ""
    if scalar is None or (_NO_TEXT.fullmatch(plain) and not _DECIMAL.fullmatch(plain)):
        message = f"{what} is not read by YAML as it is written; put it into single quotes"
        raise BadCredentialsError(message)
    return plain or (scalar[2] or "") + (scalar[1] or "").replace("''", "'")
