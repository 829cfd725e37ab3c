"""Laws of the channel, and numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from scdn.rng import generator
from scdn.scenario import AirLink, Fading, Link, Radio
from scdn.world import channel
from scdn.world.geometry import distance, elevation_deg

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
def test_sight_is_a_probability_that_rises_with_elevation(link, a, b):
    low, high = sorted((a, b))
    assume(high - low > 1e-6)
    p_low, p_high = channel.los_probability([low, high], link)
    assert 0 < p_low <= p_high <= 1
    assert p_low < 1
    if p_high < 1 - 1e-12:
        assert p_low < p_high


@given(links, st.floats(0.01, 1), st.floats(1.1, 500), st.floats(1.001, 5), st.floats(0, 6.28))
def test_loss_rises_with_distance_at_a_fixed_elevation(link, sine, near, factor, azimuth):
    radio = Radio(a2g=link)
    cosine = np.sqrt(1 - sine**2)
    direction = np.array([cosine * np.cos(azimuth), cosine * np.sin(azimuth), sine])
    closer, farther = channel.path_loss(
        np.stack([direction, direction * factor]) * near, [[0, 0, 0]], radio
    )
    assert farther > closer


@given(point, point, models, st.floats(1e3, 1e8), st.floats(1e-4, 100), st.floats(1e5, 1e8))
def test_least_power_meets_the_delay_and_less_misses_it(server, device, model, bits, limit, width):
    loss = channel.path_loss(server, [device], RADIO)
    noise = channel.noise_w(RADIO, width)
    power = channel.least_power(loss, bits, width, noise, limit, model)
    assume(np.isfinite(power).all() and power[0] < 1e200)

    def delay(watts):
        return channel.delay(bits, channel.rate(channel.snr(watts, loss, noise), width, model))

    assert delay(power) == pytest.approx(limit, rel=1e-9)
    assert delay(power * (1 - 1e-6)) > limit


@given(point, point)
def test_a_link_is_the_same_both_ways_and_finite(a, b):
    there, back = channel.path_loss(a, [b], RADIO), channel.path_loss(b, [a], RADIO)
    assert there == pytest.approx(back)
    assert np.isfinite(there).all()
    assert (there > 0).all()


def test_air_to_air_needs_both_ends_in_the_air():
    devices = [[10, 10, 0], [10, 10, 5]]
    assert channel.is_air_to_air([0, 0, 7], devices).tolist() == [False, True]
    assert channel.is_air_to_air([0, 0, 0], devices).tolist() == [False, False]
    both = channel.path_loss([[40, 40, 7], [40, 40, 0]], devices, RADIO)
    ground_only = Radio(a2a=AirLink(**RADIO.a2g.model_dump()))
    same = both == channel.path_loss([[40, 40, 7], [40, 40, 0]], devices, ground_only)
    assert same.tolist() == [[True, False], [True, True]]


def _slow_loss(server, device, radio):
    """The formula, one link at a time, in plain Python."""
    link = radio.a2a if server[2] > 0 and device[2] > 0 else radio.a2g
    d, run = math.dist(server, device), math.dist(server[:2], device[:2])
    theta = math.degrees(math.atan2(abs(server[2] - device[2]), run))
    p = 1 / (1 + link.los_scale * math.exp(-link.los_slope * (theta - link.los_scale)))
    mean = p * 10 ** (link.los_loss_db / 10) + (1 - p) * 10 ** (link.nlos_loss_db / 10)
    spread = 4 * math.pi * radio.carrier_hz * max(d, radio.min_distance_m) / 299792458
    return spread**link.exponent * mean * 10 ** (radio.margin_db / 10)


@given(st.lists(point, min_size=1, max_size=4), st.lists(point, min_size=1, max_size=5))
def test_arrays_agree_with_one_link_at_a_time(servers, devices):
    radio = Radio(margin_db=2.5, min_distance_m=3)
    servers, devices = [*servers, (5.0, 5.0, 0.0)], [*devices, (5.0, 5.0, 0.0)]
    slow = [[_slow_loss(s, d, radio) for d in devices] for s in servers]
    assert channel.path_loss(servers, devices, radio) == pytest.approx(np.array(slow), rel=1e-12)


def test_blocks_do_not_change_the_result():
    draw = np.random.default_rng(5)
    servers, devices = draw.uniform(0, 100, (700, 3)), draw.uniform(0, 100, (300, 3))
    devices[::3, 2] = 0
    whole = channel.paths(servers, devices, RADIO).mean_loss()
    assert np.array_equal(channel.path_loss(servers, devices, RADIO), whole)
    assert channel.path_loss(servers.reshape(7, 100, 3), devices, RADIO).shape == (7, 100, 300)


def test_rate_fifty_metres_above_a_ground_device():
    """2 GHz, 2 MHz, 24 dBm: (4π·2e9·50/c)² ≈ 1.757e7, sight 0.9998, so loss ≈ 3.57e7; noise
    7.96e-15 W; SNR ≈ 8.8e5; 2e6·log2(8.8e5) ≈ 3.95e7 bit/s. The approximant's is SNR/4 nats.
    """
    loss = channel.path_loss([50, 50, 50], [[50, 50, 0]], RADIO)
    noise = channel.noise_w(RADIO, RADIO.bandwidth_hz)
    snr = channel.snr(10**2.4 * 1e-3, loss, noise)
    true = channel.rate(snr, RADIO.bandwidth_hz)
    assert true == pytest.approx(3.95e7, rel=0.01)
    assert channel.rate(snr, RADIO.bandwidth_hz, "pade") / true == pytest.approx(1.6e4, rel=0.02)


@pytest.mark.parametrize(
    ("snr", "ratio"), [(10, 1.45), (1e3, 36), (1e5, 2172), (1e6, 18100), (1e8, 1.4e6)]
)
def test_the_approximant_overstates_the_rate(snr, ratio):
    assert channel.pade_log1p(snr) / np.log1p(snr) == pytest.approx(ratio, rel=0.04)


@given(st.floats(1e-9, 1e12), models)
def test_least_snr_inverts_the_rate(snr, model):
    nats = channel.rate(snr, 1.0, model) * np.log(2)
    assert channel.least_snr(nats, model) == pytest.approx(snr, rel=1e-6)


def test_nothing_to_send_takes_no_time_and_no_power():
    assert channel.delay(0, 0) == 0
    assert channel.delay(1, 0) == np.inf
    assert channel.least_power(1e9, 0, 2e6, 1e-14, 0.1) == 0
    assert channel.least_power(1e9, 1e30, 2e6, 1e-14, 0.1) == np.inf


def test_the_drawn_channel_has_the_planned_mean():
    """400,000 draws: the mean is within five standard errors of the planned loss."""
    fading = Fading(mode="drawn", los_shadow_db=2, nlos_shadow_db=4)
    links = channel.paths([50, 50, 40], [[20, 20, 0], [50, 50, 0], [80, 10, 25]], RADIO)
    draws = [
        channel.drawn_path_loss(links, channel.draw_channel(generator(1, "fading", i), 3), fading)
        for i in range(20_000)
    ]
    mean, error = np.mean(draws, axis=0), np.std(draws, axis=0) / np.sqrt(len(draws))
    assert np.all(np.abs(mean - links.mean_loss()) < 5 * error)


@given(point, point)
def test_geometry(a, b):
    assert distance(a, b) == pytest.approx(np.linalg.norm(np.subtract(a, b)))
    assert 0 <= elevation_deg(a, b) <= 90
    assert elevation_deg(a, a) == 0
    if distance(a, b) > 0:  # the contract's form, which is poor near 90°
        sine = min(1.0, abs(a[2] - b[2]) / float(distance(a, b)))
        assert elevation_deg(a, b) == pytest.approx(np.degrees(np.arcsin(sine)), abs=1e-5)
