"""300 texts with and without secrets, drawn anew from a seed: every key in them is chance, none was ever valid.

They are put together here, piece by piece, so that no file of the project holds anything that looks like a key.
"""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

ALNUM: Final = string.ascii_letters + string.digits
B64: Final = ALNUM + "+/"
URL: Final = ALNUM + "-_"
LOWER_HEX: Final = "0123456789abcdef"


@dataclass(frozen=True)
class Case:
    """A text, and the part of it that must go; None where nothing may."""

    text: str
    secret: str | None
    about: str


class Maker:
    """Draws values of given alphabets."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def of(self, alphabet: str, size: int) -> str:
        return "".join(self.rng.choice(alphabet) for _ in range(size))

    def hexed(self, size: int) -> str:
        return self.of(LOWER_HEX, size)

    def one(self, *choices: str) -> str:
        return self.rng.choice(choices)

    def card(self, prefix: str, size: int) -> str:
        digits = prefix + self.of(string.digits, size - len(prefix) - 1)
        total = sum(int(d) if i % 2 else (int(d) * 2 - 9 if int(d) > 4 else int(d) * 2) for i, d in enumerate(reversed(digits)))
        return digits + str(-total % 10)

    def jwt(self) -> str:
        def part(said: dict[str, object]) -> str:
            return base64.urlsafe_b64encode(json.dumps(said).encode()).decode().rstrip("=")

        return f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part({'sub': self.of(string.digits, 8), 'iat': 1700000000})}.{self.of(URL, 43)}"


def positives(m: Maker) -> list[Case]:
    """Texts with one secret each."""
    shapes: list[tuple[str, Callable[[], str]]] = [
        ("aws key", lambda: "AK" + "IA" + m.of(string.ascii_uppercase + "234567", 16)),
        ("aws temporary key", lambda: "AS" + "IA" + m.of(string.ascii_uppercase + "234567", 16)),
        ("google", lambda: "AI" + "za" + m.of(URL, 35)),
        ("google client secret", lambda: "GOC" + "SPX-" + m.of(URL, 28)),
        ("github", lambda: "gh" + m.one("p", "o", "u", "s", "r") + "_" + m.of(ALNUM, 36)),
        ("github fine-grained", lambda: "github" + "_pat_" + m.of(ALNUM, 22) + "_" + m.of(ALNUM, 59)),
        ("gitlab", lambda: "gl" + "pat-" + m.of(URL, 20)),
        ("slack bot", lambda: "xo" + "xb-" + m.of(string.digits, 12) + "-" + m.of(string.digits, 12) + "-" + m.of(ALNUM, 24)),
        ("slack hook", lambda: "T" + m.of(string.ascii_uppercase, 8) + "/B" + m.of(string.ascii_uppercase, 8) + "/" + m.of(ALNUM, 24)),
        ("openai", lambda: "s" + "k-proj-" + m.of(URL, 48) + "T3Blbk" + m.of(URL, 40) + "7"),
        ("openai old", lambda: "s" + "k-" + m.of(ALNUM, 47) + "4"),
        ("anthropic", lambda: "s" + "k-ant-api03-" + m.of(URL, 93) + "AA"),
        ("deepseek", lambda: "s" + "k-" + m.hexed(31) + "7"),
        ("stripe", lambda: m.one("sk", "rk") + "_li" + "ve_" + m.of(ALNUM, 24)),
        ("stripe hook", lambda: "wh" + "sec_" + m.of(ALNUM, 32)),
        ("groq", lambda: "gs" + "k_" + m.of(ALNUM, 51) + "3"),
        ("hugging face", lambda: "h" + "f_" + m.of(ALNUM, 33) + "5"),
        ("npm", lambda: "np" + "m_" + m.of(ALNUM, 36)),
        ("pypi", lambda: "py" + "pi-AgEIcHlwaS5vcmc" + m.of(URL, 120)),
        ("sendgrid", lambda: "S" + "G." + m.of(URL, 22) + "." + m.of(URL, 43)),
        ("twilio", lambda: "S" + "K" + m.hexed(32)),
        ("mailgun", lambda: "ke" + "y-" + m.hexed(32)),
        ("telegram", lambda: m.of("123456789", 10) + ":" + "AAH" + m.of(URL, 32)),
        ("digitalocean", lambda: "do" + "p_v1_" + m.hexed(64)),
        ("shopify", lambda: "sh" + "pat_" + m.hexed(32)),
        ("databricks", lambda: "da" + "pi" + m.hexed(32)),
        ("linear", lambda: "lin" + "_api_" + m.of(ALNUM, 40)),
        ("notion", lambda: "nt" + "n_" + m.of(ALNUM, 46)),
        ("vault", lambda: "hv" + "s." + m.of(URL, 24)),
        ("grafana", lambda: "gl" + "sa_" + m.of(ALNUM, 32) + "_" + m.hexed(8)),
        ("doppler", lambda: "d" + "p.pt." + m.of(ALNUM, 43)),
        ("tailscale", lambda: "ts" + "key-auth-" + m.of(ALNUM, 12) + "-" + m.of(ALNUM, 32)),
        ("jwt", m.jwt),
        ("visa", lambda: m.card("4", 16)),
        ("mastercard in fours", lambda: " ".join(card[i : i + 4] for card in [m.card("52", 16)] for i in range(0, 16, 4))),
        ("american express", lambda: m.card("37", 15)),
    ]
    around = ("{}", "The key is {} for now", "deploy with {} please", "curl -H 'x-api-key: {}' localhost", 'config: {{"value": "{}"}}')
    made: list[Case] = []
    for about, draw in shapes:
        for _ in range(2):
            value = draw()
            frame = m.one(*around)
            if about == "slack hook":
                frame = "post to https://hooks.slack.com/services/{} when it fails"
            made.append(Case(frame.format(value), value.removeprefix("services/"), about))
    words: list[tuple[str, Callable[[], str], str]] = [
        ("assignment", lambda: m.of(ALNUM, 9) + "7x", "password={} and user=ops"),
        ("yaml", lambda: m.of(ALNUM, 12) + "2b", "db:\n  host: localhost\n  password: {}\n  port: 5432"),
        ("json", lambda: m.of(ALNUM + "!#%", 12) + "3c", '{{"user": "ops", "password": "{}"}}'),
        ("environment", lambda: m.of(ALNUM, 24), "export DATABASE_PASSWORD={}"),
        ("env file", lambda: m.of(ALNUM, 32), "STRIPE_SECRET={}\nDEBUG=1"),
        ("prose", lambda: m.of(ALNUM, 8) + "!9z", "The wifi password is {} at the office"),
        ("prose quoted", lambda: m.of(ALNUM, 10), "the admin password is '{}' until Friday"),
        ("api key named", lambda: m.of(ALNUM, 32), "my api key: {}"),
        ("api key hex", lambda: m.hexed(32), "api_key = {}"),
        ("client secret", lambda: m.of(URL, 40), "client_secret: '{}'"),
        ("bearer", lambda: m.of(URL, 40), "Authorization: Bearer {}"),
        ("basic", lambda: base64.b64encode(f"ops:{m.of(ALNUM, 12)}".encode()).decode(), "-H 'Authorization: Basic {}'"),
        ("postgres", lambda: m.of(ALNUM, 14), "postgresql://app:{}@db.internal:5432/main"),
        ("redis", lambda: m.of(ALNUM, 14), "redis://:{}@cache:6379/0"),
        ("mongo", lambda: m.of(ALNUM, 14), "mongodb+srv://root:{}@cluster0.example.net"),
        ("url token", lambda: m.of(ALNUM, 32), "GET https://api.example.org/v1/users?access_token={}&page=2"),
        ("azure storage", lambda: m.of(B64, 86) + "==", "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={};EndpointSuffix=core"),
        ("private key hex", lambda: "0x" + m.hexed(64), "wallet private key {}"),
        ("aws secret", lambda: m.of(B64, 38) + "4Z", "aws secret access key {}"),
        ("german", lambda: m.of(ALNUM, 10) + "4!", "Das Passwort: {}"),
        ("french", lambda: m.of(ALNUM, 10) + "4", "mot de passe : {}"),
        ("spanish", lambda: m.of(ALNUM, 10) + "4", "La contraseña es {}"),
        ("russian", lambda: m.of(ALNUM, 10) + "4", "пароль: {}"),
        ("chinese", lambda: m.of(ALNUM, 10) + "4", "数据库密码是{}"),
        ("japanese", lambda: m.of(ALNUM, 10) + "4", "パスワード：{}"),
        ("option", lambda: m.of(ALNUM, 12) + "7", "run it with --password {} --host db"),
        ("curl user", lambda: m.of(ALNUM, 12) + "7", "curl -u admin:{} localhost:9200"),
        ("pem", lambda: m.of(B64, 64), "-----BEGIN RSA PRIVATE " + "KEY-----\n{}\n-----END RSA PRIVATE " + "KEY-----\nthen restart"),
        ("openssh, cut off", lambda: m.of(B64, 70), "-----BEGIN OPENSSH PRIVATE " + "KEY-----\n{}"),
        ("django", lambda: m.of(ALNUM + "!@^&*", 50), "SECRET_KEY = '{}'"),
        ("random alone", lambda: "Qx7" + m.of(ALNUM, 40) + "9kB", "put {} into the header"),
        ("pin", lambda: m.of("123456789", 6), "his PIN: {}"),
        ("numeric password", lambda: m.of(string.digits, 8), "router password = {}"),
    ]
    for about, draw, frame in words:
        for _ in range(3):
            value = draw()
            made.append(Case(frame.format(value), value, about))
    seed = " ".join(
        m.rng.sample(
            [
                "abandon",
                "ability",
                "able",
                "about",
                "above",
                "absent",
                "absorb",
                "abstract",
                "absurd",
                "abuse",
                "access",
                "accident",
                "account",
            ],
            12,
        )
    )
    return [*made, Case(f"seed phrase: {seed}", seed, "seed phrase")]


PLAIN: Final = (
    "No API key in the build at all.", "apiKey: import.meta.env.API_KEY", "The password policy needs 12 characters",
    "token = os.environ['GITHUB_TOKEN']", "password = getpass.getpass()", "Set password: ${DB_PASSWORD} in the compose file",
    "PASSWORD=<your password here>", "api_key=YOUR_API_KEY", "secret: !vault db/password", "client_secret = settings.CLIENT_SECRET",
    "The token expires after 3600 seconds", "max_tokens: 4096", "tokens: 128000 of context", "The API key is stored in the vault",
    "The password is required and must contain a digit", "Passwords are hashed with bcrypt, cost 12", "password reset links live for 15 minutes",
    "The secret is to start early", "keyboard: qwerty layout", "primary key: user_id", "foreign key = orders.customer_id", "sort key: created_at",
    "The token bucket refills 10 per second", "Use a personal access token instead of a password", "Pass the token in the header",
    "secrets: inherit", "credentials: include", "key: value", "cache key = sha of the lock file", "partition key: tenant_id",
    "пароль должен быть длиннее 12 символов", "密码长度至少八位", "パスワードは毎月変えること", "Das Passwort ist abgelaufen",
    "El token caduca cada hora", "The passphrase was rotated on 2024-05-01", "pin: numpy==2.1.0", "Pin the version to 1.2.3",
    "bearer of bad news", "Basic authentication is off", "Bearer tokens are short lived", "token: string (required)", "apiKey?: string;",
    "def set_password(self, password: str) -> None:", "if password == confirm_password:", "password: ********", "secret=****", "token: xxxxxxxxxxxx",
    "https://example.org/docs?page=2&key=title", "https://example.org/a/b?token_type=bearer", "postgres://localhost:5432/main", "ssh://git@host:22/repo",
    "http://user:${PASSWORD}@proxy:3128", "mailto:someone@example.org", "order 4111-2222-33 shipped", "ISBN 978-3-16-148410-0",
    "call +49 30 901820 tomorrow", "tracking number 9400 1000 0000 0000 0000 00", "version 1.23.4567890123456", "2024-05-01T12:34:56.789012345Z",
    "arn:aws:iam::123456789012:role/deploy", "The commit sk-learn-1.4 pins numpy", "task-runner-v2-nightly-build", "a sk-style-prefix-in-words-only",
    "feature/JIRA-1234-add-the-new-token-endpoint", "com.example.internal.authentication.TokenRefreshServiceImpl", "Set-Cookie is stripped by the proxy",
    "README.md#configuration-and-secrets-management", "AKIA is the prefix of an access key id", "ghp_ is the prefix of GitHub's tokens", "keys start with sk-",
    "BEGIN PRIVATE KEY is how a PEM file starts", "eyJ is how a token starts", "The 2FA code comes by text message", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "JAVA_HOME=/usr/lib/jvm/java-17-openjdk-amd64", "LD_LIBRARY_PATH=/opt/lib64:/usr/local/cuda-12.4/lib64", "user_pass_through=true", "bypass: enabled on weekends",
    "compass: north", "The test passed: 1234 assertions", "pwd: /home/build/workspace", "cd $(pwd)/build2024", "The password manager is KeePassXC 2.7.9",
    "password: see 1Password", "Secret Santa is on 2024-12-20", "the secretary's number is 5551234", "tokenizer: cl100k_base", "token count: 18233",
)  # fmt: skip
"""Texts that speak of secrets, or look a little like one, and hold none."""


def negatives(m: Maker) -> list[Case]:
    """Texts without a secret: those above, and hashes and ids of every kind."""
    ids: list[tuple[str, Callable[[], str], str]] = [
        ("commit", lambda: m.hexed(40), "commit {} broke it"),
        ("short commit", lambda: m.hexed(12), "revert {}"),
        ("sha256", lambda: m.hexed(64), "the image is pinned at sha256:{}"),
        ("md5", lambda: m.hexed(32), "md5 {} of the archive"),
        ("integrity", lambda: m.of(B64, 86) + "==", 'integrity "sha512-{}"'),
        ("uuid", lambda: "-".join(m.hexed(n) for n in (8, 4, 4, 4, 12)), "trace {} failed"),
        ("object id", lambda: m.hexed(24), "document {} is missing"),
        ("document", lambda: "1" + m.of(URL, 43), "see https://docs.example.org/document/d/{}/edit"),
        ("ulid", lambda: "01" + m.of("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 24), "run {} finished"),
        ("short id", lambda: m.of(URL, 11), "watch {} again"),
        ("address", lambda: "0x" + m.hexed(40), "sent to {}"),
        ("transaction", lambda: "0x" + m.hexed(64), "transaction {} was reverted"),
        ("snowflake", lambda: m.of("123456789", 18), "message {} was deleted"),
        ("epoch", lambda: "17" + m.of(string.digits, 11), "at {} ms the probe failed"),
        ("number", lambda: m.of("123456789", 16)[:-1], "invoice {}"),
        ("account", lambda: m.of(string.digits, 12), "account {} is over its quota"),
        ("etag", lambda: m.hexed(32) + "-3", 'ETag: "{}"'),
        ("build", lambda: "build-" + m.of(string.digits, 6) + "-" + m.hexed(8), "deployed {}"),
    ]
    made = [Case(text, None, "plain") for text in PLAIN]
    return made + [Case(frame.format(draw()), None, about) for about, draw, frame in ids for _ in range(3)]


def corpus(seed: int = 20) -> list[Case]:
    """All of them, in a fixed order."""
    maker = Maker(seed)
    return [*positives(maker), *negatives(maker)]
