"""What a benchmark reads inside a video page: times from an input to what is painted, pictures a second, memory."""

import time
from dataclasses import dataclass
from typing import Any

import psutil
from playwright.sync_api import Page

from tests.browser.steps import READY

EXACT = "() => /^frame \\d+ exact$/.test(document.querySelector('[data-receipt]')?.textContent ?? '')"
OPEN_MS = 180_000

# Times are milliseconds from the input event's own time stamp.
PROBE = """() => {
    const painted = (run) => requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = run;
        port2.postMessage(0);
    });
    window.bench = {
        // From the next press to "frame N exact": [ms, N].
        seek: () => new Promise((resolve) => {
            const receipt = document.querySelector("[data-receipt]");
            addEventListener("pointerdown", (event) => {
                const look = () => {
                    if (!/^frame \\d+ exact$/.test(receipt.textContent)) return;
                    watch.disconnect();
                    resolve([performance.now() - event.timeStamp, Number(receipt.dataset.frame)]);
                };
                const watch = new MutationObserver(look);
                watch.observe(receipt, { attributes: true, childList: true, characterData: true, subtree: true });
            }, { capture: true, once: true });
        }),
        // From each event of a type to the end of the frame that shows its effect.
        feedback: (type) => {
            const times = [];
            const off = new AbortController();
            addEventListener(type, (event) => {
                const since = event.timeStamp;
                painted(() => times.push(performance.now() - since));
            }, { capture: true, passive: true, signal: off.signal });
            return { end: () => (off.abort(), times) };
        },
        // Animation frames and pictures of the clip in so many seconds.
        pace: (seconds) => new Promise((resolve) => {
            const video = document.querySelector("[data-stage] video");
            const before = video.getVideoPlaybackQuality();
            const at = [];
            const step = (now) => {
                at.push(now);
                if (now - at[0] < 1000 * seconds) return requestAnimationFrame(step);
                const gaps = at.slice(1).map((one, k) => one - at[k]).sort((a, b) => a - b);
                const after = video.getVideoPlaybackQuality();
                resolve({
                    fps: (1000 * gaps.length) / (now - at[0]),
                    p95: gaps[Math.floor(gaps.length * 0.95)],
                    shown: (after.totalVideoFrames - before.totalVideoFrames) / ((now - at[0]) / 1000),
                    dropped: after.droppedVideoFrames - before.droppedVideoFrames,
                });
            };
            requestAnimationFrame(step);
        }),
    };
}"""


@dataclass(frozen=True)
class Opened:
    """Seconds from the address to the end of the server's answer, to the workspace, to its first exact picture."""

    answer: float
    ready: float
    exact: float


def open_page(page: Page, url: str) -> Opened:
    """Open a question."""
    start = time.perf_counter()
    page.goto(url, wait_until="commit", timeout=OPEN_MS)
    page.wait_for_selector(READY, timeout=OPEN_MS)
    ready = time.perf_counter() - start
    page.wait_for_function(EXACT, timeout=OPEN_MS)
    exact = time.perf_counter() - start
    answer = page.evaluate("() => performance.getEntriesByType('navigation')[0].responseEnd / 1000")
    page.evaluate(PROBE)
    return Opened(float(answer), ready, exact)


@dataclass(frozen=True)
class Bare:
    """What the browser manages on an empty page on the same machine at the same time."""

    fps: float
    feedback_ms: float


def bare(page: Page) -> Bare:
    """Measure an empty page in a window of its own."""
    empty = page.context.new_page()
    empty.set_content("<div data-stage><video></video></div>")
    empty.evaluate(PROBE)
    fps = empty.evaluate("() => bench.pace(2)")["fps"]
    moves = sorted(drag(empty, (100, 100), (200, 100), 60))
    empty.close()
    return Bare(float(fps), moves[int(0.95 * len(moves))])


def place_of(page: Page, selector: str) -> dict[str, float]:
    """Where an element lies in the window."""
    box = page.locator(selector).first.bounding_box()
    if box is None:
        raise RuntimeError(f"{selector} is not on the page: the measurement does not count")
    return {"x": box["x"], "y": box["y"], "width": box["width"], "height": box["height"]}


def seek(page: Page, share: float) -> tuple[float, int]:
    """Click on the axis. Return milliseconds until the picture is exact, and its number."""
    axis = place_of(page, ".ruler")
    page.evaluate("() => { window.sought = bench.seek(); }")
    page.mouse.click(axis["x"] + axis["width"] * share, axis["y"] + axis["height"] / 2)
    ms, frame = page.evaluate("() => window.sought")
    return float(ms), int(frame)


def scrub(page: Page, steps: int) -> None:
    """Drag along the whole axis, and wait for the last picture."""
    axis = place_of(page, ".ruler")
    y = axis["y"] + axis["height"] / 2
    page.mouse.move(axis["x"] + 1, y)
    page.mouse.down()
    for step in range(1, steps + 1):
        page.mouse.move(axis["x"] + 1 + (axis["width"] - 3) * step / steps, y)
        page.wait_for_timeout(30)
    page.mouse.up()
    page.wait_for_function(EXACT)


def pace(page: Page, seconds: float) -> dict[str, float]:
    """Play, and count."""
    page.evaluate("() => document.activeElement?.blur()")
    page.keyboard.press("Space")
    page.wait_for_timeout(500)
    found: dict[str, float] = page.evaluate("(seconds) => bench.pace(seconds)", seconds)
    page.keyboard.press("Space")
    page.wait_for_function(EXACT)
    return found


def drag(page: Page, start: tuple[float, float], by: tuple[float, float], steps: int) -> list[float]:
    """Drag from a place of the window. Return milliseconds from each move to what is painted of it."""
    page.mouse.move(*start)
    page.mouse.down()
    page.evaluate("() => { window.moves = bench.feedback('pointermove'); }")
    for step in range(1, steps + 1):
        page.mouse.move(start[0] + by[0] * step / steps, start[1] + by[1] * step / steps)
        page.wait_for_timeout(10)
    page.wait_for_timeout(100)
    times: list[float] = page.evaluate("() => window.moves.end()")
    page.mouse.up()
    return times


def zoom(page: Page, steps: int) -> list[float]:
    """Turn the wheel over the filmstrip, in and out. Return milliseconds from each turn to what is painted of it."""
    strip = place_of(page, ".filmstrip")
    page.mouse.move(strip["x"] + strip["width"] / 2, strip["y"] + strip["height"] / 2)
    page.evaluate("() => { window.turns = bench.feedback('wheel'); }")
    for step in range(steps):
        page.mouse.wheel(0, -120 if step < steps / 2 else 120)
        page.wait_for_timeout(30)
    page.wait_for_timeout(200)
    times: list[float] = page.evaluate("() => window.turns.end()")
    return times


def heap_mb(page: Page) -> tuple[float, float]:
    """Return megabytes of JavaScript objects as they are, and after a collection."""
    session: Any = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def used() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return float(next(one["value"] for one in metrics if one["name"] == "JSHeapUsedSize")) / 1e6

    before = used()
    session.send("HeapProfiler.collectGarbage")
    after = used()
    session.detach()
    return before, after


def process_mb(page: Page) -> float:
    """Return megabytes in memory of the largest process that draws pages: pictures and sound of the clip included."""
    browser = page.context.browser
    assert browser is not None
    session: Any = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    sizes = [psutil.Process(one["id"]).memory_info().rss for one in processes if one["type"] == "renderer"]
    return float(max(sizes)) / 1e6
