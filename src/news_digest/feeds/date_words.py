"""The words of dates: names of months, zones and halves of the day, as feeds were found to write them."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import cache
from typing import Final

__all__ = ["HALF_DAYS", "LOCAL_ZONES", "MONTHS", "REGIONS", "WEEKDAYS", "ZONES", "folded", "month_of"]

MONTHS: Final[Mapping[str, int]] = {
    **{"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10},
    **{"nov": 11, "dec": 12},
}
"""What RFC 822 knows."""
WEEKDAYS: Final[Mapping[str, int]] = {
    **{"mon": 0, "tue": 1, "wed": 2, "thu": 3, "fri": 4, "sat": 5, "sun": 6},
    **{"lun": 0, "mar": 1, "mer": 2, "mie": 2, "jeu": 3, "jue": 3, "gio": 3, "ven": 4, "vie": 4},
    **{"sam": 5, "sab": 5, "dim": 6, "dom": 6, "seg": 0, "ter": 1, "qua": 2, "qui": 3, "sex": 4},
    **{"ma": 0, "di": 1, "wo": 2, "do": 3, "vr": 4, "za": 5, "zo": 6},
    **{"maa": 0, "din": 1, "woe": 2, "don": 3, "vri": 4, "zat": 5, "zon": 6},
}
"""The first three letters where dates are written with slashes: they tell which number is the day."""

_NAMES: Final = """
january jan januar janvier janv enero ene gennaio gen janeiro januari styczen stycznia sty leden ledna led ocak oca
ianuarie ian januarja januaria yanvar tammikuu januarius ιαν ιανουαριου январь января янв січня січ tammikuuta tammi
ιανουάριοσ січень студзеня студзень сту януари яну јануар јан јануари januára siječnja siječanj sij sausio sausis saus
janvāris jaanuar jaan gener urtarrila urt xaneiro xan januarie janar يناير ژانویه جنوری ינואר ינו जनवरी जन जानेवारी
जाने জানুয়ারি জানু જાન્યુઆરી જાન્યુ ਜਨਵਰੀ ਜਨ ஜனவரி ஜன జనవరి జన มกราคม มค იანვარი იან հունվարի հունվար հնվ yan қаңтар
қаң

february feb februar fevrier fevr fev febrero febbraio fevereiro februari luty lutego lut unor unora uno subat sub
februarie helmikuu φεβ φεβρουαριου февраль февраля фев лютого лют helmikuuta helmi febr φεβρουάριοσ февр лютий лютага
люты февруари фебруар феб februára veljače veljača velj vasario vasaris vas februāris veebruar veebr febrer otsaila
ots febreiro shkurt shk pebrero peb فبراير فوریه فروری פברואר פבר फ़रवरी फ़र फेब्रुवारी फेब्रु फेब्रुअरी ফেব্রুয়ারি
ফেব ફેબ્રુઆરી ફેબ્રુ ਫ਼ਰਵਰੀ ਫ਼ਰ பிப்ரவரி பிப் ఫిబ్రవరి ఫిబ్ర กุมภาพันธ์ กพ თებერვალი თებ փետրվարի փետրվար փտվ fevral
ақпан ақп شباط

march mar marz maerz mrz mars marzo março marco maart mrt marzec marca brezen brezna bre mart martie marec maaliskuu
marcius μαρ μαρτ μαρτιου март марта мар березня бер maaliskuuta maalis márc μάρτιοσ березень сакавіка сакавік сак
ožujka ožujak ožu kovo kovas kov marts martxoa maret mac marso machi مارس مارچ מרץ मार्च মার্চ માર્ચ ਮਾਰਚ மார்ச் மார்
మార్చి มีนาคม มีค მარტი მარ մարտի մարտ մրտ наурыз нау آذار

april apr avril avr abril abr aprile kwiecien kwietnia kwi duben dubna dub nisan nis aprilie huhtikuu aprilis απρ
απριλιου апрель апреля апр квітня кві huhtikuuta huhti απρίλιοσ квітень квіт красавіка красавік кра април apríla
travnja travanj tra balandžio balandis bal aprill apirila api prill pri aprili أبريل آوریل اپریل אפריל אפר अप्रैल
एप्रिल एप्रि अप्रिल এপ্রিল এপ্রি એપ્રિલ ਅਪ੍ਰੈਲ ਅਪ੍ਰੈ ஏப்ரல் ஏப் ఏప్రిల్ ఏప్రి เมษายน เมย აპრილი აპრ ապրիլի ապրիլ ապր
aprel сәуір сәу نيسان

may mai mayo maggio mag maio mei maj maja kveten kvetna kve mayis toukokuu majus μαι μαϊ μαιος μαιου μαϊου май мая
травня тра toukokuuta touko травень трав мај svibnja svibanj svi gegužės gegužė geg maijs maig maiatza مايو ماي مه مئی
מאי मई मे মে મે ਮਈ மே మే พฤษภาคม พค მაისი მაი մայիսի մայիս մյս мамыр мам أيار

