"""Calls a server's HTTP API, with the standard library alone."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
import time
import uuid
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from typing import Any, AsyncIterator, Dict, Iterator, List, Mapping, Optional, Tuple, Union
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

from .schemas import (
    BadField,
    ContextAnswer,
    ContextRequest,
    Event,
    EventsQuery,
    Knowledge,
    ListQuery,
    Patch,
    Problem,
    RememberQuery,
    Search,
    SearchAnswer,
    Vote,
)

_MAX_WAIT = 10.0  # seconds before a repetition
_SILENCE = 60.0  # of a stream, whose server says something every 15 seconds
_RECONNECTIONS = 30  # in a row
_END: Any = object()


class AnnalsError(Exception):
    """An answer that is not a success, or no answer: status is 0 then. It has every field of the server's problem."""

    def __init__(self, problem: Problem):
        self.problem = problem
        self.status: int = problem["status"]
        self.title: str = problem["title"]
        self.detail: Optional[str] = problem.get("detail")
        self.fix: Optional[str] = problem.get("fix")
        self.errors: List[BadField] = problem.get("errors") or []  # every bad field
        fields = "; ".join(f"{bad['field']} {bad['message']}" for bad in self.errors)
        said = f"{self.title}: {self.detail}" if self.detail else self.title
        super().__init__(". ".join(filter(None, [said, fields, self.fix])))


