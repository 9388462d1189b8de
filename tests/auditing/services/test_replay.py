"""RP-02, LJ-17: the audit's bytes depend on the stored relations alone."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import json, sys
from auditing.core.audit_labels import audit
from auditing.core.hypergraph import Hypergraph
from auditing.core.nli import Label
from auditing.core.parameters import AuditParameters
from reasonaudit.lib.canonical import sha256_of
rows = [(tuple(p), t, Label.from_word(w)) for p, t, w in json.load(sys.stdin)]
print(sha256_of(audit(Hypergraph.from_labels(9, rows), AuditParameters()).to_dict()))
"""


def test_rp_02_the_same_bytes_in_any_order_hash_seed_time_zone_and_locale():
    from auditing.core.nli import Label, candidates
    from auditing.core.parameters import AuditParameters

    chance = random.Random(5)
    rows = [
        [list(premises), target, chance.choice(list(Label)).word]
        for premises, target in candidates(9, AuditParameters())
    ]
    found = set()
    for number, (zone, locale) in enumerate(
        [("UTC", "C"), ("Pacific/Auckland", "de_DE.UTF-8"), ("Asia/Kolkata", "tr_TR")]
    ):
        chance.shuffle(rows)
        env = {**os.environ, "PYTHONHASHSEED": str(number), "TZ": zone, "LC_ALL": locale}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            input=json.dumps(rows),
            env=env,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        found.add(done.stdout.strip())
    assert len(found) == 1
    assert len(found.pop()) == 64
