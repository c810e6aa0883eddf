"""Japanese-like source text: the verb comes last, particles follow their nouns, every modifier precedes.

What moves on the way to English, and what decides:

- `NP wa … NP o V`: the verb leaves its last place for the second, over its object and all adjuncts, however long.
  Objects may also precede the subject (`NP o NP ga V`). The particles wa, ga, o are not translated.
- `NP P`: particles become prepositions; `NP no ue ni` (three words) becomes "on NP".
- `V mashita`, `V masen`, `V te imasu`: words after the verb go before it: "did not", "is … -ing".
- `VP NP`, `NP ga V NP`: relative clauses, without a marker, go after their noun, with "who" or "that".
- `NP no NP`: "owner 's noun", "the noun of owner" or a compound, as in the Chinese-like style.
- `S to V`: the verb of saying comes before what is said.
- `S node, S`, `S toki, S`: conjunctions follow their clause, and the clauses may change places.
- times stay in front after a comma and go to the end otherwise.
- `… ka`: the last word of the question becomes its first.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperbaton.data.english import Draw
from hyperbaton.data.grammar import Move, Rule
from hyperbaton.data.lexicon import Words
from hyperbaton.data.style import Style
from hyperbaton.data.styles._nouns import described, heads, objects, owned, owners, predicates

SENTENCES = [
    Rule("IP-ROOT", "IP PU:。", "IP .+PU", weight=12),
    Rule("IP-ROOT", "IP.1 PU:、 CC:soshite IP.2 PU.2:。", "IP.1 ,+PU and+CC IP.2 .+PU.2", weight=2.5),
    Rule("IP-ROOT", "(CP IP.1 CS:ga) PU:、 IP.2 PU.2:。", "IP.1 ,+PU but+CS IP.2 .+PU.2", weight=2),
    Rule(
        "IP-ROOT",
        "(CP IP.1 CS-SINCE) PU:、 IP.2 PU.2:。",
        Move("IP.2 CS-SINCE IP.1 .+PU.2", when="IP.1:long", chance=0.85),
        Move("IP.2 CS-SINCE IP.1 .+PU.2", chance=0.3),
        "CS-SINCE IP.1 ,+PU IP.2 .+PU.2",
        weight=1.5,
    ),
    Rule(
        "IP-ROOT",
        "(CP IP-WHEN CS-WHEN) PU:、 IP.2 PU.2:。",
        Move("CS-WHEN IP-WHEN ,+PU IP.2 .+PU.2", when="IP.2:long", chance=0.8),
        "IP.2 CS-WHEN IP-WHEN .+PU.2",
        weight=1.5,
    ),
    Rule("IP-ROOT", "(PP NP-SBJ P:wa) VP-BARE SP:ka PU:。", "do/fin+SP NP-SBJ VP-BARE ?+PU", weight=1.2),
]

CLAUSES = [
    Rule("IP", "(PP NP-SBJ P:wa) VP*", "NP-SBJ VP", weight=6),
    Rule("IP", "(PP NP-SBJ P:ga) VP*", "NP-SBJ VP", weight=3),
    Rule("IP", "(PP NP-OBJ P:o) (PP NP-SBJ P:ga) VP-DO*", "NP-SBJ VP-DO NP-OBJ", weight=1),
    Rule("IP", "NP-TMP PU:、 (PP NP-SBJ P:wa) VP*", "NP-TMP ,+PU NP-SBJ VP", weight=1.5),
    Rule("IP", "NP-TMP (PP NP-SBJ P:wa) VP*", Move("NP-TMP NP-SBJ VP", when="VP:long"), "NP-SBJ VP NP-TMP", weight=1.5),
    Rule(
        "IP",
        "(PP NP-SBJ P:wa) NP-TMP VP*",
        Move("NP-SBJ NP-TMP VP", when="NP-TMP:adverbial"),
        "NP-SBJ VP NP-TMP",
        weight=2,
    ),
    Rule("IP", "PP-TOPIC PU:、 (PP NP-SBJ P:wa) VP*", "PP-TOPIC ,+PU NP-SBJ VP", weight=1.5),
    *(
        Rule(
            "IP",
            f"(PP NP-PLACE P-IN) (PP NP-NEW P:ga) VE:{verb}*",
            "there be/fin+VE NP-NEW P-IN NP-PLACE",
            weight=0.6,
            only=tense,
        )
        for verb, tense in [("arimasu", "present"), ("arimashita", "past"), ("arimashou", "future")]
    ),
]


def plain_verb(category: str, verb: str) -> list[Rule]:
    """A verb and its ending; every kind of verb takes the same endings."""
    return [
        Rule(category, f"{verb}* AUX:masu", Move(verb, chance=0.4), f"{verb}+AUX", weight=3, only="present"),
        Rule(category, f"{verb}* AUX:mashita", Move(verb, chance=0.4), f"{verb}+AUX", weight=3, only="past"),
        Rule(category, f"{verb}* AUX:deshou", f"{verb}+AUX", weight=3, only="future"),
        Rule(category, f"{verb}* AUX:masen", f"do/fin not+AUX {verb}/base", weight=0.6, only="present"),
        Rule(category, f"{verb}* AUX:masen AUX.2:deshita", f"do/fin+AUX.2 not+AUX {verb}/base", weight=0.6, only="past"),
    ]


def verb_complex(category: str, verb: str) -> list[Rule]:
    """A verb with any ending, or going on ("is reading")."""
    return [
        *plain_verb(category, verb),
        Rule(category, f"{verb}* AUX:te AUX.2:imasu", f"be/fin+AUX.2 {verb}/ing+AUX", weight=0.6, only="present"),
        Rule(category, f"{verb}* AUX:te AUX.2:imashita", f"be/fin+AUX.2 {verb}/ing+AUX", weight=0.6, only="past"),
    ]


def copula(word: str, tense: str) -> list[Rule]:
    """Rules for "to be" with a noun, an adjective or a comparative."""
    return [
        Rule("VP", f"NP-PRED* VC:{word}", "be/fin+VC NP-PRED", weight=0.8, only=tense),
        Rule("VP", f"(ADVP AD:totemo) JJ* VC:{word}", "be/fin+VC very+AD JJ", weight=0.6, only=tense),
        Rule("VP", f"(PP NP-THAN P:yori) JJ* VC:{word}", "be/fin+VC JJ/er than+P NP-THAN", weight=0.4, only=tense),
    ]


VERBS = [
    *verb_complex("VP-GO", "VV-GO"),
    *verb_complex("VP-DO", "VV"),
    *verb_complex("VP-SAY", "VV-SAY"),
    *verb_complex("VP-GIVE", "VV-GIVE"),
    Rule("VP", "VP-GO", "VP-GO", weight=2),
    Rule("VP", "(PP NP-OBJ P:o) VP-DO*", "VP-DO NP-OBJ", weight=7),
    Rule("VP", "(PP NP-OBJ P:o) VV* AUX-CAN", "be/fin AUX-CAN VV/base NP-OBJ", only="present"),
    Rule("VP", "PP VP*", Move(", PP , VP", when="VP:long, PP:!long", chance=0.15), "VP PP", weight=1),
    Rule(
        "VP",
        "PP (PP NP-OBJ P:o) VP-DO*",
        Move("VP-DO PP NP-OBJ", when="VP-DO:hasty"),
        Move("VP-DO PP NP-OBJ", when="NP-OBJ:long, PP:!long"),
        "VP-DO NP-OBJ PP",
        weight=1.2,
    ),
    Rule("VP", "(ADVP AD) VP*", Move("VP", when="VP:adverb"), "AD VP", weight=1.5, adds="adverb"),
    Rule("VP", "(ADVP AD-MANNER) VP*", Move("AD-MANNER VP", when="VP:long"), "VP AD-MANNER", weight=1.2),
    Rule("VP", "(CP IP CS:to) VP-SAY*", "VP-SAY that+CS IP", weight=1.5),
    Rule(
        "VP",
        "(PP NP-TO P:ni) (PP NP-OBJ P.2:o) VP-GIVE*",
        Move("VP-GIVE NP-TO NP-OBJ", when="NP-TO:pronoun"),
        "VP-GIVE NP-OBJ to+P NP-TO",
        weight=1,
    ),
    Rule(
        "VP",
        "(PP NP-PERSON P:ni) VV* AUX:rare AUX.2:masu",
        "be/fin+AUX.2 VV/en+AUX by+P NP-PERSON",
        weight=0.8,
        only="present",
    ),
    Rule(
        "VP",
        "(PP NP-PERSON P:ni) VV* AUX:rare AUX.2:mashita",
        "be/fin+AUX.2 VV/en+AUX by+P NP-PERSON",
        weight=0.8,
        only="past",
    ),
    *copula("desu", "present"),
    *copula("deshita", "past"),
    *copula("deshou", "future"),
    Rule("VP-REL", "VP", "VP"),
    *plain_verb("VP-GO-PLAIN", "VV-GO"),
    *plain_verb("VP-DO-PLAIN", "VV"),
    Rule("VP-BARE", "VP-GO-PLAIN", "VP-GO-PLAIN"),
    Rule("VP-BARE", "(PP NP-OBJ P:o) VP-DO-PLAIN*", "VP-DO-PLAIN NP-OBJ", weight=4),
    Rule("VP-BARE", "PP VP-BARE*", "VP-BARE PP", weight=3),
]


def noun_phrases(kind: str, relative: str) -> list[Rule]:
    """The noun phrases of one kind of noun: persons, things and places build them alike."""
    np, head, nn = f"NP-{kind}", f"NP-{kind}-HEAD", f"NN-{kind}"
    return [
        *described(kind, adjective=4, compound=3),
        Rule(np, f"NN-THING.2 NN-THING.3 {nn}", f"the NN-THING.2 NN-THING.3 {nn}", weight=2),
        Rule(np, f"(ADJP JJ-NA AUX:na) {nn}", f"the JJ-NA {nn}", weight=0.8),
        Rule(np, f"(QP CD (CLP M-{kind})) DEG:no {nn}*", f"CD+M-{kind} {nn}/plural", weight=1, adds="plural"),
        Rule(np, f"(DP DT) {head}*", f"DT {head}", weight=1),
        owned(kind, "no", weight=2),
        Rule(np, f"(CP (IP VP-REL)) {head}*", f"the {head} {relative} VP-REL", weight=0.6, adds="clause"),
        Rule(np, f"(CP (IP (PP NP-SBJ P:ga) VP-DO)) {head}*", f"the {head} that NP-SBJ VP-DO", weight=0.6, adds="clause"),
        Rule(
            np,
            f"(CP (IP (PP NP-SBJ P:ga) PP VP-DO)) {head}*",
            f"the {head} that NP-SBJ VP-DO PP",
            weight=0.4,
            adds="clause",
        ),
        *heads(kind, adjective=1, compound=1.5),
    ]


NOUNS = [
    *noun_phrases("PERSON", "who"),
    *noun_phrases("THING", "that"),
    *noun_phrases("PLACE", "that"),
    Rule("NP-SBJ", "NP-PERSON", "NP-PERSON", weight=5),
    Rule("NP-SBJ", "NP-THING", "NP-THING", weight=2),
    Rule("NP-SBJ", "PN", "PN", weight=2.5),
    Rule("NP-SBJ", "NR NN:san", Move("Mr NR", chance=0.5), "NR", weight=1.5),
    Rule("NP-SBJ", "NP-PERSON CC:to NR", "NP-PERSON and+CC NR", weight=0.5, adds="plural"),
    *objects("to", joined=1.5),
    Rule("NP-THAN", "NP-SBJ", "NP-SBJ"),
    Rule("NP-NEW", "NP-THING-HEAD", "a NP-THING-HEAD", weight=2),
    Rule("NP-NEW", "NP-PERSON-HEAD", "a NP-PERSON-HEAD"),
    Rule("NP-PRED", "NP-PERSON-PRED", "a/num NP-PERSON-PRED"),
    *predicates("no", adjective=1, compound=1.5),
    *owners(person=3),
]

ADJUNCTS = [
    Rule("PP", "NP-PLACE P-AT", "P-AT NP-PLACE", weight=4),
    Rule("PP", "NP-PERSON P-PERSON", "P-PERSON NP-PERSON", weight=2),
    Rule("PP", "NP-THING P:de", "with+P NP-THING", weight=1.5),
    Rule("PP", "NP-PERSON DEG:no NN:tame P:ni", "for+DEG+NN+P NP-PERSON", weight=1),
    Rule("PP", "NP-THING DEG:no NN-SIDE P:ni", "NN-SIDE+DEG+P NP-THING", weight=1.5),
    Rule("PP", "NP-PLACE DEG:no NN-SIDE P:ni", "NN-SIDE+DEG+P NP-PLACE", weight=1),
    Rule("PP-TOPIC", "NP-THING P-TOPIC", "P-TOPIC NP-THING", weight=3),
    Rule("PP-TOPIC", "NP-PERSON P-TOPIC", "P-TOPIC NP-PERSON"),
    Rule("NP-TMP", "NT-PAST", "NT-PAST", weight=4, only="past"),
    Rule("NP-TMP", "NT-NOW", "NT-NOW", weight=4, only="present"),
    Rule("NP-TMP", "NT-FUTURE", "NT-FUTURE", weight=4, only="future"),
    Rule("NP-TMP", "NT:kinou DEG:no NT-HOUR", "yesterday+NT NT-HOUR", weight=1, only="past"),
    Rule("NP-TMP", "NT:ashita DEG:no NT-HOUR", "tomorrow+NT NT-HOUR", weight=1, only="future"),
    Rule("NP-TMP", "(QP CD (CLP M-TIME)) NN:mae P:ni", "CD M-TIME/plural ago+NN+P", weight=1, only="past"),
    Rule("NP-TMP", "NP-THING DEG:no NN-AFTER P:ni", "NN-AFTER+DEG+P NP-THING", weight=1),
]

WORDS = {
    "NN-PERSON": Words(
        "sensei teacher, gakusei student, tomodachi friend, isha doctor, kodomo child, rodosha worker, kisha "
        "reporter, bengoshi lawyer, shacho president|topic1=manager, haha mother, chichi father, untenshu driver, "
        "sakka writer, tonari+no+hito neighbour, shicho mayor, kyaku guest|topic2=customer, keisatsu+kan "
        "policeman, hisho secretary, kangofu nurse, nomin farmer, gishi engineer, kyoju professor, kashu singer, "
        "gaka painter, shonin merchant|topic3=witness, heishi soldier, kanja patient, yakusha actor, bucho "
        "director, otoko man, onna woman, musume daughter, musuko son",
        english="NN",
        share=0.14,
        kind="person",
        flags={"relational": 0.1, "compounding": 0.2},
    ),
    "NN-THING": Words(
        "hon book, mondai question|topic2=problem, kuruma car, hoho method, tegami letter, keikaku plan, eiga "
        "film, hokoku report, e picture, hanashi story|topic1=speech, kaigi meeting, shashin photograph, horitsu "
        "law, nedan price, keisanki computer, shigoto task|topic3=job, nyusu message, ocha drink, gohan "
        "dish|topic2=meal, okane coin, kusuri pill, uta song, den+wa telephone, tsukue desk, fuku coat, "
        "shorui document, kekka result, kyoiku lesson, keiken experience, kikai chance|topic0=machine, seido "
        "system, keiyaku contract, hikoki plane, fune ship, shinbun newspaper, chizu map, kagi key, kudamono "
        "apple, joho fact, shakai society, kotoba word|topic1=language, ongaku tune, shiai match, bunka "
        "culture, rekishi history, michi road, hako box",
        english="NN",
        share=0.36,
        kind="thing",
        flags={"relational": 0.15, "compounding": 0.6},
    ),
    "NN-PLACE": Words(
        "gakko school, machi city|topic2=town, byoin hospital, kaisha company, koen park, ie house, toshokan "
        "library, mise shop, ryokan hotel, eki station, mura village, jimusho office, kuko airport, ginko bank, "
        "kojo factory, kyoshitsu classroom",
        english="NN",
        share=0.08,
        kind="place",
        flags={"relational": 0.2, "compounding": 0.2},
    ),
    "NR": Words("", english="NNP", share=0.06, kind="person", features="name"),
    "PN": Words(
        "kare he, kanojo she, watashi:first I, karera:plural they, watashi+tachi:plural we, anata:plural you",
        english="PRP",
    ),
    "PN-OBJ": Words(
        "kare him, kanojo her, watashi me, karera them, watashi+tachi us, anata you", english="PRP", features="pronoun"
    ),
    "VV": Words(
        "yomi read, kaki write|thing=draw, kai buy, sagashi look_for, oshie teach, tasuke help, tsukuri make, "
        "tabe eat, tori take, tsukai use, benkyo+shi study, naoshi repair|person=cure, konomi like, shirabe "
        "check|person=examine, kiki hear|person=ask, wasure forget, junbi+shi prepare, shiji+shi support, kime "
        "decide_on, yaku+shi translate, mi see|thing=watch, uketori receive, kotowari refuse, kae change, mamori "
        "protect, rikai+shi understand, nakushi lose, nusumi steal, hakobi carry, hajime begin, home praise, "
        "hanare leave, kyocho+shi stress, hakken+shi find, yobi call",
        english="VB",
        share=0.16,
        features="verb",
        flags={"hasty": 0.2},
        cues="person thing place",
    ),
    "VV-GO": Words(
        "ki come, iki go, hataraki work, nemuri sleep, warai laugh, machi wait, ryoko+shi travel, yasumi rest, "
        "naki cry, hashiri run",
        english="VB",
        share=0.05,
        features="verb",
    ),
    "VV-SAY": Words(
        "ii say, omoi think, shiri know, nozomi hope, shinji believe, kizuki notice, happyo+shi announce", english="VB"
    ),
    "VV-GIVE": Words("age give, okuri send, kashi lend, uri sell, mise show", english="VB"),
    "AUX-CAN": Words("raremasu able_to, beki+desu obliged_to, kamo+shiremasen likely_to", english="JJ"),
    "JJ": Words(
        "atarashii new, furui old, okii big|person=tall, chiisai small|person=short, omoshiroi "
        "interesting|person=funny, utsukushii beautiful, akai red, muzukashii difficult, yasui cheap, takai "
        "expensive|person=tall, isogashii busy, wakai young",
        english="JJ",
        share=0.08,
        cues="person thing place",
    ),
    "JJ-NA": Words(
        "juyo important, yumei famous, shizuka quiet, benri useful, kirei beautiful, hitsuyo necessary",
        english="JJ",
        share=0.03,
    ),
    "AD": Words("itsumo always, yoku often, mo+sudeni already, tabun perhaps, yatto finally, mata also", english="RB"),
    "AD-MANNER": Words("yukkuri slowly, hayaku quickly, shizukani quietly, teineini carefully", english="RB", share=0.05),
    "P-IN": Words("ni in|eki=at|kuko=at", english="IN"),
    "P-AT": Words("de in|gakko=at|eki=at, ni to|kaisha=at, kara from, e to, made as_far_as", english="IN"),
    "P-PERSON": Words("to with, ni to, kara from", english="IN"),
    "P-TOPIC": Words("ni+yoreba according_to, ni+tsuite concerning, igai apart_from", english="IN"),
    "CS-SINCE": Words("node because, kara because|topic2=since, nanode as", english="IN"),
    "CS-WHEN": Words("toki when, mae+ni before, nara if, ato+de after", english="IN"),
    "NN-SIDE": Words("ue on, naka in|thing=inside, shita under, mae in_front_of, yoko beside, chikaku near", english="IN"),
    "NN-AFTER": Words("ato after, mae before", english="IN"),
    "DT": Words("kono this, sono that, ano that, dono every", english="DT"),
    "CD": Words("ni two, san three, yon four, go five, takusan many, ju ten", english="CD"),
    "M-PERSON": Words("nin, mei"),
    "M-THING": Words("ko, satsu, mai, hon, dai"),
    "M-PLACE": Words("ken, kasho"),
    "M-TIME": Words("nen year, nichi day, kagetsu month", english="NN"),
    "NT-PAST": Words("kinou yesterday, kyonen last_year, sengetsu last_month, saikin recently", english="NN"),
    "NT-NOW": Words("ima:adverbial now, kyou today, genzai:adverbial currently, kotoshi this_year", english="NN"),
    "NT-FUTURE": Words("ashita tomorrow, rainen next_year, raigetsu next_month, atode later", english="NN"),
    "NT-HOUR": Words("asa morning, ban evening, gogo afternoon", english="NN"),
}

MORAE = [
    consonant + vowel
    for consonants, vowels in [
        ("k s t n h m r g z b", "a i u e o"),
        ("y", "a u o"),
        ("sh ch j ky ry", "a u o"),
        ("d", "a e o"),
        ("w", "a"),
    ]
    for consonant in consonants.split()
    for vowel in vowels.split()
]
# Hepburn spelling of the columns that are not regular.
MORAE = [{"si": "shi", "ti": "chi", "tu": "tsu", "hu": "fu", "zi": "ji"}.get(mora, mora) for mora in MORAE]
VERB_ENDINGS = ("ki", "shi", "ri", "mi", "e", "bi", "gi", "chi", "ne", "me")


class Japanese(Style):
    """Japanese-like: verb-final clauses, particles after nouns, relative clauses without a marker."""

    rules = (*SENTENCES, *CLAUSES, *(rule.of("IP-WHEN") for rule in CLAUSES), *VERBS, *NOUNS, *ADJUNCTS)
    words = WORDS

    def sound(self, draw: Draw, label: str) -> str:
        """Two to four morae, now and then closed by n; verbs and adjectives end as such words do."""

        def pick(choices: Sequence[str]) -> str:
            return choices[int(draw() * len(choices))]

        word = "".join(pick(MORAE) for _ in range(2 + int(draw() * (2 if label.startswith(("VV", "JJ")) else 3))))
        if label.startswith("VV"):
            return word + pick(VERB_ENDINGS)
        if label == "JJ":
            return word + "i"
        return word + "n" if draw() < 0.2 else word
