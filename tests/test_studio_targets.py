"""Targets in the studio's page, in Chromium: ask for one, refuse a wrong one, show a run's own."""

from __future__ import annotations

import pytest
from recorded_runs import write_run
from studio_browser import NEEDS_CHROMIUM, checked_page
from studio_server import serving

from scdn.studio.settings import StudioSettings

pytestmark = NEEDS_CHROMIUM


@pytest.fixture(scope="module")
def targeted(tmp_path_factory):
    """A studio with two methods and two seeds whose scenario asks for 82 % top-3.

    Both runs of sc-dn get there, of vafl only the first.
    """
    folder = tmp_path_factory.mktemp("targeted")
    for method in ("sc-dn", "vafl"):
        for seed in (0, 1):
            write_run(folder / "two" / method / f"seed-{seed}", method, seed, targets=["top3=82"])
    with serving(StudioSettings(folder)) as url:
        yield url


@pytest.fixture
def page(browser, targeted):
    with checked_page(browser, targeted) as tab:
        yield tab


def _heads(page):
    return page.locator(".main-table thead th").all_inner_texts()


def test_a_target_is_asked_by_keyboard(page, targeted):
    """Its cost leads the table, and the focus stays in the field."""
    page.goto(f"{targeted}/#compare")
    field, message = page.get_by_label("Cost to reach"), page.get_by_role("status")
    message.get_by_text("top3=82 is reached in 3 of 4 runs").wait_for()
    assert field.input_value() == "top3=82"
    assert _heads(page)[1:3] == [
        "Energy to 82 % top-3 (J, median)", "Time to 82 % top-3 (s, median)",
    ]  # fmt: skip
    vafl = page.locator(".main-table tbody tr", has_text="vafl").locator("td")
    assert "not reached (1 of 2)" in vafl.nth(0).inner_text()
    assert "not reached (1 of 2)" in vafl.nth(1).inner_text()

    field.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("top3=84, top1 = 30")
    page.keyboard.press("Enter")
    message.get_by_text("top3=84 is reached in 2 of 4 runs; top1=30 is reached in").wait_for()
    assert [head.split(" (")[0] for head in _heads(page)[1:5]] == [
        "Energy to 84 % top-3", "Time to 84 % top-3", "Energy to 30 % top-1", "Time to 30 % top-1",
    ]  # fmt: skip
    assert "not reached (2 of 2)" in vafl.nth(0).inner_text()
    assert page.evaluate("document.activeElement.id") == field.get_attribute("id")
    figure = page.get_by_role("link", name="PNG of joules_top1").get_attribute("href")
    assert page.request.get(f"{targeted}{figure}").body().startswith(b"\x89PNG")

    field.fill("")
    page.keyboard.press("Enter")
    message.get_by_text("top3=82 is reached").wait_for()  # the scenario's own


def test_a_wrong_target_is_refused_beside_its_field(page, targeted):
    """The message is the server's; the results before it stay."""
    page.goto(f"{targeted}/#compare")
    field = page.get_by_label("Cost to reach")
    page.wait_for_selector(".main-table")
    heads = _heads(page)
    for text, expected in (
        ("top3", 'got "top3"; must be METRIC=NUMBER, such as top3=95'),
        ("top3=82, top1=101", 'got "top1=101"; top1 must be in 0 … 100'),
        ("top9=1", "top9 is not recorded; must be one of test_loss, top1, top3, train_loss"),
    ):
        field.fill(text)
        page.get_by_role("button", name="Show").click()
        page.get_by_text(expected, exact=True).wait_for()
        assert field.get_attribute("aria-invalid") == "true"
        described = page.locator(f"#{field.get_attribute('aria-describedby')}")
        assert described.inner_text() == expected
        assert page.evaluate("document.activeElement.id") == field.get_attribute("id")
        assert field.input_value() == text
        assert _heads(page) == heads
    field.fill("top3=70")
    page.keyboard.press("Enter")
    page.get_by_text("top3=70 is reached in 4 of 4 runs").wait_for()
    assert field.get_attribute("aria-invalid") == "false"


def test_a_target_is_a_line_of_its_own_in_the_curves(page, targeted):
    """Its colour and dashes are not those of the baselines."""
    page.goto(f"{targeted}/#compare")
    page.wait_for_selector(".main-table")
    draw = """() => new Promise((resolve) => {
        const drawn = [], context = CanvasRenderingContext2D.prototype, plain = context.fillText;
        context.fillText = function (text, ...at) {
            drawn.push([text, this.fillStyle, this.getLineDash().join(" ")]);
            return plain.call(this, text, ...at);
        };
        studio.compare.draw(studio.compare.study);
        setTimeout(() => resolve(drawn), 500);
    })"""
    styles = {text: (colour, dash) for text, colour, dash in page.evaluate(draw)}
    assert styles["target 82"] != styles["best party"]
    assert styles["best party"] == styles["centralised"]


def test_a_run_says_when_it_reached_its_targets(page, targeted):
    """Rounds are counted from 1, as below the picture."""
    page.goto(f"{targeted}/#run")
    sentence = page.get_by_role("list", name="Targets")
    for method, seed in (("sc-dn", 0), ("vafl", 1)):
        page.locator(f'button.run[data-run="two/{method}/seed-{seed}"]').click()
        page.get_by_text(f"synthetic, seed {seed}").wait_for()
        page.locator(".title", has_text=method).wait_for()
        runs = page.request.get(f"{targeted}/api/runs").json()["runs"]
        (target,) = next(r for r in runs if (r["method"], r["seed"]) == (method, seed))["targets"]
        if method == "vafl":
            assert sentence.inner_text() == "82 % top-3: not reached"
        else:
            assert sentence.inner_text() == (
                f"82 % top-3: reached in round {target['round'] + 1}, "
                f"{target['joules']:.1f} J, {target['seconds']:.1f} s"
            )
