"""A network of devices in this process, for tests: a `Line` whose cables can be cut."""

from __future__ import annotations

import itertools

from scdn.federation.post import Node, Reply


class Cable:
    """Devices by node; what each answers may be lost, late, changed, or of somebody else."""

    def __init__(self):
        self.devices, self.until, self.names = {}, {}, {}
        self.replies, self.sent = {}, []
        self.tamper = {}  # node -> function of (frame, answer) that gives a list of replies
        self._ids = itertools.count()

    def plug(self, node, device, key_name=""):
        self.devices[node] = device
        self.names[node] = key_name
        self.until[node] = 1e12

    def unplug(self, node):
        del self.devices[node]

    def nodes(self):
        return [Node(n, self.names[n], self.until[n]) for n in self.devices]

    def push(self, node, raw, _lasts_s):
        id_ = f"m{next(self._ids)}"
        self.sent.append((id_, node, raw))
        if node in self.devices:
            answer = self.devices[node].answer(raw)
            change = self.tamper.get(node)
            made = [Reply(id_, node, answer)] if change is None else change(id_, raw, answer)
            self.replies[id_] = made
        return id_

    def pull(self, ids):
        return [reply for id_ in ids for reply in self.replies.pop(id_, [])]
