"""The fixtures of the trust suite serve here too: users of every role, second factors, clean rate counts."""

from tests.trust.conftest import _empty_rate_counts, make_user, with_factor  # noqa: F401
