"""The contract of taggers: a tag for each token, and unchanged tokens."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperbaton.base.errors import InputError, MissingExtra, OptionError, installing
from hyperbaton.corpus import Tags, Text
from hyperbaton.corpus import raw as raw_module
from hyperbaton.corpus.raw import tag
from hyperbaton.corpus.taggers import TAGGERS, Tagger
from hyperbaton.corpus.tokenizers import make_tokenizer
from tests.program import hyperbaton

LIBRARIES = {"spacy": "spacy", "udpipe": "ufal", "fugashi": "fugashi", "jieba": "jieba"}
TAGGED = [
    ("der/ART Hund/NN schläft/VV ./$.", "DET NOUN VERB PUNCT"),
    ("die/ART Katze/NN isst/VV ./$.", "DET NOUN VERB PUNCT"),
]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Specifications of the taggers whose libraries are installed; models are trained on two sentences."""
    folder = tmp_path_factory.mktemp("models")
    made = {"fugashi": "fugashi", "jieba": "jieba", "stanza": "stanza:language=xx"}
    if find_spec("spacy"):
        made["spacy"] = f"spacy:model={spacy_pipeline(folder / 'spacy')}"
    if find_spec("ufal"):
        made["udpipe"] = f"udpipe:model={udpipe_model(folder / 'model.udpipe')}"
    return made


def spacy_pipeline(path: Path) -> Path:
    """A pipeline that gives tags by a rule: words with a capital are NN, others XY."""
    import spacy

    pipeline = spacy.blank("de")
    rules: Any = pipeline.add_pipe("attribute_ruler")
    rules.add([[{"IS_TITLE": True}]], {"TAG": "NN", "POS": "NOUN"})
    rules.add([[{"IS_TITLE": False}]], {"TAG": "XY", "POS": "X"})
    pipeline.to_disk(path)
    return path


def udpipe_model(path: Path) -> Path:
    """A model that UDPipe trains on the sentences above."""
    from ufal.udpipe import ProcessingError, Sentence, Sentences, Trainer

    sentences, error = Sentences(), ProcessingError()
    for words, universal in TAGGED * 3:
        sentence = Sentence()
        for word, label in zip(words.split(), universal.split(), strict=True):
            form, _, fine = word.partition("/")
            row = sentence.addWord(form)
            row.lemma, row.upostag, row.xpostag = form, label, fine
        sentences.append(sentence)
    options = "iterations=2;templates=tagger;guesser_suffix_rules=2;use_lemma=0"
    model = Trainer.train("morphodita_parsito", sentences, Sentences(), "none", options, "none", error)
    assert not error.occurred(), error.message
    path.write_bytes(model)
    return path


