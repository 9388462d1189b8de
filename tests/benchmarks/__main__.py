"""Print every benchmark's figures beside their targets: `make bench`, or `python -m tests.benchmarks NAME ...`.

Each `bench_*.py` has `run() -> list[dict]` with rows of name, measured, target, baseline and ratio. Figures are
compared with a named baseline in the same run, because absolute times depend on the machine.
"""

import importlib
import subprocess
import sys
from pathlib import Path

COLUMNS = ("name", "measured", "target", "baseline", "ratio")


def names() -> list[str]:
    """Benchmarks that exist, in alphabetical order."""
    return sorted(path.stem for path in Path(__file__).parent.glob("bench_*.py"))


def print_table(rows: list[dict[str, object]]) -> None:
    """Write rows as an aligned table; a missing figure is a dash."""
    cells = [
        [str(row.get(column) if row.get(column) is not None else "\N{EN DASH}") for column in COLUMNS]
        for row in rows
    ]
    widths = [max(len(line[i]) for line in [list(COLUMNS), *cells]) for i in range(len(COLUMNS))]
    for line in [list(COLUMNS), *cells]:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def main(chosen: list[str]) -> None:
    """Run the chosen benchmarks (all if none is named), each in a process of its own: memory grows only once."""
    if len(chosen) == 1:
        print(f"\n== {chosen[0]}", flush=True)
        print_table(importlib.import_module(f"tests.benchmarks.bench_{chosen[0].replace('-', '_')}").run())
        return
    for name in chosen or [name.removeprefix("bench_") for name in names()]:
        subprocess.run([sys.executable, "-m", "tests.benchmarks", name], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
