"""Access control: allowed hosts, the token, no writes from other web pages, no endless bodies.

Another web page that the user has open must not be able to use the studio. So a request with a
foreign `Host` (DNS rebinding) is refused, and so is a write with a foreign `Origin`.
"""

from __future__ import annotations

import hmac
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scdn.studio.settings import MAX_BODY, StudioSettings

COOKIE = "scdn_token"
_READ_METHODS = {"GET", "HEAD", "OPTIONS"}
_CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_SIGN_IN_PAGE = (
    "<!doctype html><meta charset=utf-8><title>scdn studio</title><h1>This studio needs its token"
    "</h1><p>Open the address that <code>scdn studio</code> printed: it ends with the token."
)


class AccessControl:
    """ASGI middleware that answers a request itself or passes it to the application."""

    def __init__(self, app: ASGIApp, settings: StudioSettings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass an allowed request on; answer any other with an error."""
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
        if self._settings.hosts and _host_name(host) not in self._settings.hosts:
            return _refuse(421, "host", f"got {host[:80]!r}", "must be the studio's own address")
        if scope["method"] not in _READ_METHODS and not _same_origin(headers, host):
            origin = headers.get("origin") or headers.get("sec-fetch-site", "")
            allowed = "must be the studio's own page"
            return _refuse(403, "origin", f"got {origin[:80]!r}", allowed)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY:
            allowed = f"must be at most {MAX_BODY >> 20} MiB"
            return _refuse(413, "body", "is too large", allowed)
        return self._check_token(scope, headers)

    def _check_token(self, scope: Scope, headers: Headers) -> Response | None:
        token = self._settings.token
        if token is None:
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["path"] == "/" and _same(given, token):
            response = RedirectResponse("/", 303)
            response.set_cookie(COOKIE, token, httponly=True, samesite="strict")
            return response
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        cookie = HTTPConnection(scope).cookies.get(COOKIE, "")
        if _same(bearer, token) or _same(cookie, token):
            return None
        if scope["path"].startswith("/api"):
            return _refuse(401, "token", "is missing or wrong", "send it as Authorization: Bearer")
        return HTMLResponse(_SIGN_IN_PAGE, 401)


def _refuse(status: int, field: str, found: str, allowed: str) -> Response:
    return JSONResponse({"faults": [{"field": field, "found": found, "allowed": allowed}]}, status)


def _host_name(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0].lower()


def _same_origin(headers: Headers, host: str) -> bool:
    """Return whether the studio's own page asks, or a client that is no browser."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        return False
    return origin is None or origin.partition("://")[2] == host


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, text in _HEADERS.items():
                headers.setdefault(name, text)
        await send(message)

    return send_with_headers


class BodyTooLargeError(Exception):
    """Raised while a body without a declared length is read."""


def _limited(receive: Receive, scope: Scope) -> Receive:
    """Count the bytes received: a chunked body declares no length."""
    received = 0

    async def limited() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > MAX_BODY:
            raise BodyTooLargeError(scope["path"])
        return message

    return limited
