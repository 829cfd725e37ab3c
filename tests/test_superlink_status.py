"""A SuperLink that answers late on a busy machine goes on; one that has ended is named at once."""

from __future__ import annotations

from types import SimpleNamespace

import httpx
import pytest

from scdn.federation.flower.superlink import SuperLinkControl
from scdn.federation.processes import run_at_superlink
from scdn.file_io import OutputError


class SuperLink(SuperLinkControl):
    """A SuperLink whose answers to "how is the run?" are given."""

    def __init__(self, *answers):
        super().__init__("127.0.0.1:1", None)
        self.answers = list(answers)

    def start(self, *_):
        return 1

    def status(self, _):
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def settings(folder):
    return SimpleNamespace(log_file=folder / "log", out=str(folder), to_run_config=dict)


def refusal(status):
    request, response = httpx.Request("POST", "http://x"), httpx.Response(status)
    return httpx.HTTPStatusError(str(status), request=request, response=response)


@pytest.mark.parametrize("error", [httpx.ConnectTimeout("handshake"), refusal(503)])
def test_a_run_goes_on_where_the_superlink_is_busy(tmp_path, error):
    """It answers late, or has too many connections."""
    superlink = SuperLink(error, ("running", ""), ("finished", ""))
    run_at_superlink(superlink, settings(tmp_path), lambda *_: None)
    assert superlink.answers == []


def test_a_superlink_that_refuses_connections_has_ended(tmp_path):
    superlink = SuperLink(httpx.ConnectError("refused"), ("finished", ""))
    with pytest.raises(OutputError, match="the SuperLink has ended"):
        run_at_superlink(superlink, settings(tmp_path), lambda *_: None)


def test_a_superlink_that_stays_silent_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr("scdn.federation.processes._SUPERLINK_BUSY_S", 0.0)
    superlink = SuperLink(httpx.ReadTimeout("silent"), ("finished", ""))
    with pytest.raises(OutputError, match="the SuperLink has ended"):
        run_at_superlink(superlink, settings(tmp_path), lambda *_: None)
