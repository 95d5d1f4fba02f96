"""Secrets in a text: keys, tokens, passwords and cards, each with where it stands.

Three kinds of evidence are used, from sure to unsure: the **shape** that a provider gives its keys (documented prefixes and lengths, check
digits where there are some); a **name** beside a value (`password=…`, `Authorization: Bearer …`, in several languages); and **chance**: a
long token that looks drawn at random. The last one counts without a name only where nothing else explains it, for commit hashes, object ids
and checksums look drawn at random too. Every pattern is bounded, so that the cost grows with the length of the text and nothing else.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from earnest.core.patterns import lazily


@dataclass(frozen=True, slots=True)
class Secret:
    """A stretch of a text, from `start` up to `end`, that should not be kept, and what it is."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Shape:
    """How one kind of secret looks.

    `hints` are plain substrings of which a text that holds one has at least one: looking for them first is what makes most texts cheap. The
    group `value`, where there is one, is what is masked; else all of the match is.
    """

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    check: Callable[[str], bool] | None = None


def _shape(kind: str, hints: str, pattern: str, check: Callable[[str], bool] | None = None) -> Shape:
    return Shape(kind, tuple(hints.split()), lazily(pattern), check)


def _mixed(value: str) -> bool:
    """Whether a token has digits: words joined by hyphens have none."""
    return any(character.isdigit() for character in value)


def _is_jwt(value: str) -> bool:
    """Whether the first part is a JSON object in base64url that names an algorithm (RFC 7519, section 5)."""
    head = value.partition(".")[0]
    try:
        said = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    except (binascii.Error, ValueError):
        return False
    return isinstance(said, dict) and ("alg" in said or "typ" in said or "enc" in said)


_LEFT: Final = r"(?<![A-Za-z0-9_-])"
_RIGHT: Final = r"(?![A-Za-z0-9_-])"

