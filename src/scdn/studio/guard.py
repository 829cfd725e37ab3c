"""Who may come in: known hosts, the token, no writes from other pages, no endless bodies.

A page from elsewhere that a user has open must not be able to use the studio: a request with a
foreign `Host` (a name bent to this machine) or, if it writes, with a foreign `Origin` is refused.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from scdn.studio.settings import MAX_BODY, Settings

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

COOKIE = "scdn_token"
_READS = {"GET", "HEAD", "OPTIONS"}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_ALWAYS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_ASK = (
    "<!doctype html><meta charset=utf-8><title>scdn studio</title><h1>This studio needs its token"
    "</h1><p>Open the address that <code>scdn studio</code> printed: it ends with the token."
)


class Guard:
    """Stands before the application."""

    def __init__(self, app: Any, settings: Settings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets a request through, or answers it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, _with_headers(send))
            return
        await self._app(scope, _limited(receive, scope), _with_headers(send))

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self._settings.hosts and _name(host) not in self._settings.hosts:
            return _no(421, "host", f"got {host[:80]!r}", "must be the studio's own address")
        if scope["method"] not in _READS and not _same_origin(headers, host):
            found = headers.get("origin") or headers.get("sec-fetch-site", "")
            return _no(403, "origin", f"got {found[:80]!r}", "only the studio's own page may write")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY:
            return _too_large()
        return self._ask_token(scope, headers)

    def _ask_token(self, scope: Scope, headers: Headers) -> Response | None:
        token = self._settings.token
        if token is None:
            return None
        told = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["path"] == "/" and _same(told, token):
            answer = RedirectResponse("/", 303)
            answer.set_cookie(COOKIE, token, httponly=True, samesite="strict")
            return answer
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if _same(bearer, token) or _same(_cookie(headers), token):
            return None
        if scope["path"].startswith("/api"):
            return _no(401, "token", "is missing or wrong", "send it as Authorization: Bearer")
        return HTMLResponse(_ASK, 401)


def _no(status: int, field: str, found: str, allowed: str) -> Response:
    return JSONResponse({"faults": [{"field": field, "found": found, "allowed": allowed}]}, status)


def _too_large() -> Response:
    return _no(413, "body", "is too large", f"must be at most {MAX_BODY >> 20} MiB")


def _name(host: str) -> str:
    """The host without its port."""
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0].lower()


def _same_origin(headers: Headers, host: str) -> bool:
    """Whether a browser says that the studio's own page asks, or nothing, as other clients do."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        return False
    return origin is None or origin.partition("://")[2] == host


def _same(told: str, token: str) -> bool:
    return hmac.compare_digest(told.encode(), token.encode())


def _cookie(headers: Headers) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, text in _ALWAYS.items():
                headers.setdefault(name, text)
        await send(message)

    return sent


class BodyTooLargeError(Exception):
    """Raised while a body that said nothing of its length is read."""


def _limited(receive: Receive, scope: Scope) -> Receive:
    """Counts what comes in: a body in pieces has no length up front."""
    seen = 0

    async def limited() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > MAX_BODY:
            raise BodyTooLargeError(scope["path"])
        return message

    return limited
