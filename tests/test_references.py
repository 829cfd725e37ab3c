"""Rivals take SC-DN's mean iterations from a reference run, which must fit."""

from __future__ import annotations

import numpy as np
import pytest
from run_scenarios import BASE, RunCache, one_line, scenario, without_times

from scdn.data import fetch
from scdn.errors import InputError
from scdn.file_io import merge_tables
from scdn.methods import rival_iterations
from scdn.record.run_reader import EVENTS, read_run
from scdn.rng import generator
from scdn.simulation.runner import REFERENCE_FOLDER, mean_iterations, run


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    fetch("digits")
    return RunCache(tmp_path_factory.mktemp("runs"))


def test_rivals_draw_floor_or_ceiling_with_that_mean():
    draws = generator(0, "test").random(20_000)
    iterations = rival_iterations(2.3, np.full(20_000, 5.0), draws)
    assert set(iterations) == {2.0, 3.0}
    assert iterations.mean() == pytest.approx(2.3, abs=0.02)
    assert set(rival_iterations(4.0, np.full(20_000, 5.0), draws)) == {4.0}
    assert set(rival_iterations(4.5, np.full(20_000, 3.7), draws)) == {3.0}


def test_a_missing_reference_is_run_and_kept(world, tmp_path):
    recorded = run(world.scenario("plain", "gsp"), tmp_path / "gsp")
    reference = read_run(tmp_path / "gsp" / REFERENCE_FOLDER)
    expected = world.run("plain", "sc-dn").run
    assert (reference.method, reference.seed) == ("sc-dn", 3)
    assert without_times(reference) == without_times(expected)
    assert mean_iterations(reference.rounds, 9) == mean_iterations(expected.rounds, 9)
    assert without_times(recorded) == without_times(world.run("plain", "gsp").run)


@pytest.mark.parametrize(
    "settings", [{"seed": 4}, {"max_iterations": 4}, {"learning": {"rounds": 7}}], ids=str
)
def test_a_wrong_reference_is_refused(world, tmp_path, settings):
    other = scenario(**merge_tables({"seed": 3, "method": "gsp"}, settings))
    folder = world.run("plain", "sc-dn").run.folder
    with pytest.raises(InputError) as error:
        run(other, tmp_path / "out", reference=folder)
    assert ": reference: " in one_line(error)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "settings", [{"fleet": [{**BASE["fleet"][0], "count": 3}]}, {"max_delay_s": 0.01}], ids=[0, 1]
)
def test_a_reference_of_another_network_is_refused(world, tmp_path, settings):
    folder = world.run("plain", "sc-dn").run.folder
    with pytest.raises(InputError):
        run(scenario(seed=3, method="gsp", **settings), tmp_path / "out", reference=folder)


def test_a_reference_without_a_newer_setting_fits(world, tmp_path):
    folder = tmp_path / "reference"
    folder.mkdir()
    text = (world.run("plain", "sc-dn").run.folder / EVENTS).read_text()
    older = text.replace('"smoothness": "measured", ', "", 1)
    assert older != text
    (folder / EVENTS).write_text(older)
    recorded = run(world.scenario("plain", "vafl"), tmp_path / "out", reference=folder)
    assert without_times(recorded) == without_times(world.run("plain", "vafl").run)


def test_an_unfinished_reference_is_refused(world, tmp_path):
    folder = tmp_path / "reference"
    folder.mkdir()
    lines = (world.run("plain", "sc-dn").run.folder / EVENTS).read_text().splitlines(True)
    (folder / EVENTS).write_text("".join(lines[:3]))
    with pytest.raises(InputError) as error:
        run(world.scenario("plain", "vafl"), tmp_path / "out", reference=folder)
    assert "has not ended" in one_line(error)


def test_a_reference_of_another_method_is_refused(world, tmp_path):
    with pytest.raises(InputError):
        run(
            world.scenario("plain", "gsp"),
            tmp_path / "out",
            reference=world.run("plain", "max-vfl").run.folder,
        )


def test_a_reference_in_the_run_s_folder_must_fit(world, tmp_path):
    """A run was started with seed 4, stopped during its reference, and started with seed 3."""
    run(scenario(seed=4), tmp_path / "out" / REFERENCE_FOLDER)
    with pytest.raises(InputError, match="differs in seed"):
        run(world.scenario("plain", "gsp"), tmp_path / "out")