june jun juin junio giugno giu junho juni czerwiec czerwca cze cerven cervna cer haziran haz iunie kesakuu junius ιουν
ιουνιου июнь июня июн червня чер čvn iun kesäkuuta kesä ιούνιοσ червень черв чэрвеня чэрвень чэр юни јун јуни junij
júna lipnja lipanj birželio birželis birž jūnijs juuni juny ekaina eka xuño junie qershor qer hunyo hun يونيو ژوئن جون
יוני जून जुन জুন જૂન ਜੂਨ ஜூன் జూన్ มิถุนายน มิย ივნისი ივნ հունիսի հունիս հնս iyun iyn маусым мау حزيران

july jul juillet juil julio luglio lug julho juli lipiec lipca lip cervenec cervence temmuz tem iulie heinakuu julius
ιουλ ιουλιου июль июля июл липня лип čvc iul heinäkuuta heinä ιούλιοσ липень ліпеня ліпень ліп юли јул јули julij júla
srpnja srpanj liepos liepa liep jūlijs juuli juliol uztaila uzt xullo xul julie korrik korr julai hulyo hul يوليو
يوليوز ژوئیه جولائی יולי जुलाई जुल जुलै জুলাই জুল જુલાઈ ਜੁਲਾਈ ਜੁਲਾ ஜூலை జులై กรกฎาคม กค ივლისი ივლ հուլիսի հուլիս հլս
iyul iyl шілде шіл تموز

august aug aout aou agosto ago ags augustus sierpien sierpnia sie srpen srpna srp agustos agu elokuu augusztus αυγ
αυγουστου август августа авг серпня сер elokuuta elo αύγουστοσ серпень серп жніўня жнівень жні avgust avg augusta
kolovoza kolovoz kol rugpjūčio rugpjūtis rugp augusts augusti ágúst agost ag abuztua abu gusht gush agustus ogos ogo
agosti أغسطس غشت اوت اگست אוגוסט אוג अगस्त अग ऑगस्ट ऑग अगस्ट আগস্ট আগ ઑગસ્ટ ਅਗਸਤ ਅਗ ஆகஸ்ட் ஆக ఆగస్టు ఆగ สิงหาคม สค
აგვისტო აგვ օգոստոսի օգոստոս օգս avqust avq тамыз там آب

september sep sept septembre septiembre settembre set setembro setembre wrzesien wrzesnia wrz zari eylul eyl
septembrie syyskuu szeptember szept σεπ σεπτ σεπτεμβριου сентябрь сентября сен сент вересня вер zář syyskuuta syys
σεπτέμβριοσ вересень верасня верасень септември сеп септембар septembar septembra rujna rujan ruj rugsėjo rugsėjis
rugs septembris iraila ira shtator sht setyembre septemba سبتمبر شتنبر سپتامبر ستمبر ספטמבר ספט सितंबर सित सप्टेंबर
सप्टें सेप्टेम्बर সেপ্টেম্বর সেপ સપ્ટેમ્બર સપ્ટે ਸਤੰਬਰ ਸਤੰ செப்டம்பர் செப் సెప్టెంబర్ సెప్టెం กันยายน กย სექტემბერი
სექ սեպտեմբերի սեպտեմբեր սեպ sentyabr sen қыркүйек қыр sentabr أيلول

october oct oktober okt octobre octubre ottobre ott outubro out pazdziernik pazdziernika paz rijen rijna rij ekim eki
octombrie lokakuu οκτ οκτωβριου октябрь октября окт жовтня жов lokakuuta loka οκτώβριοσ жовтень жовт кастрычніка
кастрычнік кас октомври октобар oktobar októbra spalio spalis spal oktobris oktoober urria urr tetor tet oktubre
oktoba أكتوبر اکتبر اکتوبر אוקטובר אוק अक्टूबर अक्टू ऑक्टोबर ऑक्टो अक्टोबर অক্টোবর অক্টো ઑક્ટોબર ઑક્ટો ਅਕਤੂਬਰ ਅਕਤੂ
அக்டோபர் அக் అక్టోబర్ అక్టో ตุลาคม ตค ოქტომბერი ოქტ հոկտեմբերի հոկտեմբեր հոկ oktyabr қазан қаз oktabr

