"""Chinese-like source text: modifiers before nouns with "de", prepositional phrases and times before the verb.

What moves on the way to English, and what decides:

- `NP de NP`: "owner 's noun" for persons, "the noun of owner" otherwise, a plain compound for some head nouns.
- `VP de NP`, `NP V de NP`: relative clauses go after their noun, with "who" or "that".
- `PP VP`: the PP goes after the verb phrase, or between verb and object if the object is long or the verb requires
  it; a few prepositions (according to, apart from) stay in front.
- times precede the verb and go to the end of the clause; after a comma, or for words like "now", they stay.
- `adverb de VP`: manner goes after a short verb phrase and stays before a long one.
- `zai … li`: two words around a noun become one preposition before it.
- `ba`: the object before the verb goes after it; `bei`: the agent goes to the end, with "by".
- `yinwei …, suoyi …`, `ruguo …, jiu …`, `… yihou`: the clauses may change places.
- `… ma ?`: the last word of the question becomes its first.
"""

from __future__ import annotations

from hyperbaton.data.english import Draw
from hyperbaton.data.grammar import Move, Rule
from hyperbaton.data.lexicon import Words
from hyperbaton.data.style import Style
from hyperbaton.data.styles._nouns import described, heads, objects, owned, owners, predicates

SENTENCES = [
    Rule("IP-ROOT", "IP PU:。", "IP .+PU", weight=12),
    Rule(
        "IP-ROOT",
        "IP.1 PU:， IP.2 PU.2:。",
        Move("IP.1 and IP.2 .+PU.2", chance=0.4),
        "IP.1 ,+PU and IP.2 .+PU.2",
        weight=2,
    ),
    Rule("IP-ROOT", "IP.1 PU:， CC:danshi IP.2 PU.2:。", "IP.1 ,+PU but+CC IP.2 .+PU.2", weight=1),
    Rule(
        "IP-ROOT",
        "(CP P:yinwei IP.1) PU:， AD:suoyi IP.2 PU.2:。",
        Move("IP.2 because+P IP.1 .+PU.2", when="IP.1:long", chance=0.85),
        Move("IP.2 because+P IP.1 .+PU.2", chance=0.3),
        "because+P IP.1 ,+PU IP.2 .+PU.2",
    ),
    Rule(
        "IP-ROOT",
        "(CP CS:ruguo IP-WHEN) PU:， (ADVP AD:jiu) IP.2 PU.2:。",
        Move("IP.2 if+CS IP-WHEN .+PU.2", when="IP.2:!long", chance=0.7),
        "if+CS IP-WHEN ,+PU IP.2 .+PU.2",
    ),
    Rule("IP-ROOT", "(CP CS:suiran IP.1) PU:， IP.2 PU.2:。", "although+CS IP.1 ,+PU IP.2 .+PU.2", weight=0.6),
    Rule(
        "IP-ROOT",
        "(LCP IP-WHEN LC-WHEN) PU:， IP.2 PU.2:。",
        Move("LC-WHEN IP-WHEN ,+PU IP.2 .+PU.2", when="IP.2:long", chance=0.8),
        "IP.2 LC-WHEN IP-WHEN .+PU.2",
        weight=1.2,
    ),
    Rule("IP-ROOT", "NP-SBJ VP-BARE SP:ma PU:？", "do/fin+SP NP-SBJ VP-BARE ?+PU", weight=0.8),
]

CLAUSES = [
    Rule("IP", "NP-SBJ VP*", "NP-SBJ VP", weight=9),
    Rule(
        "IP",
        "NP-SBJ NP-TMP VP*",
        Move("NP-SBJ NP-TMP VP", when="NP-TMP:adverbial"),
        Move("NP-TMP NP-SBJ VP", when="VP:long", chance=0.3),
        "NP-SBJ VP NP-TMP",
        weight=2,
    ),
    Rule("IP", "NP-TMP PU:， NP-SBJ VP*", "NP-TMP ,+PU NP-SBJ VP", weight=1.2),
    Rule("IP", "NP-TMP NP-SBJ VP*", Move("NP-TMP NP-SBJ VP", when="VP:long"), "NP-SBJ VP NP-TMP", weight=1.2),
    Rule("IP", "PP-TOPIC PU:， NP-SBJ VP*", "PP-TOPIC ,+PU NP-SBJ VP", weight=0.6),
    Rule(
        "IP",
        "(LCP NP-PLACE LC-AT) (VP VE:you* NP-NEW)",
        "there be/fin+VE NP-NEW LC-AT NP-PLACE",
        weight=0.6,
    ),
]

