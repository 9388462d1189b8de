"""The pages of accounts in a browser: a second factor set up and used, an invitation sent and accepted, axe on each."""

import re
from base64 import b32decode
from pathlib import Path

from django.contrib.sessions.models import Session
from playwright.sync_api import Browser, Page, expect

from reasonaudit.accounts.models import User
from tests.browser.conftest import PASSWORD, faults, overflows
from tests.trust.conftest import app_code


def looked_at(page: Page, name: str, shots: Path) -> None:
    """Nothing that axe minds, nothing wider than its place; a picture for people to look at."""
    page.screenshot(path=shots / f"{name}-{page.viewport_size['width']}.png", full_page=True)
    assert faults(page) == [], name
    assert overflows(page) == [], name


def log_in(page: Page, address: str, name: str, password: str = PASSWORD) -> None:
    page.goto(
        f"{address}/accounts/login/", timeout=60_000
    )  # the first page of a cold browser on a busy machine
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()


def test_accounts_from_second_factor_to_an_accepted_invitation(
    page: Page, browser: Browser, live_server: object, screen: tuple[int, int], tmp_path: Path
) -> None:
    address = str(live_server)
    page.set_viewport_size({"width": screen[0], "height": screen[1]})
    User.objects.create_user("boss", password=PASSWORD, role="admin")
    log_in(page, address, "boss")
    page.wait_for_url("**/data-sets/")

    page.goto(f"{address}/accounts/")
    looked_at(page, "account", tmp_path)
    page.get_by_role("link", name="Set up a second factor").click()
    picture = page.get_by_role("img", name="QR code that holds the secret below")
    assert picture.evaluate("image => image.complete && image.naturalWidth") > 0, (
        "the policy lets the picture in"
    )
    looked_at(page, "second-factor-new", tmp_path)
    # The secret is base 32; Python reads it back as an app would.
    key = b32decode(page.locator("[data-secret]").inner_text().replace(" ", "")).hex()
    page.get_by_label("Code").fill("12345")
    page.get_by_role("button", name="Turn it on").click()
    expect(page.get_by_text("The code does not fit.")).to_be_visible()
    page.get_by_label("Code").fill(app_code(key))
    page.get_by_role("button", name="Turn it on").click()
    backup = page.locator("[data-backup-codes] li").all_inner_texts()
    assert len(backup) == 10
    looked_at(page, "backup-codes", tmp_path)
    page.get_by_role("link", name="Second factor").click()
    looked_at(page, "second-factor", tmp_path)

    page.locator("summary.who").click()
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/accounts/login/")
    log_in(page, address, "boss")
    page.wait_for_url("**/accounts/login/code/")
    looked_at(page, "login-code", tmp_path)
    page.get_by_label("Code").fill(backup[0])
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/data-sets/")

    page.locator("summary.who").click()
    page.get_by_role("link", name="Invitations").click()
    page.get_by_label("Role").select_option("Physician")
    page.get_by_label("Note").fill("Ward three")
    page.get_by_role("button", name="Make link").click()
    link = page.locator("[data-invitation-link]").inner_text()
    assert re.fullmatch(rf"{address}/accounts/invitation/[\w-]{{43}}/", link)
    looked_at(page, "invitations", tmp_path)

    guest = browser.new_context(viewport={"width": screen[0], "height": screen[1]}).new_page()
    try:
        guest.goto(link)
        looked_at(guest, "invitation", tmp_path)
        guest.get_by_label("User name").fill("ward-three")
        guest.get_by_label("Your name").fill("Third Ward")
        guest.get_by_label("Password", exact=True).fill(PASSWORD)
        guest.get_by_label("Password again").fill(PASSWORD)
        guest.get_by_role("button", name="Make my account").click()
        expect(guest.get_by_text("Your account is made")).to_be_visible()
        again = guest.goto(link)
        assert again is not None
        assert again.status == 410
        looked_at(guest, "invitation-used", tmp_path)
    finally:
        guest.context.close()

    page.goto(f"{address}/accounts/people/")
    looked_at(page, "people", tmp_path)
    page.get_by_role("link", name="ward-three").click()
    looked_at(page, "person", tmp_path)
    page.get_by_role("button", name="Switch the account off").click()
    expect(page.get_by_text("This field is required.")).to_be_visible()
    page.locator("#state_reason").fill("Moved away")
    page.get_by_role("button", name="Switch the account off").click()
    expect(page.get_by_text("The account was switched off.")).to_be_visible()
    expect(page.get_by_role("cell", name="Moved away")).to_be_visible()
    assert not User.objects.get(username="ward-three").is_active


def test_ab_14_login_in_place_keeps_the_page_and_what_was_typed(page: Page, live_server: object) -> None:
    """What the workspace does, by hand: the session runs out, text stands in a field, the password brings it back."""
    User.objects.create_user("rona", password=PASSWORD, role="researcher")
    log_in(page, str(live_server), "rona")
    page.wait_for_url("**/data-sets/")
    page.goto(f"{live_server}/accounts/tokens/")
    page.get_by_label("Name").fill("unsaved words")
    Session.objects.all().delete()
    status = page.evaluate(
        """async ([password]) => {
             const ask = await (await fetch('/accounts/relogin/')).json()
             if (ask.user !== null) return 'still logged in'
             const headers = {'Content-Type': 'application/json', 'X-CSRFToken': ask.csrf_token}
             const body = JSON.stringify({username: 'rona', password})
             const done = await (await fetch('/accounts/relogin/', {method: 'POST', headers, body})).json()
             for (const one of document.querySelectorAll('input[name=csrfmiddlewaretoken]')) one.value = done.csrf_token
             return done.user
           }""",
        [PASSWORD],
    )
    assert status == "rona"
    assert page.get_by_label("Name").input_value() == "unsaved words"
    page.get_by_role("button", name="Make token").click()
    expect(page.get_by_role("cell", name="unsaved words", exact=True)).to_be_visible()
