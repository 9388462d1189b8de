"""A real browser on Django's live server. Console errors and requests that leave this machine fail a test.

The browser is Chromium: the path in `CHROMIUM`, else the system's. The live server speaks WSGI, so pages here
use the poll that stands in for the socket.
"""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.core.cache import cache
from playwright.sync_api import ConsoleMessage, Page, Request, Route

from annotation.models import Dataset, Trace
from auditing.models import AuditRun, JudgeRun
from auditing.services import execution, imports, runs
from auditing.services.judging import execution as judging
from reasonaudit.accounts.models import User
from tests.browser.steps import in_a_thread
from tests.browser.videos import refine_desk, refining  # noqa: F401 (fixtures of several modules)

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "a long enough one for tests"
TIMEOUT_MS = 10_000
SIZES = [(1440, 900), (1366, 768)]

# The browser driver runs an event loop in the test's thread, and Django would refuse the database there.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")


def chromium() -> str | None:
    """Path of the browser, or None."""
    given = os.environ.get("CHROMIUM")
    return given if given else shutil.which("chromium") or shutil.which("chromium-browser")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    reason = None
    if chromium() is None:
        reason = "no Chromium: install it (apt-get install chromium) or name its path in CHROMIUM"
    elif not (ROOT / "static" / "dist" / "manifest.json").is_file():
        reason = "the front end is not built: run `make setup`, or `npm run build` in static/"
    for item in items:
        if here in Path(item.fspath).parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.django_db(transaction=True))
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, object]:
    return {
        "executable_path": chromium(),
        "args": [
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
        ],
    }


@pytest.fixture(autouse=True)
def no_counted_logins() -> None:
    """Every test logs in from the same address; the limit on forms counts them in the cache."""
    cache.clear()


@pytest.fixture
def screen() -> tuple[int, int]:
    """The smaller of the two window sizes that pages were designed for; `overflows` looks at both."""
    return SIZES[-1]


@pytest.fixture
def expected_faults() -> list[str]:
    """Words of console messages that a test causes on purpose (a refused request, say); the test adds them."""
    return []


@pytest.fixture
def page(page: Page, expected_faults: list[str]) -> Iterator[Page]:
    """A page that must stay silent and on this machine (PR-05)."""
    faults: list[str] = []

    def console(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            faults.append(f"console {message.type}: {message.text}")

    def outside(route: Route, request: Request) -> None:
        faults.append(f"request to {request.url}")
        route.abort()

    def is_outside(url: str) -> bool:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https", "ws", "wss"} and parts.hostname not in {
            "127.0.0.1",
            "localhost",
        }

    page.on("console", console)
    page.on("pageerror", lambda error: faults.append(f"script error: {error}"))
    page.route(is_outside, outside)
    page.add_init_script(
        "document.addEventListener('securitypolicyviolation',"
        " event => console.error('policy violation: ' + event.violatedDirective + ' ' + event.blockedURI))"
    )
    page.set_default_timeout(TIMEOUT_MS)
    yield page
    # The server of these tests speaks no sockets; the pages then poll.
    left = [fault for fault in faults if not any(word in fault for word in ("WebSocket", *expected_faults))]
    assert not left, "\n".join(left)


@pytest.fixture
def researcher(transactional_db: None) -> User:
    return User.objects.create_user("rona", password=PASSWORD, role="researcher")


@pytest.fixture
def logged_in(page: Page, live_server: object, researcher: User) -> Page:
    """The page after a login through the form."""
    page.goto(f"{live_server}/accounts/login/")
    page.get_by_label("Name").fill("rona")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/data-sets/")
    return page


@pytest.fixture
def demo(researcher: User) -> Dataset:
    """The project's own demonstration data, the retold case audited from the relations stored with it."""
    dataset: Dataset | str = "Demonstration"
    for name in ("clinical", "mathematical", "cases"):
        path = ROOT / "fixtures" / "demo" / f"{name}.jsonl"
        preview = imports.read_upload(path.read_bytes(), path.name)
        assert not preview.problems
        dataset = imports.commit(preview, dataset=dataset, by=researcher, **_invented(dataset)).dataset
    traces = Trace.objects.filter(external_id="demo-followup-retold")
    run = runs.create(
        dataset=dataset, traces=traces, labeller="stored", by=researcher, name="Published relations"
    )
    execute(run)
    assert AuditRun.objects.get().state == "done"
    return dataset


def execute(run: AuditRun) -> str | None:
    """Carry out a run as a worker would."""
    return in_a_thread(lambda: execution.execute(run.pk))


def execute_judge(run: JudgeRun) -> str | None:
    """Carry out a judge's run in the same way."""
    return in_a_thread(lambda: judging.execute(run.pk))


def _invented(dataset: Dataset | str) -> dict[str, bool]:
    return {"invented": True} if isinstance(dataset, str) else {}


def faults(page: Page) -> list[str]:
    """What axe finds wrong with the page, one line each."""
    found = Axe().run(page).response["violations"]
    return [
        f"{fault['id']}: {fault['help']} ({json.dumps([node['target'] for node in fault['nodes'][:3]])})"
        for fault in found
    ]


def overflows(page: Page) -> list[str]:
    """What `too_wide` finds at both sizes that pages were designed for."""
    before = page.viewport_size
    found = []
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        # A drawing takes the new width a moment after the window has it.
        for _ in range(10):
            if not (wide := too_wide(page)):
                break
            page.wait_for_timeout(100)
        found += [f"{line} at {width}" for line in wide]
    if before is not None:
        page.set_viewport_size(before)
    return found


def too_wide(page: Page) -> list[str]:
    """Parts of the page that are wider than their place at its present size."""
    return page.evaluate(
        """() => [document.documentElement,
                  ...document.querySelectorAll('.bar, .sub, .sub-title, .pane, .pane-head, table')]
            .filter(part => part.scrollWidth > part.clientWidth + 1)
            .map(part => `${part.tagName} ${part.className}: ${part.scrollWidth} in ${part.clientWidth}`)"""
    )