class Client:
    """Every request has a connection of its own, so threads may share a client.

    url defaults to ANNALS_SERVER, or http://127.0.0.1:1933; key to ANNALS_KEY, unless ANNALS_SERVER names another scheme,
    host or port than url. headers go with every request, such as
    Annals-On-Behalf-Of. host is the program that asks, such as my-agent/1.0, and session the conversation: receipts name
    both. timeout is how many seconds a call may take with its repetitions; a stream, until it begins.
    retries is how often a request is repeated that was answered with 429 or 503.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        key: Optional[str] = None,
        *,
        headers: Optional[Mapping[str, str]] = None,
        host: Optional[str] = None,
        session: Optional[str] = None,
        timeout: float = 30.0,
        retries: int = 2,
    ):
        self.url = (url or os.environ.get("ANNALS_SERVER") or "http://127.0.0.1:1933").rstrip("/")
        if not _Connection.reaches(self.url):
            raise ValueError(f"url must begin with http:// or https://, and not be {self.url}")
        self.position = 0  # the newest of the log that a write of this client returned
        if _origin(os.environ.get("ANNALS_SERVER") or self.url) == _origin(self.url):
            key = key or os.environ.get("ANNALS_KEY")
        key = (key or "").strip()
        if not key.isascii() or not key.isprintable() or " " in key:
            raise ValueError("key must consist of letters, digits and signs of ASCII")
        own = {"Authorization": f"Bearer {key}" if key else None, "Annals-Host": host, "Annals-Session": session}
        self._headers = {**{name: value for name, value in own.items() if value}, **(headers or {})}
        self._timeout = timeout
        self._retries = retries

    def request(
        self,
        path: str,
        method: str,
        *,
        names: Optional[Mapping[str, str]] = None,
        query: Optional[Mapping[str, Any]] = None,
        body: Any = None,
        idempotency_key: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Any:
        """Calls any operation of the API: request("/v1/knowledge/{id}", "get", names={"id": id})."""
        target = _address(path, names or {}, query or {})
        response, text, _ = self._send(method.upper(), target, body, idempotency_key, headers or {})
        if response.status == 204:
            return None
        try:
            return json.loads(text)
        except ValueError as cause:
            fix = "Is it the address of an Annals server?"
            raise _failure(f"{self.url} did not answer with JSON", fix, response.status) from cause

    def remember(
        self, item: Knowledge, query: Optional[RememberQuery] = None, *, idempotency_key: Optional[str] = None
    ) -> Knowledge:
        return self.request("/v1/knowledge", "post", body=item, query=query, idempotency_key=idempotency_key)

    def search(self, query: Union[str, Search]) -> SearchAnswer:
        return self.request("/v1/search", "post", body={"query": query} if isinstance(query, str) else query)

    def context(self, request: ContextRequest) -> ContextAnswer:
        """What an agent needs to know at a stage of its work."""
        return self.request("/v1/context", "post", body=request)

    def find(self, id: str) -> Knowledge:
        return self.request("/v1/knowledge/{id}", "get", names={"id": id})

    def feedback(self, id: str, vote: Vote) -> Knowledge:
        return self.request("/v1/knowledge/{id}/feedback", "post", names={"id": id}, body=vote)

    def stale(self, id: str, reason: str) -> Knowledge:
        return self.request("/v1/knowledge/{id}/stale", "post", names={"id": id}, body={"reason": reason})

    def revise(self, id: str, patch: Patch) -> Knowledge:
        return self.request("/v1/knowledge/{id}", "patch", names={"id": id}, body=patch)

    def forget(self, id: str, reason: str) -> None:
        self.request("/v1/knowledge/{id}", "delete", names={"id": id}, body={"reason": reason})

    def list(self, filter: Optional[ListQuery] = None) -> Iterator[Knowledge]:
        """The items that pass the filter, the newest first, page by page."""
        return self._pages("/v1/knowledge", {}, filter)

    def history(self, id: str) -> Iterator[Event]:
        """The events of an item, the oldest first."""
        return self._pages("/v1/knowledge/{id}/history", {"id": id}, None)

    def events(self, filter: Optional[EventsQuery] = None, *, follow: bool = False) -> Iterator[Event]:
        """The events that pass the filter. With follow: also those that are yet to come, without end."""
        return self._follow(filter or {}, _Interrupt()) if follow else self._pages("/v1/events", {}, filter)

    def _pages(self, path: str, names: Mapping[str, str], filter: Optional[Mapping[str, Any]]) -> Iterator[Any]:
        query: Dict[str, Any] = {"limit": 100, **(filter or {})}
        seen = set()
        while True:
            page = self.request(path, "get", names=names, query=query)
            yield from page["items"]
            if "next_cursor" not in page:
                return
            query["cursor"] = page["next_cursor"]
            if query["cursor"] in seen:
                raise _failure(f"{self.url} repeats a cursor: the list has no end", status=200)
            seen.add(query["cursor"])

    def _follow(self, filter: Mapping[str, Any], interrupt: _Interrupt) -> Iterator[Any]:
        """Follows a stream, and continues after its last event when the connection is lost."""
        last, connected, failures = "", False, 0
        while not interrupt.called.wait(2 if connected else 0):
            query = {name: value for name, value in filter.items() if not last or name != "after"}
            headers = {"Accept": "text/event-stream", **({"Last-Event-ID": last} if last else {})}
            try:
                response, _, connection = self._send("GET", _address("/v1/events", {}, query), None, None, headers, interrupt)
                connected = True
                with connection:
                    for message in _messages(response):
                        if message.get("event") == "closed":
                            raise AnnalsError(json.loads(message["data"]))
                        failures, last = 0, message.get("id", last)
                        yield json.loads(message["data"])
            except AnnalsError as error:
                if not connected or not (error.status == 0 or error.status > 500) or failures >= _RECONNECTIONS:
                    raise
            except (OSError, HTTPException) as error:
                if failures >= _RECONNECTIONS:
                    raise _failure(f"The stream of {self.url} breaks off ({error})") from error
            failures += 1

    def _send(
        self,
        method: str,
        target: str,
        body: Any,
        idempotency_key: Optional[str],
        given: Mapping[str, str],
        interrupt: Optional[_Interrupt] = None,
    ) -> Tuple[HTTPResponse, bytes, _Connection]:
        """Sends a request, again if the server asks for it. The text of a stream is left to be read."""
        headers = {"Accept": "application/json", **self._headers, **given}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if method != "GET":
            headers["Idempotency-Key"] = idempotency_key or str(uuid.uuid4())
        data = None if body is None else json.dumps(body).encode()
        attempt, deadline = 0, time.monotonic() + self._timeout
        while True:
            response, text, connection = self._attempt(method, target, data, headers, interrupt, deadline)
            if response.status < 300:
                self.position = max(self.position, int(response.headers.get("Annals-Position") or 0))
                return response, text, connection
            wait = _seconds(response.headers.get("Retry-After"), 2**attempt / 2)
            if response.status not in (429, 503) or attempt >= self._retries or wait > min(_MAX_WAIT, deadline - time.monotonic()):
                raise AnnalsError(_problem(response, text))
            time.sleep(wait)
            attempt += 1

    def _attempt(
        self,
        method: str,
        target: str,
        data: Optional[bytes],
        headers: Dict[str, str],
        interrupt: Optional[_Interrupt],
        deadline: float,
    ) -> Tuple[HTTPResponse, bytes, _Connection]:
        left = max(deadline - time.monotonic(), 0.001)
        connection = _Connection(self.url, left)
        late = threading.Timer(left, connection.wake)  # a socket's own limit is for each of its parts
        late.daemon = True
        late.start()
        try:
            response = connection.ask(method, target, data, headers)
            if interrupt and response.status < 300:
                interrupt.guard(connection)
                return response, b"", connection
            text = response.read()
            if time.monotonic() >= deadline:
                raise socket.timeout
        except (OSError, HTTPException) as cause:
            if isinstance(cause, socket.timeout) or time.monotonic() >= deadline:
                raise _failure(f"{self.url} did not answer within {self._timeout:g} s") from cause
            if connection.began and isinstance(cause, (ConnectionError, IncompleteRead)):
                fix = "Look whether it was, or send it again with the same idempotency_key"
                title = f"The connection to {self.url} was lost: the request may have been executed"
                raise _failure(title, fix) from cause
            fix = "Start it with: annals serve. ANNALS_SERVER names another address"
            raise _failure(f"No server answers at {self.url} ({cause})", fix) from cause
        finally:
            late.cancel()
            if not connection.guarded:
                connection.close()
        return response, text, connection


class AsyncClient:
    """The methods of Client for asyncio. Requests run in threads: one that is cancelled ends there, unseen."""

    def __init__(
        self,
        url: Optional[str] = None,
        key: Optional[str] = None,
        *,
        headers: Optional[Mapping[str, str]] = None,
        host: Optional[str] = None,
        session: Optional[str] = None,
        timeout: float = 30.0,
        retries: int = 2,
    ):
        self.sync = Client(
            url, key, headers=headers, host=host, session=session, timeout=timeout, retries=retries
        )

    async def request(self, path: str, method: str, **given: Any) -> Any:
        return await asyncio.to_thread(self.sync.request, path, method, **given)

    async def remember(
        self, item: Knowledge, query: Optional[RememberQuery] = None, *, idempotency_key: Optional[str] = None
    ) -> Knowledge:
        return await asyncio.to_thread(self.sync.remember, item, query, idempotency_key=idempotency_key)

    async def search(self, query: Union[str, Search]) -> SearchAnswer:
        return await asyncio.to_thread(self.sync.search, query)

    async def context(self, request: ContextRequest) -> ContextAnswer:
        return await asyncio.to_thread(self.sync.context, request)

    async def find(self, id: str) -> Knowledge:
        return await asyncio.to_thread(self.sync.find, id)

    async def feedback(self, id: str, vote: Vote) -> Knowledge:
        return await asyncio.to_thread(self.sync.feedback, id, vote)

    async def stale(self, id: str, reason: str) -> Knowledge:
        return await asyncio.to_thread(self.sync.stale, id, reason)

    async def revise(self, id: str, patch: Patch) -> Knowledge:
        return await asyncio.to_thread(self.sync.revise, id, patch)

    async def forget(self, id: str, reason: str) -> None:
        await asyncio.to_thread(self.sync.forget, id, reason)

    def list(self, filter: Optional[ListQuery] = None) -> AsyncIterator[Knowledge]:
        return _each(self.sync.list(filter))

    def history(self, id: str) -> AsyncIterator[Event]:
        return _each(self.sync.history(id))

    def events(self, filter: Optional[EventsQuery] = None, *, follow: bool = False) -> AsyncIterator[Event]:
        if not follow:
            return _each(self.sync.events(filter))
        interrupt = _Interrupt()
        return _each(self.sync._follow(filter or {}, interrupt), interrupt)


async def _each(items: Iterator[Any], interrupt: Optional[_Interrupt] = None) -> AsyncIterator[Any]:
    try:
        while True:
            item = await asyncio.to_thread(lambda: next(items, _END))
            if item is _END:
                return
            yield item
    finally:
        if interrupt:
            interrupt()


class _Connection:
    """One request and its answer."""

    _KINDS = {"http": HTTPConnection, "https": HTTPSConnection}

    @classmethod
    def reaches(cls, url: str) -> bool:
        try:
            parts = urlsplit(url)
            return parts.scheme in cls._KINDS and bool(parts.hostname) and parts.port != 0
        except ValueError:
            return False

    def __init__(self, url: str, timeout: float):
        parts = urlsplit(url)
        self._base = parts.path
        self._http = self._KINDS[parts.scheme](parts.hostname or "", parts.port, timeout=timeout)
        self._socket: Optional[socket.socket] = None
        self._response: Optional[HTTPResponse] = None
        self.guarded = False

    def ask(self, method: str, target: str, data: Optional[bytes], headers: Dict[str, str]) -> HTTPResponse:
        self._http.connect()
        self._socket = self._http.sock
        self._http.request(method, self._base + target, data, headers)
        response = self._response = self._http.getresponse()
        return response

    @property
    def began(self) -> bool:
        return self._socket is not None

    def follow(self) -> None:
        self.guarded = True
        if self._socket:
            self._socket.settimeout(_SILENCE)

    def wake(self) -> None:
        """Ends a read of another thread."""
        try:
            if self._socket:
                self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it has ended already

    def close(self) -> None:
        if self._response:
            self._response.close()
        self._http.close()

    def __enter__(self) -> _Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Interrupt:
    """Ends a stream from another thread."""

    def __init__(self) -> None:
        self.called = threading.Event()
        self._connection: Optional[_Connection] = None

    def guard(self, connection: _Connection) -> None:
        connection.follow()
        self._connection = connection
        if self.called.is_set():
            connection.wake()

    def __call__(self) -> None:
        self.called.set()
        if self._connection:
            self._connection.wake()


def _origin(url: str) -> Tuple[str, Optional[str], Optional[int]]:
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:  # no origin
        return url, None, None


def _failure(title: str, fix: Optional[str] = None, status: int = 0) -> AnnalsError:
    problem: Problem = {"type": "about:blank", "title": title, "status": status}
    if fix:
        problem["fix"] = fix
    return AnnalsError(problem)


def _problem(response: HTTPResponse, text: bytes) -> Problem:
    """What a response says that is not a success, also if a proxy wrote it."""
    try:
        said = json.loads(text)
        if isinstance(said["title"], str) and isinstance(said["status"], int):
            return said
    except (ValueError, KeyError, TypeError):
        pass  # not the server's own words
    title, detail = f"{response.status} {response.reason}".strip(), text.decode(errors="replace")[:200]
    if 300 <= response.status < 400:
        to = urlsplit(response.headers.get("Location") or "")  # its query may be secret
        detail = f"it redirects to {urlunsplit((to.scheme, to.netloc.rpartition('@')[2], to.path, '', ''))}"
    return {"type": "about:blank", "title": title, "status": response.status, "detail": detail}


def _seconds(value: Optional[str], otherwise: float) -> float:
    if value is None:
        return otherwise
    try:
        return max(0.0, float(value))
    except ValueError:
        pass  # a date
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return otherwise


def _address(path: str, names: Mapping[str, str], query: Mapping[str, Any]) -> str:
    for name, value in names.items():
        path = path.replace("{" + name + "}", quote(value, safe=""))
    plain = {name: _plain(value) for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(plain, doseq=True)}" if plain else path


def _plain(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _messages(response: HTTPResponse) -> Iterator[Dict[str, str]]:
    """The messages of server-sent events."""
    message: Dict[str, str] = {}
    while True:
        line = response.readline()
        if not line:
            return
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name in ("id", "event", "data"):
            message[name] = value
        elif not name:
            if "data" in message:
                yield message
            message = {}
