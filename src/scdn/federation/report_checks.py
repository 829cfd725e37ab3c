"""Take back what parties have sent, where it is out of line."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from scdn.federation.output_consistency import find_misleading
from scdn.federation.row_consistency import find_inconsistent

if TYPE_CHECKING:
    from scdn.federation.remote_parties import RemoteParties


def check_reports(remote: RemoteParties, names: Collection[str]) -> None:
    """Take back reports that are out of line; those before them stay."""
    new = {name: party for name, party in remote.parties.items() if name in names and party.new}
    samples = {name: party.sample for name, party in new.items() if party.sample is not None}
    reasons = remote.detector.reports(samples)
    good = {name: party for name, party in remote.parties.items() if name not in reasons}
    reasons |= find_inconsistent(new, good)
    reasons |= _find_misleading(remote, reasons)
    reasons = {name: reason for name, reason in reasons.items() if name in new}
    remote.without(new, reasons)
    for name, party in new.items():
        party.settle(good=name not in reasons)
        if party.test is not None:
            remote.detector.odd.note_repeated(name, party.test)


def go_back(remote: RemoteParties, names: Collection[str]) -> None:
    """Take parties that are left out of a round back to the state in which it found them."""
    for name in names:
        remote.parties[name].settle(good=False)
        remote.parties[name].state = remote.progress.bases[name]
        remote.detector.go_back(name)


def _find_misleading(remote: RemoteParties, out_of_line: Collection[str]) -> dict[str, str]:
    """Find parties that keep the server's outputs from carrying over to test rows."""
    if remote.detector.harm is None:
        return {}
    samples, tests = {}, {}
    for name, party in remote.parties.items():
        if party.sample is not None and party.test is not None and name not in out_of_line:
            samples[name], tests[name] = party.sample, party.test
    return find_misleading(samples, tests, remote.detector.harm.outputs(samples, tests))


def liars_among(remote: RemoteParties, names: Collection[str]) -> list[str]:
    """Return those of these parties that were ever out of line."""
    return [name for name in names if remote.detector.suspicious_rounds[name]]


def forget_liars(remote: RemoteParties, names: Collection[str]) -> list[str]:
    """Forget all that those of these parties have sent that were ever out of line; return them.

    A lie is often seen only after some rounds: what was accepted before may be one as well.
    """
    liars = liars_among(remote, names)
    for name in liars:
        party = remote.parties[name]
        party.settle(good=False)
        party.sample = party.test = None
        remote.messenger.log(f"{name}: nothing that it sent is kept")
    if remote.detector.harm is not None:
        remote.detector.harm.forget(liars)
    return liars
