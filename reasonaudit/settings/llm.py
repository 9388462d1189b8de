"""Model servers and the embedded relation labeller."""

import os

# Hosts of model servers that may be private or loopback addresses, as host or host:port, set by the operator only.
LLM_ALLOWED_HOSTS = [host for host in os.environ.get("LLM_ALLOWED_HOSTS", "").split(",") if host]
LLM_BASE_URL = os.environ.get("LLM_BASE_URL", "")
LLM_API_KEY = os.environ.get("LLM_API_KEY", "")
LLM_CONCURRENCY = int(os.environ.get("LLM_CONCURRENCY", "16"))
# A trace whose audit would need more relation calls than this is refused before a call is made.
AUDIT_MAX_CALLS_PER_TRACE = int(os.environ.get("AUDIT_MAX_CALLS_PER_TRACE", "200000"))
# Folder with judge-clinical.txt and judge-mathematical.txt to use instead of the judges' own prompts.
JUDGE_PROMPT_DIR = os.environ.get("JUDGE_PROMPT_DIR", "")
