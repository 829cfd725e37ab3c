"""The Run page as an instrument: timeline, curves of devices and methods, the list, the address."""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics

import pytest
from conftest import ROOT
from studio_browser import NEEDS_CHROMIUM, checked_page, until
from studio_server import serving

from scdn.data.catalog import fetch
from scdn.studio.settings import StudioSettings

pytestmark = NEEDS_CHROMIUM
ROUNDS = 12
EXIT, ENTRY, FAILURE, MOVE, SWITCH = 5, 7, 8, 9, 10  # rounds, counted from 1


def _score(seed, number):
    return 50.0 + 3 * number + 5 * seed


def _write_run(folder, method, seed):
    """Write a run in which d2 leaves, d5 enters, d1's link fails, and the plan changes twice."""
    folder.mkdir(parents=True)
    scenario = {"name": "made", "learning": {"rounds": ROUNDS, "dataset": "digits"}, "seed": seed}
    events = [{"event": "start", "schema": 1, "scenario": {"region_m": [100, 100, 100], **scenario},
               "method": method, "seed": seed, "versions": {}}]  # fmt: skip
    for number in range(1, ROUNDS + 1):
        absent = {"d2"} if number > EXIT else set()
        absent |= {"d5"} if number <= ENTRY else set()
        present = [name for name in ("d1", "d2", "d3", "d4", "d5") if name not in absent]
        resting = {"d4"} if number >= SWITCH else set()
        devices = [
            {"id": name, "position_m": [20.0 * int(name[1]) - 10, 50.0, 0.0], "iterations": 3,
             "active": name not in resting, "reason": "not_worth_it" if name in resting else None,
             "executed_iterations": 0 if name in resting else int(name[1]), "power_w": 0.1 * number,
             "cpu_hz": 1e9, "delay_s": 0.06, "transmission_j": 0.01, "processing_j": 0.5,
             "importance": 1.0, "smoothness": 0.5}
            for name in present
        ]  # fmt: skip
        events.append({
            "event": "round", "round": number - 1, "active": sorted(set(present) - resting),
            "entered": ["d5"] if number == ENTRY else [],
            "exited": ["d2"] if number == EXIT else [],
            "link_failed": ["d1"] if number == FAILURE else [], "devices": devices,
            "server": {"position_m": [50 if number < MOVE else 60, 50, 50], "movement_j": 1.0},
            "metrics": {"train_loss": 1.0, "test_loss": 1.0, "top3": _score(seed, number)},
            "plan": {"objective": 1.0, "gap": 1e-3, "solve_seconds": 0.01}, "seconds": 0.1,
        })  # fmt: skip
    events.append({"event": "end", "status": "done", "rounds": ROUNDS, "metrics": None,
                   "energy": {}})  # fmt: skip
    (folder / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))


@pytest.fixture
def runs(tmp_path):
    """A study of two methods over three seeds, and a single run."""
    for method in ("sc-dn", "vafl"):
        for seed in (1, 2, 3):
            _write_run(tmp_path / "study" / method / f"seed-{seed}", method, seed)
    _write_run(tmp_path / "single", "gsp", 7)
    return tmp_path


@pytest.fixture
def address(runs):
    with serving(StudioSettings(runs)) as url:
        yield url


@pytest.fixture
def page(browser, address):
    with checked_page(browser, address) as tab:
        yield tab


def _open(page, address, query=""):
    page.goto("about:blank")
    page.goto(f"{address}/#run?run=study/sc-dn/seed-2{query}")
    page.wait_for_selector(f'.runs[data-over="true"][data-rounds="{ROUNDS}"]')


def _parameters(page):
    query = page.evaluate("location.hash").partition("?")[2]
    return dict(re.findall(r"([^=&]+)=([^&]*)", query))


def _wait_for_address(page, **expected):
    """Wait until the address has these values; None: it does not have the key."""
    for key, value in expected.items():
        wanted = "null" if value is None else json.dumps(value)
        get = f"new URLSearchParams(location.hash.split('?')[1]).get('{key}')"
        until(page, f"{get} === {wanted}", 10)


