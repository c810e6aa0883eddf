"""The service: each dialect with its real client, results equal to `translate`, limits, keys, clients that misbehave."""

from __future__ import annotations

import ast
import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
import weakref
import xmlrpc.client
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="pip install 'hyperbaton[serve]'")
uvicorn = pytest.importorskip("uvicorn", reason="pip install 'hyperbaton[serve]'")

from hyperbaton import serve as serving
from hyperbaton.align.aligners.hmm import Aligner
from hyperbaton.base.errors import Cancelled, InputError, OptionError
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.processing import TextProcessing, TextSide
from hyperbaton.decode import NBest, System, Translator
from hyperbaton.decode.moses import import_moses
from hyperbaton.decode.raw import RawTranslator
from hyperbaton.models import MODELS
from hyperbaton.phrases import PhraseTable, extract
from hyperbaton.serve.app import make_app
from hyperbaton.serve.batching import Batcher, Job
from hyperbaton.serve.dialects.moses import METHODS
from hyperbaton.serve.engine import Engine
from hyperbaton.serve.keys import Keys
from hyperbaton.serve.options import ServiceLimits
from hyperbaton.serve.server import listen, serve
from hyperbaton.serve.service import Service
from tests.clocks import wait_for
from tests.program import started

GOLDEN = Path(__file__).parents[1] / "golden" / "moses"
LINES = (GOLDEN / "decode" / "input.src").read_text(encoding="utf-8").splitlines()
GERMAN = ["das alte haus steht in köln , sagte sie .", "ja , das haus !", "sie sagte : das haus ist alt ?"]
ENGLISH = ["the old house stands in Cologne , she said .", "yes , the house !", "she said : the house is old ?"]
TEXT = "Das alte Haus steht in Köln, sagte sie. Ja!\n\nDas <b>Haus</b> ist alt?"


