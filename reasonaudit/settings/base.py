"""Settings shared by every environment. One small module per integration stands beside this one."""

import os
from pathlib import Path

from reasonaudit.lib import embedded

from .channels import *  # noqa: F403
from .csp import *  # noqa: F403
from .database import *  # noqa: F403
from .llm import *  # noqa: F403
from .media import *  # noqa: F403
from .queue import *  # noqa: F403

ROOT = Path(__file__).resolve().parents[2]
VAR = embedded.var_dir()

DEBUG = False
SECRET_KEY = os.environ.get("SECRET_KEY", "")
ALLOWED_HOSTS = [host for host in os.environ.get("ALLOWED_HOSTS", "").split(",") if host]
CSRF_TRUSTED_ORIGINS = [origin for origin in os.environ.get("CSRF_TRUSTED_ORIGINS", "").split(",") if origin]
# Where VidAT may stand whose submits are taken, beside this site itself: "https://vidat.example.org". "null" allows
# copies that are opened as a file, and with them every page that hides where it comes from.
VIDAT_ORIGINS = [origin for origin in os.environ.get("VIDAT_ORIGINS", "").split(",") if origin]
VIDAT_ADDRESS_DAYS = 14

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "django_vite",
    "rest_framework",
    "drf_spectacular",
    "channels",
    "procrastinate.contrib.django",
    "axes",
    "csp",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "reasonaudit",
    "reasonaudit.lib",
    "reasonaudit.accounts",
    "videos",
    "annotation",
    "auditing",
]

MIDDLEWARE = [
    "reasonaudit.lib.logs.RequestIdMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "reasonaudit.accounts.middleware.SecurityHeadersMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "reasonaudit.accounts.middleware.SessionLifetimeMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "annotation.views.vidat.VidatMiddleware",
    "reasonaudit.limits.RequestLimitsMiddleware",
    "reasonaudit.accounts.middleware.SecondFactorMiddleware",
    "reasonaudit.accounts.middleware.PermissionMatrixMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
    "reasonaudit.errors.UserErrorMiddleware",
]

ROOT_URLCONF = "reasonaudit.urls"
ASGI_APPLICATION = "reasonaudit.asgi.application"
WSGI_APPLICATION = "reasonaudit.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "reasonaudit.accounts.context.rights",
            ],
            "builtins": ["reasonaudit.lib.templatetags.ui"],
        },
    }
]

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "accounts:login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "accounts:login"
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False
# Not kept with a failed login: a code that is not used up yet, and where the user wanted to go.
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address", "code", "next", "csrfmiddlewaretoken"]
AXES_CLIENT_IP_CALLABLE = "reasonaudit.accounts.lockout.client_address"
AXES_LOCKOUT_CALLABLE = "reasonaudit.accounts.lockout.lockout_response"
SESSION_COOKIE_AGE = 12 * 3600
SESSION_IDLE_SECONDS = 30 * 60
# Roles that can do nothing before a second factor is set up; everybody else is offered one.
SECOND_FACTOR_ROLES: list[str] = []
OTP_TOTP_ISSUER = "reasonaudit"
CSRF_FAILURE_VIEW = "reasonaudit.errors.csrf_failure"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "reasonaudit.accounts.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["reasonaudit.accounts.permissions.MatrixPermission"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": [
        "reasonaudit.api.parsers.StrictJSONParser",
        "rest_framework.parsers.MultiPartParser",
    ],
    "DEFAULT_PAGINATION_CLASS": "reasonaudit.api.pagination.PageNumberPagination",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "reasonaudit.api.errors.exception_handler",
    "PAGE_SIZE": 50,
    "DEFAULT_THROTTLE_CLASSES": ["reasonaudit.accounts.throttles.WriteThrottle"],
    "DEFAULT_THROTTLE_RATES": {
        "login": "30/minute",
        "write": "300/minute",
        "save": "600/minute",
        "vidat": "60/minute",
    },
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "reasonaudit",
    "DESCRIPTION": "Traces, audit runs, relations and results.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    # Two kinds of fields are called "label": what people say of a segment, and what a relation is. Two are called
    # "state": of a run, and of a video.
    "ENUM_NAME_OVERRIDES": {
        "SegmentLabelEnum": "annotation.core.labels.LABELS",
        "StateEnum": "reasonaudit.lib.models.RunState",
        "VideoStateEnum": "videos.models.Video.State",
    },
}

STATIC_URL = "/static/"
STATIC_ROOT = VAR / "static"
# The tests that need no browser run before anything was built: an absent folder is no error.
STATICFILES_DIRS = [path for path in [ROOT / "static" / "dist"] if path.is_dir()]
DJANGO_VITE = {"default": {"dev_mode": False, "manifest_path": ROOT / "static" / "dist" / "manifest.json"}}

# "results" is shared by web server and workers: what takes seconds to compute from rows that seldom change.
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    "results": {
        "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
        "LOCATION": VAR / "cache",
        "TIMEOUT": 30 * 24 * 3600,
        "OPTIONS": {"MAX_ENTRIES": 100},
    },
}

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en-gb"
DATA_UPLOAD_MAX_MEMORY_SIZE = 60 * 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {
            "()": "reasonaudit.lib.logs.RedactingFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
        },
        "json": {"()": "reasonaudit.lib.logs.JsonFormatter"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        "reasonaudit": {"level": "INFO"},
        "auditing": {"level": "INFO"},
        "annotation": {"level": "INFO"},
        "videos": {"level": "INFO"},
    },
}