# The lanes of the timeline in which a round (from 1) is marked, by the middle of its cell.
_MARKED = """round => {
    const canvas = document.querySelector('.strip canvas'), ratio = devicePixelRatio;
    const x = Math.round((round - 0.5) * canvas.width / 12);
    const pixel = lane => canvas.getContext('2d').getImageData(
        x, Math.round((11 * lane + 5) * ratio), 1, 1).data.join();
    const empty = canvas.getContext('2d').getImageData(
        Math.round(0.5 * canvas.width / 12), Math.round(5 * ratio), 1, 1).data.join();
    return [0, 1, 2, 3].filter(lane => pixel(lane) !== empty);
}"""


def test_the_timeline_marks_what_happened_and_is_the_slider(page, address):
    _open(page, address)
    slider = page.get_by_role("slider", name="Round", exact=True)
    until(page, f"{_MARKED.strip()}".join(("(", f")({EXIT})")) + ".join() === '1'")
    marks = {number: page.evaluate(_MARKED, number) for number in range(1, ROUNDS + 1)}
    lanes = {ENTRY: [0], EXIT: [1], FAILURE: [2], MOVE: [3], SWITCH: [3]}
    assert marks == {number: lanes.get(number, []) for number in range(1, ROUNDS + 1)}

    assert slider.get_attribute("aria-valuetext") == "round 12 of 12"
    slider.press("Home")
    assert slider.get_attribute("aria-valuenow") == "1"
    for _ in range(4):
        slider.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "round 5 of 12: d2 leaves"
    slider.press("PageUp")
    assert slider.get_attribute("aria-valuetext") == "round 10 of 12: d4 is switched off"
    slider.press("ArrowDown")
    assert slider.get_attribute("aria-valuetext") == "round 9 of 12: the server moves 10 m"
    _wait_for_address(page, round="9")
    slider.press("PageDown")
    slider.press("End")
    _wait_for_address(page, round="12")

    # Dragging shows the round under the pointer, and draws the strip no more.
    page.evaluate("""() => {
        const canvas = document.querySelector('.strip canvas'), context = canvas.getContext('2d');
        window.drawn = 0;
        const fill = context.fillRect.bind(context);
        context.fillRect = (...box) => { window.drawn++; fill(...box); };
    }""")
    box = slider.bounding_box()
    page.mouse.move(box["x"] + 0.5, box["y"] + 20)
    page.mouse.down()
    for number in range(1, ROUNDS + 1):
        page.mouse.move(box["x"] + (number - 0.5) / ROUNDS * box["width"], box["y"] + 20)
        until(page, f"studio.run.time === {number - 1}", 10)
    page.mouse.move(box["x"] + (EXIT - 0.5) / ROUNDS * box["width"], box["y"] + 20)
    page.mouse.up()
    _wait_for_address(page, round="5")
    assert page.evaluate("window.drawn") == 0
    assert page.locator(".round").inner_text() == "round 5 of 12"
    shown = page.evaluate("studio.run.scene.state.devices.map(device => device.id)")
    assert shown == ["d1", "d2", "d3", "d4"]

    page.reload()
    page.wait_for_selector('.runs[data-over="true"]')
    assert page.locator(".round").inner_text() == "round 5 of 12"
    page.get_by_role("button", name="Live").click()
    _wait_for_address(page, round=None)
    assert page.locator(".round").inner_text() == "round 12 of 12"


_DEVICE_DATA = """name => {
    const chart = studio.run.devicePanel.charts.get(name).chart.plot;
    return [...chart.data].map(values => [...values]);
}"""


