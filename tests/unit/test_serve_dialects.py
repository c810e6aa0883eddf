"""Each dialect of the service with its real client; results equal to `translate`."""

from __future__ import annotations

import io
import urllib.parse
import urllib.request
import xmlrpc.client
from pathlib import Path
from typing import Any

import pytest

from hyperbaton.decode import NBest, System, TokenTranslator
from hyperbaton.serve.dialects.moses import METHODS
from tests.unit.services import LINES, TEXT, Running


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


def sent_file(service: Running, name: str, content: bytes) -> tuple[int, Any]:
    """The answer to a file to be translated into English, or the translated file."""
    head = f'--x\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    rest = '\r\n--x\r\nContent-Disposition: form-data; name="target"\r\n\r\nen\r\n--x--\r\n'
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    status, answer = service.ask("/translate_file", head.encode() + content + rest.encode(), headers=headers)
    if status != 200:
        return status, answer["error"]
    with urllib.request.urlopen(answer["translatedFileUrl"]) as response:
        assert response.headers["Content-Disposition"].endswith(f"{Path(name).stem}.en{Path(name).suffix}")
        return status, response.read()


def test_files_of_libretranslate(running_service: Running) -> None:
    for name, content, expected in (
        ("a.txt", "das Haus\nJa!\n", "the house\nYes!\n"),
        ("a.html", "<p>das <b>Haus</b></p>", "<p>the <b>house</b></p>"),
    ):
        assert sent_file(running_service, name, content.encode()) == (200, expected.encode())
    for name, content, message in (
        ("a.pdf", b"%PDF", "files of type .pdf are not translated; these are: .txt, .html, .htm, .docx"),
        ("a.txt", b"\xff", "the file is not valid UTF-8"),
        ("a.docx", b"no archive", "the file is not a Word document"),
    ):
        assert sent_file(running_service, name, content) == (400, message)
    settings = running_service.ask("/frontend/settings")[1]
    assert settings["filesTranslation"] and ".docx" in settings["supportedFilesFormat"]
    assert running_service.ask("/translate_file", {"target": "en"})[0] == 400


def test_word_documents_keep_their_formatting(running_service: Running) -> None:
    docx = pytest.importorskip("docx")
    document, stored = docx.Document(), io.BytesIO()
    document.add_heading("das Haus")
    paragraph = document.add_paragraph("das ")
    paragraph.add_run("Haus").bold = True
    document.add_table(1, 1).cell(0, 0).text = "Ja!"
    document.sections[0].header.paragraphs[0].text = "Ja! das Haus"
    document.add_paragraph("")
    document.save(stored)
    translated = docx.Document(io.BytesIO(sent_file(running_service, "a.docx", stored.getvalue())[1]))
    heading, paragraph, _ = translated.paragraphs
    assert (heading.text, heading.style.name) == ("the house", "Heading 1")
    assert [(run.text.strip(), bool(run.bold)) for run in paragraph.runs if run.text.strip()] == [
        ("the", False),
        ("house", True),
    ]
    assert translated.tables[0].cell(0, 0).text == "Yes!"
    assert translated.sections[0].header.paragraphs[0].text == "Yes! the house"


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
    best = TokenTranslator(moses).translate(LINES[:5])
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
    found = TokenTranslator(moses).translate_batch([LINES[0]], NBest(), graph=True)
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
    expected = TokenTranslator(moses.with_weights(weights)).translate([LINES[0]])[0]
    plain = TokenTranslator(moses).translate([LINES[0]])[0]
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
        assert best == TokenTranslator(moses).translate(LINES[:2]) and next(results).startswith("system.multicall(calls)")
        with pytest.raises(xmlrpc.client.Fault, match="text is missing"):
            next(results)
        for wrong in ("a", [3], [{"methodName": "system.multicall", "params": []}] * 1001):
            with pytest.raises((xmlrpc.client.Fault, xmlrpc.client.ProtocolError)):
                client.system.multicall(wrong)
        answer: Any = client.system.multicall([{"methodName": "system.multicall", "params": [[]]}])
        assert answer[0]["faultCode"] == 400
        for wrong in (5, True, 1.5, "a", {"text": "a"}):
            answer = client.system.multicall([{"methodName": "translate", "params": wrong}])
            assert answer[0]["faultCode"] == 400 and "needs params" in answer[0]["faultString"]
