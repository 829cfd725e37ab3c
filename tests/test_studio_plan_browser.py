"""The studio's Plan page in Chromium: input that is refused, status in words, keyboard, saving."""

from __future__ import annotations

import json

import pytest
from conftest import ROOT
from studio_browser import NEEDS_CHROMIUM, checked_page, screen_position, until
from studio_server import serving

from scdn.studio.settings import StudioSettings

pytestmark = NEEDS_CHROMIUM

REQUEST = json.loads((ROOT / "examples" / "request.json").read_text())
POWERS = "studio.plan.model.request.devices.map(device => device.max_power_w)"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with serving(StudioSettings(tmp_path_factory.mktemp("runs"))) as url:
        yield url


@pytest.fixture
def page(browser, address):
    with checked_page(browser, address) as tab:
        tab.goto(f"{address}/#plan")
        tab.wait_for_selector('.plan[data-status="optimal"]')
        yield tab


def _wait_for_plan(page):
    """Wait until the last change is planned with the fine gap, and the page shows it."""
    until(page, "studio.plan.replanner.refinedVersion === studio.plan.model.version")
    page.wait_for_timeout(250)  # the summary is updated a few times a second


def _load(page, request):
    page.evaluate(
        "request => studio.plan.open('network.json', JSON.stringify(request))",
        {**REQUEST, **request},
    )
    _wait_for_plan(page)


def _type(page, label, value):
    field = page.get_by_label(f"{label}, number")
    field.fill(value)
    field.press("Tab")


# --- input --------------------------------------------------------------------------------------


def test_transmit_limits_are_scaled_from_the_original_ones(page):
    original = page.evaluate(POWERS)
    mean = sum(original) / len(original)
    for first in ("0", "-5", "1000"):
        _type(page, "Transmit limit", first)
        _type(page, "Transmit limit", "280")
        assert page.evaluate(POWERS) == pytest.approx([0.28 / mean * power for power in original])
    assert page.get_by_label("Transmit limit, number").input_value() == "280"


@pytest.mark.parametrize(
    ("label", "value", "allowed"),
    [
        ("Transmit limit", "-5", "at least 0"),
        ("Delay limit", "0", "more than 0"),
        ("Iterations", "2.5", "a whole number"),
        ("Convergence", "-1", "at least 0"),
        ("Link margin", "1e400", "a number"),
    ],
)
def test_a_number_that_is_not_allowed_changes_nothing_and_says_why(page, label, value, allowed):
    before = page.evaluate("JSON.stringify(studio.plan.model.request)")
    shown = page.get_by_label(f"{label}, number").input_value()
    page.get_by_label(f"{label}, number").evaluate(
        "(field, value) => { field.type = 'text'; field.value = value; "
        "field.dispatchEvent(new Event('change')); }",
        value,
    )
    message = page.locator(".plan .refusal:visible")
    assert f"{label} must be {allowed}" in message.inner_text()
    assert message.get_attribute("role") == "alert"
    assert page.evaluate("JSON.stringify(studio.plan.model.request)") == before
    assert page.get_by_label(f"{label}, number").input_value() == shown
    page.get_by_label(label, exact=True).press("ArrowRight")
    assert page.locator(".plan .refusal:visible").count() == 0


def test_sliders_tell_their_value_with_its_unit(page):
    for slider in page.locator('.plan input[type="range"]').all():
        assert slider.get_attribute("aria-valuetext"), slider.get_attribute("aria-label")
    _type(page, "Delay limit", "55")
    delay = page.get_by_label("Delay limit", exact=True)
    assert delay.get_attribute("aria-valuetext") == "55 ms"


# --- rivals and the headline --------------------------------------------------------------------


