"""Personal data in a text that can be told by their form: addresses, numbers and accounts. Names of people are left alone."""

from __future__ import annotations

from typing import Final

from earnest.core.patterns import lazily
from earnest.core.secrets import Secret

_MAIL: Final = lazily(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])")
_PHONE: Final = lazily(
    r"(?<![\w+.,/-])(?:\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?(?:\d[ .-]?){6,12}\d|\(\d{3}\) ?\d{3}[ .-]\d{4}"
    r"|\d{3}[.-]\d{3}[.-]\d{4})(?![\w/-])"
)
_IBAN: Final = lazily(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?(?![A-Za-z0-9])")
_SOCIAL: Final = lazily(r"(?<![\w-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])")


def personal(text: str) -> list[Secret]:
    """Mail addresses, telephone numbers, bank accounts (IBAN, ISO 13616) and US social security numbers. O(length)."""
    found = [Secret(*match.span(), "mail address") for match in _MAIL.finditer(text)] if "@" in text else []
    if any(c.isdigit() for c in text):
        found += [Secret(*match.span(), "telephone number") for match in _PHONE.finditer(text)]
        found += [Secret(*match.span(), "social security number") for match in _SOCIAL.finditer(text)]
        found += [Secret(*match.span(), "bank account") for match in _IBAN.finditer(text) if _checks(match.group())]
    return found


def _checks(said: str) -> bool:
    """Whether the check digits of an IBAN are right: its number modulo 97 is 1."""
    plain = said.replace(" ", "")
    return len(plain) >= 15 and int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1
