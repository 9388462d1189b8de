"""Steps that tests of several pages take in the browser, and work beside it; benchmarks take them too."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from django.conf import settings
from django.db import connection
from django.test import Client
from playwright.sync_api import Page

# The workspace of a video question, once it can be used.
READY = "[data-island='video-refine'][data-ready]"

Found = TypeVar("Found")


def log_in(page: Page, address: str, name: str, password: str, *, timeout: float | None = None) -> None:
    """Log in through the form; `timeout`, in milliseconds, is for the first page of a server that just began."""
    page.goto(f"{address}/accounts/login/", timeout=timeout)
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(lambda url: "login" not in url)


def give_session(page: Page, address: str, person: Any) -> None:
    """Log a person in without the form."""
    client = Client()
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    cookie = client.cookies[settings.SESSION_COOKIE_NAME]
    page.context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": address}])


def in_a_thread(work: Callable[[], Found]) -> Found:
    """Do what a worker would, in a thread of its own: the browser's event loop holds this one."""

    def run() -> Found:
        try:
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(run).result(timeout=120)