def test_rivals_and_the_plan_are_of_the_same_final_request(page):
    """The coarse plan that comes first must not stay in the table."""
    page.evaluate(
        """() => {
            const send = window.fetch;
            window.fetch = async (path, options) => {
                const answer = await send(path, options);
                if (!String(path).includes("solver=exact&gap=0.01")) {
                    return answer;
                }
                const plan = await answer.json();
                plan.objective *= 1.05;  // as if the first, coarse plan were 5 % off
                return new Response(JSON.stringify(plan), { status: 200 });
            };
        }"""
    )
    page.get_by_label("Compare with rivals").check()
    for limit in ("70", "90"):
        _type(page, "Delay limit", limit)
        page.wait_for_timeout(700)
        _wait_for_plan(page)
        until(page, "!document.querySelector('.compare tbody.old')")
        ours = page.locator("table.compare tr.ours td.objective").inner_text()
        assert float(ours) == pytest.approx(
            float(page.locator("output.big").inner_text()), rel=1e-3
        )


def test_a_rival_that_breaks_limits_is_struck_out_before_its_objective_is_read(page):
    _load(page, {"max_delay_s": 0.02})
    page.get_by_label("Compare with rivals").check()
    until(page, "document.querySelectorAll('table.compare tbody tr').length === 5")
    broken = page.locator("table.compare tr.broken")
    assert broken.count() > 0
    for row in broken.all():
        cells = row.locator("th, td")
        assert "breaks" in cells.nth(1).inner_text()  # before the objective
        objective = cells.nth(2)
        assert objective.locator("s[aria-hidden=true]").count() == 1
        assert "not valid" in objective.locator(".for-readers").inner_text()
        assert "× ours" not in row.inner_text()
    assert page.locator("table.compare tr.ours td").first.inner_text() == "kept"


def test_the_objective_has_a_name_a_direction_and_a_comparison(page):
    headline = page.locator(".answer .headline")
    assert "Objective" in headline.inner_text()
    assert "lower is better" in headline.inner_text()
    assert "lower is better" in page.locator("output.big").get_attribute("aria-label")
    page.wait_for_selector(".versus:not(:empty)")
    assert "keeps its limits" in page.locator(".versus").inner_text()


# --- status -------------------------------------------------------------------------------------


def test_nothing_heard_is_red_and_never_within_zero_percent(page):
    _type(page, "Delay limit", "1")
    _wait_for_plan(page)
    status = page.locator(".verdict")
    assert "bad" in status.get_attribute("class").split()
    assert "No device is heard" in status.inner_text()
    assert "within" not in page.locator(".answer").inner_text()


def test_a_device_out_of_reach_says_what_would_do_and_that_does(page):
    """The limit in the message brings the device into reach from the same position."""
    far = [dict(device) for device in REQUEST["devices"]]
    far[9] = {**far[9], "max_power_w": 1e-3}
    _load(page, {"devices": far})
    page.wait_for_selector(".verdict.partial li")
    page.get_by_role("button", name="d10", exact=True).click()
    lines = page.locator(".verdict li").all_inner_texts()
    line = next(line for line in lines if line.startswith("d10"))
    assert "d10 is out of reach: a delay limit of" in line
    assert "dB more" in line
    assert "would do" in line
    limit = line.split("a delay limit of ")[1].split(" ms")[0]
    position = page.evaluate("studio.plan.model.plan.server.position_m")
    for factor, reached in ((1, True), (0.99, False)):
        seconds = float(limit) / 1e3 * factor
        _load(page, {"devices": far, "max_delay_s": seconds, "candidates_m": [position]})
        reason = page.evaluate("studio.plan.model.plan.devices[9].reason")
        assert (reason != "out_of_reach") is reached


def test_a_huge_delay_limit_is_planned(page):
    _type(page, "Delay limit", "1e308")
    until(page, "studio.plan.model.request.max_delay_s > 1e300")
    _wait_for_plan(page)
    assert "heard" in page.locator(".verdict").inner_text()
    assert page.locator(".toast.fault, .faults:visible").count() == 0


