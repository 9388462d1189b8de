"""Live messages: channels-redis on the embedded Valkey server or on `REDIS_URL`."""

from reasonaudit.lib import embedded

CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        "CONFIG": {"hosts": [embedded.redis_url()], "expiry": 30, "capacity": 500},
    }
}
