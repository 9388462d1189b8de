"""ASGI entry: pages and API over HTTP, run progress over sockets."""

import os
import warnings

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "reasonaudit.settings.production")
# WhiteNoise sends its files by a plain iterator; Django says at each file that it reads it in a thread.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")
django.setup(set_prefix=False)

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import AllowedHostsOriginValidator  # noqa: E402
from channels.sessions import SessionMiddlewareStack  # noqa: E402

from auditing.routing import websocket_urlpatterns as auditing_sockets  # noqa: E402
from reasonaudit.accounts.sockets import MatrixSocketMiddleware  # noqa: E402
from reasonaudit.body_limits import BodyLimits  # noqa: E402
from reasonaudit.handler import ThreadedHandler  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": BodyLimits(ThreadedHandler()),
        "websocket": AllowedHostsOriginValidator(
            SessionMiddlewareStack(MatrixSocketMiddleware(URLRouter(auditing_sockets)))
        ),
    }
)
