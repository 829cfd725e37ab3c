"""Malicious devices by when they are there, and honest ones to compare them with.

Each is a function of (network, folder of features, round), called after each round, and once before
the first with -1.
"""

from __future__ import annotations

from federation_helpers import device
from malicious_behaviours import BEHAVIOURS, Behaviour, behave
from malicious_label_readers import LABEL_READERS
from malicious_strategies import STRATEGIES
from malicious_unseen import UNSEEN, device_1_comes_back


def comes_and_goes(network, files, round_):
    """Leaves after each round, and joins again at once."""
    _replace(network, files, round_, "device-6")


def has_ever_new_names(network, files, round_):
    _replace(network, files, round_, f"guest-{round_}")


def _replace(network, files, round_, name):
    if round_ >= 0:
        network.devices.pop(6 if round_ == 0 else 100 + round_ - 1, None)
        client = device(files, "device-6")
        client.name = name
        network.plug(100 + round_, client)


def is_there_twice(network, files, round_):
    if round_ >= 0:
        network.plug(100 + round_, device(files, "device-6"))


def replies_after(seconds):
    def replies_late(network, _files, _round):
        network.delay_s[6] = seconds

    return replies_late


def replies_late_every_other_round(network, _files, round_):
    network.delay_s[6] = 9.5 if round_ % 2 else 0.0


def leaves_after(rounds):
    """Not malicious: what an honest device costs that leaves."""

    def leaves(network, _files, round_):
        if round_ == rounds - 1:
            network.unplug(6)

    return leaves


def lies_once_another_has_left(network, _files, round_):
    """Device 5 leaves after the sixth round; from then on, the last one lies about test rows."""
    if round_ == 5:
        network.unplug(5)
        behave(network, 6, Behaviour(STRATEGIES["half shuffled in test alone"][0]))


def slower_each_round(network, _files, round_):
    network.delay_s[6] = 0.5 * (round_ + 1)


TIMEOUT_S = 10.0  # with which the following are tried
LIFECYCLES = {
    f.__name__: f
    for f in (
        comes_and_goes,
        has_ever_new_names,
        is_there_twice,
        replies_late_every_other_round,
        lies_once_another_has_left,
        slower_each_round,
    )
} | {f"replies after {s:g} s": replies_after(s) for s in (4.5, 9.5, 15.0)}
LIFECYCLES |= UNSEEN | LABEL_READERS
CONTROLS = {f"(honest, leaves after {n} rounds)": leaves_after(n) for n in (2, 3, 8)}
CONTROLS["(honest, device 1 leaves and comes back)"] = device_1_comes_back

# Nobody can name a device for these: what it lies about is never sent, or an honest model could say
# the same.
NEVER_SENT = {how for how in BEHAVIOURS if " in table alone" in how}
LIKE_A_MODEL = {
    "wrong_for_half",
    "shifted_slowly later",
    "mean_of_its_past",
    "its sample of three rounds ago",
    "its test rows of five rounds ago",
}
LIKE_A_MODEL_OR_HARMLESS = {
    "says that it has states",
    "has the next name of device-1",
    "frozen model",
    "offset in one column",
    "uphill",
    "labels of training rows alone",
    "test classes swapped, a quarter",
    "other rows from the start",
    "plan for a giant",
    "figures just below limits",
    "the same noise of its size",
}
INDISTINGUISHABLE = NEVER_SENT | LIKE_A_MODEL | LIKE_A_MODEL_OR_HARMLESS
