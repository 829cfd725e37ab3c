"""Line of sight, path loss, rate and fading: their laws, and numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scdn.rng import generator
from scdn.scenario import AirLink, Fading, Link, Radio
from scdn.world import transmission
from scdn.world.fading import draw_channel, drawn_path_loss
from scdn.world.geometry import distance, elevation_deg
from scdn.world.line_of_sight import los_probability
from scdn.world.link_models import link_model, path_loss
from scdn.world.link_models.link_model import is_air_to_air

RADIO = Radio()
coordinate = st.floats(0, 100)
point = st.tuples(coordinate, coordinate, coordinate)
models = st.sampled_from(["shannon", "pade"])
links = st.builds(
    Link,
    los_scale=st.floats(4, 30),
    los_slope=st.floats(0.05, 0.5),
    los_loss_db=st.floats(0, 5),
    nlos_loss_db=st.floats(10, 35),
    exponent=st.floats(2, 4),
)


@given(links, st.floats(0, 90), st.floats(0, 90))
def test_line_of_sight_has_a_probability_that_rises_with_elevation(link, a, b):
    low, high = sorted((a, b))
    assume(high - low > 1e-6)
    los, nlos = los_probability(np.array([low, high]), link.los_scale, link.los_slope)
    assert 0 < los[0] <= los[1] <= 1
    assert los[0] < 1
    if los[1] < 1 - 1e-12:
        assert los[0] < los[1]
    assert los + nlos == pytest.approx(np.ones(2), rel=1e-12)
    assert nlos[0] > nlos[1] > 0  # however close to certain line of sight is


@given(links, st.floats(0.01, 1), st.floats(1.1, 500), st.floats(1.001, 5), st.floats(0, 6.28))
def test_loss_rises_with_distance_at_a_fixed_elevation(link, sine, near, factor, azimuth):
    radio = Radio(a2g=link)
    cosine = np.sqrt(1 - sine**2)
    direction = np.array([cosine * np.cos(azimuth), cosine * np.sin(azimuth), sine])
    closer, farther = path_loss(
        np.stack([direction, direction * factor]) * near, [[0, 0, 0]], radio
    )
    assert farther > closer


@given(point, point, models, st.floats(1e3, 1e8), st.floats(1e-4, 100), st.floats(1e5, 1e8))
def test_least_power_meets_the_delay_and_less_misses_it(server, device, model, bits, limit, width):
    loss = path_loss(server, [device], RADIO)
    noise = transmission.noise_w(RADIO, width)
    power = transmission.least_power(loss, bits, width, noise, limit, model)
    assume(np.isfinite(power).all() and power[0] < 1e200)

    def delay(watts):
        snr = transmission.snr(watts, loss, noise)
        return transmission.delay(bits, transmission.rate(snr, width, model))

    assert delay(power) == pytest.approx(limit, rel=1e-9)
    assert delay(power * (1 - 1e-6)) > limit


@given(point, point)
def test_path_loss_is_finite_and_the_same_in_both_directions(a, b):
    there, back = path_loss(a, [b], RADIO), path_loss(b, [a], RADIO)
    assert there == pytest.approx(back)
    assert np.isfinite(there).all()
    assert (there > 0).all()


def test_air_to_air_needs_both_ends_in_the_air():
    devices = [[10, 10, 0], [10, 10, 5]]
    assert is_air_to_air([0, 0, 7], devices).tolist() == [False, True]
    assert is_air_to_air([0, 0, 0], devices).tolist() == [False, False]
    both = path_loss([[40, 40, 7], [40, 40, 0]], devices, RADIO)
    ground_only = Radio(a2a=AirLink(**RADIO.a2g.model_dump()))
    same = both == path_loss([[40, 40, 7], [40, 40, 0]], devices, ground_only)
    assert same.tolist() == [[True, False], [True, True]]


def _scalar_loss(server, device, radio):
    """The formula, one link at a time, in plain Python."""
    link = radio.a2a if server[2] > 0 and device[2] > 0 else radio.a2g
    d, run = math.dist(server, device), math.dist(server[:2], device[:2])
    theta = math.degrees(math.atan2(abs(server[2] - device[2]), run))
    p = 1 / (1 + link.los_scale * math.exp(-link.los_slope * (theta - link.los_scale)))
    mean = p * 10 ** (link.los_loss_db / 10) + (1 - p) * 10 ** (link.nlos_loss_db / 10)
    spread = 4 * math.pi * radio.carrier_hz * max(d, radio.min_distance_m) / 299792458
    return spread**link.exponent * mean * 10 ** (radio.margin_db / 10)


@given(st.lists(point, min_size=1, max_size=4), st.lists(point, min_size=1, max_size=5))
def test_array_losses_equal_the_formula_link_by_link(servers, devices):
    radio = Radio(margin_db=2.5, min_distance_m=3)
    servers, devices = [*servers, (5.0, 5.0, 0.0)], [*devices, (5.0, 5.0, 0.0)]
    expected = [[_scalar_loss(s, d, radio) for d in devices] for s in servers]
    assert path_loss(servers, devices, radio) == pytest.approx(np.array(expected), rel=1e-12)


def test_computing_in_blocks_changes_no_bit():
    draw = np.random.default_rng(5)
    servers, devices = draw.uniform(0, 100, (700, 3)), draw.uniform(0, 100, (300, 3))
    devices[::3, 2] = 0
    at_once = link_model(RADIO).losses(servers, devices).mean_loss()
    assert np.array_equal(path_loss(servers, devices, RADIO), at_once)
    assert path_loss(servers.reshape(7, 100, 3), devices, RADIO).shape == (7, 100, 300)


def test_rate_fifty_metres_above_a_ground_device():
    """2 GHz, 2 MHz, 24 dBm: (4π·2e9·50/c)² ≈ 1.757e7, sight 0.9998, so loss ≈ 3.57e7; noise
    7.96e-15 W; SNR ≈ 8.8e5; 2e6·log2(8.8e5) ≈ 3.95e7 bit/s. The approximant's is SNR/4 nats.
    """
    loss = path_loss([50, 50, 50], [[50, 50, 0]], RADIO)
    noise = transmission.noise_w(RADIO, RADIO.bandwidth_hz)
    snr = transmission.snr(10**2.4 * 1e-3, loss, noise)
    shannon = transmission.rate(snr, RADIO.bandwidth_hz)
    assert shannon == pytest.approx(3.95e7, rel=0.01)
    pade = transmission.rate(snr, RADIO.bandwidth_hz, "pade")
    assert pade / shannon == pytest.approx(1.6e4, rel=0.02)


@pytest.mark.parametrize(
    ("snr", "ratio"), [(10, 1.45), (1e3, 36), (1e5, 2172), (1e6, 18100), (1e8, 1.4e6)]
)
def test_pade_approximant_overstates_the_rate(snr, ratio):
    assert transmission.pade_log1p(snr) / np.log1p(snr) == pytest.approx(ratio, rel=0.04)


@given(st.floats(1e-9, 1e12), models)
def test_least_snr_inverts_the_rate(snr, model):
    nats = transmission.rate(snr, 1.0, model) * np.log(2)
    assert transmission.least_snr(nats, model) == pytest.approx(snr, rel=1e-6)


def test_an_empty_payload_takes_no_time_and_no_power():
    assert transmission.delay(0, 0) == 0
    assert transmission.delay(1, 0) == np.inf
    assert transmission.least_power(1e9, 0, 2e6, 1e-14, 0.1) == 0
    assert transmission.least_power(1e9, 1e30, 2e6, 1e-14, 0.1) == np.inf


def test_drawn_path_loss_has_the_planned_mean():
    """20,000 draws: their mean is within five standard errors of the planned loss."""
    fading, count = Fading(mode="drawn", los_shadow_db=2, nlos_shadow_db=4), 20_000
    devices = np.tile([[20, 20, 0], [50, 50, 0], [80, 10, 25]], (count, 1))
    links = link_model(RADIO).losses([50, 50, 40], devices)
    draws = draw_channel(generator(1, "fading"), len(devices))
    losses = drawn_path_loss(links, draws, fading).reshape(count, 3)
    error = losses.std(axis=0) / np.sqrt(count)
    assert np.all(np.abs(losses.mean(axis=0) - links.mean_loss()[:3]) < 5 * error)


@given(point, point)
def test_elevation_and_distance_are_the_contracts(a, b):
    assert distance(a, b) == pytest.approx(np.linalg.norm(np.subtract(a, b)))
    rise, run = np.array(a[2] - b[2]), np.array(math.dist(a[:2], b[:2]))
    assert 0 <= elevation_deg(rise, run) <= 90
    if distance(a, b) > 0:  # the contract's form, which loses digits near 90°
        sine = min(1.0, abs(a[2] - b[2]) / float(distance(a, b)))
        assert elevation_deg(rise, run) == pytest.approx(np.degrees(np.arcsin(sine)), abs=1e-5)


def test_elevation_at_distance_zero_is_zero():
    assert elevation_deg(np.zeros(1), np.zeros(1)) == 0
