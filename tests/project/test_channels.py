"""The channel layer's connection must outlast its own waiting."""

from channels_redis.core import RedisChannelLayer
from django.conf import settings


def test_lj_20_a_quiet_socket_does_not_time_out() -> None:
    (host,) = settings.CHANNEL_LAYERS["default"]["CONFIG"]["hosts"]
    assert host["socket_timeout"] > RedisChannelLayer.brpop_timeout
