"""One form for every letter: what people type in different ways and mean alike."""

from __future__ import annotations

import unicodedata
from typing import Final

# Letters that no rule of Unicode takes apart, though people do: stroked and joined Latin ones, the dotless i of Turkish, Persian
# forms of Arabic ones, the final forms of Hebrew, Arabic letters that are written for each other; and below, common characters of
# traditional Chinese with their simplified forms.
_LETTERS: Final = {
    "ı": "i", "đ": "d", "ð": "d", "ø": "o", "ł": "l", "ħ": "h", "ŧ": "t", "þ": "th", "æ": "ae", "œ": "oe", "ĸ": "k", "ŋ": "n",
    "ک": "ك", "ی": "ي", "ى": "ي", "ے": "ي", "ہ": "ه", "ھ": "ه", "ة": "ه", "ٱ": "ا", "ء": "", "ـ": "",
    "ך": "כ", "ם": "מ", "ן": "נ", "ף": "פ", "ץ": "צ", "ँ": "ं", "़": "", "ґ": "г",
}  # fmt: skip

_TRADITIONAL = (
    "沒没 們们 個个 來来 時时 會会 說说 對对 國国 過过 後后 裡里 裏里 還还 這这 兩两 點点 開开 關关 長长 見见 與与 為为 爲为 發发 無无 "
    "現现 動动 從从 頭头 經经 進进 樣样 學学 問问 間间 門门 實实 東东 車车 電电 話话 書书 報报 場场 員员 業业 務务 產产 環环 設设 "
    "計计 數数 據据 庫库 備备 機机 戶户 歡欢 體体 號号 碼码 檔档 錄录 刪删 週周 責责 負负 統统 錢钱 帳账 賬账 簽签 約约 辦办 險险 "
    "櫃柜 議议 討讨 論论 決决 項项 標标 單单 雙双 讓让 給给 結结 構构 網网 頁页 線线 連连 選选 擇择 變变 類类 別别 級级 權权 證证 "
    "認认 註注 冊册 訂订 購购 買买 賣卖 價价 費费 貨货 幣币 銀银 銷销 運运 輸输 達达 遠远 邊边 遲迟 適适 應应 該该 請请 謝谢 歲岁 "
    "歷历 曆历 黨党 軍军 農农 醫医 藥药 衛卫 術术 藝艺 樂乐 劇剧 視视 聽听 讀读 寫写 講讲 語语 詞词 譯译 課课 師师 圖图 館馆 園园 "
    "廠厂 廣广 廳厅 莊庄 麗丽 愛爱 憶忆 態态 總总 戰战 護护 轉转 換换 擊击 擔担 擴扩 隊队 陽阳 陰阴 際际 隨随 雖虽 難难 離离 雲云 "
    "飛飞 飯饭 飲饮 養养 馬马 驗验 驚惊 魚鱼 鳥鸟 麥麦 黃黄 齊齐 齒齿 龍龙 龜龟 壓压 壞坏 處处 複复 復复 夠够 夢梦 奪夺 奮奋 婦妇 "
    "媽妈 嗎吗 喚唤 嘗尝 團团 圍围 圓圆 執执 堅坚 塊块 壇坛 聲声 職职 聯联 腦脑 臉脸 腳脚 節节 範范 築筑 簡简 籤签 紀纪 紅红 純纯 "
    "紙纸 細细 終终 組组 絕绝 絲丝 綠绿 維维 緊紧 練练 緩缓 縣县 績绩 織织 繼继 續续 罰罚 羅罗 義义 習习 舉举 舊旧 舖铺 艦舰 蘋苹 "
    "蟲虫 補补 裝装 製制 規规 覺觉 觀观 觸触 訊讯 記记 訪访 許许 評评 試试 詳详 誌志 誤误 調调 談谈 諾诺 謂谓 識识 貝贝 財财 貢贡 "
    "貴贵 資资 賓宾 質质 贈赠 贏赢 趙赵 跡迹 踐践 軟软 輕轻 載载 輪轮 辭辞 遊游 遞递 遺遗 鄉乡 鄰邻 醬酱 釋释 針针 鐘钟 鐵铁 錯错 "
    "鍵键 鎖锁 鏡镜 閉闭 閒闲 閱阅 陣阵 階阶 隱隐 雜杂 雞鸡 靜静 韓韩 響响 頂顶 順顺 預预 領领 頻频 題题 額额 顏颜 願愿 顧顾 顯显 "
    "風风 餘余 駕驾 騎骑 騙骗 髮发 鬥斗 鬧闹 鹽盐 麵面 黏粘 齡龄 傑杰 傳传 傷伤 優优 儲储 億亿 儀仪 償偿 內内 凍冻 準准 減减 幾几 "
    "劃划 劑剂 勁劲 勝胜 勞劳 勢势 匯汇 區区 協协 參参 吳吴 營营 嚴严 衝冲 張张 彈弹 強强 歸归 徑径 徹彻 惡恶 慣惯 慮虑 慶庆 憂忧 "
    "懷怀 戲戏 "
)
_LETTERS.update((pair[0], pair[1]) for pair in _TRADITIONAL.split())

_ORNAMENTED: Final = ("LATIN", "GREEK", "CYRILLIC", "ARABIC", "HEBREW")


class _Fold(dict[int, str]):
    """Folds one character at a time and remembers it: case, digits of every script, and the accents of Latin, Greek, Cyrillic, Arabic and
    Hebrew.

    Marks of other scripts are letters, not ornaments: without them a Japanese or Thai word would be another word.
    """

    def __missing__(self, code: int) -> str:
        char = chr(code)
        made = char.casefold()
        name, category = unicodedata.name(char, ""), unicodedata.category(char)
        if char in _LETTERS:
            made = _LETTERS[char]
        elif category == "Nd":
            made = str(unicodedata.decimal(char))
        elif name.startswith(_ORNAMENTED) and category != "Mn":
            made = "".join(c for c in unicodedata.normalize("NFD", made) if unicodedata.category(c) != "Mn")
            made = "".join(_LETTERS.get(c, c) for c in made)
        elif "\u0931" <= char <= "\u0934" or "\u0958" <= char <= "\u095f":
            made = "".join(c for c in unicodedata.normalize("NFD", made) if c != "\u093c")
        elif category == "Mn" and name.startswith(("COMBINING", "ARABIC", "HEBREW")):
            made = ""
        elif category in ("Cf", "Cc", "Cs"):
            made = " " if char.isspace() or category == "Cc" else ""
        self[code] = made
        return made


FOLD: Final = _Fold()
"""For `str.translate`, on text that is in NFKC."""


def folded(text: str) -> str:
    """Text as it is compared: compatibility forms, case, digits and ornamental marks made one."""
    return unicodedata.normalize("NFKC", text).translate(FOLD)
