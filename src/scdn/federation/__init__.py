"""The same training with real devices: each is a process that holds its own features.

Before round 0 the server waits for devices and matches their rows with its labels by hashed key
(`federated_server.py`, `row_alignment.py`). A round is that of a simulation (`federated_rounds.py`)
with parties behind messages (`remote_parties.py`): the server plans, sends each device its part of
the plan and the loss's gradients at its embeddings, devices train and send new embeddings
(`device_client.py`), and the server trains the fusion model. A device that does not reply in time
has failed for the round (`messenger.py`); a process that dies or stops has left, and one that
starts joins (`membership.py`). `messages.py` has the messages with their version, `wire_format.py`
their bytes, `certificates.py` makes certificates and keys, `processes.py` starts processes on this
machine, `export_parties.py` writes a stored data set as files for them, `unix_socket.py` serves a
device to a SuperNode of Flower's, and `flower/` is all that depends on Flower.
"""
