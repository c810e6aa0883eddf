"""Raw text in, raw text out: tags, paragraphs, structure, glossaries, commands, and systems that know them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from hyperbaton.align.tags import pair
from hyperbaton.base.errors import Cancelled, InputError, OptionError
from hyperbaton.cli import Program
from hyperbaton.corpus import Bitext, Text
from hyperbaton.corpus.casing import Casing
from hyperbaton.corpus.processing import TextProcessing, TextSide
from hyperbaton.decode import Decoding, System, TokenTranslator
from hyperbaton.decode.raw import (
    HTML,
    PLAIN,
    XML,
    Glossary,
    RawText,
    RawTranslator,
    Sentence,
    SentenceTranslation,
    TextFormat,
)
from hyperbaton.phrases import PhraseTable, extract
from hyperbaton.run.experiment import parse_experiment
from hyperbaton.run.plan import make_plan
from hyperbaton.run.stage import Work
from hyperbaton.run.stages import stage_modules

GERMAN = ["das", "alte", "haus", "steht", "in", "köln", ",", "sagte", "sie", ".", "ja", "?"]
ENGLISH = ["the", "old", "house", "stands", "in", "Cologne", ",", "she", "said", ".", "yes", "?"]


@pytest.fixture(scope="module")
def system() -> System:
    """Word for word, except that `sagte sie` is turned round."""
    links = [(i, {7: 8, 8: 7}.get(i, i)) for i in range(len(GERMAN))]
    bitext = Bitext.of([" ".join(GERMAN)], [" ".join(ENGLISH)], [links])
    casing = Text.of(["Das alte Haus steht in Köln", "Wo ist das Haus ?"])
    source = TextSide("de", "sacremoses", "lowercase")
    target = TextSide("en", "sacremoses", "truecase", learned=Casing.learn(casing))
    table = PhraseTable.build(bitext, extract(bitext))
    return System.of(table, weights={"PhrasePenalty0": -1.0}).with_text(TextProcessing(source, target))


TAGS = ["<b>", "</b>", "<i x='1'>", "</i>", "<br/>", "<img>", "<p>", "</p>", "<!-- c -->"]


@given(st.data(), st.sampled_from([PLAIN, HTML, XML]))
def test_tags_are_never_lost_and_always_nested(data: st.DataObject, form: TextFormat) -> None:
    """Every tag of a text is in the output, and properly nested tags stay properly nested."""
    sentences = data.draw(st.lists(st.lists(st.sampled_from(["a", "b", *TAGS]), max_size=7), min_size=1, max_size=3))
    text = data.draw(st.sampled_from([". A ", "\n"])).join(" ".join(sentence) for sentence in sentences)
    raw = RawText(TextProcessing(), data.draw(st.integers(1, 9)))
    document = raw.read(text, form)
    translations = []
    for sentence in document.sentences:
        n, n_words = data.draw(st.integers(0, 4)), len(sentence.tokens)
        pairs = st.tuples(st.integers(0, max(n_words - 1, 0)), st.integers(0, max(n - 1, 0)))
        links = sorted(data.draw(st.sets(pairs, max_size=4))) if n_words and n else []
        translations.append(SentenceTranslation(["w"] * n, links))
    written = raw.write(document, translations)
    found, expected = ([t for t in scan_tags(some, form) if t not in ("", "c")] for some in (written, text))
    assert set(found) == set(expected)
    marks = form.scan(text)
    partners = pair(marks, fold=form.html)
    tags = [n for n, mark in enumerate(marks) if mark.kind in ("start", "end")]
    if all(partners[n] is not None for n in tags):
        again = form.scan(written)
        partners = pair(again, fold=form.html)
        tags = [n for n, mark in enumerate(again) if mark.kind in ("start", "end")]
        assert all(partners[n] is not None for n in tags), written
        if len(document.sentences) < 2:  # an element that is over between two sentences may be there twice
            assert sorted(found) == sorted(expected)


def scan_tags(text: str, form: TextFormat) -> list[str]:
    return [text[mark.begin : mark.end] for mark in form.scan(text) if mark.kind != "text"]


def test_paragraphs_in_paragraphs_out(system: System) -> None:
    translator = RawTranslator(TokenTranslator(system))
    text = "Das alte Haus steht in Köln, sagte sie. Ja?\r\n\r\n\t• das <b>alte <i>Haus</i></b>  \nJa? "
    assert translator.translate([text]) == [
        "The old house stands in Cologne, she said. Yes?\r\n\r\n\t• the <b>old <i>house</i></b>  \nYes? "
    ]
    over = "Das <b>Haus. Ja? Das</b> Haus </i>"
    assert translator.translate([over]) == ["The <b>house. Yes? The</b> house </i>"]
    assert translator.translate(["", " \n ", "sagte <a href='x'>sie</a>"]) == ["", " \n ", "<a href='x'>she</a> said"]


def test_addresses_and_numbers_are_not_split(system: System) -> None:
    translated = RawTranslator(TokenTranslator(system)).translate(
        ["Haus: HTTPS://x.org/A_b?q=1&r=2, Me@Mail.org 1.234,5 3:30 \ue007"]
    )
    assert translated == ["House: HTTPS://x.org/A_b?q=1&r=2, Me@Mail.org 1,234.5 3:30 \ue007"]
    # Neither case nor escapes are those of words.
    addresses = "www.haus.de köln@haus.de http://a.b/?x=&amp;y"
    assert RawTranslator(TokenTranslator(system)).translate([addresses]) == [addresses]
    assert RawTranslator(TokenTranslator(system)).translate(["http://a.b/?x&amp;y <p>Ja"], html=True) == [
        "http://a.b/?x&amp;y <p>Yes"
    ]


def test_html_keeps_its_blocks_and_escapes(system: System) -> None:
    fixed = "</p><!-- Haus --><script>Haus</script>\n<ul><li>"
    page = f"<p>Das Haus &amp; K&ouml;ln &lt;ja&gt;{fixed}Ja?</li></ul>Haus<br>&#xE000;"
    assert RawTranslator(TokenTranslator(system)).translate([page], html=True) == [
        f"<p>The house &amp; Cologne &lt; yes &gt;{fixed}Yes?</li></ul>House<br>\ue000"
    ]


STRUCTURES: dict[str, tuple[TextFormat, str, str]] = {
    "two elements": (XML, "<doc><t>Das Haus.</t><t>Ja?</t></doc>", "<doc><t>The house.</t><t>Yes?</t></doc>"),
    "layout": (
        XML,
        '<?xml version="1.0"?>\n<doc>\n  <!-- Haus -->\n  <t id="1">Das Haus. Ja?</t>\n  <link>Haus</link><e/>\n</doc>',
        '<?xml version="1.0"?>\n<doc>\n  <!-- Haus -->\n  <t id="1">The house. Yes?</t>\n  <link>House</link><e/>\n</doc>',
    ),
    "inside sentences": (XML, "<t>sagte <i>sie</i>. <i>Ja?</i></t>", "<t><i>she</i> said. <i>Yes?</i></t>"),
    "over sentences": (XML, "<t>Ja? <i>Das Haus. Ja?</i></t>", "<t>Yes? <i>The house. Yes?</i></t>"),
    "beside no text": (XML, "<t><i>sagte</i> <i>sie</i></t>", "<t><i>said</i> <i>she</i></t>"),
    "non-splitting": (
        replace(XML, non_splitting=frozenset("i")),
        "<t><i>sagte</i> <i>sie</i></t>",
        "<t><i>she</i> <i>said</i></t>",
    ),
    "no outline": (replace(XML, detect=False), "<t><i>sagte</i> <i>sie</i></t>", "<t><i>she</i> <i>said</i></t>"),
    "splitting": (
        replace(XML, detect=False, splitting=frozenset("i")),
        "<t><b>sagte <i>sie</i> sagte</b></t>",
        "<t><b>said <i>she</i> said</b></t>",
    ),
    "ignored": (
        replace(XML, ignored=frozenset("x")),
        '<t>Das <x a=">">Haus steht &amp; <b>Köln</b></x>?</t><x>Ja</x>',
        '<t>The <x a=">">Haus steht &amp; <b>Köln</b></x>?</t><x>Ja</x>',
    ),
    "not to be translated": (
        HTML,
        "<h1>Haus</h1><p translate='no'>Haus <p>das <b class=\"x notranslate\">Haus</b> steht</p>",
        "<h1>House</h1><p translate='no'>Haus <p>the <b class=\"x notranslate\">Haus</b> stands</p>",
    ),
    "lines": (XML, "<t>Das\n alte <b>Haus\nJa</b>? </t>", "<t>The\n old <b>house\nYes</b>? </t>"),
    "no lines": (replace(XML, newlines=False), "<t>Das\n alte Haus\n</t>", "<t>The old house\n</t>"),
    "one sentence": (replace(XML, newlines=False, sentences=False), "<t>Ja.\nJa?</t>", "<t>Yes. yes?</t>"),
    "entities": (XML, "<t>Das &haus; K&#246;ln</t><t>&haus;</t>", "<t>The &haus; Cologne</t><t>&haus;</t>"),
    "data": (XML, "<t><![CDATA[<Haus>]]></t>", "<t><![CDATA[<Haus>]]></t>"),
    "no partners": (XML, "<t>Das <b>Haus</i></t></t>", "<t>The <b>house</i></t></t>"),
    "page": (
        HTML,
        "<!DOCTYPE html>\n<p>Das\nHaus <b>steht</b>.<br>Ja <script>if (a<b) Haus</script>?<ul><li>Das<li>Haus</ul>",
        "<!DOCTYPE html>\n<p>The house <b>stands</b>.<br>Yes<script>if (a<b) Haus</script>?<ul><li>The<li>House</ul>",
    ),
}


@pytest.mark.parametrize("case", STRUCTURES)
def test_structure_stays(system: System, case: str) -> None:
    form, text, expected = STRUCTURES[case]
    assert RawTranslator(TokenTranslator(system)).translate([text], form=form) == [expected]


def test_xml_that_is_not_well_formed_is_refused_where_it_must_be(system: System) -> None:
    with pytest.raises(InputError, match="the XML is not well-formed: </b> in line 2 has no partner"):
        RawTranslator(TokenTranslator(system)).translate(["<t>\nHaus</b></t>"], form=replace(XML, strict=True))


@pytest.mark.parametrize(
    "text",
    [
        "x " + "<b>" * 1_100 + "Haus" + "</b>" * 1_100,
        "x " + "<b>" * 900 + "Ja. " * 1_100 + "</b>" * 900,
        "x " + "<b><i></b>" * 1_100,
        "<p>a</p><b>" + "</p>" * 1_100,
        "<p>" * 1_100 + "</p><b>" * 1_100,
        "<!-- " * 1_100 + "<![CDATA[ " * 1_100 + "<script> " * 1_100,
        "<a b='" * 1_100 + '<a b="' * 1_100,
        "x &foo; " * 1_100,
    ],
)
@pytest.mark.parametrize("form", [PLAIN, HTML, XML], ids=["plain", "html", "xml"])
def test_structure_of_any_depth_and_number(text: str, form: TextFormat) -> None:
    """Neither the recursion limit nor the number of private characters is one for tags."""
    raw = RawText(TextProcessing(), 100)
    document = raw.read(text, form)
    copied = [
        SentenceTranslation(sentence.tokens, [(i, i) for i in range(len(sentence.tokens))])
        for sentence in document.sentences
    ]
    written = raw.write(document, copied)
    assert scan_tags(written, form) == scan_tags(text, form)


def test_long_sentences_are_cut_with_their_tags(system: System) -> None:
    text = system.text
    assert text is not None
    raw = RawText(text, 3)
    document = raw.read("das alte <b>haus steht</b> in<br/> köln<hr/>")
    assert [sentence.tokens for sentence in document.sentences] == [["das", "alte", "haus"], ["steht", "in", "köln"]]
    tags = [[(e.tag, e.begin, e.end) for e in sentence.elements] for sentence in document.sentences]
    assert tags == [[("<b>", 2, 3)], [("<b>", 0, 1), ("<br/>", 2, 2)]]
    assert [sentence.reopened for sentence in document.sentences] == [0, 1]


def test_glossary_forces_and_reports(system: System) -> None:
    glossary = Glossary.of(
        [("Altes", "ancient"), ("alte Haus", "Old House"), ("Haus steht", "stand"), ("haus", "Home")], system.text
    )
    translated = RawTranslator(TokenTranslator(system, glossary=glossary)).translate(["Das alte Haus steht. Haus?"])
    assert translated == ["The Old House stands. Home?"]
    assert glossary.take_conflicts() == ["sentence 1: the terms 'alte haus' and 'haus steht' overlap; the first is used"]
    marked = TokenTranslator(system, Decoding(markup=True), glossary=glossary)
    assert marked.translate(['das <x translation="new home">haus</x>']) == ["the new home"]
    assert "markup overrides the glossary's translation" in glossary.take_conflicts()[0]


def test_time_for_a_glossary_does_not_depend_on_its_terms() -> None:
    class Word(str):
        """A word that counts how often it is looked up."""

        n_lookups = 0

        def lower(self) -> Word:
            return self

        def __hash__(self) -> int:
            Word.n_lookups += 1
            return super().__hash__()

    words = [Word("a" if n % 2 else "b") for n in range(100)]
    glossary = Glossary.of([(f"a b {n}", str(n)) for n in range(1000)])
    assert glossary.find(words) == [] and Word.n_lookups <= 3 * len(words)

    def stop() -> None:
        raise Cancelled("stop")

    with pytest.raises(Cancelled):
        Sentence(["a"], [""]).with_terms(glossary, 1, stop)


@given(st.lists(st.text("ab", min_size=1, max_size=4), max_size=6), st.text("ab", max_size=12))
def test_terms_of_a_sentence(terms: list[str], sentence: str) -> None:
    """The longest terms are used, then those further left; overlaps that are not nested are reported."""
    matches = [(a, a + len(term)) for term in set(terms) for a in range(len(sentence)) if sentence.startswith(term, a)]
    taken: list[tuple[int, int]] = []
    n_conflicts = 0
    for begin, end in sorted(matches, key=lambda m: (m[0] - m[1], m[0])):
        other = next((t for t in taken if begin < t[1] and t[0] < end), None)
        if other is None:
            taken.append((begin, end))
        n_conflicts += other is not None and not (other[0] <= begin and end <= other[1])
    glossary = Glossary.of([(" ".join(term), term) for term in terms])
    assert [(b, e) for b, e, _ in glossary.find(list(sentence))] == sorted(taken)
    assert all(text == sentence[b:e] for b, e, text in glossary.find(list(sentence)))
    assert len(glossary.take_conflicts()) == min(2 * n_conflicts, 100)


def test_glossary_file(tmp_path: Path) -> None:
    path = tmp_path / "terms.tsv"
    path.write_text("# terms\nhaus\thouse\n\nhaus\thome\n", encoding="utf-8")
    assert Glossary.read(path).conflicts[0].startswith(f"{path}:4: 'haus' has two translations")
    path.write_text("haus\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"terms.tsv:1: expected a term, a tab and its translation"):
        Glossary.read(path)


def test_verbs(system: System, tmp_path: Path) -> None:
    cased = tmp_path / "cased.en"
    cased.write_text("We saw Cologne\n", encoding="utf-8")
    system.save(tmp_path / "saved")
    again = System.load(tmp_path / "saved")
    assert again.text == system.text and again.text is not None
    assert again.text.target.learned == (system.text and system.text.target.learned)
    (tmp_path / "in").write_bytes("Das Haus.\r\n\nKöln?".encode())
    done = CliRunner().invoke(Program(), ["translate", str(tmp_path / "saved"), str(tmp_path / "in"), "--raw"])
    assert done.exit_code == 0 and done.stdout == "The house.\n\nCologne?\n"
    (tmp_path / "page").write_text("<p>Das\nHaus &amp; Köln</p>\n", encoding="utf-8")
    command = ["translate", str(tmp_path / "saved"), str(tmp_path / "page"), "--html"]
    done = CliRunner().invoke(Program(), [*command, "--raw"])
    assert done.exit_code == 0 and done.stdout == "<p>The house &amp; Cologne</p>\n"
    for more, message in (
        ((), "--html needs --raw"),
        (("--raw", "--unbuffered"), "one page: leave out --unbuffer"),
    ):
        done = CliRunner().invoke(Program(), [*command, *more])
        assert isinstance(done.exception, OptionError) and message in str(done.exception)
    with pytest.raises(OptionError, match="build it with --source-text and --target-text"):
        RawTranslator(TokenTranslator(System.of(system.table)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("en:tokenizer=moses", "unknown tokenizer 'moses'"),
        ("english", "a language is a code like en"),
        ("en:casing=upper", "casing must be one of none, lowercase, truecase"),
        ("en:lower=yes", "unknown option 'lower'; known: language, tokenizer, casing, escapes, placeholders"),
    ],
)
def test_a_wrong_side_is_one_line(text: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        TextSide.parse(text)


def test_run_trains_with_the_words_that_systems_know(tmp_path: Path) -> None:
    lines = {
        "train": "The Haus is here .\nOn top the Haus stands 1990",
        "dev": "HAUS AND HOME\nThe end",
        "test": "Haus\nThe end",
    }
    corpus: dict[str, Any] = {"clean": {"ratio": 9}}
    for split, text in lines.items():
        (tmp_path / split).write_text(text + "\n", encoding="utf-8")
        corpus[split] = {"source": split, "target": split, "links": "links"}
    (tmp_path / "links").write_text("0-0\n0-0\n", encoding="utf-8")
    values = {
        "corpus": corpus,
        "models": {"linear": {}},
        "text": {
            "source": "de:tokenizer=sacremoses:casing=lowercase:placeholders=yes",
            "target": "en:casing=truecase:placeholders=yes",
        },
    }
    plan = make_plan(parse_experiment(values, "exp.toml", tmp_path))
    for stage in [stage for stage in plan if stage.kind == "corpus"]:
        order = stage.order(tmp_path, 1)
        out = Path(order["folder"])
        out.mkdir(parents=True)
        inputs = {name: Path(path) for name, path in order["inputs"].items()}
        stage_modules()["corpus"].run(Work(inputs, order["options"], out, out, 1))

    def text(split: str, side: str) -> str:
        return (plan.provided[f"corpus.{split}"].folder(tmp_path) / f"{split}.{side}").read_text(encoding="utf-8")

    assert text("train", "source") == "the haus is here .\non top the haus stands @number@\n"
    assert text("train", "target") == "the Haus is here .\nOn top the Haus stands @number@\n"
    assert text("dev", "target") == "Haus AND HOME\nthe end\n"
    system = plan.stages["system.linear"]
    assert (
        system.options["text"]["source"]["tokenizer"] == "sacremoses"
        and system.inputs["casing"] is plan.provided["corpus.train"]
    )
    with pytest.raises(OptionError, match=r"key 'text.source': the corpus is tokenized by jieba"):
        tokenized = values | {"corpus": corpus | {"tokenize": {"source": "jieba"}}}
        parse_experiment(tokenized, "exp.toml", tmp_path)
    with pytest.raises(OptionError, match=r"key 'text.target': placeholders must be set on both sides"):
        parse_experiment(values | {"text": {"source": "de:placeholders=yes", "target": "en"}}, "exp.toml", tmp_path)
    with pytest.raises(OptionError, match=r"key 'text.source': generated text has no numbers: leave out placeholders"):
        made = values | {"corpus": {"generate": {}}, "text": {"source": "de:placeholders=yes"}}
        parse_experiment(made, "exp.toml", tmp_path)


def test_no_character_of_a_text_stands_for_an_element(system: System) -> None:
    translate = RawTranslator(TokenTranslator(system)).translate
    for form in (HTML, XML):
        text = '<p><i translate="no">Q</i> das \U00100000 &#x100000; haus</p>'
        assert translate(text, form=form) == '<p><i translate="no">Q</i> the \U00100000 \U00100000 house</p>'


def test_preformatted_text_keeps_its_lines(system: System) -> None:
    translate = RawTranslator(TokenTranslator(system)).translate
    page = "<p>das\nhaus</p><pre>das <b>haus\n  steht</b>\r\n\nja ?\n</pre><p>das\nhaus</p>"
    expected = "<p>the house</p><pre>the <b>house\n  stands</b>\r\n\nyes?\n</pre><p>the house</p>"
    assert translate(page, html=True) == expected
