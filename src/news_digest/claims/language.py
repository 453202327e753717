"""Which language a text is in, as far as its script or its smallest words tell."""

from __future__ import annotations

import re
from collections import Counter

__all__ = ["language_of"]

SMALL_WORDS = {
    "en": "the of and to in is that for it was on are with as at be this by from have has an will not but its "
    "their which after been were they would more said who than can into about",
    "de": "der die und das von den mit für im des auf ist nicht ein eine dem sich auch als werden wird bei nach zu hat "
    "sind wurde einer aus über noch haben oder",
    "fr": "le la les des et en une du que est dans pour par qui sur pas au plus avec sont ses ce cette ont été aux "
    "mais leur deux selon après",
    "es": "el la de los las que en y del por con una para se es al lo como más fue su han este esta pero sus está "
    "son entre sobre desde",
    "it": "il di che e la per un in del della una con non sono da si le dei al è nel alla gli anche più come dal "
    "stato ha delle questo",
    "pt": "o de que e do da em um para com uma os no se na por mais as dos foi não ao das à seu sua são está "
    "pela também mas",
    "nl": "de het een van en in is dat op te zijn voor met die niet aan er om ook als bij door naar over wordt hij "
    "maar dan werd heeft uit",
    "sv": "och att det som en på är av för med den till inte har om ett han var men från vid kan sig nu ska så",
    "da": "og at det er en til på af for den med der som de et ikke har var fra men han om ved kan efter",
    "pl": "w i na z nie do się to jest że po od za przez jak dla ale oraz są był tym tego może przy",
}
_SMALL = {code: frozenset(words.split()) for code, words in SMALL_WORDS.items()}

SCRIPTS = {
    "ja": re.compile("[\u3040-\u30ff]"),
    "ko": re.compile("[\uac00-\ud7af]"),
    "zh": re.compile("[\u4e00-\u9fff]"),
    "ru": re.compile("[\u0400-\u04ff]"),
    "el": re.compile("[\u0370-\u03ff]"),
    "ar": re.compile("[\u0600-\u06ff]"),
    "he": re.compile("[\u0590-\u05ff]"),
    "hi": re.compile("[\u0900-\u097f]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
}
"""By script alone Ukrainian counts as Russian, Persian as Arabic; Japanese stands before Chinese, which it contains."""

SCRIPT_SHARE = 0.3
FEWEST_WORDS = 12
FEWEST_SMALL = 4


def language_of(text: str) -> str:
    """Return an ISO 639-1 code, or nothing where the text is too short or too mixed to tell."""
    letters = [each for each in text if each.isalpha()]
    for code, script in SCRIPTS.items():
        if letters and len(script.findall(text)) >= SCRIPT_SHARE * len(letters):
            return code
    words = re.findall(r"[^\W\d_]+", text.lower())
    if len(words) < FEWEST_WORDS:
        return ""
    counts = Counter({code: sum(word in small for word in words) for code, small in _SMALL.items()})
    (best, most), (_, second) = counts.most_common(2)
    return best if most >= FEWEST_SMALL and most > 1.3 * second else ""
