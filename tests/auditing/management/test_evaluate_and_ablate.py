"""`manage.py evaluate` and `ablate` in this process."""

import json

import pytest

from tests.auditing import golden
from tests.scripted_server import start_scripted_server


def test_evaluate_takes_traces_and_audits_and_says_the_same(run, wound, tmp_path):
    direct = run("evaluate", wound, "--json")
    assert direct.code == 0
    run("audit", wound, "--out", tmp_path / "out")
    (tmp_path / "audit.json").write_text(run("audit", wound, "--json").out)
    assert run("evaluate", tmp_path / "out" / "audits.jsonl", "--json").out == direct.out
    assert run("evaluate", tmp_path / "audit.json", "--json").out == direct.out
    metrics = json.loads(direct.out)["domains"]["clinical"]["metrics"]
    # By hand in tests/auditing/golden.py.
    assert metrics["balanced_f1"]["value"] == pytest.approx(0.8)
    assert metrics["f1_0"]["value"] == pytest.approx(6 / 7)


def test_evaluate_as_text(run, wound):
    done = run("evaluate", wound)
    assert "TPR (correct kept)    0.667" in done.out
    assert "6 of 7 segments have a gold label" in done.out


def test_a_trace_given_twice_does_not_count_twice(run, wound, tmp_path):
    run("audit", wound, "--out", tmp_path / "out")
    done = run("evaluate", wound, tmp_path / "out" / "audits.jsonl")
    assert done.code == 1
    assert "Trace wound is there 2 times" in done.err


def test_damaged_audits_name_line_and_field(run, wound, tmp_path):
    run("audit", wound, "--out", tmp_path / "out")
    path = tmp_path / "damaged.jsonl"
    path.write_text(
        (tmp_path / "out" / "audits.jsonl").read_text().replace('"label":"orphan"', '"label":"fine"')
    )
    done = run("evaluate", path)
    assert done.code == 1
    assert f"{path}, line 1, field segments[3].label: 'fine'" in done.err


def test_ablate_lists_the_labels_that_change(run, wound):
    done = run("ablate", wound, "--grid", "tau=1,4", "--json")
    first, second = json.loads(done.out)["settings"]
    assert first["setting"] == {"tau": 1}
    assert second["changes"] == [{"trace": "wound", "segment": 5, "from": "orphan", "to": "supported"}]
    text = run("ablate", wound, "--grid", "tau=1,4", "--grid", "gap_op=>", "--cross").out
    # With ">" a distance of 1 is within the limit 1, so S4 and S8 keep their edges; S5 still has distance 3.
    assert "tau=1 gap_op=>: " not in text
    assert "tau=4 gap_op=>: 1 changed" in text
    assert "  wound S5: orphan -> supported" in text


def test_ablate_covers_every_kind_of_setting_by_itself(run, wound):
    found = json.loads(run("ablate", wound, "--json").out)
    names = {name for one in found["settings"] for name in one["setting"]}
    assert names == {
        "tau",
        "gap_op",
        "gap_enabled",
        "span_threshold",
        "d_max_threshold",
        "m_max",
        "degraded_rule",
        "weak_cluster",
        "dominance_basis",
        "contradiction_scope",
        "contradiction_policy",
        "contradicted_blocks",
        "unstable_policy",
    }


def test_ablate_makes_no_call_of_its_own(run, wound, tmp_path):
    arguments = ["ablate", wound, "--labeller", "openai:m", "--cache", tmp_path / "cache", "--json"]
    with start_scripted_server() as server:
        one = run(*arguments, "--base-url", server.base_url, "--grid", "tau=2")
        asked = server.stats()["requests"]
        assert asked == 84  # every candidate once: C(9, 3)
        many = run(*arguments, "--base-url", server.base_url)
        assert server.stats()["requests"] == asked
        wider = run(*arguments, "--base-url", server.base_url, "--grid", "m_max=1,2,3")
        # The sets of three segments are asked once for all settings: sum over j of C(j-1, 3) = C(8, 4) = 70.
        assert server.stats()["requests"] == asked + 70
    assert (one.code, many.code, wider.code) == (0, 0, 0)
    assert (
        json.loads(many.out)["default"] == json.loads(one.out)["default"] == json.loads(wider.out)["default"]
    )


def test_ablate_takes_an_earlier_audit(run, wound, tmp_path):
    run("audit", wound, "--out", tmp_path / "out")
    before = run("ablate", wound, "--grid", "tau=1,4", "--json").out
    assert run("ablate", tmp_path / "out" / "audits.jsonl", "--grid", "tau=1,4", "--json").out == before
    (tmp_path / "audit.json").write_text(run("audit", wound, "--json").out)
    done = run("ablate", tmp_path / "audit.json")
    assert done.code == 1
    assert "comes without its relations" in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--grid", "tau"], "write NAME=VALUE"),
        (["--grid", "colour=1,2"], "Unknown audit parameter colour"),
        (["--grid", "tau=a"], "tau is 'a'"),
        (["--cross"], "--cross goes with --grid"),
    ],
)
def test_wrong_use(run, wound, arguments, words):
    done = run("ablate", wound, *arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err


def test_a_grid_value_may_be_no_limit(run, tmp_path):
    done = run("ablate", golden.write(tmp_path / "a.jsonl"), "--grid", "tau=none", "--json")
    assert json.loads(done.out)["settings"][0]["setting"] == {"tau": None}
