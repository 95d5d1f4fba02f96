"""Words that tell of a failure, and how a rule is put where no model puts it, in the languages that Earnest speaks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from earnest.core.decision_text import fold, languages, latin_language


@dataclass(frozen=True, slots=True)
class Phrases:
    """How a rule is put: after repeated failures ({n} is their number), and after advice ({text}) that was followed and went wrong."""

    failed: str
    misled: str


# `stem*` matches any word that begins so. Scripts without spaces match anywhere.
_WORDS: Final = {
    "en": "error* fail* fault* exception* crash* timeout timeouts broke broken wrong denied refused rejected expired invalid corrupt* lost "
    "missing unreachable unavailable abort* panic* traceback regress* outage* rollback* leak* deadlock* overflow* stuck hang hangs hung",
    "de": "fehler* fehlgeschlagen* fehlschlag* gescheitert* scheiter* abgestürzt* absturz* abgebrochen* kaputt* verweigert* abgelehnt* "
    "abgelaufen* ungültig* falsch* verloren* fehlt fehlend* ausnahme* zeitüberschreitung* ausgefallen* ausfall*",
    "fr": "erreur* échec* échoué* échoue* panne* exception* planté* plantage* refusé* "
    "rejeté* expiré* invalide* corrompu* perdu* manquant* cassé* "
    "interrompu* impossible indisponible*",
    "es": "error* falló falla fallas fallo fallos fallan fallaron fallado* fallid* fracas* "
    "excepción* rechazad* denegad* caducad* expirad* inválid* corrupt* perdid* faltant* roto rotos rota rotas caíd* "
    "interrumpid* imposible",
    "pt": "erro* falh* fracass* exceção* recusad* negad* rejeitad* expirad* expirou inválid* corromp* perdid* ausente* quebrad* travou "
    "interrompid* impossível",
    "ru": "ошибк* сбой сбоя сбою сбоем сбое сбои сбоев сбоям сбоями сбоях сбоит* отказ* "
    "неудач* провал* исключени* упал* сломал* отклонен* отклонён* истёк* истек* просроч* недействительн* поврежд* "
    "потерян* потерял* недоступ* прерван* завис*",
    "ar": "خطأ* خطا* اخطاء* فشل* تعطل* عطل* انهار* مرفوض* رفض* انتهت* منتهي* تالف* مفقود* استثناء*",
    "zh": "错误 失败 异常 崩溃 超时 拒绝 过期 无效 损坏 丢失 故障 中断 出错 报错 挂了 宕机 坏了 報錯 错誤 失敗 錯誤",
    "ja": "エラー 失敗 例外 クラッシュ 落ちた タイムアウト 拒否 期限切れ 無効 破損 失われ 障害 中断 不具合 動かな 動きません 壊れ",
    "ko": "오류 실패 예외 충돌 시간초과 타임아웃 거부 만료 잘못 손상 유실 장애 중단 에러 고장 다운됐 다운되",
}
# Of several words, of which none tells it alone; each anywhere in a folded text.
_SAID: Final = (
    "not working", "does not work", "do not work", "did not work", " went down", " is down", " are down", " was down",
    "funktioniert nicht", "klappt nicht",
    "klappte nicht", "geht nicht mehr", "ging nicht mehr", "ne marche pas", "ne marche plus", "ne fonctionne pas", "ne fonctionne plus",
    "no funciona", "no arranca", "se cayó", "não funciona", " caiu", "не удал", "не работа", "не запуска", "не получил",
    "لا يعمل", "لا تعمل",
)  # fmt: skip
_PHRASES: Final = {
    "en": Phrases(
        "This has gone wrong {n} times. Find out first what is different now; do not do it again in the same way.",
        "Following this went wrong {n} times, so do not rely on it: “{text}”",
    ),
    "de": Phrases(
        "Das ist {n} Mal schiefgegangen. Erst klären, was jetzt anders ist; nicht auf dieselbe Weise wiederholen.",
        "Dem zu folgen ging {n} Mal schief, also nicht darauf verlassen: „{text}“",
    ),
    "fr": Phrases(
        "Cela a mal tourné {n} fois. Vérifier d'abord ce qui a changé ; ne pas recommencer de la même façon.",
        "Suivre ceci a mal tourné {n} fois, ne pas s'y fier : « {text} »",
    ),
    "es": Phrases(
        "Esto salió mal {n} veces. Averiguar primero qué ha cambiado; no repetirlo de la misma manera.",
        "Seguir esto salió mal {n} veces, no confiar en ello: «{text}»",
    ),
    "pt": Phrases(
        "Isto correu mal {n} vezes. Descobrir primeiro o que mudou; não repetir da mesma maneira.",
        "Seguir isto correu mal {n} vezes, não confiar nisso: «{text}»",
    ),
    "ru": Phrases(
        "Это не удалось уже {n} раз. Сначала выяснить, что изменилось; не повторять так же.",
        "Следование этому подвело {n} раз, не полагаться на это: «{text}»",
    ),
    "ar": Phrases(
        "حدث هذا الخلل {n} مرات. تحقق أولا مما تغير، ولا تكرره بالطريقة نفسها.",
        "اتباع هذا أدى إلى ضرر {n} مرات، فلا تعتمد عليه: «{text}»",
    ),
    "zh": Phrases("这已经出错{n}次。先弄清现在有什么不同，不要用同样的方式再做。", "照此行事已出错{n}次，不要依赖它：“{text}”"),
    "ja": Phrases(
        "これは{n}回うまくいかなかった。まず何が変わったかを確かめ、同じやり方で繰り返さない。",
        "これに従って{n}回うまくいかなかったので、頼らない：「{text}」",
    ),
    "ko": Phrases(
        "이것은 {n}번 잘못되었다. 먼저 무엇이 달라졌는지 확인하고 같은 방식으로 반복하지 않는다.",
        "이를 따라 {n}번 잘못되었으므로 의지하지 않는다: “{text}”",
    ),
}  # fmt: skip
_ANYWHERE: Final = frozenset({"zh", "ja", "ko"})


@cache
def _table(code: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """Whole words and stems of a language, folded."""
    words = [fold(word) for word in _WORDS[code].split()]
    return frozenset(word for word in words if not word.endswith("*")), tuple(word[:-1] for word in words if word.endswith("*"))


def tells_of_failure(text: str) -> bool:
    """Whether a text holds a word for a failure, in any of the languages. O(its words)."""
    said = fold(text)
    words = [word.strip(".,;:!?()[]{}\"'«»“”„…-_/\\") for word in said.replace("_", " ").replace("/", " ").split()]
    for code in _WORDS:
        whole, stems = _table(code)
        if code in _ANYWHERE:
            if any(word in said for word in whole):
                return True
        elif any(word in whole or word.startswith(stems) for word in words if word):
            return True
    return any(phrase in said for phrase in _said())


@cache
def _said() -> tuple[str, ...]:
    return tuple(map(fold, _SAID))


def phrases_for(text: str) -> Phrases:
    """How a rule about such a text is put: in the text's language, as far as that can be told."""
    said = fold(text)
    return _PHRASES.get(languages(said, latin_language(said))[0], _PHRASES["en"])