@dataclass
class Running:
    """A service that answers at a port of this machine."""

    port: int
    service: Service
    log: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self, path: str, body: Any = None, *, method: str | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        """Status and answer; a body that is not bytes is sent as JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        all_headers = dict(headers or {})
        if body is not None and not isinstance(body, bytes):
            body, all_headers = json.dumps(body).encode(), {"Content-Type": "application/json"} | all_headers
        connection.request(method or ("GET" if body is None else "POST"), path, body, all_headers)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        try:
            return response.status, json.loads(text)
        except ValueError:
            return response.status, text


@contextmanager
def running(
    engines: list[Engine], limits: ServiceLimits | None = None, *, cors: list[str] | None = None, **options: Any
) -> Iterator[Running]:
    log: list[str] = []
    service = Service(engines, limits, log=log.append, **options)
    listening, ready = listen("127.0.0.1", 0), threading.Event()
    port = listening.getsockname()[1]
    app = make_app(service, cors=cors or [])
    servers: list[Any] = []
    original = uvicorn.Server.startup

    async def startup(self: Any, sockets: Any = None) -> None:
        servers.append(self)
        await original(self, sockets)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uvicorn.Server, "startup", startup)
        thread = threading.Thread(target=serve, args=(app, [listening], service.limits, ready.set), daemon=True)
        thread.start()
        assert ready.wait(20)
    try:
        yield Running(port, service, log)
    finally:  # a thread that goes on holds objects of the core when Python ends
        servers[0].should_exit = True
        thread.join(20)
        listening.close()
    assert not thread.is_alive()


@pytest.fixture(scope="module")
def german() -> System:
    links = [[(i, i) for i in range(9)], [(i, i) for i in range(5)], [(i, i) for i in range(8)]]
    links[0][6:8] = [(7, 8 - 1), (6, 6)]
    bitext = Bitext.of(GERMAN, ENGLISH, links)
    lexicalized = MODELS["lexicalized"]().fit(bitext)
    text = TextProcessing(TextSide("de", "sacremoses", "lowercase"), TextSide("en", "sacremoses", "lowercase"))
    return System.of(PhraseTable.build(bitext, extract(bitext)), reordering={"LR": lexicalized}).with_text(text)


@pytest.fixture(scope="module")
def moses() -> System:
    return import_moses(GOLDEN / "decode" / "hier-mslr.moses.ini")


@pytest.fixture(scope="module")
def running_service(german: System, moses: System) -> Iterator[Running]:
    source, target = (
        ["das haus", "das buch", "ein buch", "ja", "ein haus"],
        ["the house", "the book", "a book", "yes", "a house"],
    )
    aligner = Aligner().fit(Bitext.of([*GERMAN, *source], [*ENGLISH, *target]))
    engines = [Engine("german", german, "de", "en", aligner=aligner), Engine("moses", moses, "fr", "en")]
    with running(engines, aligner=aligner) as service:
        yield service


@pytest.fixture(scope="module")
def expected(german: System) -> str:
    return RawTranslator(Translator(german)).translate([TEXT])[0]


def test_libretranslatepy(running_service: Running, expected: str) -> None:
    api = pytest.importorskip("libretranslatepy").LibreTranslateAPI(running_service.url)
    assert api.translate(TEXT, "de", "en") == expected
    assert api.languages()[0] == {"code": "de", "name": "German", "targets": ["en"]}
    detected = api.detect("Das alte Haus")
    assert detected[0]["language"] == "de" and detected[0]["confidence"] == 100


def test_deep_translator(running_service: Running, expected: str) -> None:
    translator = pytest.importorskip("deep_translator").LibreTranslator
    client = translator("de", "en", api_key="any", custom_url=f"{running_service.url}/")
    assert client.translate(TEXT) == expected
    assert client.translate_batch(["Ja!", "das Haus"]) == ["Yes!", "the house"]


def test_forms_of_javascript_clients(running_service: Running) -> None:
    # libretranslate-ts sends "api_key": null; deepl-node repeats text= in a form.
    body = {"q": "Ja!", "source": "auto", "target": "en", "format": "text", "api_key": None, "alternatives": 1}
    status, answer = running_service.ask("/translate", body)
    assert status == 200 and answer["translatedText"] == "Yes!" and answer["detectedLanguage"]["language"] == "de"
    form = urllib.parse.urlencode([("target_lang", "EN-US"), ("text", "Ja!"), ("text", "das Haus")]).encode()
    status, answer = running_service.ask(
        "/v2/translate", form, headers={"Content-Type": "application/x-www-form-urlencoded"}
    )
    assert [row["text"] for row in answer["translations"]] == ["Yes!", "the house"]
    parts = "".join(
        f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in (("q", "sagte Köln"), ("source", "de"), ("target", "en"))
    )
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    status, answer = running_service.ask("/translate", f"{parts}--x--\r\n".encode(), headers=headers)
    assert status == 200 and "Cologne" in answer["translatedText"]
    # A list of texts has a list of translations, one text one.
    status, answer = running_service.ask("/translate", {"q": ["Ja!", ""], "source": "de", "target": "en"})
    assert answer == {"translatedText": ["Yes!", ""]}
    page = {"q": "<p>das <b>Haus</b></p>", "source": "de", "target": "en", "format": "html"}
    assert running_service.ask("/translate", page)[1]["translatedText"] == "<p>the <b>house</b></p>"
    status, answer = running_service.ask("/frontend/settings")
    assert answer["charLimit"] == 20_000 and answer["apiKeys"] is False
    assert running_service.ask("/suggest", {"q": "a", "s": "b", "source": "de", "target": "en"})[0] == 403


def test_deepl(running_service: Running, expected: str) -> None:
    deepl = pytest.importorskip("deepl")
    client = deepl.DeepLClient("any", server_url=running_service.url)
    client.set_app_info("test", "1")
    answers = client.translate_text([TEXT, "Ja!"], target_lang="EN-US", source_lang="DE")
    assert [row.text for row in answers] == [expected, "Yes!"]
    assert answers[1].detected_source_lang == "DE" and answers[1].billed_characters == 3
    assert client.translate_text("das Haus", target_lang="EN-GB", tag_handling="xml").text == "the house"
    assert [str(language) for language in client.get_source_languages()] == ["DE", "FR"]
    assert [str(language) for language in client.get_target_languages()] == ["EN-US", "EN-GB"]
    assert client.get_usage().character.count > 0
    assert [(p.source_lang, p.target_lang) for p in client.get_glossary_languages()] == [("de", "en"), ("fr", "en")]
    glossary = client.create_glossary("terms", "DE", "EN-US", {"Haus": "Castle", "alte Haus": "Ruin"})
    assert glossary.entry_count == 2 and glossary.ready
    assert client.get_glossary_entries(glossary) == {"Haus": "Castle", "alte Haus": "Ruin"}
    translated = client.translate_text("Das alte Haus. Das Haus!", source_lang="DE", target_lang="EN-US", glossary=glossary)
    assert translated.text == "The Ruin. The Castle!"
    assert [item.glossary_id for item in client.list_glossaries()] == [glossary.glossary_id]
    client.delete_glossary(glossary)
    with pytest.raises(deepl.GlossaryNotFoundException):
        client.get_glossary(glossary.glossary_id)
    with pytest.raises(deepl.DeepLException, match="there is no system for DE to JA"):
        client.translate_text("Ja!", source_lang="DE", target_lang="JA")


def test_deepl_keeps_the_structure_of_xml_and_html(running_service: Running) -> None:
    deepl = pytest.importorskip("deepl")
    client = deepl.DeepLClient("any", server_url=running_service.url)

    def translate(text: str, tag_handling: str | None = "xml", **options: Any) -> str:
        answer = client.translate_text(text, source_lang="DE", target_lang="EN-US", tag_handling=tag_handling, **options)
        return str(answer.text)

    assert translate("<doc><t>Das Haus.</t>\n<t>Ja!</t></doc>") == "<doc><t>The house.</t>\n<t>Yes!</t></doc>"
    parts = "<t><x>das</x> <x>Haus</x></t>"
    apart, together = "<t><x>the</x> <x>House</x></t>", "<t><x>the</x> <x>house</x></t>"  # two sentences, or one
    assert translate(parts, split_sentences="nonewlines") == apart
    assert translate("<t>das\nHaus</t>") == "<t>the\nHouse</t>"
    assert translate("<t>das\nHaus</t>", split_sentences="nonewlines") == "<t>the house</t>"
    assert translate("das\nHaus", None, split_sentences="0") == "the house"
    assert translate("<t>das <x>Haus</x></t><y>Haus</y>", ignore_tags=["x", "y"]) == "<t>the <x>Haus</x></t><y>Haus</y>"
    assert translate(parts, outline_detection=False) == translate(parts, non_splitting_tags="x,y") == together
    assert translate(parts, outline_detection=False, splitting_tags="x") == apart
    page = '<p translate="no">Haus</p>\n<p>das <b class="notranslate">Haus</b></p>'
    assert translate(page, "html") == page.replace("das", "the")
    body = {
        "text": "<a>Haus",
        "target_lang": "EN",
        "source_lang": "DE",
        "tag_handling": "xml",
        "tag_handling_version": "v2",
    }
    status, answer = running_service.ask("/v2/translate", body)
    assert status == 400 and answer["message"] == "the XML is not well-formed: <a> in line 1 has no partner"
    status, answer = running_service.ask("/v2/translate", body | {"tag_handling": "json"})
    assert status == 400 and answer["message"] == "tag_handling must be one of xml, html"


def test_moses(running_service: Running, moses: System) -> None:
    client = xmlrpc.client.ServerProxy(f"{running_service.url}/RPC2/fr-en")
    assert "translate" in client.system.listMethods()
    best = Translator(moses).translate(LINES[:5])
    assert [client.translate({"text": line})["text"].strip() for line in LINES[:5]] == best  # type: ignore[index,call-overload]
    asked = {"text": LINES[0], "align": "true", "word-align": 1, "nbest": 3, "add-score-breakdown": True}
    answer: Any = client.translate(asked)
    assert answer["text"] == f"{best[0]} "
    spans = [(row["src-start"], row["src-end"]) for row in answer["align"]]
    assert sorted(i for a, b in spans for i in range(a, b + 1)) == list(range(len(LINES[0].split())))
    assert answer["align"][0]["tgt-start"] == 0 and answer["word-align"][0].keys() == {"source-word", "target-word"}
    assert len(answer["nbest"]) == 3 and answer["nbest"][0]["hyp"] == answer["text"]
    assert answer["nbest"][0]["totalScore"] >= answer["nbest"][1]["totalScore"] and "LM0= " in answer["nbest"][0]["fvals"]
    for wrong in ({"align": 1}, "a", {"text": 3}):
        with pytest.raises(xmlrpc.client.Fault, match="text"):
            client.translate(wrong)
    with pytest.raises(xmlrpc.client.Fault, match="there is no method 'delete'"):
        client.delete()
    with pytest.raises(xmlrpc.client.Fault, match="translate has no parameter 'lambda'; it has text, align"):
        client.translate({"text": "a", "lambda": [1]})
    client("close")()


def test_moses_returns_options_and_the_search_graph(running_service: Running, moses: System) -> None:
    with xmlrpc.client.ServerProxy(f"{running_service.url}/RPC2/fr-en") as client:
        answer: Any = client.translate({"text": LINES[0], "topt": True, "sg": 1, "align": True})
    found = Translator(moses).translate_batch([LINES[0]], NBest(), graph=True)
    graph = [line.split(" ", 1)[1] for line in found.graph()]
    assert [f"hyp={row['hyp']} stack={row['stack']}" for row in answer["sg"]] == [
        " ".join(line.split()[:2]) for line in graph
    ]
    last = max(answer["sg"], key=lambda row: (row["stack"], row["fscore"]))
    nodes, out = {row["hyp"]: row for row in answer["sg"]}, []
    while "back" in last:
        out.append(last["out"])
        last = nodes[last["back"]]
    assert " ".join(reversed(out)) == answer["text"].strip()
    options = {(row["start"], row["end"], row["phrase"]): row for row in answer["topt"]}
    target, at = answer["text"].split(), 0
    for step, nth in zip(answer["align"], [*answer["align"][1:], None], strict=True):
        end = len(target) if nth is None else nth["tgt-start"]
        row = options[step["src-start"], step["src-end"], " ".join(target[at:end])]
        assert row["fscore"] < 0 and len(row["scores"]) > 3
        at = end


def test_moses_takes_weights_for_one_text(running_service: Running, moses: System) -> None:
    weights = {"Distortion0": [3.0], "LM0": [0.01]}
    expected = Translator(moses.with_weights(weights)).translate([LINES[0]])[0]
    plain = Translator(moses).translate([LINES[0]])[0]
    assert expected != plain
    with xmlrpc.client.ServerProxy(f"{running_service.url}/RPC2/fr-en") as client:
        for text, asked in ((expected, "Distortion0=3\tLM0=0.01"), (plain, "")):
            answer: Any = client.translate({"text": LINES[0], "weights": asked})
            assert answer["text"] == f"{text} "
        for wrong, message in (
            ("LM0", "weights must be tab-separated and look like LM0=0.5"),
            ("LM7=1", "there is a weight for 'LM7'"),
        ):
            with pytest.raises(xmlrpc.client.Fault, match=message):
                client.translate({"text": "a", "weights": wrong})


def test_moses_answers_many_calls_at_once(running_service: Running, moses: System) -> None:
    with xmlrpc.client.ServerProxy(f"{running_service.url}/RPC2/fr-en") as client:
        assert client.system.listMethods() == list(METHODS)
        assert client.system.methodHelp("translate").startswith("translate(struct)")  # type: ignore[attr-defined]
        with pytest.raises(xmlrpc.client.Fault, match="there is no method 'delete'"):
            client.system.methodHelp("delete")
        calls = xmlrpc.client.MultiCall(client)
        for line in LINES[:2]:
            calls.translate({"text": line})
        calls.system.methodHelp("system.multicall")
        calls.translate({})
        results = iter(calls())
        best = [next(results)["text"].strip() for _ in range(2)]
        assert best == Translator(moses).translate(LINES[:2]) and next(results).startswith("system.multicall(calls)")
        with pytest.raises(xmlrpc.client.Fault, match="text is missing"):
            next(results)
        for wrong in ("a", [3], [{"methodName": "system.multicall", "params": []}] * 1001):
            with pytest.raises((xmlrpc.client.Fault, xmlrpc.client.ProtocolError)):
                client.system.multicall(wrong)
        answer: Any = client.system.multicall([{"methodName": "system.multicall", "params": [[]]}])
        assert answer[0]["faultCode"] == 400


def test_v1_agrees_with_translate(running_service: Running, german: System, moses: System, expected: str) -> None:
    status, answer = running_service.ask("/v1/translate", {"text": TEXT, "source": "de", "details": True})
    assert status == 200 and answer["translations"][0]["text"] == expected
    lines = LINES[:8]
    status, answer = running_service.ask("/v1/translate", {"tokens": [line.split() for line in lines], "source": "fr"})
    assert [row["text"] for row in answer["translations"]] == Translator(moses).translate(lines)


def test_details_add_up(running_service: Running, moses: System) -> None:
    body = {"tokens": LINES[0].split(), "source": "fr", "nbest": 5, "expectations": True}
    _, answer = running_service.ask("/v1/translate", body)
    (sentence,) = answer["translations"][0]["sentences"]
    assert sum(sentence["weighted"].values()) == pytest.approx(sentence["score"], abs=1e-4)
    assert sentence["nbest"][0]["target"] == sentence["target"] and len(sentence["nbest"]) == 5
    n = len(sentence["source"])
    assert sorted(i for phrase in sentence["phrases"] for i in range(*phrase["source"])) == list(range(n))
    assert [j for phrase in sentence["phrases"] for j in range(*phrase["target"])] == list(range(len(sentence["target"])))
    for step in sentence["expectations"][1:]:
        assert {orientation["side"] for orientation in step} == {"before", "after"}
        for orientation in step:
            assert (
                sum(orientation["classes"].values()) == pytest.approx(1, abs=1e-3)
                and orientation["chosen"] in orientation["classes"]
            )
    assert all(0 <= link["confidence"] <= 1 for link in sentence["links"])
    reference = sentence["nbest"][4]["target"]
    _, answer = running_service.ask("/v1/translate", body | {"reference": reference})
    assert answer["reference"][0]["target"] == reference and answer["reference"][0]["score"] <= sentence["score"] + 1e-6


def test_what_if(running_service: Running) -> None:
    demand = {"sentence": 0, "demands": [[1, 2, "Castle"]], "walls": [1]}
    body = {"text": "Das Haus. Ja!", "source": "de", "constraints": [demand], "options": {"distortion-limit": 0}}
    status, answer = running_service.ask("/v1/translate", body)
    assert status == 200 and answer["translations"][0]["text"] == "The Castle. Yes!"
    body = {"text": "Das Haus.", "source": "de", "glossary": {"Haus": "Hut"}, "details": True}
    status, answer = running_service.ask("/v1/translate", body)
    assert answer["translations"][0]["text"] == "The Hut." and answer["target"] == "en"
    link = answer["translations"][0]["sentences"][0]["links"]
    assert (link[0]["source"], link[0]["target"]) == (0, 0)


def test_align(running_service: Running) -> None:
    body = {"src_tokens": ["das", "haus"], "trg_tokens": ["the", "house"]}
    _, answer = running_service.ask("/v1/align", body)
    assert answer["alignment"] == [[0, 0], [1, 1]] and min(answer["confidences"]) > 0.5
    assert running_service.ask("/v1/align", {"source": "das haus", "target": "the house"})[1] == answer
    _, answer = running_service.ask("/v1/align", {"src_tokens": [["ja"], []], "trg_tokens": [["yes"], ["a"]]})
    assert [row["alignment"] for row in answer["alignments"]] == [[[0, 0]], []]


def test_openapi_describes_what_is_checked(running_service: Running) -> None:
    status, answer = running_service.ask("/openapi.json")
    assert status == 200 and set(answer["paths"]) == {"/v1/translate", "/v1/align"}
    for name in re.findall(r'"#/components/schemas/(\w+)"', json.dumps(answer)):
        assert name in answer["components"]["schemas"]
    fields = answer["paths"]["/v1/translate"]["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"]
    assert fields["nbest"]["maximum"] == 100 and "text" in fields


def test_concurrent_requests_have_the_same_answers(running_service: Running, german: System) -> None:
    texts = [f"Das Haus {n}. {'Ja! ' * (n % 5)}" for n in range(60)]
    alone = RawTranslator(Translator(german)).translate(texts)

    def ask(text: str) -> str:
        return str(running_service.ask("/translate", {"q": text, "source": "de", "target": "en"})[1]["translatedText"])

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(ask, texts)) == alone


JSON = {"Content-Type": "application/json"}
GOOD = {"q": "Ja!", "source": "de", "target": "en"}


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("/translate", b"{", 400, "not valid JSON"),
        ("/translate", b"\xff\xfe{", 400, "not valid UTF-8"),
        ("/translate", b"[1]", 400, "must be a JSON object"),
        ("/translate", b'{"q": "\\ud800", "source": "de", "target": "en"}', 400, "an unpaired surrogate"),
        ("/translate", b"[" * 100_000, 400, "nested too deeply"),
        ("/translate", b'{"a":' + b"9" * 5000 + b"}", 400, "not valid JSON"),
        ("/translate", {"q": 3, "source": "de", "target": "en"}, 400, "q must be a string or a list of strings"),
        ("/translate", {"source": "de", "target": "en"}, 400, "q is missing"),
        ("/translate", GOOD | {"source": "xx"}, 400, "there is no system for xx to en; there are: de-en, fr-en"),
        ("/translate", GOOD | {"format": "pdf"}, 400, "format must be one of text, html"),
        ("/translate", GOOD | {"q": "x" * 20_001}, 413, "may have 20000 characters, not 20001"),
        ("/translate", GOOD | {"q": ["x"] * 1001}, 413, "may have 1000 texts"),
        ("/translate", GOOD | {"alternatives": 1000}, 400, "alternatives must be between 0 and 20"),
        ("/v2/translate", {"text": ["a"]}, 400, "target_lang is missing"),
        ("/v2/translate", {"text": "a", "target_lang": "EN", "glossary_id": "x"}, 404, "no such glossary"),
        ("/v1/translate", {}, 400, "give either text or tokens"),
        ("/v1/translate", {"text": "a", "source": "de", "options": {"stack": 9}}, 400, "'stack' cannot be changed"),
        ("/v1/translate", {"text": "a", "source": "de", "options": {"distortion-limit": 999}}, 400, "between 0 and 50"),
        ("/v1/translate", {"text": "a", "source": "de", "constraints": [{"demands": [[0, 9, "b"]]}]}, 400, "the span 0-9"),
        ("/v1/translate", {"text": "a", "source": "de", "constraints": [{"demands": 3}]}, 400, "a constraint is"),
        ("/v1/align", {"src_tokens": ["a b"], "trg_tokens": ["c"]}, 400, "without blanks"),
        ("/v2/glossaries", {"name": "a", "source_lang": "de", "target_lang": "en", "entries": "a"}, 400, "entry 1 of the"),
        ("/nowhere", {}, 404, "nothing at this path"),
        ("/languages", {}, 405, "does not take POST"),
    ],
)
def test_errors_of_bad_requests_give_the_reason(
    running_service: Running, path: str, body: Any, status: int, message: str
) -> None:
    answer = running_service.ask(path, body, headers=JSON)
    assert answer[0] == status, answer
    assert message in json.dumps(answer[1], ensure_ascii=False)
    assert running_service.ask("/translate", GOOD)[1] == {"translatedText": "Yes!"}


def test_every_status_is_documented() -> None:
    """The table of docs/serve.md has each status that the sources name, and no other."""
    # Those of the web framework (unknown path, wrong method) and the server (too many connections) are in no source file.
    statuses = {200, 404, 405, 503}
    for path in Path(serving.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                places = {"Refusal": node.args[:1]}.get(node.func.id, node.args[1:2])
                places += [keyword.value for keyword in node.keywords if keyword.arg == "status_code"]
                if node.func.id == "Refusal" or node.func.id.endswith("Response"):
                    statuses |= {at.value for at in places if isinstance(at, ast.Constant) and isinstance(at.value, int)}
    page = (Path(__file__).parents[2] / "docs" / "serve.md").read_text(encoding="utf-8")
    assert {int(status) for status in re.findall(r"^\| (\d{3}) \|", page, re.MULTILINE)} == statuses


def test_large_bodies_are_refused(running_service: Running) -> None:
    for size in (1_000_001, 10_000_000):
        status, answer = running_service.ask("/translate", b"x" * size, headers=JSON)
        assert (status, answer) == (413, {"error": "the body may have 1000000 bytes"})
    bomb = b'<!DOCTYPE a [<!ENTITY b "bbbb">]><methodCall><methodName>&b;</methodName></methodCall>'
    assert "plain XML" in running_service.ask("/RPC2", bomb)[1]


def test_slow_and_vanishing_clients(german: System) -> None:
    with running([Engine("german", german, "de", "en")], ServiceLimits(read_timeout=0.5)) as service:
        head = b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
        with socket.create_connection(("127.0.0.1", service.port)) as slow:
            slow.sendall(head + b'{"q":')
            slow.settimeout(10)
            assert slow.recv(1000).startswith(b"HTTP/1.1 408")
        with socket.create_connection(("127.0.0.1", service.port)) as silent:
            silent.sendall(b"POST /trans")
            silent.settimeout(10)
            assert silent.recv(1000) == b""  # closed
        for cut in (head, head + b'{"q": "Ja"', b"GET /hea"):
            with socket.create_connection(("127.0.0.1", service.port)) as gone:
                gone.sendall(cut)
        assert service.ask("/translate", GOOD)[0] == 200


def test_numbers_come_through_as_in_translate() -> None:
    bitext = Bitext.of(["im Jahr 1990 kam er"], ["then he came"], [[(0, 0), (1, 0), (2, 0), (3, 2), (4, 1)]])
    text = TextProcessing(TextSide("de", "sacremoses"), TextSide("en", "sacremoses"))
    weights = {"PhrasePenalty0": -1.0}
    system = System.of(PhraseTable.build(bitext, extract(bitext)), weights=weights).with_text(text)
    lines = ["im Jahr 1990 kam er", "er kam", "1.234,5 im Jahr 1990"]
    expected = RawTranslator(Translator(system)).translate(lines)
    assert "1990" in expected[0] and "1,234.5" in expected[2] and "1990" in expected[2]
    with running([Engine("numbers", system, "de", "en")]) as service:
        _, found = service.ask("/v2/translate", {"text": lines, "target_lang": "EN"}, headers=JSON)
        assert [row["text"] for row in found["translations"]] == expected
        glossary = {"text": lines[0], "source": "de", "target": "en", "glossary": {"1990": "MCMXC"}}
        assert "MCMXC" in service.ask("/v1/translate", glossary)[1]["translations"][0]["text"]


class Slow(Translator):
    """Waits before it translates."""

    wait = threading.Event()

    def search(self, *arguments: Any, **options: Any) -> Any:
        while not self.wait.wait(0.01):
            if options["progress"] is not None and options["progress"](0, 1) is False:
                raise Cancelled("stopped")  # as the core does
        return super().search(*arguments, **options)


@contextmanager
def waiting(german: System, limits: ServiceLimits) -> Iterator[Running]:
    """A service whose searches wait."""
    Slow.wait.clear()
    engine = Engine("german", german, "de", "en")
    engine.translator = lambda options: Slow(german, options)  # type: ignore[method-assign]
    try:
        with running([engine], limits) as service:
            yield service
    finally:
        Slow.wait.set()


def test_a_full_queue_refuses(german: System) -> None:
    with waiting(german, ServiceLimits(queue=2, workers=1, batch=1)) as service, ThreadPoolExecutor(3) as pool:
        asked = []
        for n in (0, 1, 2):
            asked.append(pool.submit(service.ask, "/translate", GOOD))
            wait_for(lambda n=n: service.service.batcher.n_running + service.service.batcher.n_waiting == n + 1)  # type: ignore[misc]
        status, answer = service.ask("/translate", GOOD)
        assert (status, answer) == (429, {"error": "too many requests are waiting; try again later"})
        assert service.ask("/health")[1]["waiting"] == 2
        Slow.wait.set()
        assert [one.result()[0] for one in asked] == [200] * 3
        assert 'hyperbaton_requests_total{path="/translate",status="429"} 1' in service.ask("/metrics")[1]


def test_a_request_that_takes_too_long_is_abandoned(german: System) -> None:
    with waiting(german, ServiceLimits(timeout=0.3, workers=1)) as service:
        status, answer = service.ask("/translate", GOOD)
        assert status == 504 and "not ready after 0.3 seconds" in answer["error"]
        wait_for(lambda: service.service.batcher.n_running == 0)  # the search was stopped
        service.service.limits = ServiceLimits(workers=1)  # a busy machine may need longer for the next
        Slow.wait.set()
        assert service.ask("/translate", GOOD)[0] == 200


def test_workers_abandon_late_jobs_and_keep_none() -> None:
    batcher = Batcher(n_workers=1, capacity=2, batch=1)
    late = Job("key", 1, None, lambda jobs: None, deadline=time.monotonic() - 1)
    batcher.submit(late)
    assert isinstance(late.future.exception(10), Cancelled)  # of which the service makes one status, 504
    done = Job("key", 1, ServiceLimits(), lambda jobs: jobs[0].finish(1), deadline=time.monotonic() + 60)
    work = weakref.ref(done.work)
    batcher.submit(done)
    assert done.future.result(10) == 1
    del done
    wait_for(lambda: work() is None)  # a worker that waits holds nothing of the jobs it did
    batcher.close()


def test_work_stops_when_the_client_disconnects(german: System) -> None:
    with waiting(german, ServiceLimits(workers=1)) as service:
        body = json.dumps(GOOD).encode()
        with socket.create_connection(("127.0.0.1", service.port)) as gone:
            head = f"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
            gone.sendall(head.encode() + body)
            wait_for(lambda: service.service.batcher.n_running == 1)
        wait_for(lambda: service.service.batcher.n_running == 0)
        assert any(" 499 " in line for line in service.log)


def test_a_failing_request_does_not_spoil_its_batch(german: System, monkeypatch: pytest.MonkeyPatch) -> None:
    original = Translator.search

    def fail(self: Translator, sentences: Any, *arguments: Any, **options: Any) -> Any:
        if any("unlucky" in line for line in sentences.lines):
            raise RuntimeError("inside")
        return original(self, sentences, *arguments, **options)

    with waiting(german, ServiceLimits(workers=1)) as service, ThreadPoolExecutor(4) as pool:
        first = pool.submit(service.ask, "/translate", GOOD)
        wait_for(lambda: service.service.batcher.n_running == 1)
        asked = [pool.submit(service.ask, "/translate", GOOD | {"q": q}) for q in ("Ja!", "unlucky", "das Haus")]
        wait_for(lambda: service.service.batcher.n_waiting == 3)
        monkeypatch.setattr(Translator, "search", fail)
        Slow.wait.set()
        assert first.result()[0] == 200
        assert [one.result()[0] for one in asked] == [200, 500, 200]


def test_keys(german: System, tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text("# people\nfirst-key-1\nsecond-key-2\n", encoding="utf-8")
    with running([Engine("german", german, "de", "en")], keys=Keys.read(str(path)), cors=["http://a.org"]) as service:
        for body in (GOOD, GOOD | {"api_key": "wrong"}, GOOD | {"api_key": None}):
            assert service.ask("/translate", body)[0] == 403
        assert service.ask("/translate", GOOD | {"api_key": "second-key-2"})[0] == 200
        for name, value in (
            ("Authorization", "DeepL-Auth-Key first-key-1"),
            ("Authorization", "Bearer first-key-1"),
            ("X-API-Key", "first-key-1"),
        ):
            assert service.ask("/v2/usage", headers={name: value})[0] == 200
        assert service.ask("/v2/usage")[0] == 403 and service.ask("/RPC2", b"<a/>")[0] == 403
        assert service.ask("/health")[0] == 200 and service.ask("/frontend/settings")[1]["apiKeys"] is True
        own = xmlrpc.client.ServerProxy(f"http://me:first-key-1@127.0.0.1:{service.port}/RPC2")
        assert own.translate({"text": "ja"})["text"] == "yes "  # type: ignore[index,call-overload]
        own("close")()
        # Glossaries belong to the key that made them.
        first, second = ({"X-API-Key": key} for key in ("first-key-1", "second-key-2"))
        glossary = {"name": "a", "source_lang": "de", "target_lang": "en", "entries": "ja\tyep"}
        status, made = service.ask("/v2/glossaries", glossary, headers=first)
        assert status == 201 and service.ask(f"/v2/glossaries/{made['glossary_id']}", headers=second)[0] == 404
        connection = http.client.HTTPConnection("127.0.0.1", service.port)
        for origin, allowed in (("http://a.org", "http://a.org"), ("http://b.org", None)):
            connection.request("GET", "/health", headers={"Origin": origin})
            response = connection.getresponse()
            response.read()
            assert response.getheader("access-control-allow-origin") == allowed
        connection.close()
    assert not any("first-key-1" in line or "Ja!" in line for line in service.log)
    assert any("POST /translate 200" in line and "de-en 3 characters key2" in line for line in service.log)
    path.write_text("short\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"keys:1: a key must have at least 8 ASCII characters"):
        Keys.read(str(path))


def test_the_log_has_texts_only_on_request(german: System) -> None:
    with running([Engine("german", german, "de", "en")], log_texts=True) as service:
        service.ask("/translate?q=Ja!&source=de&target=en", b"")
    assert any('["Ja!"]' in line for line in service.log)


def test_page(running_service: Running) -> None:
    status, page = running_service.ask("/")
    assert (
        status == 200
        and '"server": {"key": false' in page
        and "<script src" not in page
        and '<link rel="stylesheet' not in page
    )


def test_docs_are_made_from_the_description(running_service: Running) -> None:
    status, page = running_service.ask("/docs")
    described = running_service.ask("/openapi.json")[1]
    assert status == 200 and "<script" not in page and "http://" not in page and "https://" not in page
    for path, methods in described["paths"].items():
        assert f"POST {path}</h2>" in page and methods["post"]["summary"] in page
        for name in methods["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"]:
            assert f"<code>{name}</code>" in page
    targets = set(re.findall(r'href="#([^"]+)"', page))
    assert set(described["components"]["schemas"]) - {"Path"} <= targets == targets & set(re.findall(r'id="([^"]+)"', page))
    assert '<a href="docs">' in running_service.ask("/")[1]


def test_systems_need_languages(moses: System, german: System, tmp_path: Path) -> None:
    moses.save(tmp_path / "moses")
    with pytest.raises(OptionError, match="does not name its languages; put them before it, for example ja-en="):
        Engine.load(str(tmp_path / "moses"))
    assert Engine.load(f"fr-en={tmp_path / 'moses'}").pair == "fr-en"
    with pytest.raises(OptionError, match="there are two systems for de-en"):
        Service([Engine("a", german, "de", "en"), Engine("b", german, "de", "en")])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_finish_accepted_requests(moses: System, tmp_path: Path, number: signal.Signals) -> None:
    moses.save(tmp_path / "moses")
    command = [sys.executable, "-m", "hyperbaton", "serve", f"fr-en={tmp_path / 'moses'}", "--port", "0", "--batch", "1"]
    with started(command, stderr=subprocess.PIPE, text=True) as program:
        first = program.stderr.readline()
        match = re.match(r"listening at http://127\.0\.0\.1:(\d+) \(fr-en\)", first)
        assert match, first
        service = Running(int(match[1]), None)  # type: ignore[arg-type]
        tokens = [line.split() for line in LINES[:10]]
        with ThreadPoolExecutor(4) as pool:
            asked = [pool.submit(service.ask, "/v1/translate", {"tokens": tokens, "source": "fr"}) for _ in range(4)]
            while True:
                waiting = service.ask("/metrics")[1]
                if "hyperbaton_batches_total 0\n" not in waiting:
                    break
            time.sleep(0.2)
            program.send_signal(number)
            assert [one.result()[0] for one in asked] == [200] * 4
        assert program.wait(30) == 0
        assert "stopped" in program.stderr.read()


def test_a_port_in_use_is_a_one_line_error(moses: System, tmp_path: Path) -> None:
    moses.save(tmp_path / "moses")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "hyperbaton", "serve", f"fr-en={tmp_path / 'moses'}", "--port", port]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert done.stderr == f"hyperbaton: error: cannot listen at 127.0.0.1:{port}: Address already in use\n"