november nov novembre noviembre novembro listopad listopada lis listopadu kasim kas noiembrie marraskuu νοε νοεμ
νοεμβριου ноябрь ноября ноя листопада лис marraskuuta marras νοέμβριοσ нояб листопад лист лістапада лістапад ліс
ноември ное новембар нов novembar novembra studenoga studeni stu lapkričio lapkritis lapkr novembris azaroa aza nëntor
nën nobyembre nob novemba نوفمبر نونبر نوامبر نومبر נובמבר נוב नवंबर नव नोव्हेंबर नोव्हें नोभेम्बर নভেম্বর নভে નવેમ્બર
નવે ਨਵੰਬਰ ਨਵੰ நவம்பர் நவ నవంబర్ నవం พฤศจิกายน พย ნოემბერი ნოე նոյեմբերի նոյեմբեր նոյ noyabr noy қараша қар

december dec dezember dez decembre diciembre dic dicembre dezembro desember des grudzien grudnia gru prosinec prosince
pro aralik ara decembrie joulukuu δεκ δεκεμβριου декабрь декабря дек грудня гру joulukuuta joulu δεκέμβριοσ грудень
груд снежня снежань сне декември децембар дец decembar decembra prosinca prosinac gruodžio gruodis gruod decembris
detsember dets desembre abendua abe decembro dhjetor dhj disember dis disyembre desemba ديسمبر دجنبر دسامبر دسمبر
דצמבר דצמ दिसंबर दिस डिसेंबर डिसें डिसेम्बर ডিসেম্বর ডিসে ડિસેમ્બર ડિસે ਦਸੰਬਰ ਦਸੰ டிசம்பர் டிச డిసెంబర్ డిసెం ธันวาคม
ธค დეკემბერი დეკ դեկտեմբերի դեկտեմբեր դեկ dekabr dek желтоқсан жел
"""
"""Names of months, a paragraph each, in some sixty languages (Unicode CLDR has the same). Of a word that means two
months (listopad is November in Polish and October in Croatian), the meaning in the larger language stands."""

ZONES: Final[Mapping[str, float]] = {
    **dict.fromkeys(("utc", "gmt", "z", "ut", "wet"), 0),
    **{"bst": 1, "west": 1, "cet": 1, "met": 1, "mez": 1, "wat": 1, "cest": 2, "mest": 2, "mesz": 2, "cetdst": 2},
    **{"eet": 2, "sast": 2, "cat": 2, "eest": 3, "msk": 3, "eat": 3, "trt": 3, "idt": 3, "irst": 3.5, "gst": 4},
    **{"pkt": 5, "yekt": 5, "uzt": 5, "ist": 5.5, "npt": 5.75, "wib": 7, "ict": 7, "novt": 7, "krat": 7},
    **{"sgt": 8, "hkt": 8, "pht": 8, "myt": 8, "wita": 8, "awst": 8, "irkt": 8, "jst": 9, "kst": 9, "wit": 9},
    **{"acst": 9.5, "aest": 10, "vlat": 10, "acdt": 10.5, "aedt": 11, "nzst": 12, "nzdt": 13},
    **{"est": -5, "edt": -4, "et": -5, "cst": -6, "cdt": -5, "ct": -6, "mst": -7, "mdt": -6, "mt": -7},
    **{"pst": -8, "pdt": -7, "pt": -8, "akst": -9, "akdt": -8, "hst": -10, "ast": -4, "adt": -3, "at": -4},
    **{"nst": -3.5, "ndt": -2.5, "brt": -3, "art": -3, "uyt": -3, "clst": -3, "clt": -4, "bot": -4, "vet": -4},
    **{"cot": -5, "pet": -5, "ect": -5},
}
"""Hours east of UTC. Where a name has several meanings, the one that feeds were found to mean (IST: India)."""

REGIONS: Final[Mapping[str, str]] = {
    "et": "America/New_York",
    "ct": "America/Chicago",
    "mt": "America/Denver",
    "pt": "America/Los_Angeles",
}
"""Names that mean summer time in summer."""

HALF_DAYS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("am", "a", "오전", "上午", "午前", "πμ", "ص"), 0),
    **dict.fromkeys(("pm", "p", "오후", "下午", "午後", "μμ", "م"), 12),
}
"""Hours to add to those of the morning."""
LOCAL_ZONES: Final = (("오전", 9.0), ("오후", 9.0), ("년", 9.0), ("上午", 8.0), ("下午", 8.0))
"""Dates in these scripts without a zone are of the place where the script is read."""


def folded(text: str) -> str:
    """Return a text without case and accents."""
    plain = unicodedata.normalize("NFKD", text.casefold()).replace("ł", "l").replace("ı", "i")
    return "".join(character for character in plain if not unicodedata.combining(character))


def month_of(word: str) -> int | None:
    """Return the month that a folded word names; Hebrew writes "in" at its head."""
    names = _months()
    return names.get(word) or names.get(word.removeprefix("ב"))


@cache
def _months() -> Mapping[str, int]:
    paragraphs = enumerate(folded(_NAMES).split("\n\n"), start=1)
    return {name: number for number, names in paragraphs for name in names.split()}
