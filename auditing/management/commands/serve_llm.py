"""`manage.py serve_llm`: start a vLLM server with the paper's settings, in its own environment."""

import os
import shlex
from pathlib import Path
from typing import Any

from django.conf import settings as django_settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from auditing.llm import serve
from auditing.llm.protocol import CONTEXT_TOKENS


class Command(BaseCommand):
    """Starts the server in place of this process, or says what is missing."""

    help = "Start a vLLM server with the paper's settings (model length 8192), in its own environment."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "model", help="folder of a saved model, or its name in the local Hugging Face cache"
        )
        parser.add_argument(
            "--python", help="Python or folder of vLLM's environment (else VLLM_PYTHON, else var/vllm)"
        )
        parser.add_argument(
            "--host", default="127.0.0.1", help="address to listen on (default: this machine only)"
        )
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument(
            "--max-model-len",
            type=int,
            default=CONTEXT_TOKENS,
            help="default: %(default)s, the paper's",
        )
        parser.add_argument("--dtype", default="auto")
        parser.add_argument("--allow-download", action="store_true", help="let vLLM download the model")
        parser.add_argument("--check", action="store_true", help="say whether all is ready, start nothing")
        parser.add_argument(
            "--vllm-arg",
            action="append",
            default=[],
            help="one further vLLM argument, such as --vllm-arg=--seed=0",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        root = Path(django_settings.ROOT)
        settings = serve.ServeSettings(
            model=options["model"],
            python=serve.find_python(root, options["python"], os.environ),
            host=options["host"],
            port=options["port"],
            max_model_len=options["max_model_len"],
            dtype=options["dtype"],
            offline=not options["allow_download"],
            api_key=os.environ.get("VLLM_API_KEY", ""),
            extra=tuple(options["vllm_arg"]),
        )
        found = serve.check(settings, root)
        for fact in found.facts:
            self.stdout.write(f"found: {fact}")
        if not found.ready:
            raise CommandError("\n".join(found.problems))
        self.stdout.write(f"ready: {shlex.join(serve.command(settings, on_cpu=found.on_cpu))}")
        if options["check"]:
            return
        self.stdout.write(
            f"The server will answer at http://{settings.host}:{settings.port}/v1 (labeller "
            f"openai:{settings.model})"
        )
        self.stdout.flush()
        serve.start(settings, os.environ, on_cpu=found.on_cpu)