SHAPES: Final = (
    _shape("private key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[0-9A-Z]{50,70}"),
    _shape("aws key", "AKIA ASIA ABIA ACCA", r"(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _shape("google key", "AIza", _LEFT + r"AIza[0-9A-Za-z_-]{35}" + _RIGHT),
    _shape("google token", "ya29. GOCSPX-", _LEFT + r"(?:ya29\.[0-9A-Za-z_.-]{20,600}|GOCSPX-[0-9A-Za-z_-]{20,40})"),
    _shape("github token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", _LEFT + r"(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{50,120})"),
    _shape("gitlab token", "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- glagent-", _LEFT + r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent)-[\w-]{18,120}"),
    _shape("slack token", "xox xapp-", _LEFT + r"(?:xox[abceoprs](?:\.xox[bp])?-[\w-]{10,300}|xapp-\d-[\w-]{10,300})"),
    _shape("slack webhook", "hooks.slack.com", r"hooks\.slack\.com/(?P<value>(?:services|workflows|triggers)/[\w/-]{20,200})"),
    _shape("discord webhook", "/api/webhooks/", r"/api/webhooks/(?P<value>\d{15,22}/[\w-]{40,100})"),
    _shape("discord token", "M N O", r"(?<![\w.-])[MNO][A-Za-z\d_-]{22,27}\.[A-Za-z\d_-]{6}\.[A-Za-z\d_-]{27,40}(?![\w-])"),
    _shape("stripe key", "k_live_ k_test_ whsec_", _LEFT + r"(?:[srp]k_(?:live|test)_[0-9A-Za-z]{10,200}|whsec_[0-9A-Za-z+/=]{20,100})"),
    _shape("api key", "sk-", _LEFT + r"sk-[A-Za-z0-9_-]{18,300}", _mixed),
    _shape("api key", "gsk_ r8_ hf_ xai- pplx- nvapi- fw_ tvly- fc- jina_ pcsk_ lsv2_", _LEFT + r"(?:gsk_[A-Za-z0-9]{30,80}|r8_[A-Za-z0-9]{30,60}|hf_[A-Za-z0-9]{28,60}|xai-[A-Za-z0-9]{40,120}|pplx-[A-Za-z0-9]{32,80}|nvapi-[\w-]{40,100}|fw_[A-Za-z0-9]{20,60}|tvly-[A-Za-z0-9-]{20,60}|fc-[0-9a-f]{32}|jina_[\w-]{40,90}|pcsk_[\w-]{40,120}|lsv2_[a-z]{2}_[0-9a-f]{20,60}(?:_[0-9a-f]{8,12})?)", _mixed),
    _shape("npm token", "npm_", _LEFT + r"npm_[A-Za-z0-9]{30,60}"),
    _shape("pypi token", "pypi-", _LEFT + r"pypi-[A-Za-z0-9_-]{30,300}", _mixed),
    _shape("docker token", "dckr_", _LEFT + r"dckr_[a-z]{3,4}_[\w-]{20,60}"),
    _shape("cloud token", "dop_v1_ doo_v1_ dor_v1_", _LEFT + r"do[opr]_v1_[0-9a-f]{40,80}"),
    _shape("shopify token", "shp", _LEFT + r"shp(?:at|ca|pa|ss|tka)_[0-9a-fA-F]{32,64}"),
    _shape("square token", "sq0 EAAA", _LEFT + r"(?:sq0[a-z]{3}-[\w-]{20,60}|EAAA[\w-]{56,80})"),
    _shape("sendgrid key", "SG.", _LEFT + r"SG\.[\w-]{16,32}\.[\w-]{16,64}"),
    _shape("mail key", "key- -us", _LEFT + r"(?:key-[0-9a-f]{32}|[0-9a-f]{32}-us\d{1,2})" + _RIGHT),
    _shape("twilio key", "SK", r"(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])"),
    _shape("telegram token", ":A", r"(?<!\d)\d{8,10}:A[A-Za-z][\w-]{32,34}(?![\w-])"),
    _shape("azure key", "AccountKey SharedAccessKey sig=", r"(?i)(?:AccountKey|SharedAccessKey)=(?P<value>[A-Za-z0-9+/]{40,90}={0,2})"),
    _shape("azure secret", "8Q~ 7Q~", r"(?<![\w~.-])[\w~.-]{3}[78]Q~[\w~.-]{31,34}(?![\w~-])"),
    _shape("databricks token", "dapi", _LEFT + r"dapi[0-9a-f]{32}(?:-\d)?" + _RIGHT),
    _shape("terraform token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{40,100}"),
    _shape("vault token", "hvs. hvb. hvr.", _LEFT + r"hv[sbr]\.[\w-]{20,300}"),
    _shape("app token", "lin_api_ ntn_ secret_ figd_ PMAK- NRAK- sntry glc_ glsa_ dp. sbp_ pscale_ tskey- pul- ATATT3 phc_ phx_ rubygems_ CFPAT- dt0c01. fo1_ HRKU- xkeysib-", _LEFT + (
        r"(?:lin_api_[A-Za-z0-9]{32,48}|ntn_[A-Za-z0-9]{40,60}|secret_[A-Za-z0-9]{40,50}|figd_[\w-]{30,60}|PMAK-[0-9a-f]{24}-[0-9a-f]{34}"
        r"|NRAK-[A-Z0-9]{27}|sntry[su]_[\w=+/-]{40,300}|glc_[A-Za-z0-9+/=]{30,400}|glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"
        r"|dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{30,80}|sbp_[0-9a-f]{40}|pscale_(?:tkn|pw|oauth|app)_[\w.=-]{30,70}|tskey-[a-z]{3,8}-[\w-]{20,80}"
        r"|pul-[0-9a-f]{40}|ATATT3[\w=-]{80,400}|ph[cx]_[A-Za-z0-9]{40,50}|rubygems_[0-9a-f]{48}|CFPAT-[\w-]{40,50}|dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}"
        r"|fo1_[\w-]{40,50}|HRKU-[\w-]{36,70}|xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16})")),
    _shape("airtable token", "pat", _LEFT + r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}" + _RIGHT),
    _shape("json web token", "eyJ", _LEFT + r"eyJ[\w-]{8,2000}\.[\w-]{8,8000}\.[\w-]{0,2000}", _is_jwt),
    _shape("password", "://", r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@'\"<>]{0,100}:(?P<value>[^\s/@'\"<>]{1,200})@(?=[\w\[.-])", lambda value: not _placeholder(value)),
    _shape("access token", "= ?", r"(?i)[?&](?:api[_-]?key|key|token|access[_-]?token|auth|secret|client[_-]?secret|sig|signature|x-amz-signature|x-goog-signature|password|pwd)=(?P<value>[^\s&#'\"<>]{8,2000})", lambda value: _drawn(value) or (_mixed(value) and len(value) >= 12 and not _placeholder(value))),
    _shape("authorization", "uthorization UTHORIZATION", r"(?i)authorization[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?:[A-Za-z0-9-]{2,20}\s{1,3})?(?P<value>[^\s\"',;]{8,4000})", lambda value: value[0] not in "$<{%[(" and not _placeholder(value)),
    _shape("session cookie", "ookie OOKIE", r"(?i)\bcookie[^\n]{0,300}?[\s\"';][\w.-]{0,40}(?:sess(?:ion)?(?:[_-]?id)?|sid|auth|token|jwt)=(?P<value>[^\s\"';,]{12,4000})", lambda value: _unlike_words(value) and not _placeholder(value)),
    _shape("authorization", "earer asic EARER ASIC Token", r"(?i)\b(?:bearer|basic|token)\s{1,3}(?P<value>[A-Za-z0-9+/_.=~-]{12,4000})", lambda value: _unlike_words(value) and not _placeholder(value)),
)  # fmt: skip
"""Secrets that are known by their shape, as their providers document it, the most telling first."""

_NAMED: Final = lazily(
    r"""(?ix)
    (?P<name>
        (?<![A-Za-z])(?:[\w.-]{0,60}?)
        (?:pass(?:word|wd|phrase|code)?s?|pwd|passwd|secrets?|api[ _-]?(?:key|token|secret)s?|access[ _-]?(?:key|token)(?:[ _-]?id)?|auth[ _-]?(?:token|key)
          |secret[ _-]?(?:access[ _-]?)?key|private[ _-]?key|client[ _-]?secret|encryption[ _-]?key|signing[ _-]?(?:key|secret)|session[ _-]?(?:key|token|secret)
          |refresh[ _-]?token|bearer[ _-]?token|webhook[ _-]?secret|account[ _-]?key|license[ _-]?key|master[ _-]?key|credentials?|tokens?|pin)
        (?:[_-]?(?:prod|production|dev|test|staging|live|main|old|new|base64|value)|\d{1,2})?
      | contraseña | clave[ ]secreta | mot[ ]de[ ]passe | passwort | kennwort | senha | wachtwoord | hasło | parola
      | пароль | пароля | ключ[ ]api | секрет | токен | 密码 | 密碼 | 口令 | 密钥 | 令牌 | パスワード | 秘密鍵 | トークン | 비밀번호 | 암호 | 토큰 | كلمة[ ]المرور | كلمة[ ]السر | पासवर्ड
    )
    (?:["'\]]{0,2}\s{0,3}(?P<sign>:=|=>|[:=：＝]|\s(?:is|was|to|equals)(?:\snow)?:?\s|\s(?:ist|es|est|lautet|heißt|è|é|jest|är|er):?\s|是|为|は|[ ](?=["'`]))\s{0,3}|(?<=[A-Za-z])(?P<flag>\s))
    (?P<quote>["'`“„«]{0,1})(?P<value>[^\s"'`“”„«»,;)\]}]{4,400})
    """
)
_NAME_HINTS: Final = (
    "pass", "pwd", "secret", "key", "token", "credential", "pin", "contrase", "clave", "mot de", "kennwort", "senha", "wachtwoord", "hasł", "parola",
    "парол", "ключ", "секрет", "токен", "密", "口令", "令牌", "パスワード", "秘密鍵", "トークン", "비밀", "암호", "토큰", "كلمة", "पासवर्ड",
)  # fmt: skip

_PLAIN_HINTS: Final = tuple(filter(str.isascii, _NAME_HINTS))
"""Of the hints those that a text of ASCII can hold."""

_REFERENCE: Final = lazily(
    r"""(?x)^(?:
        [$%]?[{(<\[].* | [$%][A-Za-z_]\w*%?.* | .*[({\[].*[)}\]]? | <.*> | [A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+ | \.{2,}.* | [*•xX.#_-]{3,}
        | (?:self|this|env|process|os|config|settings|vault|secrets|ssm|arn|op|file|https?|keyring|data|ref|base64)(?:[.:/].*)
    )$"""
)
_EMPTY: Final = frozenset(
    [
        "none", "null", "nil", "true", "false", "undefined", "required", "optional", "string", "str", "text", "bytes", "int",
        "integer", "boolean", "bool", "unset", "empty", "missing", "expired", "invalid", "valid", "changed", "rotated", "revoked",
        "wrong", "correct", "here", "there", "below", "above", "unknown", "hidden", "redacted", "masked", "removed", "secret",
        "password", "token", "todo", "tbd", "n/a", "must", "should", "shall", "can", "cannot", "may", "might", "will", "would",
        "stored", "kept", "saved", "sent", "needs", "need", "the", "your", "my", "his", "her", "our", "their", "this", "that",
        "not", "are", "was", "were", "set", "reset", "and", "for", "with", "from", "when", "where", "which", "what", "who", "how",
        "policy", "manager", "field", "column", "table", "rotation", "file", "store", "vault", "based", "auth", "basic", "bearer",
        "authentication", "authorization", "length", "count", "limit", "budget", "usage", "bucket", "window",
    ]
)  # fmt: skip
_PLACEHOLDER: Final = lazily(
    r"(?i)^(?:your|my|the|some|insert|replace|change|enter|put|add|fill|dummy|placeholder|sample)(?:[-_ ]\w+)*(?:[-_ ]\w+|own|me|this|here|with|api|key|token|secret|pass|password|"
    r"pwd|value)*$|^x{3,}|^\*+$|^<|>$|^\.\.\.|…|^\$|^%|^\{|^\[redacted"
)
_WEAK_NAMES: Final = lazily(r"(?i)(?:^|[^a-z])(?:tokens?|pin|credentials?|keys?|secrets?|pass)$|^(?:токен|секрет|令牌|トークン|토큰)$")
_TOKEN: Final = lazily(r"(?<![A-Za-z0-9+/_=.-])[A-Za-z0-9+/_-]{32,128}={0,2}(?![A-Za-z0-9+/_=-])")
_DIGIT: Final = lazily(r"\d")
_CARD: Final = lazily(r"(?<![\d.,/-])(?:\d[ -]?){12,18}\d(?![\d/]|[.,-]\d)")
_SEED: Final = lazily(
    r"(?i)(?:seed|recovery|mnemonic|backup)(?:\s(?:phrase|words|seed))?\s{0,2}(?:is|are|[:=])\s{0,3}[\"'“]?(?P<value>[a-z]{3,8}(?:[ ,]{1,2}[a-z]{3,8}){11,23})(?![a-z])"
)
_HEX_KEY: Final = lazily(
    r"(?i)(?:private|secret|signing|wallet|encryption|master|hmac|aes)[ _-]?(?:key|secret|seed)\D{0,20}?(?P<value>(?:0x)?[0-9a-f]{32,128})(?![0-9a-f])"
)
_AWS_SECRET: Final = lazily(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_OPTION: Final = lazily(
    r"(?:(?<=\s)|^)(?:mysql(?:dump|admin)?|mariadb|sshpass|redis-cli)\s[^\n]{0,200}?-(?:p|a\s)(?P<value>[^\s'\"-][^\s'\"]{3,100})|(?<=\s)-u\s{1,2}['\"]?[\w.@-]{1,60}:(?P<other>[^\s'\"]{4,100})"
)

_ENTROPY: Final = 4.0
"""Bits a character from which a token with a name beside it looks drawn at random; 32 characters of base64 have about 4.4."""
_ENTROPY_ALONE: Final = 4.3
"""The same without a name."""
_SWITCHES: Final = 0.35
"""Share of neighbouring characters of different classes (lower, upper, digit) from which a token is no compound of words."""


def secrets(text: str) -> list[Secret]:
    """The secrets in a text, in order, none overlapping another. O(length of the text)."""
    longest = max(map(len, text.split()), default=0)
    # Asked for one by one, because nearly every text holds nothing that even looks like one.
    lowered = text.lower()
    found = [*_by_shape(text, lowered)] if _telling(text, lowered, longest) else []
    if any(map(lowered.__contains__, _PLAIN_HINTS if text.isascii() else _NAME_HINTS)):
        found += _by_name(text)
    if _DIGIT.search(text):
        found += _cards(text)
    if longest >= _LONG:
        found += _by_chance(text)
    if len(found) < 2:
        return found
    made: list[Secret] = []
    for secret in sorted(found, key=lambda one: (one.start, -one.end)):
        if made and secret.start < made[-1].end:
            if secret.end > made[-1].end:
                made[-1] = Secret(made[-1].start, secret.end, made[-1].kind)
        else:
            made.append(secret)
    return made


_SHORT: Final = 16
"""Characters without a blank that no known shape has fewer of, but for those that `_telling` looks for."""

_LONG: Final = 32
"""Characters without a blank from which a token is looked at for chance alone."""

_SEEDS: Final = ("seed", "phrase", "mnemonic", "recovery")


def _telling(text: str, lowered: str, longest: int) -> bool:
    """Whether a text can hold a secret of a known shape at all: prose without long words cannot, and is looked at no further."""
    return longest >= _SHORT or "://" in text or "-----BEGIN" in text or any(map(lowered.__contains__, _SEEDS))


_BEGIN: Final = lazily(r"-----BEGIN[A-Z0-9 ]{0,40} PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d:")
_END: Final = lazily(r"-----END[A-Z0-9 ]{0,40} PRIVATE KEY(?: BLOCK)?-----|Private-MAC: ?[0-9a-f]{40,64}")
_BODY: Final = lazily(r"(?:\s*[A-Za-z0-9+/=:,\\-]{1,120}(?:\s|\Z|(?=[\"'])))*")


def _private_keys(text: str) -> Iterator[Secret]:
    """Blocks of PEM and PuTTY, also those that were cut off."""
    place = 0
    while begun := _BEGIN.search(text, place):
        ended = _END.search(text, begun.end())
        body = _BODY.match(text, begun.end())
        place = ended.end() if ended else body.end() if body else begun.end()
        yield Secret(begun.start(), place, "private key")


def _by_shape(text: str, lowered: str) -> Iterator[Secret]:
    if "KEY" in text or "PuTTY" in text:
        yield from _private_keys(text)
    for shape in SHAPES:
        if any(map(text.__contains__, shape.hints)):
            yield from _matches(shape, text)
    if any(map(lowered.__contains__, _SEEDS)):
        yield from (Secret(*match.span("value"), "seed phrase") for match in _SEED.finditer(text))
    if "key" in lowered or "secret" in lowered or "seed" in lowered:
        yield from (Secret(*match.span("value"), "private key") for match in _HEX_KEY.finditer(text))
    if "aws" in lowered and ("secret" in lowered or "AKIA" in text or "ASIA" in text):
        yield from (
            Secret(*m.span(), "aws secret") for m in _AWS_SECRET.finditer(text) if _drawn(m.group()) and not _hexadecimal(m.group())
        )
    if " -" in text:
        for match in _OPTION.finditer(text):
            name = "value" if match["value"] else "other"
            if not _referred(match[name]):
                yield Secret(*match.span(name), "password")


def _matches(shape: Shape, text: str) -> Iterator[Secret]:
    group = "value" if "value" in shape.pattern.groupindex else 0
    for match in shape.pattern.finditer(text):
        if shape.check is None or shape.check(match[group]):
            yield Secret(*match.span(group), shape.kind)


def _by_name(text: str) -> Iterator[Secret]:
    place = 0
    while match := _NAMED.search(text, place):
        place = max(match.end("name"), match.start() + 1)
        value, start = match["value"], match.start("value")
        value = value.rstrip(".?:") if not match["quote"] else value
        if _is_secret_value(match["name"], match["sign"] or "", match["quote"], value, text[start + len(value) :]):
            yield Secret(start, start + len(value), "password" if _PASSWORD.search(match["name"]) else "credential")
            place = start + len(value)


def named(name: str, value: str) -> bool:
    """Whether a value that goes by a name, as in a table or an object, is a secret."""
    match = _NAMED.match(f'{name}="{value}"')
    return match is not None and match["value"] == value and _is_secret_value(match["name"], "=", '"', value, "")


_PASSWORD: Final = lazily(
    r"(?i)pass|pwd|contrase|mot de|kennwort|senha|wachtwoord|hasło|parola|парол|密码|密碼|口令|パスワード|비밀|암호|كلمة|पासवर्ड"
)


_NO_NAME: Final = lazily(r"(?i)(?:[a-z]pin|bypass|compass|surpass|trespass|(?:over|under)pass)$")


def _is_secret_value(name: str, sign: str, quote: str, value: str, rest: str) -> bool:
    """Whether what stands beside a name is a value, and not a word about it, a reference to it or a blank to fill in."""
    if len(value) < 4 or _referred(value) or value.lower() in _EMPTY or _placeholder(value) or _NO_NAME.search(name):
        return False
    classes = _classes(value)
    if not sign:
        # `--password hunter2`: only where the value is nothing like a word.
        option = name.lstrip().startswith("-") and value[:1] != "-"
        return classes >= (2 if option else 3) and (option or (_PASSWORD.search(name) is not None and len(value) >= 8 and _mixed(value)))
    if _WEAK_NAMES.search(name):
        # "max tokens: 4096", "key: value", "secret: the oven": such a name says little, and the value must say the rest.
        return (
            classes >= 2 and len(value) >= 8 and _unlike_words(value)
            if not name.lower().endswith("pin")
            else value.isdecimal() and len(value) <= 8
        )
    told = sign.strip() in (":", "：", "") or sign.strip().isalpha() or sign in "是为は"
    if value.isalpha() and value.isascii() and told and not quote:
        # "password: correct horse", "the password is required": words go on, a value does not.
        return sign.strip() in (":", "：", "是", "为", "は") and classes >= 2 and not value.istitle() and not re.match(r"\s+[a-z]", rest)
    if not value.isascii() and value.isalpha():
        return False
    if value.isdecimal():
        return _PASSWORD.search(name) is not None
    return classes >= 2 or len(value) >= 6


def _classes(value: str) -> int:
    return (
        any(c.islower() for c in value)
        + any(c.isupper() for c in value)
        + any(c.isdigit() for c in value)
        + any(not c.isalnum() for c in value)
    )


def _referred(value: str) -> bool:
    """Whether it only says where a secret is to be had: a variable, a call, an attribute, a path."""
    return _REFERENCE.match(value) is not None or (value.isupper() and "_" in value and not _mixed(value)) or value.startswith("/")


def _placeholder(value: str) -> bool:
    return _PLACEHOLDER.search(value) is not None or len(set(value)) <= 2


def _unlike_words(value: str) -> bool:
    """Whether a token is no word and no words joined by hyphens, dots or slashes."""
    if _mixed(value):
        return not re.fullmatch(r"[A-Za-z]+[-_.]?v?\d{1,4}(?:[-_.]\d{1,4})*", value)
    return len(value) >= 20 and _changes(value) >= _SWITCHES


def _cards(text: str) -> Iterator[Secret]:
    """Payment cards: an issuer's range, a length that it gives out, and the check digit of ISO/IEC 7812 (Luhn)."""
    for match in _CARD.finditer(text):
        digits = [int(c) for c in match.group() if c.isdigit()]
        said = "".join(map(str, digits))
        if not _ISSUED.match(said) or len(set(digits)) < 4 or not _grouped(match.group()):
            continue
        doubled = [d if place % 2 == 0 else (d * 2 - 9 if d > 4 else d * 2) for place, d in enumerate(reversed(digits))]
        if sum(doubled) % 10 == 0:
            yield Secret(*match.span(), "payment card")


_ISSUED: Final = lazily(
    r"4\d{12}(?:\d{3}(?:\d{3})?)?$|(?:5[1-5]\d{2}|222[1-9]|22[3-9]\d|2[3-6]\d{2}|27[01]\d|2720)\d{12}$|3[47]\d{13}$|6(?:011|5\d{2}|4[4-9]\d)\d{12}$"
    r"|35(?:2[89]|[3-8]\d)\d{12}$|3(?:0[0-5]|[68]\d)\d{11}$|62\d{14,17}$"
)


def _grouped(said: str) -> bool:
    """Whether the digits stand as on a card: together, in fours, or as American Express and Diners print them."""
    groups = re.split(r"[ -]", said)
    lengths = [len(group) for group in groups]
    return len(groups) == 1 or lengths in ([4, 4, 4, 4], [4, 6, 5], [4, 6, 4], [4, 4, 4, 4, 3], [4, 4, 4, 4, 1], [6, 13])


def _by_chance(text: str) -> Iterator[Secret]:
    """Tokens that look drawn at random, and that nothing else explains."""
    for match in _TOKEN.finditer(text):
        token = match.group()
        before = text[max(0, match.start() - 24) : match.start()]
        if "/" in token or _hexadecimal(token) or not _drawn(token, _ENTROPY_ALONE) or _EXPLAINED.search(before):
            continue
        yield Secret(*match.span(), "random token")


_EXPLAINED: Final = lazily(
    r"(?i)(?:sha-?\d{1,3}|md5|blake\w*|integrity|digest|checksum|hash|etag|base64,?|commit|nonce|\bh1|\b(?:ssh|ecdsa|sk)-[a-z0-9@.-]+|public[ _-]?key|fingerprint|multihash|cid|ipfs|uuid|\bids?|slug|cursor|"
    r"document|folders?|file|video|sheet|/d/|/)\W{0,4}$"
)


def _hexadecimal(token: str) -> bool:
    return re.fullmatch(r"(?:0[xX])?[0-9a-fA-F-]+", token) is not None


def _drawn(token: str, least: float = _ENTROPY) -> bool:
    """Whether a token looks drawn at random: many different characters, of three classes, that change often."""
    core = token.rstrip("=")
    if len(core) < 16 or sum(map(str.isdigit, core)) < 2 or not any(map(str.isupper, core)) or not any(map(str.islower, core)):
        return False
    bits = -sum(count / len(core) * math.log2(count / len(core)) for count in Counter(core).values())
    return bits >= min(least, math.log2(len(core)) - 0.7) and _changes(core) >= _SWITCHES


def _changes(token: str) -> float:
    """Share of neighbouring characters that are of different classes."""
    classes = ["d" if c.isdigit() else "u" if c.isupper() else "l" if c.islower() else "s" for c in token]
    return sum(a != b for a, b in pairwise(classes)) / max(1, len(classes) - 1)
