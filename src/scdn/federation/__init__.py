"""The same training with real devices: each is a process that holds its own features.

Before round 0 the server (`federated_server.py`, `server_settings.py`) waits for devices and
matches their rows with its labels by hashed key (`row_alignment.py`). A round is that of a
simulation (`federated_rounds.py`) with parties behind messages (`remote_parties.py`, and
`remote_party.py` for each of them): the server plans, sends each device its part of the plan and
the loss's gradients at its embeddings; devices train (`device_client.py`), are told how far to go
along their updates, and send new embeddings; the server trains the fusion model. A device that does
not reply in time has failed for the round (`messenger.py`); one whose process stops or dies leaves,
and one that connects joins (`membership.py`). A device keeps its model in files (`party_model.py`,
`kept_states.py`). After the run, `federated_model.py` predicts rows from embeddings that devices
are asked for by key (`prediction_request.py`, `collect_embeddings.py`). `messages.py` has the
messages and their version, `wire_format.py` their bytes. `certificates.py` makes certificates and
keys, `processes.py` starts processes on this machine, `export_parties.py` writes a stored data set
as files for them, `unix_socket.py` serves a device to a SuperNode of Flower's; only `flower/`
depends on Flower.
"""