VERBS = [
    Rule("VP", "VV-GO", "VV-GO", weight=1.5),
    Rule("VP", "VV-GO* AS:le", Move("VV-GO", chance=0.3), "VV-GO+AS", weight=2, only="past"),
    Rule("VP", "VV* NP-OBJ", "VV NP-OBJ", weight=6),
    Rule("VP", "VV* AS:le NP-OBJ", Move("VV NP-OBJ", chance=0.2), "VV+AS NP-OBJ", weight=6, only="past"),
    Rule("VP", "VV* AS:guo NP-OBJ", "have/fin+AS VV/en NP-OBJ", weight=1, only="present"),
    Rule("VP", "(ADVP AD:jiang) VP-BARE*", "do/fin+AD VP-BARE", weight=6, only="future"),
    Rule("VP", "PP-TOPIC VP*", ", PP-TOPIC , VP", weight=1),
    Rule("VP", "PP VP*", Move(", PP , VP", when="VP:long, PP:!long", chance=0.2), "VP PP", weight=1),
    Rule(
        "VP",
        "PP (VP VV* NP-OBJ)",
        Move("VV PP NP-OBJ", when="VV:hasty"),
        Move("VV PP NP-OBJ", when="NP-OBJ:long, PP:!long"),
        "VV NP-OBJ PP",
        weight=1.2,
    ),
    Rule("VP", "(ADVP AD) VP*", Move("VP", when="VP:adverb"), "AD VP", weight=3, adds="adverb"),
    Rule(
        "VP",
        "(DVP (ADVP AD-MANNER) DEV:de) VP*",
        Move("AD-MANNER VP", when="VP:long"),
        "VP AD-MANNER",
        weight=1.2,
    ),
    Rule("VP", "(ADVP AD:bu) VP-BARE*", "do/fin not+AD VP-BARE", weight=0.8, only="present"),
    Rule("VP", "(ADVP AD:mei) VP-BARE*", "do/fin not+AD VP-BARE", weight=0.8, only="past"),
    Rule("VP", "BA:ba NP-OBJ VV*", "VV NP-OBJ", weight=0.6),
    Rule("VP", "BA:ba NP-OBJ (VP VV* PP-GOAL)", "VV NP-OBJ PP-GOAL", weight=0.8),
    Rule("VP", "LB:bei NP-PERSON VV*", "be/fin VV/en by+LB NP-PERSON", weight=0.7),
    Rule("VP", "VV-CAN VP-BARE*", "VV-CAN VP-BARE", weight=2),
    Rule("VP", "VV-SAY* IP", "VV-SAY that IP", weight=2.5),
    Rule("VP", "VC:shi NP-PRED*", "be/fin+VC NP-PRED", weight=0.8),
    Rule("VP", "(ADVP AD:hen) VA*", "be/fin very+AD VA", weight=0.7),
    Rule("VP", "PP-THAN VA*", "be/fin VA/er PP-THAN", weight=0.4),
    Rule("VP", "VV-GIVE* NP-TO NP-OBJ", Move("VV-GIVE NP-TO NP-OBJ", when="NP-TO:pronoun"), "VV-GIVE NP-OBJ to NP-TO"),
    Rule("VP", "VP.1 CC:bingqie VP.2", "VP.1 and+CC VP.2", weight=1.5),
    Rule("VP-REL", "VP", "VP"),
    Rule("VP-BARE", "VP-PLAIN", "VP-PLAIN"),
    Rule("VP-PLAIN", "VV-GO", "VV-GO"),
    Rule("VP-PLAIN", "VV* NP-OBJ", "VV NP-OBJ", weight=4),
    Rule("VP-PLAIN", "PP VP-PLAIN*", "VP-PLAIN PP", weight=2),
    Rule("VP-PLAIN", "VV-SAY* IP", "VV-SAY that IP", weight=0.5),
    Rule(
        "VP-PLAIN",
        "PP (VP VV* NP-OBJ)",
        Move("VV PP NP-OBJ", when="VV:hasty"),
        "VV NP-OBJ PP",
        weight=2,
    ),
    Rule("PP-THAN", "P:bi* NP-SBJ", "than+P NP-SBJ"),
]