def test_a_device_has_curves_with_gaps_where_it_was_absent(page, address):
    _open(page, address, "&round=5")
    panel = page.get_by_role("region", name="Device", exact=True)
    page.locator(".round-devices").get_by_role("button", name="d2").click()
    panel.get_by_text("Present in rounds 1 to 5, then it left.").wait_for()
    _wait_for_address(page, device="d2")
    rounds, planned, executed = page.evaluate(_DEVICE_DATA, "iterations")
    assert rounds == list(range(1, ROUNDS + 1))
    assert planned == [3] * EXIT + [None] * (ROUNDS - EXIT)
    assert executed == [2] * EXIT + [None] * (ROUNDS - EXIT)
    powers = page.evaluate(_DEVICE_DATA, "power")[1]
    assert powers[:EXIT] == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5])
    assert powers[EXIT:] == [None] * (ROUNDS - EXIT)
    missing = panel.get_by_text("Not recorded").inner_text()
    assert [word in missing for word in ("battery", "contribution", "staleness")] == [True] * 3
    assert panel.get_by_role("heading").all_inner_texts() == ["Iterations", "Transmit power, W"]

    panel.get_by_label("Device", exact=True).select_option("d5")
    assert panel.get_by_text("Present in rounds 8 to 12.").is_visible()
    x, y = page.evaluate("""() => {
        const { viewport, scene } = studio.run, box = viewport.canvas.getBoundingClientRect();
        const at = viewport.toScreen(scene.state.devices.find(d => d.id === 'd3').position);
        return [box.left + at.x, box.top + at.y];
    }""")
    page.mouse.click(x, y)
    _wait_for_address(page, device="d3")
    assert page.locator(".round-devices tr.selected").inner_text().startswith("d3")
    page.go_back()
    _wait_for_address(page, device="d5")
    panel.get_by_text("Present in rounds 8 to 12.").wait_for()
    page.reload()
    panel.get_by_text("Present in rounds 8 to 12.").wait_for()
    panel.get_by_role("button", name="Close the device").click()
    _wait_for_address(page, device=None, round="5")
    assert not panel.is_visible()


def test_methods_have_a_mean_and_a_band_and_the_chosen_run_is_bold(page, address):
    _open(page, address)
    until(page, f"studio.run.curves.element.dataset.points === '{6 * ROUNDS}'")
    plot = "studio.run.curves.metric.chart.plot"
    _, mean, high, low, *_ = page.evaluate(f"{plot}.data.map(values => [...values])")
    scores = [_score(seed, 1) for seed in (1, 2, 3)]
    spread = statistics.stdev(scores)
    assert (low[0], mean[0], high[0]) == pytest.approx(
        (scores[1] - spread, scores[1], scores[1] + spread)
    )
    series = (
        f"{plot}.series.slice(1).filter(one => one.width > 0).map(one => [one.label, one.width])"
    )
    assert page.evaluate(series) == [["sc-dn", 1.4], ["vafl", 1.4], ["sc-dn, seed 2", 3]]

    vafl = page.get_by_role("group", name="Series").get_by_role("button", name="vafl")
    vafl.focus()
    page.keyboard.press("Enter")
    _wait_for_address(page, hide="vafl")
    assert [label for label, _ in page.evaluate(series)] == ["sc-dn", "sc-dn, seed 2"]
    assert vafl.get_attribute("aria-pressed") == "false"
    assert page.evaluate("document.activeElement.dataset.series") == "vafl"

    page.get_by_role("button", name="Logarithmic axis: Cumulative energy, J").click()
    _wait_for_address(page, log="energy")
    assert page.evaluate("studio.run.curves.joules.chart.plot.scales.y.distr") == 3

    page.locator(".curves .u-over").first.scroll_into_view_if_needed()
    box = page.locator(".curves .u-over").first.bounding_box()
    for action, part in (("move", 2 / 11), ("down", 0), ("move", 0.5), ("move", 7 / 11), ("up", 0)):
        if action == "move":
            page.mouse.move(box["x"] + part * box["width"], box["y"] + 40)
        else:
            getattr(page.mouse, action)()
    _wait_for_address(page, zoom="3-8")
    extent = "[studio.run.curves.joules.chart.plot.scales.x].map(s => [s.min, s.max])[0]"
    assert page.evaluate(extent) == [3, 8]
    page.reload()
    until(page, f"studio.run.curves.element.dataset.points === '{6 * ROUNDS}'")
    assert page.evaluate(extent) == [3, 8]
    assert [label for label, _ in page.evaluate(series)] == ["sc-dn", "sc-dn, seed 2"]
    page.get_by_label("Last round shown").fill("6")
    page.keyboard.press("Tab")
    _wait_for_address(page, zoom="3-6")
    page.get_by_role("button", name="Show all").click()
    _wait_for_address(page, zoom=None)
    assert page.evaluate(extent) == [1, ROUNDS]


