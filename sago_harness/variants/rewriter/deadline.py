"""HTTP within one deadline: a server that drips cannot hold a call longer than its time-out."""

from __future__ import annotations

import functools
import http.client
import io
import socket
import time
import urllib.request
from typing import Any


class _Clock:
    """How much of a call's time is left."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds that are left; raise where there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        return left


class _Timed(io.RawIOBase):
    """Reads a socket; the time that is left, not the time since the last byte, ends a read."""

    def __init__(self, sock: socket.socket, clock: _Clock) -> None:
        self._sock = sock
        self._clock = clock
        # Counts as a user of the socket, which urllib closes before it reads the body.
        self._raw = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read what there is, within the time that is left."""
        self._sock.settimeout(self._clock.left())
        return self._raw.readinto(buffer)

    def close(self) -> None:
        """Let the socket go."""
        self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    """Status, headers and body are read by the clock."""

    def __init__(self, clock: _Clock, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp.close()
        self.fp = io.BufferedReader(_Timed(sock, clock))


class _Connection(http.client.HTTPConnection):
    """Looks up, connects, sends and reads by one clock, which starts when it is made."""

    def __init__(self, host: str, *, timeout: float, **kwargs: Any) -> None:
        super().__init__(host, timeout=timeout, **kwargs)
        self._clock = _Clock(timeout)
        self._create_connection = self._dial
        self.response_class: Any = functools.partial(_Response, self._clock)

    def _dial(self, address: tuple[str, int], *_: Any) -> socket.socket:
        """Try a host's addresses in turn; each gets what is left, not a time-out of its own."""
        problem = OSError("no address")
        for *_rest, place in socket.getaddrinfo(*address, type=socket.SOCK_STREAM):
            try:
                return socket.create_connection((str(place[0]), address[1]), self._clock.left())
            except OSError as error:
                problem = error
        raise problem

    def send(self, data: Any) -> None:
        """Send within the time that is left."""
        if self.sock is not None:
            self.sock.settimeout(self._clock.left())
        super().send(data)


class _SecureConnection(_Connection, http.client.HTTPSConnection):
    """The same over TLS."""


class DeadlineHandler(urllib.request.HTTPHandler):
    """Opens http addresses; a request's time-out is for all of it.

    Examples
    --------
    >>> opener = urllib.request.build_opener(DeadlineHandler(), SecureDeadlineHandler())
    >>> any(type(handler) is urllib.request.HTTPHandler for handler in opener.handlers)
    False
    """

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """Open an address."""
        return self.do_open(_Connection, req)  # type: ignore[arg-type]


class SecureDeadlineHandler(urllib.request.HTTPSHandler):
    """Opens https addresses; certificates are checked as always."""

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """Open an address."""
        return self.do_open(_SecureConnection, req)  # type: ignore[arg-type]
