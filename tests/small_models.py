"""A small classification and a small regression with four parties, for tests of learning."""

from __future__ import annotations

import torch
from reference_learning import create_model, n_steps, small_learning, table_dataset, table_view

from scdn.learning.local_optimizers import LocalSteps

CLASSES, NUMBERS = table_dataset(), table_dataset("regression")
VIEWS = {
    "a": table_view([0, 3, 1, 7, 9]),
    "b": table_view(range(10, 21)),
    "c": table_view([2, 4, 5, 6]),
    "d": table_view(range(21, 25)),
}
LOCAL_STEPS = {
    "a": n_steps(2),
    "b": n_steps(4, 0.1, "momentum", 0.4),
    "c": n_steps(3, 0.1, "proximal", 0.5),
}
SERVER = LocalSteps(3, 0.1)


def started(dataset=CLASSES, memory="keep", seed=3, views=None, **overrides):
    """Create a model before round 0."""
    return create_model(
        dataset, VIEWS if views is None else views, small_learning(**overrides), seed, memory
    )


def trained(*arguments, **overrides):
    """Create a model and train it for two rounds."""
    model = started(*arguments, **overrides)
    for round_ in range(2):
        model.train(round_, LOCAL_STEPS, SERVER)
    model.exchange()
    return model


def tensors(model):
    """Return every tensor that the model has learned or received."""
    server = model.server
    everything = {f"fusion {k}": p for k, p in server.fusion.parameters.items()}
    for stack in model.stacks:
        everything |= {f"{stack.names} {k}": p for k, p in stack.parameters.items()}
    for name, embeddings in server.memory.embeddings.items():
        tables = embeddings._asdict().items()
        everything |= {f"kept {name} {key}": table for key, table in tables if table is not None}
    everything |= {f"sample {k}": table for k, table in server.sample_embeddings.items()}
    everything |= {f"test {k}": table for k, table in server.test_embeddings.items()}
    return everything


def predicted(server, names):
    """Return the server's outputs for the test rows if only `names` had sent embeddings."""
    blank = torch.zeros_like(next(iter(server.test_embeddings.values())))
    known = [server.test_embeddings[m] if m in names else blank for m in server.fusion.members]
    return server.fusion.outputs(torch.stack(known))


def local_steps_for(model):
    """Return the local steps of the parties present."""
    return {name: steps for name, steps in LOCAL_STEPS.items() if name in model.present}


def same(one, other):
    """Return whether two models have learned and received exactly the same."""
    one, other = tensors(one), tensors(other)
    assert one.keys() == other.keys()
    return all(torch.equal(value, other[key]) for key, value in one.items())
