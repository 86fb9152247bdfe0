"""TLS of a connection to a broker, as RocketMQ's client has it (``tls.enable``)."""

from __future__ import annotations

import ssl
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from files.reading import SETTINGS_BYTES, read_text
from wire.errors import WireError

if TYPE_CHECKING:
    import socket
    from pathlib import Path

_MOST: Final = 1 << 16


class TlsError(WireError):
    """No TLS with this server, or not with this certificate; the message has no address."""


@dataclass(frozen=True, slots=True)
class Tls:
    """TLS without verification, or with the certificates of authorities, of which one must have signed the server's.

    As in the Java client (``TlsHelper#buildSslContext``), a certificate is not held against the name of the host:
    ``tls.client.authServer`` and ``tls.client.trustCertPath`` ask for a trusted signature alone.
    """

    context: ssl.SSLContext
    authorities: Path | None = None
    """The file that they come from, in PEM form."""

    @classmethod
    def of(cls, authorities: Path | None = None) -> Self:
        """TLS that trusts those in a file, or everybody.

        Raises
        ------
        TlsError
            The file holds no certificate.
        UnreadableFileError, BadContentError, OSError
            As :func:`files.reading.read_text`.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE if authorities is None else ssl.CERT_REQUIRED
        if authorities is not None:
            try:
                context.load_verify_locations(cadata=read_text(authorities, SETTINGS_BYTES))
            except (ssl.SSLError, ValueError) as error:
                message = f"{authorities}: no certificate in PEM form; give that of the authority of the broker's"
                raise TlsError(message) from error
        return cls(context, authorities)


class TlsStream:
    """The bytes of a connection, encrypted; one thread sends while another one receives.

    The ssl library has no socket for two threads, so that it works in memory here, for one of them at a time. What it
    has to say by itself behind the handshake goes out with the next bytes that are sent.

    Raises
    ------
    TlsError
        The handshake fails.
    OSError
        The connection breaks; also by :meth:`sendall` and :meth:`recv`.
    """

    def __init__(self, plain: socket.socket, tls: Tls) -> None:
        self._plain = plain
        self._lock = threading.Lock()
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = tls.context.wrap_bio(self._incoming, self._outgoing)
        try:
            self._shake_hands()
        except ssl.SSLCertVerificationError as error:
            reason = error.verify_message
            message = (
                f"its certificate is not signed by one in {tls.authorities} ({reason}); give --tls-ca the right file"
            )
            raise TlsError(message) from error
        except (ssl.SSLEOFError, ConnectionError) as error:
            message = (
                "it ends the connection where TLS begins: leave out --tls if it is plain (tls.server.mode=disabled)"
            )
            raise TlsError(message) from error
        except OSError as error:
            what = error.reason if isinstance(error, ssl.SSLError) else error.strerror
            message = f"no TLS with it ({what or error}): leave out --tls if it is plain"
            raise TlsError(message) from error

    def sendall(self, data: bytes) -> None:
        """Send bytes; by one thread at a time."""
        with self._lock:
            self._tls.write(data)
            encrypted = self._outgoing.read()
        self._plain.sendall(encrypted)

    def recv(self, most: int) -> bytes:
        """The next bytes; none at the end."""
        while True:
            try:
                with self._lock:
                    return self._tls.read(most)
            except ssl.SSLWantReadError:
                self._take_in()
            except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
                return b""

    def _shake_hands(self) -> None:
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                self._plain.sendall(self._outgoing.read())
                self._take_in()
            else:
                self._plain.sendall(self._outgoing.read())
                return

    def _take_in(self) -> None:
        data = self._plain.recv(_MOST)
        with self._lock:
            if data:
                self._incoming.write(data)
            else:
                self._incoming.write_eof()
