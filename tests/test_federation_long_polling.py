"""A device's request for messages waits at the SuperLink until there is one for it."""

from __future__ import annotations

import asyncio
from collections import deque

import pytest

from scdn.federation.flower import disable_internet_calls

disable_internet_calls()  # before Flower is imported

from scdn.federation.flower import private_parts  # noqa: E402
from scdn.federation.flower.long_polling import (  # noqa: E402
    PULL,
    PUSH,
    PUSH_CONTENT,
    LongPolling,
)

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what Flower imports
NEVER_S = 1e6


def pull(node):
    return private_parts.PullMessagesRequest(
        node=private_parts.Node(node_id=node)
    ).SerializeToString()


def push(*nodes):
    from flwr.proto.message_pb2 import Message, Metadata

    messages = [Message(metadata=Metadata(dst_node_id=node)) for node in nodes]
    return private_parts.PushAppMessagesRequest(messages_list=messages).SerializeToString()


class SuperLink:
    """Keeps messages by node, as Flower does, and gives one at a time."""

    def __init__(self, hold_s=NEVER_S, contents=()):
        self.contents = contents  # that it asks for, of each message
        self.status = 200
        self.messages, self.looks, self.bodies = {}, [], []
        self.polling = LongPolling(self.app, hold_s)

    async def app(self, scope, receive, send):
        body = (await receive())["body"]
        self.bodies.append((scope["path"], body))
        answer = b""
        if scope["path"] == PULL:
            node = private_parts.PullMessagesRequest.FromString(body).node.node_id
            self.looks.append(node)
            if self.messages.get(node) and self.status == 200:
                answer = self.messages[node].popleft()
        elif scope["path"] == PUSH:
            for message in private_parts.PushAppMessagesRequest.FromString(body).messages_list:
                node = message.metadata.dst_node_id
                self.messages.setdefault(node, deque()).append(b"message")
            answer = private_parts.PushAppMessagesResponse(
                objects_to_push=self.contents
            ).SerializeToString()
        await send({"type": "http.response.start", "status": self.status, "headers": []})
        await send({"type": "http.response.body", "body": answer})


class Request:
    """A request of which the body comes in two pieces, and whose sender may go."""

    def __init__(self, path, body, size=None):
        length = str(len(body) if size is None else size).encode()
        self.scope = {"type": "http", "path": path, "headers": [(b"content-length", length)]}
        self.pieces = deque([(body[:1], True), (body[1:], False)])
        self.gone, self.answers = asyncio.Event(), []

    async def receive(self):
        if self.pieces:
            body, more = self.pieces.popleft()
            return {"type": "http.request", "body": body, "more_body": more}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message):
        if message["type"] == "http.response.body":
            self.answers.append(message["body"])


def begin(superlink, request):
    return asyncio.ensure_future(superlink.polling(request.scope, request.receive, request.send))


async def settle():
    for _ in range(50):
        await asyncio.sleep(0)


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 20))


def test_a_request_waits_for_a_message_to_its_own_node():
    async def check():
        superlink, mine, other = SuperLink(), Request(PULL, pull(1)), Request(PULL, pull(2))
        tasks = [begin(superlink, request) for request in (mine, other)]
        await settle()
        assert superlink.looks == []
        await begin(superlink, Request(PUSH, push(1)))
        await tasks[0]
        assert (mine.answers, superlink.looks) == ([b"message"], [1])
        assert not tasks[1].done()
        other.gone.set()
        await tasks[1]

    run(check())


def test_a_device_looks_when_all_contents_of_its_message_are_there():
    async def check():
        superlink, request = SuperLink(contents=("one", "two")), Request(PULL, pull(1))
        task = begin(superlink, request)
        await settle()
        await begin(superlink, Request(PUSH, push(1)))
        await begin(superlink, Request(PUSH_CONTENT, b"one"))
        await settle()
        assert superlink.looks == []
        await begin(superlink, Request(PUSH_CONTENT, b"two"))
        await task
        assert request.answers == [b"message"]

    run(check())


def test_a_server_that_ended_while_it_pushed_does_not_hold_up_the_next():
    async def check():
        superlink, request = SuperLink(contents=("one", "two")), Request(PULL, pull(2))
        await begin(superlink, Request(PUSH, push(1)))  # its contents never come
        superlink.contents = ()
        await begin(superlink, Request(PUSH, push(2)))
        await begin(superlink, request)
        assert request.answers == [b"message"]

    run(check())


def test_a_message_that_came_before_is_given_at_once_and_so_is_the_next():
    async def check():
        superlink = SuperLink()
        await begin(superlink, Request(PUSH, push(1, 1)))
        for _ in range(2):
            request = Request(PULL, pull(1))
            await begin(superlink, request)
            assert request.answers == [b"message"]

    run(check())


def test_a_request_that_is_refused_does_not_hold_up_the_next():
    """It may be of another device, which asks for messages that are not its own."""

    async def check():
        superlink, request = SuperLink(), Request(PULL, pull(1))
        await begin(superlink, Request(PUSH, push(1)))
        superlink.status = 403
        await begin(superlink, Request(PULL, pull(1)))
        superlink.status = 200
        await begin(superlink, request)
        assert request.answers == [b"message"]

    run(check())


def test_a_request_without_a_message_is_answered_in_the_end():
    async def check():
        superlink, request = SuperLink(hold_s=0.01), Request(PULL, pull(1))
        await begin(superlink, request)
        assert (request.answers, superlink.looks) == ([b""], [1])
        assert not superlink.polling.news
        assert not superlink.polling._waiting  # nothing is kept of devices that asked

    run(check())


def test_a_device_that_has_gone_does_not_take_its_message_with_it():
    async def check():
        superlink, first, second = SuperLink(), Request(PULL, pull(1)), Request(PULL, pull(1))
        task = begin(superlink, first)
        await settle()
        first.gone.set()
        await task
        await begin(superlink, Request(PUSH, push(1)))
        await begin(superlink, second)
        assert (first.answers, second.answers) == ([], [b"message"])

    run(check())


@pytest.mark.parametrize(
    ("path", "body", "size"),
    [
        (PULL, b"\xff\xff", None),  # Flower says what is wrong with it
        (PULL, b"x" * 2000, None),
        (PUSH, b"\xff\xff", None),
        ("/v1/fleet/push-object", b"anything", None),
    ],
)
def test_other_requests_are_passed_on_as_they_are(path, body, size):
    async def check():
        passed = []

        async def app(_, receive, send):
            message, pieces = {"more_body": True}, []
            while message["more_body"]:
                message = await receive()
                pieces.append(message["body"])
            passed.append(b"".join(pieces))
            await send({"type": "http.response.start", "status": 400, "headers": []})
            await send({"type": "http.response.body", "body": b"wrong"})

        polling, request = LongPolling(app, 0.01), Request(path, body, size)
        await polling(request.scope, request.receive, request.send)
        assert (passed, request.answers) == ([body], [b"wrong"])
        assert not polling.news

    run(check())