def test_all_heard_is_green(page):
    _load(
        page, {"devices": [{**d, "importance": 50, "max_power_w": 5} for d in REQUEST["devices"]]}
    )
    status = page.locator(".verdict")
    assert "good" in status.get_attribute("class").split()
    assert "All 10 devices are heard" in status.inner_text()
    assert "within" in page.locator(".proof").inner_text()


# --- keyboard and screen readers ----------------------------------------------------------------


def test_the_skip_link_moves_the_focus_and_stays_on_the_page(page, address):
    page.goto(f"{address}/#compare")
    page.locator(".comparing").wait_for()
    page.locator("a.skip").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    assert page.evaluate("location.hash") == "#compare"
    assert page.locator(".comparing").is_visible()


def test_the_server_is_selected_and_moved_by_keyboard(page):
    page.get_by_role("button", name="Select the server").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("studio.plan.model.selected") == "server"
    before = page.evaluate("studio.plan.model.request.server.position_m")
    canvas = page.locator(".plan .viewport canvas")
    canvas.focus()
    page.keyboard.press("ArrowRight")
    after = page.evaluate("studio.plan.model.request.server.position_m")
    assert after != before
    page.keyboard.press("Escape")
    page.keyboard.press("Space")
    assert page.evaluate("studio.plan.model.selected") == "server"
    page.keyboard.press("Space")
    assert page.evaluate("studio.plan.model.selected") == "device:d1"
    page.keyboard.press("Shift+Space")
    assert page.evaluate("studio.plan.model.selected") == "server"


def test_the_canvas_has_a_role_and_a_label(page):
    canvas = page.locator(".plan .viewport canvas")
    assert canvas.get_attribute("role") == "application"
    assert "Arrow keys" in canvas.get_attribute("aria-label")
    assert page.locator(".runs canvas").first.get_attribute("role") == "img"


# --- undo and drafts ----------------------------------------------------------------------------


def test_a_change_is_undone_and_done_again(page):
    delay = "studio.plan.model.request.max_delay_s"
    slider = page.get_by_label("Delay limit", exact=True)
    before = page.evaluate(delay)
    slider.focus()
    for _ in range(5):  # one change, since they follow each other at once
        page.keyboard.press("ArrowRight")
    after = page.evaluate(delay)
    assert after > before
    page.keyboard.press("Control+z")
    assert page.evaluate(delay) == before
    page.keyboard.press("Control+Shift+Z")
    assert page.evaluate(delay) == after
    page.get_by_role("button", name="Undo").click()
    assert page.evaluate(delay) == before
    assert page.get_by_role("button", name="Undo").is_disabled()
    page.get_by_role("button", name="Redo").click()
    assert page.evaluate(delay) == after
    _wait_for_plan(page)


def test_a_device_that_is_undone_while_it_is_dragged_stays_away(page):
    page.get_by_role("button", name="Add a device").click()
    _wait_for_plan(page)
    x, y = screen_position(page, "device:d11")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 20, y, steps=3)
    page.keyboard.press("Control+z")  # the drag
    page.keyboard.press("Control+z")  # the device
    page.mouse.move(x + 40, y, steps=3)
    page.mouse.up()
    _wait_for_plan(page)
    assert page.evaluate("studio.plan.model.request.devices.length") == 10


def test_loading_a_file_can_be_undone(page):
    page.get_by_role("button", name="Add a device").click()
    edited = page.evaluate("JSON.stringify(studio.plan.model.request)")
    page.get_by_label("Examples").select_option("wildfire.toml")
    until(page, "studio.plan.model.name === 'wildfire'")
    page.get_by_role("button", name="Undo").click()
    assert page.evaluate("JSON.stringify(studio.plan.model.request)") == edited
    assert page.locator(".files .file").inner_text() == "request"


def test_a_reload_keeps_the_network(page):
    _type(page, "Delay limit", "77")
    page.wait_for_timeout(500)
    page.reload()
    page.wait_for_selector('.plan[data-status="optimal"]')
    assert page.evaluate("studio.plan.model.request.max_delay_s") == 0.077
    assert page.get_by_text("The network of your last visit").is_visible()