@pytest.fixture(autouse=True)
def no_stanza(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Stanza needs PyTorch and its models: a module with the same few names replaces it."""

    class Pipeline:
        def __init__(self, language: str, **options: Any) -> None:
            if language != "xx":
                raise FileNotFoundError("no resources\nof it")
            assert options["tokenize_pretokenized"] and options["download_method"] is None

        def __call__(self, sentences: list[list[str]]) -> Any:
            rows = [[SimpleNamespace(upos="X", xpos=None) for _ in sentence] for sentence in sentences]
            return SimpleNamespace(sentences=[SimpleNamespace(words=row) for row in rows])

    monkeypatch.setitem(sys.modules, "stanza", SimpleNamespace(Pipeline=Pipeline))
    yield


made: dict[str, Tagger] = {}


def tagger(name: str, models: dict[str, str]) -> Tagger:
    if name not in models:
        pytest.skip(f"{name} is not installed")
    if name not in made:
        made[name] = TAGGERS.make(models[name])
    return made[name]


words = st.one_of(
    st.sampled_from(
        [
            "他",
            "喜欢",
            "米饭",
            "。",
            "食べた",
            "ご飯",
            "Hund",
            "it",
            "&apos;s",
            "&#124;",
            "a\u00a0b",
            "\u3000",
            "EOS",
            "*",
            "3,5",
        ]
    ),
    st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters=" "), min_size=1, max_size=5),
)


@pytest.mark.parametrize("name", TAGGERS.names())
@settings(max_examples=40, deadline=None)
@given(sentences=st.lists(st.lists(words, max_size=6), max_size=3))
def test_a_tag_for_each_token(name: str, models: dict[str, str], sentences: list[list[str]]) -> None:
    labels = tagger(name, models)(sentences)
    assert [len(own) for own in labels] == [len(sentence) for sentence in sentences]
    assert all(label and not any(c.isspace() for c in label) for own in labels for label in own)
    lines = [" ".join(sentence) for sentence in sentences]
    written = b"".join(tag(lines, tagger(name, models))).decode()
    assert written == "".join(" ".join(own) + "\n" for own in labels)


@pytest.mark.parametrize("name", TAGGERS.names())
def test_the_command(name: str, models: dict[str, str], tmp_path: Path) -> None:
    _ = tagger(name, models)
    text = tmp_path / "text"
    text.write_text("der Hund schläft .\n\nsie ißt\n", encoding="utf-8")
    done = hyperbaton("tag", text, "--tagger", models[name], "-o", tmp_path / "tags", "-q", "-t", 1)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    labels = tagger(name, models)([line.split() for line in text.read_text(encoding="utf-8").splitlines()])
    assert list(Tags.read(tmp_path / "tags", Text.read(text))) == labels


@pytest.mark.parametrize("name", TAGGERS.names())
def test_control_characters_do_not_reach_the_library(name: str, models: dict[str, str], tmp_path: Path) -> None:
    """A NUL inside a token ended the process in MeCab."""
    plain = tagger(name, models)([["ab", "_"]])
    assert tagger(name, models)([["a\0b\x01", "\0"]]) == plain
    (tmp_path / "text").write_bytes(b"a b\na\0b\n")
    done = hyperbaton("tag", tmp_path / "text", "--tagger", models[name])
    assert done.returncode == 1 and "text:2: control character" in done.stderr


def test_tags(models: dict[str, str]) -> None:
    assert tagger("jieba", models)([["他", "喜欢", "吃", "米饭", "。"]]) == [["r", "v", "v", "n", "x"]]
    assert tagger("fugashi", models)([["私", "は", "食べた", "。"], ["私", "は", "食べ", "た"]]) == [
        ["代名詞", "助詞-係助詞", "名詞-普通名詞", "補助記号-句点"],
        ["代名詞", "助詞-係助詞", "動詞-一般", "助動詞"],
    ]
    assert tagger("stanza", models)([["a", "b"]]) == [["X", "X"]]


@pytest.mark.parametrize("name", ["jieba", "fugashi"])
def test_tokens_of_the_same_library_mostly_have_its_tags(name: str, models: dict[str, str]) -> None:
    line = {"jieba": "他喜欢在北京吃米饭和看书。", "fugashi": "私は東京で友達と本を読んだ。"}[name]
    tokens, tags = make_tokenizer(name)(line)
    assert tagger(name, models)([tokens]) == [tags]


def test_tags_of_models(models: dict[str, str]) -> None:
    assert tagger("spacy", models)([["der", "Hund"]]) == [["XY", "NN"]]
    assert TAGGERS.make(f"{models['spacy']}:tags=universal")([["der", "Hund"]]) == [["X", "NOUN"]]
    if "udpipe" in models:
        assert tagger("udpipe", models)([["der", "Hund", "schläft", "."]]) == [["DET", "NOUN", "VERB", "PUNCT"]]
        assert TAGGERS.make(f"{models['udpipe']}:tags=fine")([["der", "Hund"]]) == [["ART", "NN"]]


def test_several_processes_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw_module, "CHUNK", 3)
    lines = [f"私 は {i} 食べ た" for i in range(7)]
    once = list(tag(lines, TAGGERS.make("fugashi")))
    assert len(once) == 3 and once == list(tag(lines, TAGGERS.make("fugashi"), n_processes=2))


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("spacy", OptionError, "spacy needs the name of a pipeline, for example spacy:model=de_core_news_sm"),
        ("spacy:model=xx_none", OptionError, "spaCy has no pipeline 'xx_none': python -m spacy download xx_none"),
        ("udpipe", OptionError, "udpipe needs the file of a model"),
        ("udpipe:model=absent", InputError, "absent: there is no such file; models are at https://"),
        (f"udpipe:model={__file__}", InputError, "is not a model of UDPipe 1"),
        ("stanza:language=yy", OptionError, r"Stanza has no models of 'yy' \(no resources\): python -c .import stanza"),
        ("jeba", OptionError, r"unknown tagger 'jeba' \(did you mean jieba"),
    ],
)
def test_a_missing_model_is_named(text: str, kind: type[Exception], message: str) -> None:
    library = LIBRARIES.get(text.partition(":")[0])
    if library is not None and find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    with pytest.raises(kind, match=message):
        TAGGERS.make(text)([["a"]])


@pytest.mark.parametrize(
    ("text", "library", "extra"),
    [("spacy:model=x", "spacy", "spacy"), ("udpipe:model=x", "ufal.udpipe", "udpipe"), ("stanza", "stanza", "stanza")],
)
def test_a_library_that_is_not_installed(text: str, library: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtra, match=f"is not installed: {re.escape(installing(extra))}"):
        TAGGERS.make(text)([["a"]])


def test_too_few_tags_are_an_error() -> None:
    class Short(Tagger):
        def label(self, sentences: Any) -> Any:
            return [["X"] for _ in sentences]

    with pytest.raises(InputError, match="Short gives 1 tags for the 2 tokens"):
        Short()([["a", "b"]])
