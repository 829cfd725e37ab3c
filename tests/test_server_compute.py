"""The server's computing: counted rows, and the cycles, seconds and joules they take."""

from __future__ import annotations

from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_learning import create_model, small_learning
from small_models import CLASSES, LOCAL_STEPS, VIEWS

from scdn.errors import InputError
from scdn.learning.fusion_server import FITTED_LENGTHS, SEARCHED_LENGTHS
from scdn.learning.local_optimizers import LocalSteps
from scdn.learning.server_work import ServerWork
from scdn.scenario import MobileServer, make_scenario
from scdn.simulation.server_compute import server_compute
from scdn.world.energy import cycles, processing_j

COUNTS = st.integers(0, 10**9)
WORK = st.builds(ServerWork, COUNTS, COUNTS, COUNTS)
PROCESSORS = st.builds(
    MobileServer,
    cpu_hz=st.floats(1e6, 1e10),
    flops_per_cycle=st.floats(1e-3, 1e3),
    capacitance=st.floats(1e-29, 1e-26),
)


@given(WORK, WORK)
def test_work_adds_up(one, other):
    assert one + ServerWork() == one
    assert one + other == other + one
    assert astuple(one + other) == tuple(
        a + b for a, b in zip(astuple(one), astuple(other), strict=True)
    )


@given(st.integers(0, 500), st.integers(1, 512), st.integers(1, 10**6), PROCESSORS)
def test_a_step_takes_what_it_takes_a_device(steps, batch_size, connections, server):
    """The contract's q·3·connections·capacitance·batch_size/(2·flops_per_cycle)·cpu_hz²."""
    compute = server_compute(
        ServerWork(gradient_rows=steps * batch_size, steps=steps), connections, server
    )
    taken = cycles(steps, batch_size, connections, server.flops_per_cycle)
    assert compute.seconds == pytest.approx(float(taken) / server.cpu_hz, rel=1e-12)
    joules = float(processing_j(taken, server.capacitance, server.cpu_hz))
    assert compute.joules == pytest.approx(joules, rel=1e-12)


@given(WORK, WORK, st.integers(1, 10**6), PROCESSORS)
def test_costs_add_up_and_a_row_of_outputs_costs_a_third(one, other, connections, server):
    parts, whole = (
        [server_compute(work, connections, server) for work in pieces]
        for pieces in ((one, other), (one + other,))
    )
    assert whole[0].joules == pytest.approx(sum(part.joules for part in parts), rel=1e-9)
    assert whole[0].seconds == pytest.approx(sum(part.seconds for part in parts), rel=1e-9)
    outputs = server_compute(ServerWork(forward_rows=one.gradient_rows), connections, server)
    gradients = server_compute(ServerWork(gradient_rows=one.gradient_rows), connections, server)
    assert 3 * outputs.joules == pytest.approx(gradients.joules, rel=1e-12)


@given(WORK, st.integers(1, 10**6))
def test_without_a_clock_nothing_is_counted(work, connections):
    compute = server_compute(work, connections, MobileServer(cpu_hz=0.0))
    assert (compute.work, compute.seconds, compute.joules) == (work, 0.0, 0.0)


@pytest.mark.parametrize("labels", ["shared", "server"])
@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
@pytest.mark.parametrize("step", ["searched", "fitted", "rate"])
def test_a_round_counts_the_rows_that_the_server_computes(step, optimizer, labels):
    learning = small_learning(step=step, server_optimizer=optimizer, labels=labels, batch_size=32)
    model = create_model(CLASSES, VIEWS, learning)
    assert model.server.take_work() == ServerWork()
    taken = model.train(0, LOCAL_STEPS, LocalSteps(27, 0.1), batches=28)
    batch, most = learning.batch_size, max(steps.count for steps in LOCAL_STEPS.values())
    outputs = {
        "searched": len(SEARCHED_LENGTHS) + 1 + 1 + taken.shortenings,  # and before and after
        "fitted": 28 * len(FITTED_LENGTHS),
        "rate": 0,
    }[step]
    held_out = 90 // 5
    looks = 4 if optimizer == "adam" else 0  # before and after 10, 20 and 27 steps
    rows = held_out if step == "searched" else batch
    assert 0 < held_out < batch  # so that the two can be told apart
    assert model.server.take_work() == ServerWork(
        gradient_rows=batch * (27 + most * (labels == "server")),
        forward_rows=outputs * rows + looks * held_out,
        steps=27,
    )
    assert model.server.take_work() == ServerWork()


def test_the_fusion_models_connections_are_all_its_weights_and_biases():
    fusion = create_model(CLASSES, VIEWS, small_learning(fusion_hidden=8)).server.fusion
    width = fusion.width
    assert fusion.connections == len(VIEWS) * width * 8 + 8 + 8 * width + width


@pytest.mark.parametrize(
    ("server", "field"),
    [
        ({"cpu_hz": -1.0}, "server.cpu_hz"),
        ({"cpu_hz": 1e-300}, "server.cpu_hz"),
        ({"flops_per_cycle": 0}, "server.flops_per_cycle"),
        ({"capacitance": -1e-28}, "server.capacitance"),
    ],
)
def test_a_processor_that_cannot_be_is_refused_in_one_line(server, field):
    with pytest.raises(InputError) as error:
        make_scenario({"server": server, "fleet": [{"count": 2}]})
    assert len(str(error.value).splitlines()) == 1
    assert field in str(error.value)