# --- files and tables ---------------------------------------------------------------------------


def test_saving_a_scenario_says_what_it_does_not_keep(page, tmp_path):
    with page.expect_download() as download:
        page.get_by_role("button", name="Scenario").click()
    download.value.save_as(tmp_path / "saved.toml")
    note = page.locator(".faults")
    note.wait_for()
    lines = note.locator("li").all_inner_texts()
    assert [line.split()[0] for line in lines] == ["importance", "gradient_bound_sq"]
    objective = page.locator("output.big").inner_text()
    page.evaluate(
        "text => studio.plan.open('saved.toml', text)", (tmp_path / "saved.toml").read_text()
    )
    _wait_for_plan(page)
    assert page.locator("output.big").inner_text() != objective  # as the note has said


def test_a_csv_of_devices_is_dropped_onto_the_page(page):
    drop = """text => {
        const data = new DataTransfer();
        data.items.add(new File([text], "mine.csv", { type: "text/csv" }));
        document.querySelector(".plan").dispatchEvent(
            new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }"""
    region = page.evaluate("studio.plan.model.request.region_m")
    page.evaluate(drop, "id,x,y,z,max_power_w\nnorth,10,90,0,0.2\nsouth,10,5,12,0.3\n")
    until(page, "studio.plan.model.request.devices.length === 2")
    devices = page.evaluate("studio.plan.model.request.devices")
    assert [device["position_m"] for device in devices] == [[10, 90, 0], [10, 5, 12]]
    assert page.evaluate("studio.plan.model.request.region_m") == region
    page.evaluate(drop, "id,x,y,z\nfar,1000,90,0\n")
    page.get_by_text("mine.csv was not loaded").wait_for()
    assert "position_m" in page.locator(".faults").inner_text()
    assert page.evaluate("studio.plan.model.request.devices.length") == 2


def test_no_column_is_cut_off_in_any_example_or_with_long_names(page):
    names = page.evaluate("fetch('/api/examples').then(answer => answer.json())")
    long = [
        {**d, "id": f"{d['id']}-on-the-roof-of-the-northern-warehouse"} for d in REQUEST["devices"]
    ]
    files = [(file["name"], file["text"]) for file in names]
    files.append(("long.json", json.dumps({**REQUEST, "devices": long})))
    for name, text in files:
        page.evaluate("([name, text]) => studio.plan.open(name, text)", [name, text])
        _wait_for_plan(page)
        for selector in (".devices", ".panel.right", ".panel.left"):
            box = page.locator(f".plan {selector}")
            inner, outer = box.evaluate(
                "e => [e, e.parentElement].map(each => each.getBoundingClientRect().right)"
            )
            assert inner <= outer + 1, (name, selector)
            assert box.evaluate("e => e.scrollWidth <= e.clientWidth + 1"), (name, selector)


def test_units_roll_over_after_rounding(page):
    shown = page.evaluate(
        "[9.996e-4, 9.994e-4, 0.9996, 0.0551].map(studio.format.seconds)"
        ".concat([0.9996, 0.25].map(studio.format.watts), [9.999e8].map(studio.format.hertz))"
    )
    assert shown == [
        "1.00 ms",
        "999 µs",
        "1.00 s",
        "55.1 ms",
        "1.00 W",
        "250 mW",
        "1.00 GHz",
    ]  # not 1000 of the unit below


@pytest.mark.parametrize("width", [390, 820, 1366])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_scrolls_sideways(browser, address, width, theme):
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=theme)
    page = context.new_page()
    page.goto(f"{address}/#plan")
    page.wait_for_selector('.plan[data-status="optimal"]', timeout=60_000)
    page.get_by_label("Compare with rivals").check()
    page.wait_for_timeout(1500)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.querySelector('main').scrollWidth") <= width
    context.close()
