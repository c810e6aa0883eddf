"""A tagger of a system or an experiment: raw text, the service and the corpus stage have its tags."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hyperbaton.base.errors import OptionError
from hyperbaton.corpus import Annotations, Bitext, Tags
from hyperbaton.corpus.processing import TextProcessing, TextSide
from hyperbaton.corpus.taggers import TAGGERS, Tagger
from hyperbaton.decode import System, TokenTranslator
from hyperbaton.decode.annotated import annotate
from hyperbaton.decode.raw import RawTranslator, Sentence
from hyperbaton.models import MODELS
from hyperbaton.phrases import PhraseTable, extract
from hyperbaton.run.child import do
from hyperbaton.run.corpus import Corpus, RawTextOptions
from hyperbaton.run.experiment import Experiment, parse_experiment
from hyperbaton.run.plan import make_plan
from tests.program import hyperbaton

WORDS = {"私": "i", "母": "mother", "先生": "teacher", "本": "book", "魚": "fish", "犬": "dog"}
JAPANESE = [f"{who} は {what} を 見 た 。" for who in ("私", "母", "先生") for what in ("本", "魚", "犬")]
ENGLISH = [f"{WORDS[line.split()[0]]} saw {WORDS[line.split()[2]]} ." for line in JAPANESE]
LINKS = [[(0, 0), (2, 2), (4, 1), (6, 3)]] * len(JAPANESE)


@pytest.fixture(scope="module")
def system() -> System:
    """A system whose model of jumps was trained with tags."""
    bitext = Bitext.of(JAPANESE, ENGLISH, LINKS)
    tags = Tags.of([" ".join(row) for row in TAGGERS.make("fugashi")([line.split() for line in JAPANESE])], bitext.source)
    model = MODELS["pair"](learner="lbfgs:max-passes=3").fit(bitext, Annotations(source_tags=tags))
    return System.of(PhraseTable.build(bitext, extract(bitext)), [], {"PAIR": model}, {"PAIR": 1.0})


def text(source: str) -> TextProcessing:
    return TextProcessing(TextSide.parse(source), TextSide("en", "none"))


def test_raw_text_has_the_tags_of_the_tagger(system: System, tmp_path: Path) -> None:
    tagged = system.with_text(text("ja:tagger=fugashi"))
    expected = TokenTranslator(system, threads=1).translate(
        JAPANESE[:2],
        annotations=annotate(
            JAPANESE[:2], tags=["代名詞 助詞-係助詞 名詞-普通名詞 助詞-格助詞 動詞-非自立可能 助動詞 補助記号-句点"] * 2
        ),
    )
    translator = RawTranslator(TokenTranslator(tagged, threads=1))
    assert translator.raw.read(JAPANESE[0]).sentences[0].labels[2:4] == ["名詞-普通名詞", "助詞-格助詞"]
    assert [line.replace(".", " .") for line in translator.translate(JAPANESE[:1])] == expected[:1]
    tagged.save(tmp_path / "system")
    assert System.load(tmp_path / "system").text == tagged.text
    done = hyperbaton("translate", tmp_path / "system", "--raw", text=f"{JAPANESE[0]}\n")
    assert done.stdout.splitlines() == translator.translate(JAPANESE[:1])


def test_a_tagger_counts_more_than_the_tokenizer(system: System) -> None:
    class Same(Tagger):
        def label(self, sentences: Any) -> Iterator[list[str]]:
            return ([f"T{i}" for i in range(len(sentence))] for sentence in sentences)

    translator = RawTranslator(TokenTranslator(system.with_text(text("ja:tokenizer=fugashi"))))
    assert translator.raw.tagger is None and translator.raw.read("私は").sentences[0].labels == ["代名詞", "助詞-係助詞"]
    translator.raw.tagger = Same()
    assert translator.raw.read("私は").sentences[0].labels == ["T0", "T1"]


def test_only_models_that_read_tags_call_a_tagger() -> None:
    bitext = Bitext.of(JAPANESE, ENGLISH, LINKS)
    plain = System.of(PhraseTable.build(bitext, extract(bitext))).with_text(text("ja:tagger=udpipe:model=absent"))
    assert RawTranslator(TokenTranslator(plain)).raw.tagger is None


def test_without_tags_the_message_says_how_to_get_them(system: System) -> None:
    message = "PAIR needs tags; the tokenizer none gives none: build the system with --source-text .*:tagger=NAME, or tag"
    with pytest.raises(OptionError, match=message):
        RawTranslator(TokenTranslator(system.with_text(text("ja:tokenizer=none"))))
    with pytest.raises(OptionError, match=r"was trained with tags: .* \(--source-tags\), which 'hyperbaton tag' makes"):
        TokenTranslator(system).translate(JAPANESE[:1])
    with pytest.raises(OptionError, match="unknown tagger 'fugasi'"):
        TextSide.parse("ja:tagger=fugasi")


def test_the_service_tags_what_it_translates(system: System) -> None:
    pytest.importorskip("starlette")
    from hyperbaton.serve.engine import Engine

    engine = Engine("ja-en", system.with_text(text("ja:tagger=fugashi")), "ja", "en")
    assert engine.raw.read("私 は").sentences[0].labels == ["代名詞", "助詞-係助詞"]
    # Tokens that come without tags are tagged, too.
    tags = engine.raw.annotations([Sentence(["私", "は"], []), Sentence(["私"], ["N"])]).source_tags
    assert tags is not None and [tags[0], tags[1]] == [["代名詞", "助詞-係助詞"], ["N"]]


def experiment(folder: Path, **corpus: Any) -> Experiment:
    for name, lines in (("ja", JAPANESE), ("en", ENGLISH), ("links", ["0-0 2-2 4-1 6-3"] * len(JAPANESE))):
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    split = {"source": "ja", "target": "en", "links": "links"}
    tables = {"train": split, "dev": split, "test": split, "clean": {"ratio": 9.0}} | corpus
    values = {"corpus": tables, "models": {"pair": {"learner": "lbfgs:max-passes=3"}}, "translation": {"systems": {}}}
    return parse_experiment(values, "exp.toml", folder)


def test_an_experiment_tags_its_corpus(tmp_path: Path) -> None:
    made = experiment(tmp_path, tag={"source": "fugashi"}, tokenize={"source": "none", "target": "sacremoses"})
    assert made.options(Corpus).has("tags") and made.resolved()["corpus"]["tag"] == {"source": "fugashi"}
    text = made.options(RawTextOptions).processing
    assert text is not None and text.source.tagger == "fugashi"
    assert experiment(tmp_path, tag={"source": "jieba"}).resolved() != made.resolved()
    plan = make_plan(made)
    do(plan.provided["corpus.dev"].order(tmp_path, 1))
    tags = (plan.provided["corpus.dev"].folder(tmp_path) / "dev.tags").read_text(encoding="utf-8").splitlines()
    assert len(tags) == len(JAPANESE) and tags[0].split()[:2] == ["代名詞", "助詞-係助詞"]


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"tag": {"source": "spaci"}}, r"key 'corpus.tag.source': unknown tagger 'spaci' \(did you mean spacy"),
        ({"tag": {"source": "spacy:modle=x"}}, "key 'corpus.tag.source': .*modle"),
        ({"tag": {"sources": "jieba"}}, r"key 'corpus.tag.sources': unknown \(did you mean source"),
        (
            {"tag": {"source": "jieba"}, "dev": {"source": "ja", "target": "en", "tags": "ja"}},
            "key 'corpus.dev.tags': corpus.tag and files of tags exclude each other",
        ),
    ],
)
def test_mistakes_are_found_before_any_work(tables: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=message):
        experiment(tmp_path, **tables)
