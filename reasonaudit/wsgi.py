"""WSGI entry, for servers that serve pages and API apart from the sockets."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "reasonaudit.settings.production")
application = get_wsgi_application()
