"""All benchmarks of the core in one table: ``cd tests && python -m benchmarks``.

``pip install -e '.[bench]'`` brings the yardsticks. Nothing fails by a time; a row that
is beyond what was asked for says MISSED.
"""

from __future__ import annotations

import argparse

from benchmarks import define_speed, progress_speed, run_speed, store_speed, talk_speed
from benchmarks.table import text


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=30, help="how often each is taken (30)")
    rounds = parser.parse_args().rounds
    rows = [*run_speed.rows(rounds), *define_speed.rows(rounds * 5)]
    rows += progress_speed.rows(rounds)
    rows += store_speed.rows(rounds)
    rows += talk_speed.rows(rounds)
    rows += run_speed.antigravity_rows(rounds)
    print(text(rows))


if __name__ == "__main__":
    main()