def noun_phrases(kind: str, relative: str) -> list[Rule]:
    """The noun phrases of one kind of noun: persons, things and places build them alike."""
    np, head, nn = f"NP-{kind}", f"NP-{kind}-HEAD", f"NN-{kind}"
    return [
        *described(kind, adjective=3, compound=2),
        Rule(np, f"(QP CD:yi (CLP M-{kind})) {head}*", f"a+CD+M-{kind} {head}", weight=1),
        Rule(np, f"(QP CD (CLP M-{kind})) {nn}*", f"CD+M-{kind} {nn}/plural", weight=1, adds="plural"),
        Rule(np, f"(DP DT (CLP M-{kind})) {head}*", Move(f"DT {head}", chance=0.5), f"DT+M-{kind} {head}", weight=0.8),
        Rule(
            np,
            f"(DNP (ADJP JJ) DEG:de) {nn}*",
            Move(f"the {nn} that be/sg JJ", when="JJ:predicative"),
            Move(f"the JJ {nn}", chance=0.5),
            f"the JJ+DEG {nn}",
            weight=1.5,
        ),
        owned(kind, "de", weight=1.5),
        Rule(np, f"(DNP PP-AT DEG:de) {head}*", f"the {head} PP-AT", weight=0.4, adds="clause"),
        Rule(np, f"(CP (IP VP-REL) DEC:de) {head}*", f"the {head} {relative}+DEC VP-REL", weight=0.5, adds="clause"),
        Rule(np, f"(CP (IP NP-SBJ (VP VV)) DEC:de) {head}*", f"the {head} that+DEC NP-SBJ VV", weight=0.5, adds="clause"),
        Rule(
            np,
            f"(CP (IP NP-SBJ (VP PP VV)) DEC:de) {head}*",
            f"the {head} that+DEC NP-SBJ VV PP",
            weight=0.3,
            adds="clause",
        ),
        *heads(kind, adjective=1.5, compound=1.2),
    ]


NOUNS = [
    *noun_phrases("PERSON", "who"),
    *noun_phrases("THING", "that"),
    *noun_phrases("PLACE", "that"),
    Rule("NP-SBJ", "NP-PERSON", "NP-PERSON", weight=5),
    Rule("NP-SBJ", "NP-THING", "NP-THING", weight=2),
    Rule("NP-SBJ", "PN", "PN", weight=2.5),
    Rule("NP-SBJ", "NR", "NR", weight=1.5),
    Rule("NP-SBJ", "NP-PERSON CC:he NR", "NP-PERSON and+CC NR", weight=1, adds="plural"),
    *objects("he", joined=1),
    Rule("NP-NEW", "(QP CD:yi (CLP M-THING)) NP-THING-HEAD*", "a+CD+M-THING NP-THING-HEAD", weight=2),
    Rule("NP-NEW", "(QP CD:yi (CLP M-PERSON)) NP-PERSON-HEAD*", "a+CD+M-PERSON NP-PERSON-HEAD"),
    Rule("NP-PRED", "(QP CD:yi (CLP M-PERSON)) NP-PERSON-PRED*", "a/num+CD+M-PERSON NP-PERSON-PRED"),
    *predicates("de", adjective=1.5, compound=1.2),
    *owners(person=4),
]

ADJUNCTS = [
    Rule("PP", "PP-AT", "PP-AT", weight=4),
    Rule("PP", "P-PERSON* NP-PERSON", "P-PERSON NP-PERSON", weight=3),
    Rule("PP", "P-THING* NP-THING", "P-THING NP-THING", weight=2),
    Rule("PP", "P:cong* NP-PLACE", "from+P NP-PLACE", weight=1),
    Rule("PP-AT", "P-AT* NP-PLACE", "P-AT NP-PLACE", weight=3),
    Rule("PP-AT", "P:zai (LCP NP-PLACE LC-AT*)", "LC-AT+P NP-PLACE", weight=1.2),
    Rule("PP-AT", "P:zai (LCP NP-THING LC-AT*)", "LC-AT+P NP-THING", weight=0.8),
    Rule("PP-GOAL", "P:dao* NP-PLACE", "to+P NP-PLACE", weight=2),
    Rule("PP-GOAL", "P:zai* (LCP NP-THING LC-AT)", "LC-AT+P NP-THING"),
    Rule("PP-TOPIC", "P-TOPIC* NP-THING", "P-TOPIC NP-THING", weight=3),
    Rule("PP-TOPIC", "P-TOPIC* NP-PERSON", "P-TOPIC NP-PERSON"),
    Rule("NP-TMP", "NT-PAST", "NT-PAST", weight=4, only="past"),
    Rule("NP-TMP", "NT-NOW", "NT-NOW", weight=4, only="present"),
    Rule("NP-TMP", "NT-FUTURE", "NT-FUTURE", weight=4, only="future"),
    Rule("NP-TMP", "NT:zuotian NT-HOUR", "yesterday+NT NT-HOUR", weight=1, only="past"),
    Rule("NP-TMP", "NT:mingtian NT-HOUR", "tomorrow+NT NT-HOUR", weight=1, only="future"),
    Rule("NP-TMP", "(LCP (QP CD (CLP M-TIME)) LC:qian)", "CD M-TIME/plural ago+LC", weight=1, only="past"),
    Rule("NP-TMP", "(LCP NP-THING LC-AFTER)", "LC-AFTER NP-THING", weight=1),
]

