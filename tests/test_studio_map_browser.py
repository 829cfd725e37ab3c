"""The studio's map in Chromium: names, legend, numbers, finding devices, what if, the address."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from conftest import ROOT
from recorded_runs import write_run
from studio_browser import NEEDS_CHROMIUM, checked_page, screen_position, until
from studio_server import serving

from scdn.studio.settings import StudioSettings

pytestmark = NEEDS_CHROMIUM

REQUEST = json.loads((ROOT / "examples" / "request.json").read_text())
OFF = ("d137", "d402")  # two of 500 that have no power


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    runs = tmp_path_factory.mktemp("runs")
    write_run(runs / "flown", rounds=8, churn=True)
    with serving(StudioSettings(runs)) as url:
        yield url


@pytest.fixture
def page(browser, address):
    with checked_page(browser, address) as tab:
        _open(tab, address, "")
        yield tab


def _open(page, address, query):
    page.goto(f"{address}/#plan{query}")
    page.wait_for_selector('.plan[data-status="optimal"]')


def _network(count, off=()):
    """A request with many devices of which only some are out of reach."""
    rng = np.random.default_rng(3)
    positions = rng.uniform(0, 1, (count, 3)) * [300, 300, 60]
    positions[: count // 2, 2] = 0
    devices = [
        {"id": f"d{n}", "position_m": [round(c, 1) for c in position]}
        | ({"max_power_w": 0} if f"d{n}" in off else {})
        for n, position in enumerate(positions.tolist())
    ]
    return {
        "region_m": [300, 300, 100],
        "server": {"position_m": [150, 150, 50]},
        "max_delay_s": 0.5,
        "devices": devices,
    }


def _load(page, request):
    page.evaluate("text => studio.plan.open('network.json', text)", json.dumps(request))
    until(page, f"studio.plan.model.plan?.devices.length === {len(request['devices'])}")
    _settle(page)


def _settle(page):
    """Wait until the last change is planned, listed and drawn."""
    until(page, "studio.plan.replanner.refinedVersion === studio.plan.model.version")
    page.wait_for_timeout(450)


def _drag(page, key, right, down, shift=False):
    x, y = screen_position(page, key)
    page.mouse.move(x, y)
    if shift:
        page.keyboard.down("Shift")
    page.mouse.down()
    page.mouse.move(x + right, y + down, steps=6)
    page.mouse.up()
    page.keyboard.up("Shift")


# --- names --------------------------------------------------------------------------------------


_RECTANGLES = """() => {
    const corners = element => {
        const { left, top, right, bottom } = element.getBoundingClientRect();
        return [left, top, right, bottom];
    };
    const names = [...document.querySelectorAll(".plan .overlay > span[data-label]")];
    const panels = [...document.querySelectorAll(".plan .tools, .plan .legend")];
    return { canvas: corners(studio.plan.viewport.canvas),
        names: names.map(name => [name.dataset.label, ...corners(name)]),
        panels: panels.map(panel => ["panel", ...corners(panel)]) };
}"""
CAMERAS = [  # from above or not, and the camera in parts of the region's longest side
    (False, None),
    (False, (0.5, 0.5, 0.1, 200, 3, 0.9)),
    (False, (0.3, 0.6, 0.1, -60, 80, 0.35)),
    (False, (0.9, 0.1, 0.2, 10, 20, 0.25)),
    (True, None),
    (True, (0.4, 0.5, 0.5)),
]


def _placed_names(page):
    """Check that no names overlap each other or a panel; return those that are shown."""
    page.wait_for_timeout(150)
    shown = page.evaluate(_RECTANGLES)
    left, top, right, bottom = shown["canvas"]
    for name, x0, y0, x1, y1 in shown["names"]:
        assert x1 > x0, name
        assert x0 >= left - 0.1, name
        assert y0 >= top - 0.1, name
        assert x1 <= right + 0.1, name
        assert y1 <= bottom + 0.1, name
    for one, other in itertools.combinations(shown["names"] + shown["panels"], 2):
        apart = (one[1] >= other[3] or other[1] >= one[3]) or (
            one[2] >= other[4] or other[2] >= one[4]
        )
        assert apart or one[0] == other[0] == "panel", (one, other)
    return {name for name, *_ in shown["names"]}


@pytest.mark.parametrize(("count", "off"), [(10, ()), (40, ("d7",)), (500, OFF)])
def test_no_two_names_overlap_at_any_camera(page, count, off):
    _load(page, REQUEST if count == 10 else _network(count, off))
    resting = "studio.plan.model.plan.devices.filter(d => !d.active).map(d => d.id)"
    assert page.evaluate(resting) == list(off)
    side = max(page.evaluate("studio.plan.viewport.region"))
    page.evaluate("key => studio.plan.model.select(key)", "device:d5")
    for top, camera in CAMERAS:
        lengths = {0, 1, 2, 5}
        numbers = camera and [side * c if n in lengths else c for n, c in enumerate(camera)]
        page.evaluate(
            "([top, text]) => { studio.plan.viewport.setTop(top);"
            " studio.plan.viewport.setCamera(text); studio.plan.viewport.invalidate(); }",
            [top, numbers and ",".join(map(str, numbers))],
        )
        names = _placed_names(page)
        if camera is None:  # all of the region is in view
            assert {"planned", "device:d5", *(f"device:{name}" for name in off)} <= names
            assert any(name.startswith("ruler:") for name in names)
            ordinary = [n for n in names if n.startswith("device:") and n != "device:d5"]
            assert len(ordinary) >= 5
    if count == 10:
        page.evaluate("studio.plan.viewport.setCamera(null)")
        page.get_by_label("Compare with rivals").check()
        until(page, "studio.plan.scene.state.rivals.length === 3")
        _drag(page, "planned", 90, 20)
        _settle(page)
        assert "optimum" in _placed_names(page)


# --- from above, and dragging -------------------------------------------------------------------


def test_dragging_works_from_above_as_in_3d(page):
    page.locator(".plan .viewport canvas").focus()
    page.keyboard.press("t")
    assert page.get_by_role("button", name="Top view").first.get_attribute("aria-pressed") == "true"
    page.wait_for_timeout(300)
    before = page.evaluate("structuredClone(studio.plan.model.request)")
    scale = page.evaluate(
        "studio.plan.viewport.cameras.unitsPerPixel(studio.plan.viewport.canvas.clientHeight)"
    )
    _drag(page, "device:d6", 40, -30)
    x, y, z = before["devices"][5]["position_m"]
    moved = page.evaluate("studio.plan.model.request.devices[5].position_m")
    assert moved == pytest.approx([x + 40 * scale, y + 30 * scale, z], abs=0.2)
    _drag(page, "device:d6", 0, -50, shift=True)
    lifted = page.evaluate("studio.plan.model.request.devices[5].position_m")
    assert lifted == pytest.approx([*moved[:2], z + 50 * scale], abs=0.3)
    centre = page.evaluate("studio.plan.viewport.controls.target.toArray()")
    box = page.locator(".plan .viewport canvas").bounding_box()
    page.mouse.move(box["x"] + 30, box["y"] + 60)  # where nothing is: this moves the map
    page.mouse.down()
    page.mouse.move(box["x"] + 90, box["y"] + 60, steps=4)
    page.mouse.up()
    panned = page.evaluate("studio.plan.viewport.controls.target.toArray()")
    assert panned == pytest.approx([centre[0] - 60 * scale, centre[1], 0], abs=0.5)
    page.get_by_role("button", name="Top view").first.click()
    assert not page.evaluate("studio.plan.viewport.top")


# --- the legend and the map's numbers -----------------------------------------------------------


_DRAWN = """() => {
    const { scene, viewport } = studio.plan;
    const has = state => scene.state.devices.some(device => device.state === state);
    const lines = object => object.geometry.drawRange.count > 0;
    const drawn = { active: has("active"), off: has("off"), failed: has("failed"),
        departed: has("departed"),
        flying: scene.state.devices.some(device => device.position[2] > 0),
        dimmed: scene.state.devices.some(device => device.dimmed),
        ring: (scene.devices.meshes.ring?.count ?? 0) > 0,
        server: scene.drone.visible, before: scene.droneBefore.visible,
        optimum: scene.droneOptimum.visible, flight: lines(scene.moveLine.object),
        path: lines(scene.trail.object), stem: lines(scene.stems.object) && !viewport.top,
        contour: lines(scene.objectiveMap.lines.object),
        box: scene.state.boxes.length > 0, site: scene.state.candidates.length > 0,
        rival: scene.state.rivals.length > 0, shell: scene.reachShells.group.children.length > 0,
        links: scene.links !== null || lines(scene.thinLinks.object),
        map: scene.objectiveMap.mesh.visible };
    return Object.keys(drawn).filter(kind => drawn[kind]).sort();
}"""
_LISTED = "[...document.querySelectorAll('.plan .legend .entry')].map(e => e.dataset.kind).sort()"


def _legend(page):
    """Check that the legend lists what is drawn; return its kinds."""
    page.wait_for_timeout(500)
    listed = page.evaluate(_LISTED)
    assert listed == page.evaluate(_DRAWN)
    return set(listed)


def test_the_legend_lists_what_is_drawn_and_nothing_else(page):
    common = {"active", "flying", "server", "before", "flight", "stem", "box", "links", "map"}
    common.add("contour")
    assert _legend(page) == common
    page.get_by_role("button", name="d3", exact=True).click()
    assert _legend(page) == common | {"ring", "shell"}
    page.get_by_text("View", exact=True).click()
    page.get_by_label("Objective map").select_option("none")
    page.get_by_label("Reach shells").select_option("none")
    assert _legend(page) == common - {"map", "contour"} | {"ring"}
    page.get_by_role("button", name="Top view").first.click()
    assert "stem" not in _legend(page)  # seen from above, it is a point
    page.get_by_role("button", name="Top view").first.click()
    page.get_by_label("Compare with rivals").check()
    until(page, "studio.plan.scene.state.rivals.length === 3")
    _drag(page, "planned", 30, 10)
    until(page, "studio.plan.model.whatIfPlan !== null")
    assert _legend(page) >= {"rival", "optimum"}
    page.keyboard.press("Escape")
    page.get_by_label("Show devices that are").select_option("flying")
    assert "dimmed" in _legend(page)
    page.get_by_label("Delay limit, number").fill("1")
    page.keyboard.press("Tab")
    _settle(page)
    kinds = _legend(page)
    assert "off" in kinds
    assert not kinds & {"active", "links"}
    page.get_by_text("Where the server may be").click()
    page.get_by_role("button", name="Remove box 1").click()
    page.get_by_role("button", name="Add a site").click()
    _settle(page)
    kinds = _legend(page)
    assert "site" in kinds
    assert "box" not in kinds


def test_the_scales_of_the_legend_have_numbers(page):
    links = page.locator(".plan .legend .links")
    assert links.inner_text().split("\n")[-1] == "100 % of its limit"
    page.get_by_text("View", exact=True).click()
    page.get_by_label("Colour links by").select_option("delay")
    assert "60.0 ms (limit)" in links.inner_text()

    page.get_by_label("Altitude of the map").fill("300")  # thousandths of the height
    until(page, "studio.plan.scene.objectiveMap.scale.altitude_m === 30")
    surface = page.evaluate(
        "studio.plan.model.requestText()"
        " && fetch('/api/surface?altitude_m=30&points=121', {method: 'POST',"
        " body: studio.plan.model.requestText()}).then(answer => answer.json())"
    )
    known = [v for row in surface["objective"] for v in row if v is not None]
    shown = page.locator(".plan .legend .map").inner_text()
    assert "objective (weighted cost), server at 30.0 m" in shown.replace("\n", " ")
    marks = [
        float(text.removeprefix("highest "))
        for text in page.locator(".plan .legend .map small").all_inner_texts()
    ]
    assert marks[0] == pytest.approx(min(known), rel=1e-3)
    assert marks[-1] == pytest.approx(max(known), rel=1e-3)
    assert marks == sorted(marks)

    for column, row in ((36, 96), (84, 30)):  # 30, 80 m and 70, 25 m
        place = [surface["x_m"][column], surface["y_m"][row], 30]
        x, y = page.evaluate(
            """at => {
                const { viewport } = studio.plan, box = viewport.canvas.getBoundingClientRect();
                const { x, y } = viewport.toScreen(at);
                return [box.left + x, box.top + y];
            }""",
            place,
        )
        page.mouse.move(x, y)
        text = page.locator(".plan .legend .pointer").inner_text()
        assert text.startswith(f"here ({place[0]:.0f}, {place[1]:.0f} m): ")
        assert float(text.split(": ")[1]) == pytest.approx(
            surface["objective"][row][column], rel=0.02
        )
    page.mouse.move(5, 5)
    assert page.locator(".plan .legend .pointer").inner_text() == ""


# --- boxes and sites ----------------------------------------------------------------------------


def test_boxes_and_sites_have_named_fields_with_rules(page):
    page.get_by_text("Where the server may be").click()
    page.get_by_label("Box 1, from x in metres").fill("20")
    page.keyboard.press("Tab")
    assert page.evaluate("studio.plan.model.request.keep_out_m[0]") == [20, 40, 0, 55, 60, 30]
    assert page.evaluate("studio.plan.model.selected") == "box:0"
    page.get_by_label("Box 1, to z in metres").fill("101")
    page.keyboard.press("Tab")
    refusals = page.locator(".plan .sites .refusal:visible")
    assert refusals.inner_text() == "Box 1, to z in metres must be from 0 to 100; 101 was refused."
    page.get_by_label("Box 1, from x in metres").fill("56")
    page.keyboard.press("Tab")
    assert "Box 1, from x in metres must be from 0 to 55" in " ".join(refusals.all_inner_texts())
    assert page.evaluate("studio.plan.model.request.keep_out_m[0]") == [20, 40, 0, 55, 60, 30]
    page.get_by_role("button", name="Add a box").click()
    page.get_by_label("Box 2, from y in metres").fill("0")
    page.keyboard.press("Tab")
    assert page.evaluate("studio.plan.model.request.keep_out_m[1][1]") == 0
    _settle(page)
    assert {"box:0", "box:1"} <= _placed_names(page)  # with the same numbers in the scene
    page.get_by_role("button", name="Remove box 1").click()
    assert page.evaluate("studio.plan.model.request.keep_out_m.length") == 1


# --- finding devices ----------------------------------------------------------------------------


def test_two_devices_that_are_off_are_found_among_500_in_two_actions(page):
    _load(page, _network(500, OFF))
    assert page.get_by_text("2 of 500 devices are off.").is_visible()
    far = page.evaluate("studio.plan.viewport.cameras.size")
    found = []
    for _ in OFF:
        page.get_by_role("button", name="Show the next").click()
        key = page.evaluate("studio.plan.model.selected")
        found.append(key.removeprefix("device:"))
        until(page, "studio.plan.viewport.cameras.flight === null")
        page.wait_for_timeout(300)
        target = page.evaluate("studio.plan.viewport.controls.target.toArray()")
        place = page.evaluate(
            "key => studio.plan.viewport.toScene(studio.plan.model.position(key)).toArray()", key
        )
        assert target == pytest.approx(place, abs=1e-6)
        assert key in _placed_names(page)
    assert sorted(found) == sorted(OFF)
    assert page.evaluate("studio.plan.viewport.cameras.size") < far / 2
    rows = page.locator("table.devices tbody tr")
    assert sorted(rows.locator("th").all_inner_texts()) == sorted(OFF)
    dimmed = "studio.plan.scene.state.devices.filter(device => device.dimmed).length"
    assert page.evaluate(dimmed) == 498
    page.get_by_role("button", name="Show all devices").click()
    assert page.evaluate(dimmed) == 0
    assert rows.locator("th").all_inner_texts()[:2] == list(OFF)  # what matters comes first
    assert "400 more" in page.locator(".device-list .hint").inner_text()
    sizes = page.evaluate(
        """() => {
            const { meshes } = studio.plan.scene.devices, sizes = { ring: meshes.ring.count };
            for (const [kind, mesh] of Object.entries(meshes)) {
                for (let n = 0; n < mesh.count && kind !== "ring"; n++) {
                    const size = mesh.instanceMatrix.array[16 * n].toFixed(2);
                    sizes[size] = (sizes[size] ?? 0) + 1;
                }
            }
            return sizes;
        }"""
    )
    assert sizes == {"ring": 2, "0.55": 498, "1.35": 2}
    page.get_by_label("Find a device").fill("D49")
    assert page.get_by_text("11 of 500 devices have “D49” in their name.").is_visible()
    assert rows.count() == 11
    page.keyboard.press("Enter")
    assert page.evaluate("studio.plan.model.selected") == "device:d49"


# --- what if the server were here ---------------------------------------------------------------


def test_the_planned_server_is_tried_elsewhere_and_goes_back(page):
    before = page.evaluate("studio.plan.model.requestText()")
    best = page.evaluate("studio.plan.model.plan")
    _drag(page, "planned", -90, 30)
    panel = page.locator(".what-if")
    panel.wait_for()
    _settle(page)
    until(page, "studio.plan.model.whatIfPlan !== null")
    tried = page.evaluate("studio.plan.model.whatIf")
    assert tried[2] == pytest.approx(best["server"]["position_m"][2], abs=0.1)
    expected = page.evaluate(
        "at => fetch('/api/plan', {method: 'POST', body: JSON.stringify("
        "{...studio.plan.model.request, candidates_m: [at]})}).then(answer => answer.json())",
        tried,
    )
    page.wait_for_timeout(300)
    more = expected["objective"] / best["objective"]
    assert more > 1.02
    text = panel.inner_text()
    assert f"Objective {expected['objective']:#.4g}".rstrip(".") in text
    cells = panel.locator("tbody tr").all_inner_texts()
    assert [row.split()[0] for row in cells] == [
        "convergence", "transmission", "processing", "movement"
    ]  # fmt: skip
    lost = [d["id"] for d in expected["devices"] if not d["active"]]
    assert lost
    assert all(name in text.partition("Off here only:")[2] for name in lost)
    assert page.evaluate("studio.plan.scene.state.server") == tried
    assert page.locator(".overlay .optimum").inner_text() == "optimum"
    assert page.get_by_role("button", name="Undo").is_disabled()
    assert page.evaluate("studio.plan.model.requestText()") == before
    page.keyboard.press("Escape")
    assert not panel.is_visible()
    assert page.evaluate("studio.plan.scene.state.server") == best["server"]["position_m"]
    assert page.evaluate("studio.plan.scene.state.optimum") is None


def test_the_planned_server_is_tried_by_keyboard_and_not_where_it_may_not_be(page):
    page.get_by_role("button", name="Select the planned server").click()
    page.locator(".plan .viewport canvas").focus()
    page.keyboard.press("ArrowRight")
    tried = page.evaluate("studio.plan.model.whatIf")
    best = page.evaluate("studio.plan.model.plan.server.position_m")
    assert tried == pytest.approx([best[0] + 1, *best[1:]], abs=0.06)
    inspector = page.locator(".inspector")
    for axis, value in (("x", "47"), ("y", "50"), ("z", "10")):  # inside the keep-out box
        inspector.get_by_label(f"{axis}, m").fill(value)
    page.get_by_text("The server may not be here").wait_for()
    assert page.locator(".overlay [data-label=planned]").inner_text() == "not allowed here"
    page.get_by_role("button", name="Back to the optimum").click()
    assert not page.locator(".what-if").is_visible()


def test_tab_goes_from_one_coordinate_to_the_next(page):
    """A field that is left tells its change before the next one has the focus."""
    page.get_by_role("button", name="Select the planned server").click()
    page.locator(".inspector").get_by_label("x, m").focus()
    for axis in "xyz":
        assert page.evaluate("document.activeElement.ariaLabel") == f"{axis}, m"
        page.keyboard.type("7")
        page.wait_for_timeout(400)  # nothing waits to be shown any more
        page.keyboard.press("Tab")


# --- the address --------------------------------------------------------------------------------


def test_the_address_keeps_what_is_shown(page, browser, address):
    page.get_by_label("Examples").select_option("wildfire.toml")
    until(page, "studio.plan.model.name === 'wildfire'")
    _settle(page)
    page.get_by_text("View", exact=True).click()
    page.get_by_label("Colour links by").select_option("delay")
    page.get_by_label("Reach shells").select_option("all")
    page.get_by_label("Altitude of the map").fill("250")
    page.get_by_label("Show devices that are").select_option("active")
    page.get_by_role("button", name="Top view").first.click()
    box = page.locator(".plan .viewport canvas").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.wheel(0, -400)
    page.locator("table.devices tbody button").first.click()
    page.get_by_label("Compare with rivals").check()
    page.evaluate("studio.plan.model.setWhatIf([30, 40, 20])")
    page.wait_for_timeout(900)
    link = page.url
    for part in ("network=wildfire.toml", "links=delay", "shells=all", "filter=active", "view=top",
                 "camera=", "selected=device:", "rivals=on", "server=30,40,20",
                 "map="):  # fmt: skip
        assert part in link, part
    state = """() => { const { choices, finder, model, viewport } = studio.plan;
        return [choices.links, choices.shells, choices.map, choices.altitude, finder.filter.name,
            viewport.top, viewport.cameraText(), model.selected, model.whatIf,
            studio.plan.rivalTable.enabled, model.name]; }"""
    shown = page.evaluate(state)
    with checked_page(browser, address) as other:  # another browser: nothing is stored there
        other.goto(link)
        other.wait_for_selector('.plan[data-status="optimal"]')
        until(other, "studio.plan.model.whatIf !== null")
        other.wait_for_timeout(900)
        assert other.evaluate(state) == shown
        assert other.url == link
        other.get_by_role("button", name="Add a device").click()
        other.wait_for_timeout(600)
        assert "network=" not in other.url  # it is the example no more
        other.reload()
        other.wait_for_selector('.plan[data-status="optimal"]')
        count = len(page.evaluate("studio.plan.model.request.devices")) + 1
        assert other.evaluate("studio.plan.model.request.devices.length") == count
        other.wait_for_timeout(600)
        assert "view=top" in other.url


def test_a_camera_that_is_not_understood_shows_the_whole_region(browser, address):
    for camera in ("", "1,2", "a,b,c,d,e,f", "1,2,3,4,5,-6", "1e999,0,0,0,0,1"):
        with checked_page(browser, address) as page:
            _open(page, address, f"?camera={camera}&map=x&filter=none&selected=device:x&server=1,2")
            assert page.evaluate("studio.plan.viewport.cameras.atHome")
            page.wait_for_timeout(600)
            assert page.url.endswith("#plan?network=request.json")


def test_the_camera_of_a_run_is_in_the_address(browser, address):
    with checked_page(browser, address) as page:
        page.goto(f"{address}/#run")
        page.wait_for_selector('.runs[data-over="true"][data-rounds="8"]')
        listed = page.evaluate(
            "[...document.querySelectorAll('.runs .legend .entry')].map(e => e.dataset.kind)"
        )
        assert {"active", "departed", "server", "path", "links"} <= set(listed)
        assert not {"map", "before", "rival"} & set(listed)
        page.locator(".runs .viewport canvas").focus()
        for key in ("]", "+", "+"):
            page.keyboard.press(key)
        text = page.evaluate("studio.run.viewport.cameraText()")
        assert f"camera={text}" in page.url
        page.reload()
        page.wait_for_selector('.runs[data-over="true"][data-rounds="8"]')
        assert page.evaluate("studio.run.viewport.cameraText()") == text
        page.locator(".runs .viewport canvas").focus()
        page.keyboard.press("t")
        assert "view=top" in page.url
        page.keyboard.press("Home")
        page.keyboard.press("t")
        page.keyboard.press("Home")
        assert "camera=" not in page.url
        assert "view=" not in page.url
