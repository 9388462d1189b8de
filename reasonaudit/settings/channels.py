"""Live messages: channels-redis on the embedded Valkey server or on `REDIS_URL`."""

from reasonaudit.lib import embedded

CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        "CONFIG": {
            # The layer waits up to 5 s for a message, which is also redis-py's own patience: without a longer one
            # every idle socket ends with an error.
            "hosts": [{"address": embedded.redis_url(), "socket_timeout": 20}],
            "expiry": 30,
            "capacity": 500,
        },
    }
}