def test_runs_are_filtered_annotated_compared_and_deleted(page, address, runs):
    _open(page, address)
    rows = page.locator("button.run")
    filter_box = page.get_by_label("Filter the runs")
    for text, count in (("seed:2", 2), ("vafl done", 3), ("digits", 7), ("nothing", 0)):
        filter_box.fill(text)
        until(page, f"document.querySelectorAll('button.run').length === {count}", 10)
    filter_box.fill("gsp")
    _wait_for_address(page, filter="gsp")
    rows.first.click()
    _wait_for_address(page, run="single")
    page.wait_for_timeout(2000)  # the list is read again meanwhile
    assert page.evaluate("document.activeElement.dataset.run") == "single"
    page.go_back()
    page.get_by_text("made, seed 2").wait_for()
    page.go_forward()
    page.get_by_text("made, seed 7").wait_for()

    page.get_by_role("button", name="Notes and settings").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Note").fill("worth another seed")
    dialog.get_by_role("button", name="Save the note").click()
    page.locator(".study .note", has_text="worth another seed").wait_for()
    assert (runs / "single" / "notes.txt").read_text() == "worth another seed\n"
    dialog.get_by_label("Settings that differ").select_option("study/vafl/seed-3")
    dialog.get_by_role("row").nth(1).wait_for()
    cells = [row.locator("th, td").all_inner_texts() for row in dialog.get_by_role("row").all()]
    assert cells[1:] == [["seed", "7", "3"], ["method", '"gsp"', '"vafl"']]
    page.reload()
    dialog.get_by_role("row").nth(2).wait_for()  # the address keeps it open

    dialog.get_by_role("button", name="Delete this run …").click()
    dialog.get_by_role("button", name="Keep it").click()
    assert (runs / "single").is_dir()
    dialog.get_by_role("button", name="Delete this run …").click()
    dialog.get_by_role("button", name="Delete this run", exact=True).click()
    page.get_by_text("1 run deleted").wait_for()
    assert not (runs / "single").exists()
    until(page, "studio.run.selected?.study === 'study'", 10)
    page.get_by_role("button", name="Notes and settings").click()
    dialog.get_by_role("button", name="Delete the study study (6 runs) …").click()
    dialog.get_by_role("button", name="Delete the study study (6 runs)", exact=True).click()
    page.get_by_text("No run yet").wait_for()
    assert list(runs.iterdir()) == []


def test_a_running_job_shows_its_log_and_the_time_left(page, address):
    fetch("digits")
    form = {"name": "long", "scenario": (ROOT / "examples" / "quick.toml").read_text(),
            "methods": ["sc-dn"], "rounds": 600}  # fmt: skip
    assert page.request.post(f"{address}/api/runs", data=form).ok
    page.goto(f"{address}/#run")
    page.locator('button.run[data-run="long"]').click()
    page.locator(".time-left", has_text=re.compile("^(about|less than).* left$")).wait_for()
    page.get_by_text("Log of its job, last lines").click()
    page.locator(".job-log .log", has_text=re.compile(r"\d+/600  sc-dn: .* active")).wait_for()
    page.get_by_role("button", name="Notes and settings").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Delete this run …").click()
    dialog.get_by_role("button", name="Delete this run", exact=True).click()
    dialog.get_by_role("alert").get_by_text("which is running; stop it first").wait_for()
    dialog.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Resume").wait_for()
    assert page.locator(".time-left").count() == 0