WORDS = {
    "NN-PERSON": Words(
        "laoshi teacher, xuesheng student, pengyou friend, yisheng doctor, haizi child, gongren worker, jizhe "
        "reporter, lushi lawyer, jingli manager, muqin mother, fuqin father, siji driver, zuojia writer, linju "
        "neighbour, shizhang mayor, keren guest, jing+cha policeman, mishu secretary, daifu "
        "physician|topic1=nurse, nongmin farmer, gongchengshi engineer, jiaoshou professor, geshou singer, huajia "
        "painter, shangren merchant, shibing soldier, guanyuan official, bing+ren patient, yanyuan actor, zhuren "
        "director|topic2=chairman, tongxue classmate, nuhai girl, erzi son, laoban boss",
        english="NN",
        share=0.14,
        kind="person",
        flags={"relational": 0.1, "compounding": 0.2},
    ),
    "NN-THING": Words(
        "shu book, wenti question|topic2=problem, che car, fangfa method, xin letter, jihua plan, dianying film, "
        "baogao report|topic1=lecture, hua picture, gushi story, huiyi meeting, zhaopian photograph, falu law, "
        "jiage price, jisuanji computer, gongzuo task|topic3=job, xinwen message|topic0=notice, cha drink, fan "
        "dish|topic2=meal, qian coin, yao pill, ge song, dian+hua telephone, zhuozi table, yifu coat, "
        "wenjian document, chengji result, jiaoyu lesson, jingyan experience, ji+hui chance, zhidu system, "
        "hetong contract, feiji plane, chuan ship, baozhi newspaper, ditu map, yaoshi key, beizi cup, shuiguo "
        "apple, xinxi fact, shehui society, yuyan language, yinyue tune, bisai match|topic1=contest, "
        "wenhua culture, lishi history, anquan danger, yiyi meaning, daolu road, hezi box",
        english="NN",
        share=0.36,
        kind="thing",
        flags={"relational": 0.2, "compounding": 0.5},
    ),
    "NN-PLACE": Words(
        "xuexiao school, chengshi city, yiyuan hospital, gongsi company, gongyuan park, jia home|topic1=family, "
        "tushuguan library, shangdian shop, fandian hotel|topic2=restaurant, huo+che+zhan station, cunzi village, "
        "bangongshi office, jichang airport, yinhang bank, gongchang factory, jiaoshi classroom",
        english="NN",
        share=0.08,
        kind="place",
        flags={"relational": 0.2, "compounding": 0.2},
    ),
    "NR": Words("", english="NNP", share=0.06, kind="person", features="name"),
    "PN": Words(
        "ta he|topic1=she|topic3=she, women:plural we, tamen:plural they, wo:first I, ni:plural you",
        english="PRP",
        features="pronoun",
    ),
    "PN-OBJ": Words("ta him|topic1=her|topic3=her, women us, tamen them, wo me, ni you", english="PRP", features="pronoun"),
    "VV": Words(
        "kan read|person=visit|place=look_at, xie write, mai buy, zhao find|person=look_for, jiao teach, bangzhu "
        "help, zuo make, chi eat, na take, yong use, xuexi study, xiuli repair, xihuan like, taolun discuss, "
        "dasuan plan, jieshao introduce, piping criticize, tingjian hear, wangji forget, zhunbei prepare, jiancha "
        "check|person=examine, zhichi support, jueding decide_on, anpai arrange, fanyi translate, da "
        "hit|thing=play|place=call, jieshou accept, jujue refuse, gaibian change, guanli manage|place=run, "
        "diaocha investigate, jianli build|person=set_up, kaifa develop, baohu protect, mingbai understand, diu "
        "lose, tou steal, jieshi explain, yunsong carry, kaishi begin, zuzhi organize, biaoyang praise, likai "
        "leave, xuyao need, yingxiang influence",
        english="VB",
        share=0.16,
        features="verb",
        flags={"hasty": 0.2},
        cues="person thing place",
    ),
    "VV-GO": Words(
        "lai come, zou leave, gongzuo work, shuijiao sleep, xiao laugh, dengdai wait, lüxing travel, xiuxi rest, "
        "ku cry, pao run",
        english="VB",
        share=0.05,
        features="verb",
    ),
    "VV-SAY": Words(
        "shuo say, renwei think, zhidao know, xiwang hope, xiangxin believe, faxian find_out, tongyi agree",
        english="VB",
    ),
    "VV-GIVE": Words("gei give, song send, jie lend, mai+gei sell, gaosu show", english="VB"),
    "VV-CAN": Words("keyi can, bixu must, yinggai should, keneng may", english="MD"),
    "VA": Words(
        "gao tall, da big, hao good, gui expensive, mang busy, piaoliang beautiful, zhongyao important, jiandan simple",
        english="JJ",
    ),
    "JJ": Words(
        "xin new, lao old, da big|person=great, xiao small|person=young, zhongyao important, gaoxing happy, "
        "piaoliang beautiful, guonei domestic, zhongguo Chinese, youqu interesting, hong red, nan difficult, "
        "pinqiong poor, jingji economic",
        english="JJ",
        share=0.1,
        flags={"predicative": 0.2},
        cues="person thing place",
    ),
    "AD": Words("ye also, jingchang often, yijing already, zhi only, zongshi always, zhong+yu finally", english="RB"),
    "AD-MANNER": Words(
        "renzhen carefully, hen+kuai quickly, gaoxing happily, manman slowly, anjing quietly", english="RB", share=0.05
    ),
    "P-AT": Words("zai in|xuexiao=at|jichang=at|gongsi=at, yu at", english="IN"),
    "P-PERSON": Words("gen with, wei for, dui to, xiang to|topic1=towards, ti on_behalf_of", english="IN"),
    "P-THING": Words("yong with, wei for, tongguo through, anzhao by_means_of", english="IN"),
    "P-TOPIC": Words("genju according_to, chule apart_from, guanyu as_for, weile for_the_sake_of", english="IN"),
    "LC-AT": Words(
        "li in|thing=inside, shang on, xia under, pangbian beside, qianmian in_front_of, fujin near", english="IN"
    ),
    "LC-AFTER": Words("yihou after, yiqian before", english="IN"),
    "LC-WHEN": Words("yihou after, yiqian before, shi when", english="IN"),
    "DT": Words("zhe this, na that, mei every", english="DT"),
    "CD": Words("liang two, san three, si four, wu five, ji several, xuduo many, shi ten", english="CD"),
    "M-PERSON": Words("ge, wei"),
    "M-THING": Words("ge, jian, ben, zhang, tiao"),
    "M-PLACE": Words("ge, suo, jia"),
    "M-TIME": Words("nian year, tian day, yue month", english="NN"),
    "NT-PAST": Words(
        "zuotian yesterday, qunian last_year, shang+ge+yue last_month, zuijin recently, dangshi then", english="NN"
    ),
    "NT-NOW": Words(
        "xianzai:adverbial now, jintian today, muqian:adverbial currently, jinnian this_year, zheli+nian these_years",
        english="NN",
    ),
    "NT-FUTURE": Words("mingtian tomorrow, mingnian next_year, xia+ge+yue next_month, yihou later", english="NN"),
    "NT-HOUR": Words("zaoshang morning, wanshang evening, xiawu afternoon", english="NN"),
}

