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
# Models of the server at LLM_BASE_URL that draft reasoning and target labels of videos; the first is the default.
LLM_DRAFT_MODELS = [
    name.strip() for name in os.environ.get("LLM_DRAFT_MODELS", "").split(",") if name.strip()
]
# Those of them that take pictures. To any other only text is sent.
LLM_IMAGE_MODELS = [
    name.strip() for name in os.environ.get("LLM_IMAGE_MODELS", "").split(",") if name.strip()
]
# Pictures of a clip that are sent with one request, evenly spaced.
LLM_DRAFT_PICTURES = int(os.environ.get("LLM_DRAFT_PICTURES", "8"))
# Folder with target-label.txt and video-reasoning.txt to use instead of the application's own prompts.
DRAFT_PROMPT_DIR = os.environ.get("DRAFT_PROMPT_DIR", "")
# Folder with files such as chain.txt and facts.txt to use instead of the prompts of GraphEVAL studies.
ELICIT_PROMPT_DIR = os.environ.get("ELICIT_PROMPT_DIR", "")
