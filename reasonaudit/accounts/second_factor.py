"""The second factor: codes of an authenticator app (TOTP, RFC 6238) and backup codes, each good once.

Which logins need one is kept on the user (`second_factor_at`); the secret and its counters are django-otp's rows.
"""

import math
import secrets
from base64 import b32encode
from datetime import datetime
from typing import Any

import segno
from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django_otp.oath import TOTP
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice
from django_otp.util import random_hex

from reasonaudit.lib.errors import UserError

from .events import account_event
from .models import Role, User

BACKUP_CODES = 10
# No 0, 1, l or o: codes are copied by hand. 10 characters of 32 are 50 random bits.
ALPHABET = "23456789abcdefghijkmnpqrstuvwxyz"
BACKUP_LENGTH = 10
DIGITS = 6


def is_required(user: Any) -> bool:
    """Whether the user's role has to have a second factor here (setting SECOND_FACTOR_ROLES)."""
    roles = frozenset(settings.SECOND_FACTOR_ROLES)
    return user.role in roles or (user.is_superuser and Role.ADMIN in roles)


def is_missing(user: Any) -> bool:
    """Whether the user may do nothing before a second factor is set up."""
    return user.is_authenticated and user.second_factor_at is None and is_required(user)


def new_key() -> str:
    """A secret of 160 random bits, hexadecimal."""
    return str(random_hex(20))


def key_words(key: str) -> str:
    """The secret as apps take it when it is typed: base 32 in groups of four."""
    text = b32encode(bytes.fromhex(key)).decode()
    return " ".join(text[start : start + 4] for start in range(0, len(text), 4))


def picture(user: User, key: str) -> str:
    """The secret as a QR code: an SVG in a `data:` address, made here and sent nowhere."""
    device = TOTPDevice(user=user, key=key)
    return str(segno.make(device.config_url, error="m").svg_data_uri(scale=5, border=4))


def normalised(code: str) -> str:
    """The code without what people add when they copy it."""
    return "".join(code.split()).replace("-", "").lower()


def _stored(code: str) -> str:
    """The stored form of a backup code. It is keyed with the server's secret: 50 bits alone could be searched."""
    return salted_hmac("reasonaudit.accounts.backup_code", code, algorithm="sha256").hexdigest()[:16]


def _new_backup_codes(user: User) -> list[str]:
    """Put ten new codes in the place of all earlier ones; returns them as they are shown, this once."""
    StaticDevice.objects.filter(user=user).delete()
    device = StaticDevice.objects.create(user=user, name="backup codes")
    codes = ["".join(secrets.choice(ALPHABET) for _ in range(BACKUP_LENGTH)) for _ in range(BACKUP_CODES)]
    StaticToken.objects.bulk_create(StaticToken(device=device, token=_stored(code)) for code in codes)
    return [f"{code[:5]}-{code[5:]}" for code in codes]


def backup_codes_left(user: User) -> int:
    """How many backup codes the user has not used."""
    return int(StaticToken.objects.filter(device__user=user).count())


@transaction.atomic
def set_up(user: User, key: str, code: str) -> list[str]:
    """Turn the second factor on if the app shows the right code for `key`; returns the backup codes.

    The code that was typed here is not accepted again.
    """
    User.objects.select_for_update().get(pk=user.pk)
    user.refresh_from_db(fields=["second_factor_at"])
    if user.second_factor_at is not None:
        raise UserError("second_factor_exists", "This account has a second factor already.", status=409)
    totp = TOTP(bytes.fromhex(key), digits=DIGITS)
    code = normalised(code)
    if not (_is_app_code(code) and totp.verify(int(code), tolerance=1)):
        raise UserError(
            "bad_code",
            "The code does not fit.",
            "Check that the clock of your phone is right and type the code that is shown now.",
        )
    _delete_devices(user)
    TOTPDevice.objects.create(user=user, name="authenticator app", key=key, drift=totp.drift, last_t=totp.t())
    codes = _new_backup_codes(user)
    _stamp(user, timezone.now())
    account_event("second_factor.set_up", actor=user, subject=user)
    return codes


def verify(user: User, code: str) -> bool:
    """Whether `code` is right, unused and not tried too soon after a wrong one; it is used up then.

    The device's row is locked meanwhile, so that of two requests with one code only one gets in.
    """
    code = normalised(code)
    with transaction.atomic():
        device = _device(user, code, lock=True)
        return device is not None and bool(device.verify_token(code if _is_app_code(code) else _stored(code)))


def wait_seconds(user: User, code: str) -> int:
    """Seconds until a code of this kind is looked at again after wrong ones: 1, 2, 4 … per wrong code in a row."""
    device = _device(user, normalised(code))
    if device is None:
        return 0
    _allowed, why = device.verify_is_allowed()
    return math.ceil((why["locked_until"] - timezone.now()).total_seconds()) if why else 0


@transaction.atomic
def renew_backup_codes(user: User) -> list[str]:
    """New backup codes in the place of the old ones."""
    codes = _new_backup_codes(user)
    account_event("second_factor.codes", actor=user, subject=user)
    return codes


@transaction.atomic
def switch_off(user: User, *, by: User, reason: str = "") -> None:
    """Take the second factor away; by the owner, who has shown password and code, or by an administrator."""
    _delete_devices(user)
    _stamp(user, None)
    action = "second_factor.off" if by.pk == user.pk else "second_factor.reset"
    account_event(action, actor=by, subject=user, reason=reason)


def _is_app_code(code: str) -> bool:
    return len(code) == DIGITS and code.isascii() and code.isdigit()


def _device(user: User, code: str, *, lock: bool = False) -> Any:
    """The row that a code of this shape is checked by: the app's or the backup codes'; None where there is none."""
    kind: Any = TOTPDevice if _is_app_code(code) else StaticDevice
    rows = kind.objects.filter(user=user, confirmed=True)
    return (rows.select_for_update() if lock else rows).first()


def _delete_devices(user: User) -> None:
    TOTPDevice.objects.filter(user=user).delete()
    StaticDevice.objects.filter(user=user).delete()


def _stamp(user: User, moment: datetime | None) -> None:
    user.second_factor_at = moment
    user.save(update_fields=["second_factor_at"])
