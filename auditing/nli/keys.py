"""Cache keys of relations: the core's key, fed with a labeller's identity."""

import json
from collections.abc import Mapping

from auditing.core.nli import cache_key
from auditing.nli.protocol import RelationQuery


def relation_key(identity: Mapping[str, object], query: RelationQuery) -> str:
    """Return the cache key of a query under a labeller's identity.

    Every field of the identity goes into the key, so a changed model, prompt, parameter or endpoint never
    finds an old answer. ``model`` and ``prompt`` are the key's own fields; the rest goes in as parameters.
    """
    rest = {name: value for name, value in identity.items() if name not in ("model", "prompt")}
    return cache_key(
        model=str(identity["model"]),
        prompt=json.dumps(identity["prompt"], sort_keys=True, ensure_ascii=False),
        premises=query.premises,
        target=query.target,
        params=rest,
    )
