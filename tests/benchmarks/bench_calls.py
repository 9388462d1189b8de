"""Benchmark of relation calls: 10,660 calls (a trace of 40 segments) against a scripted server of 20 ms
latency.

Measures what the client adds to the server's own pace: with 16 calls in flight and 20 ms each, the ideal is
calls * 0.02 / 16 seconds. The server runs in a process of its own, on the same machine. Run it alone:

    python -m tests.benchmarks.bench_calls [calls]
"""

import asyncio
import sys
import time
from typing import Any
from urllib.parse import urlsplit

import psutil

from auditing.llm.connections import Connection
from auditing.nli.factory import make_labeller
from auditing.nli.protocol import VALID, RelationQuery
from tests.scripted_server import start_scripted_server

CALLS = 10_660  # candidate relations of 40 segments with premise sets of one and two: C(41, 3)
LATENCY = 0.02
IN_FLIGHT = 16
TARGET_OVERHEAD = 0.15
TARGET_SECONDS = 300.0
TARGET_MEGABYTES = 100.0

SENTENCE = (
    "Step {}: this finding is described in one sentence of ordinary clinical length, which is about so long."
)


def queries(calls: int) -> list[RelationQuery]:
    """Return that many different relations of one or two premises."""
    segments = [SENTENCE.format(number) for number in range(1, calls + 2)]
    made = []
    for number in range(calls):
        premises = (segments[number],) if number % 13 == 0 else (segments[number // 2], segments[number])
        made.append(RelationQuery(premises, segments[number + 1]))
    return made


ROUND = 1024


async def _measure(base_url: str, asked: list[RelationQuery]) -> tuple[float, float, float, float, int]:
    """Return wall and processor seconds, the fastest round's pace (calls a second), growth in MB, valid answers."""
    labeller = make_labeller(
        "openai:scripted", base_url=base_url, allowed_hosts=["127.0.0.1"], concurrency=IN_FLIGHT, api_key="k"
    )
    await labeller.label_batch(asked[:64])  # connections, imports, first-call costs
    process = psutil.Process()
    before, cpu, started = process.memory_info().rss, time.process_time(), time.perf_counter()
    valid, most, pace = 0, before, 0.0
    for start in range(0, len(asked), ROUND):  # as a run does: a batch is stored before the next is asked
        begun = time.perf_counter()
        answers = await labeller.label_batch(asked[start : start + ROUND])
        pace = max(pace, len(answers) / (time.perf_counter() - begun)) if len(answers) == ROUND else pace
        valid += sum(answer.status == VALID for answer in answers)
        most = max(most, process.memory_info().rss)
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    await labeller.aclose()
    return seconds, cpu, pace, (most - before) / 1e6, valid


async def _bare(base_url: str, calls: int) -> float:
    """Return wall seconds of as many smallest requests over bare sockets: the server's own pace."""
    host, port = urlsplit(base_url).hostname, urlsplit(base_url).port
    body = b'{"model": "m", "messages": [{"role": "user", "content": "x"}]}'
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
    numbers = iter(range(calls))

    async def work() -> None:
        _, connection = await asyncio.get_running_loop().create_connection(
            lambda: Connection(1 << 20), host, port
        )
        for _ in numbers:
            await connection.exchange(head, body)
        connection.close()

    started = time.perf_counter()
    await asyncio.gather(*[work() for _ in range(IN_FLIGHT)])
    return time.perf_counter() - started


def run(calls: int = CALLS) -> list[dict[str, Any]]:
    """Return the rows name, measured, target, baseline, ratio."""
    asked = queries(calls)
    with start_scripted_server(latency=LATENCY, labels={"rule": "hash"}) as server:
        seconds, cpu, pace, megabytes, valid = asyncio.run(_measure(server.base_url, asked))
        bare_calls = min(calls, 3000)
        bare = asyncio.run(_bare(server.base_url, bare_calls)) * calls / bare_calls
    if valid != calls:
        raise RuntimeError(f"{calls - valid} of {calls} calls gave no label: the measurement does not count")
    ideal = calls * LATENCY / IN_FLIGHT
    return [
        {
            "name": f"relation calls, {calls:,} at {LATENCY * 1000:.0f} ms, {IN_FLIGHT} in flight: overhead "
            "over ideal",
            "measured": f"{100 * (seconds / ideal - 1):.1f} %",
            "target": f"<= {100 * TARGET_OVERHEAD:.0f} %",
            "baseline": f"{ideal:.2f} s ideal",
            "ratio": round(seconds / ideal, 3),
        },
        {
            "name": f"relation calls: the same, fastest round of {ROUND:,} (least disturbed by other work)",
            "measured": f"{100 * (IN_FLIGHT / LATENCY / pace - 1):.1f} %" if pace else "-",
            "target": f"<= {100 * TARGET_OVERHEAD:.0f} %",
            "baseline": f"{IN_FLIGHT / LATENCY:.0f} calls a second",
            "ratio": round(IN_FLIGHT / LATENCY / pace, 3) if pace else None,
        },
        {
            "name": "relation calls: of that, the server's own pace (bare sockets, smallest requests)",
            "measured": f"{100 * (bare / ideal - 1):.1f} %",
            "target": "-",
            "baseline": f"{ideal:.2f} s ideal",
            "ratio": round(bare / ideal, 3),
        },
        {
            "name": f"relation calls, {calls:,}: wall time",
            "measured": f"{seconds:.2f} s",
            "target": f"< {TARGET_SECONDS:.0f} s",
            "baseline": f"{TARGET_SECONDS:.0f} s",
            "ratio": round(seconds / TARGET_SECONDS, 3),
        },
        {
            "name": "relation calls: processor time of the client, per call",
            "measured": f"{1000 * cpu / calls:.2f} ms",
            "target": "-",
            "baseline": f"{1000 * LATENCY / IN_FLIGHT:.2f} ms between calls at the ideal pace",
            "ratio": round(cpu / ideal, 3),
        },
        {
            "name": "relation calls: memory growth",
            "measured": f"{megabytes:.1f} MB",
            "target": f"< {TARGET_MEGABYTES:.0f} MB",
            "baseline": f"{TARGET_MEGABYTES:.0f} MB",
            "ratio": round(megabytes / TARGET_MEGABYTES, 3),
        },
    ]


if __name__ == "__main__":
    for row in run(int(sys.argv[1]) if len(sys.argv) > 1 else CALLS):
        print(row)