LABIALS, PALATALS, RETROFLEX = "b p m f", "j q x", "zh ch sh r z c s"
SYLLABLES = [
    initial + final
    for initials, finals in [
        (LABIALS, "a ai an ang ao ei en eng u"),
        ("b p m", "i ian iao ie in ing"),
        ("d t n l", "a ai an ang ao e eng i ian iao ie ing ong ou u uan uo"),
        ("g k h", "a ai an ang ao e en eng ong ou u ua uai uan uang ui un uo"),
        (PALATALS, "i ia ian iang iao ie in ing iong iu u uan ue un"),
        (RETROFLEX, "a ai an ang ao e en eng i ou u uan ui un uo"),
        ("y", "a an ang ao e i in ing ong ou u uan ue un"),
        ("w", "a ai an ang ei en o u"),
    ]
    for initial in initials.split()
    for final in finals.split()
]


class Chinese(Style):
    """Chinese-like: "de", prepositional phrases and times before the verb, localizers, ba and bei."""

    rules = (*SENTENCES, *CLAUSES, *(rule.of("IP-WHEN") for rule in CLAUSES), *VERBS, *NOUNS, *ADJUNCTS)
    words = WORDS

    def sound(self, draw: Draw, label: str) -> str:
        """One to three syllables: verbs are often one, names never three."""
        u = draw()
        n_syllables = 1 if label.startswith("VV") and u < 0.1 else 3 if label == "NN-THING" and u > 0.85 else 2
        return "".join(SYLLABLES[int(draw() * len(SYLLABLES))] for _ in range(n_syllables))
