"""Raw text in, raw text out: bitexts with languages, places of tokens, links, lexicon, projection, translation."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperbaton import Bitext, Translator
from hyperbaton.align.annotation_files import ProjectionOptions, project_files
from hyperbaton.base.errors import InputError, OptionError, SentenceError
from hyperbaton.corpus.processing import TextProcessing, TextSide
from hyperbaton.corpus.raw import locate
from hyperbaton.corpus.text import raw_word
from hyperbaton.corpus.tokenizers import make_tokenizer
from tests.program import hyperbaton

GERMAN = ['Er sagte: "Ich habe 1.234 Bücher!"', "Das ist's, oder?", "Wir haben das Buch gelesen."]
ENGLISH = ['He said, "I have 1,234 books!"', "That's it, isn't it?", "We have read the book."]
LANGUAGES = ("de", "en")
LINKS = "0-0\n0-0\n0-0 1-1 2-3 3-4 4-2 5-5\n"


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, lines in (("a.de", GERMAN), ("a.en", ENGLISH)):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "a.links").write_text(LINKS)
    return tmp_path


def test_languages_choose_tokenizers_without_escapes(texts: Path) -> None:
    bitext = Bitext.read("a.de", "a.en", "a.links", languages=LANGUAGES)
    assert bitext.source[1] == ["Das", "ist", "'", "s", ",", "oder", "?"]
    assert bitext.target[0] == ["He", "said", ",", '"', "I", "have", "1,234", "books", "!", '"']
    for text, lines in ((bitext.source, GERMAN), (bitext.target[1:], ENGLISH[1:])):
        for s, line in enumerate(lines):
            assert [line[begin:end] for begin, end in text.places_of(s)] == text[s]
    escaped = Bitext.read("a.de", "a.en", languages=("de:escapes=yes", "en"))
    assert escaped.source[1][2] == "&apos;" and escaped.source.places_of(1) == bitext.source.places_of(1)
    assert repr(bitext).endswith("raw text de-en>") and "raw text" not in repr(Bitext.read("a.de", "a.en"))


def test_casing_and_placeholders_are_those_of_the_training_text(texts: Path) -> None:
    options = ("de:casing=truecase:placeholders=yes", "en:casing=lowercase:placeholders=yes")
    bitext = Bitext.of([*GERMAN, "Ja, das"], [*ENGLISH, "Yes, that"], languages=options)
    assert bitext.source[0][6] == bitext.target[0][6] == "@number@"
    assert bitext.source[2][0] == "Wir" and bitext.target[2][0] == "we" and bitext.source[1][0] == "das"
    dev = Bitext.of(["Das Buch"], ["The book"], languages=bitext.text)
    assert dev.source[0] == ["das", "Buch"] and dev.text == bitext.text
    bitext.save("saved")
    loaded = Bitext.load("saved")
    assert loaded.text is not None and loaded.text.source.learned == bitext.text.source.learned  # type: ignore[union-attr]
    assert loaded[1:].text == bitext.text and Bitext.of(["a"], ["b"]).text is None


@pytest.mark.parametrize(
    ("languages", "message"),
    [
        ("de", "languages are two codes such as"),
        (("de",), "languages are two codes such as"),
        (("de-en", "en"), "a language is a code like en"),
        (("de:tokenizer=x", "en"), "unknown tokenizer 'x'"),
    ],
)
def test_mistakes_in_languages(languages: tuple[str, str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Bitext.of(["a"], ["b"], languages=languages)


def test_faults_of_raw_text_are_named(texts: Path) -> None:
    (texts / "bad").write_bytes(b"a\nb\x00\nc\n")
    with pytest.raises(InputError, match="bad:2: "):
        Bitext.read("bad", "a.en", languages=LANGUAGES)
    with pytest.raises(SentenceError, match="UTF-8"):
        Bitext.of(["a", "\ud800"], ["a", "b"], languages=LANGUAGES)


@given(st.lists(st.sampled_from(["Haus", "a", ".", "'", '"', "&", "|||", "\u00a0", "  ", "1,5", "…", "é"]), max_size=8))
def test_places_are_where_the_tokens_are(pieces: list[str]) -> None:
    line = " ".join(pieces)
    tokens = make_tokenizer("sacremoses", "de")(line)[0]
    places = locate(line, tokens)
    assert len(places) == len(tokens)
    ends = [0, *(end for _, end in places)]
    assert all(before <= begin <= end for before, (begin, end) in zip(ends, places, strict=False))
    if "|||" not in pieces:
        assert [line[begin:end] for begin, end in places] == tokens


def test_links_and_lexicon_of_raw_text(texts: Path) -> None:
    done = hyperbaton("align", "a.de", "a.en", "--languages", "de", "en", "--format", "json")
    row = json.loads(done.stdout.splitlines()[1])
    assert row["target"][:3] == ["That", "'s", "it"] and row["target_offsets"][:3] == [[0, 4], [4, 6], [7, 9]]
    assert row["source_offsets"][-1] == [15, 16] and done.stderr == ""
    hyperbaton("align", "a.de", "a.en", "--languages", "de", "en", "--save-model", "model", "-o", "b.links")
    pairs = "".join(f"{src}\t{tgt}\n" for src, tgt in zip(GERMAN, ENGLISH, strict=True))
    linked = hyperbaton("align", "-", "--model", "model", "--languages", "de", "en", text=pairs)
    assert linked.stdout == hyperbaton("align", "a.de", "a.en", "--model", "model", "--languages", "de", "en").stdout
    words = hyperbaton("lexicon", "a.de", "a.en", "a.links", "--languages", "de", "en").stdout
    assert "Buch\tbook\t1\t1\t1\n" in words and "&" not in words


def test_text_that_looks_raw_is_warned_about(texts: Path) -> None:
    warned = hyperbaton("align", "a.de", "a.en").stderr.splitlines()
    assert warned[0].startswith(
        "warning: a.de: looks like raw text, for example the word 'Bücher!\"': name its --languages"
    )
    assert len(warned) == 2
    for silent in (["--tokenized"], ["-q"], ["--languages", "de", "en"]):
        assert hyperbaton("align", "a.de", "a.en", *silent).stderr == ""
    tokens = hyperbaton("tokenize", "sacremoses", "a.en").stdout
    assert raw_word(line.split() for line in tokens.splitlines()) == ""
    assert "isn &apos;t" in hyperbaton("tokenize", "sacremoses", "a.en", "--moses-escapes").stdout
    assert "isn 't" in tokens


def test_raw_spans_come_back_as_raw_spans(texts: Path) -> None:
    spans = [
        {"text": GERMAN[0], "spans": []},
        {"text": GERMAN[1], "ents": [{"start": 0, "end": 3, "label": "PRON"}]},
        {
            "text": GERMAN[2],
            "tokens": [{"text": "Wir", "start": 0, "end": 3}],
            "entities": [{"id": 7, "label": "OBJ", "start_offset": 10, "end_offset": 18, "token_start": 2}],
        },
    ]
    (texts / "spans").write_text("".join(json.dumps(record) + "\n" for record in spans))
    hyperbaton("project", "spans", "spans", "a.en", "a.links", "--languages", "de", "en", "-o", "out")
    records = [json.loads(line) for line in (texts / "out").read_text().splitlines()]
    assert records == [
        {"text": ENGLISH[0], "spans": []},
        {"text": ENGLISH[1], "ents": [{"start": 0, "end": 4, "label": "PRON"}]},
        {"text": ENGLISH[2], "entities": [{"id": 7, "start_offset": 13, "end_offset": 21, "label": "OBJ"}]},
    ]
    assert ENGLISH[2][13:21] == "the book"


def test_raw_markup_keeps_the_blanks_of_the_target(texts: Path) -> None:
    (texts / "markup").write_text(
        'Er sagte.\n<b>Das</b> ist\'s\n<i class="x">Wir</i> haben das <b>Buch</b> gelesen.<br/>\n'
    )
    hyperbaton("project", "markup", "markup", "a.en", "a.links", "--languages", "de", "en", "-o", "out", "-q")
    lines = (texts / "out").read_text().splitlines()
    assert lines[1:] == ["<b>That</b>'s it, isn't it?", '<i class="x">We</i> have read the <b>book</b>.<br/>']


def test_links_that_do_not_fit_raw_text_say_so(texts: Path) -> None:
    (texts / "spans").write_text("".join(json.dumps({"text": line, "spans": []}) + "\n" for line in GERMAN))
    with pytest.raises(
        InputError, match=r"spans:3: 'gelesen\.' is not tokenized, so the links do not fit; give --languages"
    ):
        project_files("spans", "spans", "a.en", "a.links", "out", ProjectionOptions(characters=True))


def test_a_translator_of_raw_text(texts: Path) -> None:
    pairs = ["Das Haus.", "Das Buch.", "Ein Buch!"] * 20, ["The house.", "The book.", "A book!"] * 20
    bitext = Bitext.of(*pairs, languages=LANGUAGES)
    translator = Translator.train(bitext, bitext[:5], minutes=0, quiet=True)
    assert translator.translate("Das Haus. Ein Buch!") == "The house. A book!"
    assert repr(translator).endswith("takes raw text de-en>")
    translator.save("translator")
    assert Translator.load("translator").translate(["Ein Haus."]) == ["A house."]
    assert hyperbaton("translate", "translator", "--raw", text="Das Buch.\n").stdout == "The book.\n"
    warned = hyperbaton("translate", "translator", text="Das Buch.\n" * 3)
    assert warned.stderr.startswith("warning: standard input: looks like raw text, for example the word 'Buch.': add --raw")
    with pytest.raises(OptionError, match=r"dev must be tokenized like the bitext: read it with languages=bitext\.text"):
        Translator.train(bitext, Bitext.of(["das"], ["the"]), minutes=0, quiet=True)
    for wrong in (None, 3):
        with pytest.raises(OptionError, match=f"translate takes a sentence or a list of sentences, not {wrong}"):
            translator.translate(wrong)  # type: ignore[call-overload]


def test_tokens_without_languages_are_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    bitext = Bitext.of(["Das Haus."] * 40, ["The house."] * 40)
    assert "takes tokens separated by spaces" in repr(Translator.train(bitext, minutes=0, quiet=True))
    assert "the bitext looks like raw text ('Haus.'): read it with languages" in caplog.text


def test_a_side_is_its_language() -> None:
    assert pickle.loads(pickle.dumps(TextSide("de").make_tokenizer()))("Ja, so.")[0] == ["Ja", ",", "so", "."]
    text = TextProcessing.of(("ja", "de:casing=lowercase"))
    assert [side.tokenizer for side in text.sides.values()] == ["fugashi", "sacremoses"]
    assert TextProcessing.restore(text.as_json(), {}) == text and text.pair == "ja-de"
