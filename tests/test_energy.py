"""Energies follow the contract, are never negative, and the least clock is just in time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scdn.scenario import Movement
from scdn.world import energy
from scdn.world.movement_models import movement_model

positive = st.floats(0, 1e6)
position = st.tuples(st.floats(0, 100), st.floats(0, 100), st.floats(0, 100))
movements = st.builds(
    Movement,
    hover_j=st.floats(0, 100),
    climb_j=st.floats(0, 100),
    lateral_j_per_m=st.floats(0, 10),
    altitude_scale_m=st.floats(1, 100),
)


@given(positive, positive)
def test_transmission_energy_is_power_times_delay(power, delay):
    assert energy.transmission_j(power, delay) == pytest.approx(power * delay)
    assert energy.transmission_j(0, np.inf) == 0


@given(position, position, movements)
def test_movement_energy_is_never_negative_and_flying_sideways_adds_to_it(before, after, movement):
    moved = movement_model(movement, None).energy_j(before, after, 100)
    assert all(np.all(part >= 0) for part in moved)
    assert moved.total == moved.hover + moved.climb + moved.lateral
    stayed = movement_model(movement, None).energy_j(before, (before[0], before[1], after[2]), 100)
    assert stayed.lateral == 0
    assert stayed.total <= moved.total


@given(st.floats(0, 90), st.floats(0, 99))
def test_climbing_energy_is_the_contracts_logarithm(before, after):
    climb = movement_model(Movement(), None).energy_j([0, 0, before], [0, 0, after], 100).climb
    assert climb == pytest.approx(10 * max(0.0, np.log((100 - before) / (100 - after))), abs=1e-9)


def test_climbing_to_the_ceiling_takes_infinite_energy_and_staying_there_none():
    assert movement_model(Movement(), None).energy_j([0, 0, 50], [0, 0, 100], 100).climb == np.inf
    assert movement_model(Movement(), None).energy_j([0, 0, 100], [0, 0, 100], 100).climb == 0
    assert movement_model(Movement(), None).energy_j([0, 0, 100], [0, 0, 50], 100).climb == 0


@given(st.integers(0, 50), st.integers(1, 512), st.floats(1, 1e6), st.floats(1e-4, 8))
def test_least_clock_is_just_in_time(steps, batch, connections, flops):
    work = energy.cycles(steps, batch, connections, flops)
    assert work == pytest.approx(3 * steps * batch * connections / flops)
    clock = energy.least_cpu_hz(work, 4.0, 1e7)
    assert work / clock <= 4.0 * (1 + 1e-12)
    assert clock == 1e7 or work / clock == pytest.approx(4.0)
    assert energy.processing_j(work, 2e-28, clock) >= 0


def test_five_iterations_of_the_default_device_need_1850_mhz():
    work = energy.cycles(5, 64, 50890, 0.0066)
    assert energy.least_cpu_hz(work, 4.0, 1e7) == pytest.approx(1.85e9, rel=1e-3)
