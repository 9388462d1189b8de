"""Settings of a deployment. What is unsafe or missing stops the start; the message says what to set."""

import os

from .base import *  # noqa: F403
from .base import ALLOWED_HOSTS, CSRF_TRUSTED_ORIGINS, LOGGING, SECRET_KEY
from .start_checks import refuse_unsafe_start

DEBUG = False
refuse_unsafe_start(os.environ, secret_key=SECRET_KEY, allowed_hosts=ALLOWED_HOSTS)

# Managers stand above researchers and make their accounts.
SECOND_FACTOR_ROLES = ["researcher", "manager", "admin"]
SECURE_SSL_REDIRECT = True
# A proxy that ends TLS is believed only where uvicorn is told its address (FORWARDED_ALLOW_IPS): it then
# sets the scheme itself, and no header is read here. Probes inside the machine come over plain HTTP.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_HSTS_SECONDS = 365 * 24 * 3600
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
SECURE_HSTS_PRELOAD = True
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
CSRF_COOKIE_HTTPONLY = True
# A cookie with this prefix cannot be set by another host or over plain HTTP.
SESSION_COOKIE_NAME = "__Host-session"
CSRF_COOKIE_NAME = "__Host-csrf"
CSRF_TRUSTED_ORIGINS = CSRF_TRUSTED_ORIGINS or [
    f"https://{host.replace('.', '*.', 1) if host.startswith('.') else host}" for host in ALLOWED_HOSTS
]

STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "reasonaudit.lib.static_files.HashedStaticFilesStorage"},
}
# Named by their content, by Vite or by Django.
WHITENOISE_IMMUTABLE_FILE_TEST = r"^/static/assets/|\.[0-9a-f]{12}\."
LOGGING = {**LOGGING, "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "json"}}}
