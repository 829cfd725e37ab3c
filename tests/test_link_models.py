"""Link models: bounds hold in every box, gradients are true, and a user's own is solved too."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import random_network_request

from scdn.control.exact.closed_form import device_costs
from scdn.control.exact.position_objective import position_objective
from scdn.control.plan_request import make_request, problem_of
from scdn.control.solve import solve
from scdn.errors import InputError
from scdn.scenario import Radio
from scdn.scenario.round_settings import LogDistance, TwoRay
from scdn.world import transmission
from scdn.world.intervals import Interval
from scdn.world.link_models import LinkModel, LossBounds, link_model, path_loss
from scdn.world.link_models.link_model import BoxDistances, LinkLosses, PowerLaw, wavenumber

MODELS = ("air-to-ground", "two-ray", "log-distance", "test_link_models:Foliage")
SIZE = np.array([400.0, 300.0, 120.0])

radios = st.builds(
    Radio,
    model=st.sampled_from(MODELS),
    min_distance_m=st.sampled_from([1e-3, 1.0, 10.0]),
    two_ray=st.builds(TwoRay, antenna_m=st.floats(0.1, 30)),
    log_distance=st.builds(LogDistance, exponent=st.floats(0, 5), reference_m=st.floats(0.1, 10)),
    margin_db=st.floats(0, 10),
)


class Foliage(LinkModel):
    """Free space with a loss per metre of leaves: a user's own model, without compiled bounds."""

    name = "foliage"

    def __init__(self, radio: Radio) -> None:
        super().__init__(radio)
        self.per_m = (radio.options or {}).get("db_per_m", 0.1) * math.log(10) / 10

    def losses(self, server_m, device_m) -> LinkLosses:
        step = np.asarray(server_m)[..., None, :] - np.asarray(device_m).reshape(-1, 3)
        loss = self._loss(np.sqrt((step**2).sum(axis=-1)))
        ones = np.ones_like(loss)
        return LinkLosses(loss, ones, 0 * ones, ones, ones)

    def bounds(self, centre, half_width, device_m) -> LossBounds:
        box = BoxDistances.between(centre, half_width, device_m)
        near, far = (np.sqrt(square) for square in box.square)
        least = self.radio.min_distance_m
        low, high = self._loss(near), self._loss(far)
        near, far = np.maximum(near, least), np.maximum(far, least)
        # L′(d)/d = L·(2/d + a)/d: the losses rise with d, the rest falls
        per_metre = Interval(
            low * (2 / far + self.per_m) / far, high * (2 / near + self.per_m) / near
        )
        gradient = box.offset.times(per_metre.with_axes())
        middle = np.sqrt(((centre[:, None, :] - device_m[None]) ** 2).sum(axis=-1))
        smooth = np.sqrt(box.square.low) >= least
        return LossBounds(self._loss(middle), Interval(low, high), gradient, smooth)

    def power_law(self, server_m, device_m) -> PowerLaw:
        distance = np.sqrt(((server_m - device_m) ** 2).sum(axis=-1))
        ones = np.ones(len(device_m))
        coefficient = self._loss(distance) / np.maximum(distance, 1) ** 2
        return PowerLaw(coefficient, 2 * ones, 0 * ones, 0 * ones, ones, ones)

    def _loss(self, distance):
        d = np.maximum(distance, self.radio.min_distance_m)
        return (wavenumber(self.radio) * d) ** 2 * np.exp(self.per_m * d)


