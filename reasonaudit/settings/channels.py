"""Live messages: channels-redis on the embedded Valkey server or on `REDIS_URL`."""

from reasonaudit.lib import embedded

CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        "CONFIG": {
            # No patience of redis-py's own: 5 s, its default, is how long the layer itself waits for a message, and
            # with any other it sends through `asyncio.wait_for`, which up to Python 3.11 can swallow a cancellation:
            # a socket that was closed at that moment would be listened to for ever. Sending has its own time limit.
            "hosts": [{"address": embedded.redis_url(), "socket_timeout": None}],
            "expiry": 30,
            "capacity": 500,
        },
    }
}
