"""Ask the devices of a recorded run for embeddings of rows, until a deadline.

Half of the time is for devices to connect, if some are not there yet; the rest is for answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from scdn.arrays import IntArray
from scdn.federation.federated_rounds import POLL_S
from scdn.federation.membership import Membership
from scdn.federation.messenger import Messenger, Request, Transport
from scdn.federation.prediction_request import EmbeddedRows, PredictionRequest, save_answer
from scdn.federation.server_settings import ServerSettings
from scdn.federation.table_format import bounded_array
from scdn.federation.wire_format import MAX_BYTES, WireError

_GOODBYE_S = 1.5  # a device that was killed does not take more of the answer's time than this
_MESSAGE_BYTES = MAX_BYTES // 8  # of embeddings in a reply

Log = Callable[[str], None]


def answer_request(settings: ServerSettings, transport: Transport) -> None:
    """Collect the embeddings that the request in `settings.predict` asks for, and write them."""
    folder = Path(settings.predict)
    save_answer(folder, collect_embeddings(PredictionRequest.read(folder), transport, settings.log))


def collect_embeddings(
    request: PredictionRequest, transport: Transport, log: Log
) -> dict[str, EmbeddedRows]:
    """Return the embeddings of parties that answer in time; a party may lack some of the rows."""
    time_left = request.deadline - time.time() - _GOODBYE_S
    deadline = time.monotonic() + time_left
    # A node that does not give its name holds up the others for a part of the time alone.
    messenger = Messenger(transport, request.run, max(0.1, time_left / 4), log=log)
    membership = Membership(messenger, request.salt)
    devices = {"devices": dict(request.devices), "silent": {}}
    membership.load_state_dict({"run": request.run, "salt": request.salt, **devices})
    _wait_for_devices(request, membership, deadline - time_left / 2, log)
    answer = _ask_devices(request, membership, deadline, log)
    messenger.timeout_s = _GOODBYE_S
    membership.say_goodbye(list(membership.members), "the rows are predicted")
    return answer


def _wait_for_devices(
    request: PredictionRequest, membership: Membership, deadline: float, log: Log
) -> None:
    """Wait until all parties of the request are connected, or the deadline has passed."""
    expected = set(request.states)
    log(f"waiting for {', '.join(sorted(expected))}")
    while not expected <= membership.members.keys() and time.monotonic() < deadline:
        new, back = membership.discover(request.states.get)
        for party in back:
            log(f"{party}: connected, {len(membership.members[party].keys)} rows")
        for party in new:
            log(f"{membership.device_of[party]}: has no model of the run's last recorded round")
        if not expected <= membership.members.keys():
            time.sleep(POLL_S)
    for party in sorted(expected - membership.members.keys()):
        log(f"{party}: is not connected, imputed")


def _ask_devices(
    request: PredictionRequest, membership: Membership, deadline: float, log: Log
) -> dict[str, EmbeddedRows]:
    """Ask connected parties for the rows that they have, in messages of a limited size."""
    rows_of = _rows_of(request, membership)
    for party, rows in rows_of.items():
        if len(rows) < len(request.keys):
            log(f"{party}: lacks {len(request.keys) - len(rows)} of {len(request.keys)} rows")
    size = max(1, _MESSAGE_BYTES // (8 * request.width))
    count = max((-(-len(rows) // size) for rows in rows_of.values()), default=0)
    pieces: dict[str, list[EmbeddedRows]] = {party: [] for party in rows_of}
    for number in range(count):
        asked = {
            party: rows[number * size : (number + 1) * size]
            for party, rows in rows_of.items()
            if len(rows) > number * size and len(pieces[party]) == number
        }
        requests = {
            party: Request(
                "predict",
                {"base": request.states[party]},
                {"keys": request.keys[rows]},
                {"rows": len(rows), "w": request.width},
            )
            for party, rows in asked.items()
        }
        time_left = max(0.1, deadline - time.monotonic()) / (count - number)
        for party, reply in membership.messenger.ask(requests, time_left).items():
            try:
                values = bounded_array("embeddings", reply.arrays["embeddings"])
            except WireError as error:
                membership.messenger.reject(party, str(error))
            else:
                pieces[party].append(EmbeddedRows(asked[party], values))
    nothing = EmbeddedRows(np.zeros(0, np.int64), np.zeros((0, request.width)))
    return {
        party: EmbeddedRows(*map(np.concatenate, zip(nothing, *sent, strict=True)))
        for party, sent in pieces.items()
        if sent or not len(rows_of[party])
    }


def _rows_of(request: PredictionRequest, membership: Membership) -> Mapping[str, IntArray]:
    """Return by connected party the numbers of the rows that it has."""
    keys = [key.tobytes() for key in request.keys]
    rows_of = {}
    for party in sorted(request.states.keys() & membership.members.keys()):
        held = {key.tobytes() for key in membership.members[party].keys}
        rows_of[party] = np.array([n for n, key in enumerate(keys) if key in held], np.int64)
    return rows_of