def random_boxes(seed: int, count: int = 40):
    """Return boxes on the ground and in the air, from points to the whole region."""
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.uniform(0, 1, (2, count, 3)) ** rng.choice([1, 0.01]), axis=0) * SIZE
    ends[:, : count // 3, 2] = 0
    ends[:, count // 3 :, 2] = np.maximum(ends[:, count // 3 :, 2], 0.5)
    ends[1, ::5] = ends[0, ::5]
    return (ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2


def devices(seed: int, count: int = 5):
    position = np.random.default_rng([seed, 1]).uniform(0, 1, (count, 3)) * SIZE
    position[::2, 2] = 0
    return position


@given(radios, st.integers(0, 10_000))
def test_losses_and_gradients_stay_within_their_bounds(radio, seed):
    model, device = link_model(radio), devices(seed)
    centre, half_width = random_boxes(seed)
    bounds = model.bounds(centre, half_width, device)
    tolerance = 1e-9 + 1e-13 * model.rounding()
    assert bounds.loss == pytest.approx(model.losses(centre, device).mean_loss(), rel=1e-9)
    rng = np.random.default_rng([seed, 2])
    for _ in range(20):
        point = centre + rng.uniform(-1, 1, centre.shape) * half_width
        loss = model.losses(point, device).mean_loss()
        assert (loss >= bounds.range.low * (1 - tolerance)).all()
        assert (loss <= bounds.range.high * (1 + tolerance)).all()
        # the mean-value theorem, which the solver's bounds rest on
        step = (point - centre)[:, None, :]
        least = np.minimum(step * bounds.gradient.low, step * bounds.gradient.high).sum(axis=-1)
        most = np.maximum(step * bounds.gradient.low, step * bounds.gradient.high).sum(axis=-1)
        change, slack = loss - bounds.loss, tolerance * (loss + bounds.loss)
        assert (~bounds.smooth | (change >= least - slack)).all()
        assert (~bounds.smooth | (change <= most + slack)).all()


@given(radios, st.integers(0, 10_000))
def test_gradients_are_differences_of_losses(radio, seed):
    model, device = link_model(radio), devices(seed)
    server = np.random.default_rng([seed, 3]).uniform(0.05, 0.95, 3) * SIZE
    loss, gradient = model.gradient(server, device)
    assert loss == pytest.approx(model.losses(server, device).mean_loss(), rel=1e-9)
    far = np.sqrt(((server - device) ** 2).sum(axis=1)) > 1.1 * radio.min_distance_m + 1
    for axis, shift in enumerate(np.eye(3) * 1e-4):
        ahead, behind = (model.losses(server + s, device).mean_loss() for s in (shift, -shift))
        slope = (ahead - behind) / 2e-4
        scale = np.abs(gradient).max(axis=1) + loss / SIZE.max()
        close = np.abs(gradient[:, axis] - slope) <= 1e-4 * scale
        # a two-ray loss has a kink where one ray takes over from the other
        kink = np.abs((ahead - loss) - (loss - behind)) > 1e-9 * loss
        assert (close | ~far | kink).all()


@given(st.floats(1, 1e5), st.floats(0.1, 100), st.floats(0.1, 100))
def test_two_rays_meet_at_the_crossover_distance(distance, server_height, device_height):
    radio = Radio(model="two-ray", two_ray=TwoRay(antenna_m=0.1), min_distance_m=1e-3)
    server, device = [distance, 0, server_height], [0, 0, device_height]
    true_distance = math.dist(server, device)
    heights = (server_height + 0.1) * (device_height + 0.1)
    wavelength = 299_792_458 / radio.carrier_hz
    loss = float(path_loss(server, [device], radio)[0])
    if true_distance < 4 * math.pi * heights / wavelength:
        expected = (4 * math.pi * true_distance / wavelength) ** 2
    else:
        expected = true_distance**4 / heights**2
    assert loss == pytest.approx(expected, rel=1e-9)


def test_an_indoor_link_has_the_loss_of_itu_r_p_1238():
    """Offices at 2.4 GHz: L = 20·log10 f + 30·log10 d − 28 dB (f in MHz) within half a decibel."""
    radio = Radio(model="log-distance", carrier_hz=2.4e9, log_distance=LogDistance(exponent=3))
    for distance in (2, 10, 30):
        decibels = 10 * np.log10(path_loss([distance, 0, 0], [[0, 0, 0]], radio, 6.9)[0])
        published = 20 * math.log10(2400) + 30 * math.log10(distance) - 28 + 6.9
        assert decibels == pytest.approx(published, abs=0.5)


@pytest.mark.parametrize("seed", range(6))
def test_a_users_own_model_is_solved_with_proof(seed):
    request = random_network_request(seed, count=1 + seed)
    radio = {"model": "test_link_models:Foliage", "options": {"db_per_m": 0.05}}
    request |= {"radio": radio, "max_delay_s": 0.5, "round_s": 60, "candidates_m": None}
    problem = problem_of(make_request(request))
    plan = solve(problem)
    assert plan.status == "optimal"
    assert plan.evaluation.violations == ()
    objective = position_objective(problem, device_costs(problem))
    points = np.random.default_rng(seed).uniform(0, 1, (3000, 3)) * problem.region_m
    points[::2, 2] = 0
    points = points[problem.allowed(points)]
    if len(points):
        values = objective.constant + objective.bound(points, 0 * points).centre_value
        assert plan.lower_bound <= values.min() * (1 + 1e-12)
    repaired = solve(problem, "paper").repaired
    assert repaired.evaluation.violations == ()


def test_an_unknown_model_is_refused_by_name():
    radio = {"model": "two-rays"}
    request = {"region_m": [9, 9, 9], "server": {"position_m": [1, 1, 1]}, "devices": []}
    with pytest.raises(InputError, match="did you mean two-ray"):
        problem_of(make_request({**request, "radio": radio})).link  # noqa: B018


@pytest.mark.parametrize(
    ("bandwidth_hz", "noise_figure_db", "bits_per_s", "published_db"),
    [
        # NB-IoT uplink in the deepest coverage: 23 dBm, one tone, 164 dB (3GPP TR 45.820; the bit
        # rate is that of Liberg et al., Cellular Internet of Things)
        (15e3, 3, 371, 164.0),
        # LTE base stations: 23 dBm less the reference sensitivity (3GPP TS 36.104, tables 7.2.1-1
        # and A.1-1), with the usual noise figure of 5 dB
        (1.08e6, 5, 600e3, 129.8),
        (2.7e6, 5, 1544e3, 126.0),
        (4.5e6, 5, 2216e3, 124.5),
    ],
)
def test_link_budgets_agree_with_published_maximum_coupling_losses(
    bandwidth_hz, noise_figure_db, bits_per_s, published_db
):
    """Within 1 dB, with one gap of 5.5 dB to Shannon's limit for all; it was chosen to fit them."""
    radio = Radio(bandwidth_hz=bandwidth_hz, noise_figure_db=noise_figure_db, snr_gap_db=5.5)
    noise = transmission.noise_w(radio, bandwidth_hz)
    per_loss = transmission.least_power(1.0, bits_per_s, bandwidth_hz, noise, 1.0)
    coupling_loss = 10 * math.log10(10**2.3 * 1e-3 / per_loss)
    assert coupling_loss == pytest.approx(published_db, abs=1)


def test_a_model_without_its_methods_is_refused_by_name():
    with pytest.raises(InputError, match="lacks bounds, losses, power_law"):
        link_model(Radio(model="scdn.world.link_models:LinkModel"))


@given(st.floats(0.01, 50))
def test_log_distance_is_never_below_free_space(distance):
    settings = LogDistance(exponent=3, reference_m=5)
    radio = Radio(model="log-distance", log_distance=settings, min_distance_m=0.01)
    loss = path_loss([distance, 0, 0], [[0, 0, 0]], radio)[0]
    assert loss >= (wavenumber(radio) * distance) ** 2 * (1 - 1e-12)
