"""The channel layer's connection must outlast its own waiting and end when it is told to."""

import asyncio

from channels.layers import channel_layers, get_channel_layer
from channels_redis.core import RedisChannelLayer
from django.conf import settings


def test_lj_20_a_quiet_socket_does_not_time_out() -> None:
    (host,) = settings.CHANNEL_LAYERS["default"]["CONFIG"]["hosts"]
    assert host["socket_timeout"] is None or host["socket_timeout"] > RedisChannelLayer.brpop_timeout


def test_lj_20_a_socket_that_closes_at_any_moment_is_not_listened_to_any_more() -> None:
    async def ends(seconds: float) -> bool:
        layer = get_channel_layer()
        assert layer is not None
        listening = asyncio.ensure_future(layer.receive(await layer.new_channel()))
        await asyncio.sleep(seconds)
        listening.cancel()
        _, left = await asyncio.wait([listening], timeout=2)
        while left:
            listening.cancel()
            _, left = await asyncio.wait([listening], timeout=0.1)
            if not left:
                return False
        return True

    for step in range(60):
        channel_layers.backends.clear()
        assert asyncio.run(ends(step * 0.0001)), f"still listening after a cancel at {step * 0.1:.1f} ms"