@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (820, "light"), (1366, "dark")])
def test_the_page_fits_its_window(browser, address, width, theme):
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=theme)
    page = context.new_page()
    _open(page, address, "&device=d2&about=&with=single")
    page.get_by_role("dialog").get_by_role("row").nth(1).wait_for()
    wide = (
        "[...document.querySelectorAll('.runs *, dialog')].filter(one => one.checkVisibility() &&"
    )
    wide += " !one.closest('.viewport, .uplot, .scroll') &&"
    wide += f" one.getBoundingClientRect().right > {width} + 1).map(one => one.className)"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(wide) == []
    context.close()


def test_the_address_names_what_is_shown(page, address):
    _open(page, address, "&round=999")
    _wait_for_address(page, round=str(ROUNDS))
    page.evaluate("location.hash = '#run?run=nowhere&round=3&about='")
    page.get_by_text("There is no run nowhere here").first.wait_for()
    _wait_for_address(page, run="study/sc-dn/seed-2", round=str(ROUNDS), about=None)
    assert page.get_by_role("dialog").count() == 0


def test_a_run_that_stopped_before_its_first_round_is_not_waited_for(page, address, runs):
    start = (runs / "single" / "events.jsonl").read_text().splitlines(keepends=True)[0]
    (runs / "stopped").mkdir()
    events = runs / "stopped" / "events.jsonl"
    events.write_text(start)
    page.goto(f"{address}/#run?run=stopped")
    page.get_by_text("Waiting for the first round").wait_for()
    os.utime(events, (0, 0))
    page.get_by_text("No round is recorded").wait_for()


def test_a_single_round_is_a_point_also_after_a_longer_run(page, address, runs):
    lines = (runs / "single" / "events.jsonl").read_text().splitlines(keepends=True)
    (runs / "brief").mkdir()
    (runs / "brief" / "events.jsonl").write_text("".join([*lines[:2], lines[-1]]))
    page.goto(f"{address}/#run?run=single")
    until(page, f"studio.run.curves.element.dataset.points === '{ROUNDS}'")
    page.evaluate("location.hash = '#run?run=brief'")
    until(page, "studio.run.curves.element.dataset.points === '1'")
    until(page, "studio.run.curves.metric.chart.plot.series[1].points.show() === true")


def test_curves_of_deleted_runs_are_not_kept(page, address, runs):
    shutil.rmtree(runs / "study")
    page.goto(f"{address}/#run?run=single")
    until(page, f"studio.run.curves.element.dataset.points === '{ROUNDS}'")
    shutil.rmtree(runs / "single")
    until(page, "studio.run.curves.element.dataset.points === '0'")
    page.get_by_text("Nothing to watch yet").wait_for()
    page.get_by_text("single is no longer there").first.wait_for()


def test_a_logarithmic_axis_without_a_positive_value_says_so(page, address, runs):
    path = runs / "single" / "events.jsonl"
    path.write_text(re.sub(r'"top3": [\d.]+', '"top3": 0', path.read_text()))
    page.goto(f"{address}/#run?run=single&log=score")
    hint = page.locator(".curves .round-chart .hint").first
    hint.wait_for()
    assert hint.inner_text().startswith("No value is above 0")
    page.get_by_role("button", name="Logarithmic axis: Top-3").click()
    hint.wait_for(state="hidden")


def test_neighbouring_ticks_differ(page, address):
    _open(page, address)
    labels = page.evaluate(
        "[0, 5e4, 1e5, 1.5e5, 2e5, 2.5e6, -2e4, 3e9, 1e-7].map(studio.format.tickLabel)"
    )
    assert labels == ["0", "50k", "100k", "150k", "200k", "2.5M", "−20k", "3000000000", "1e-7"]
