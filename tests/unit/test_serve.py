"""The service: its own dialect, its pages, and how it starts and stops."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from html import escape, unescape
from pathlib import Path

import pytest

from hyperbaton.base.errors import OptionError
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.processing import TextProcessing, TextSide
from hyperbaton.decode import System, TokenTranslator
from hyperbaton.decode.raw import RawTranslator
from hyperbaton.phrases import PhraseTable, extract
from hyperbaton.serve.dialects import DIALECTS
from hyperbaton.serve.engine import Engine
from hyperbaton.serve.service import Service
from tests.program import started
from tests.unit.services import JSON, LINES, TEXT, Running, running


def test_v1_agrees_with_translate(running_service: Running, german: System, moses: System, expected: str) -> None:
    status, answer = running_service.ask("/v1/translate", {"text": TEXT, "source": "de", "details": True})
    assert status == 200 and answer["translations"][0]["text"] == expected
    lines = LINES[:8]
    status, answer = running_service.ask("/v1/translate", {"tokens": [line.split() for line in lines], "source": "fr"})
    assert [row["text"] for row in answer["translations"]] == TokenTranslator(moses).translate(lines)


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


def test_openapi_describes_every_path(running_service: Running) -> None:
    status, answer = running_service.ask("/openapi.json")
    routes = [route for name in DIALECTS for route in DIALECTS[name](running_service.service).routes()]
    assert status == 200 and set(answer["paths"]) == {route.path for route in routes}
    for path, methods in answer["paths"].items():
        assert set(methods) <= {method.lower() for route in routes if route.path == path for method in route.methods}
    for name in re.findall(r'"#/components/schemas/(\w+)"', json.dumps(answer)):
        assert name in answer["components"]["schemas"]
    fields = answer["paths"]["/v1/translate"]["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"]
    assert fields["nbest"]["maximum"] == 100 and "text" in fields


def test_concurrent_requests_have_the_same_answers(running_service: Running, german: System) -> None:
    texts = [f"Das Haus {n}. {'Ja! ' * (n % 5)}" for n in range(60)]
    alone = RawTranslator(TokenTranslator(german)).translate(texts)

    def ask(text: str) -> str:
        return str(running_service.ask("/translate", {"q": text, "source": "de", "target": "en"})[1]["translatedText"])

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(ask, texts)) == alone


def test_numbers_come_through_as_in_translate() -> None:
    bitext = Bitext.of(["im Jahr 1990 kam er"], ["then he came"], [[(0, 0), (1, 0), (2, 0), (3, 2), (4, 1)]])
    text = TextProcessing(TextSide("de", "sacremoses"), TextSide("en", "sacremoses"))
    weights = {"PhrasePenalty0": -1.0}
    system = System.of(PhraseTable.build(bitext, extract(bitext)), weights=weights).with_text(text)
    lines = ["im Jahr 1990 kam er", "er kam", "1.234,5 im Jahr 1990"]
    expected = RawTranslator(TokenTranslator(system)).translate(lines)
    assert "1990" in expected[0] and "1,234.5" in expected[2] and "1990" in expected[2]
    with running([Engine("numbers", system, "de", "en")]) as service:
        _, found = service.ask("/v2/translate", {"text": lines, "target_lang": "EN"}, headers=JSON)
        assert [row["text"] for row in found["translations"]] == expected
        glossary = {"text": lines[0], "source": "de", "target": "en", "glossary": {"1990": "MCMXC"}}
        assert "MCMXC" in service.ask("/v1/translate", glossary)[1]["translations"][0]["text"]


def test_pages(running_service: Running) -> None:
    for path in ("/", "/explain"):
        status, page = running_service.ask(path)
        assert status == 200 and '"server": {"key": false' in page and '<a href="docs">' in page
        assert "<script src" not in page and '<link rel="stylesheet' not in page


def test_docs_are_made_from_the_description(running_service: Running, tmp_path: Path) -> None:
    status, page = running_service.ask("/docs")
    described = running_service.ask("/openapi.json")[1]
    assert (
        status == 200 and "<script" not in page and not re.findall(rf"https?://(?!127.0.0.1:{running_service.port})", page)
    )
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            assert f"{method.upper()} {path}</h2>" in page and escape(operation["summary"], quote=False) in page
            for content in operation.get("requestBody", {"content": {}})["content"].values():
                for name in content["schema"]["properties"]:
                    assert f"<code>{name}</code>" in page
    targets = set(re.findall(r'href="#([^"]+)"', page))
    assert set(described["components"]["schemas"]) - {"Path"} <= targets == targets & set(re.findall(r'id="([^"]+)"', page))


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_examples_of_the_docs_run(running_service: Running, tmp_path: Path) -> None:
    """Each as printed; those of paths with a parameter name something that does not exist."""
    docx = pytest.importorskip("docx")
    docx.Document().save(tmp_path / "letter.docx")
    page = running_service.ask("/docs")[1]
    own = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # curl hangs in `make sanitize`
    for command in map(unescape, re.findall(r"<pre>(curl .*?)</pre>", page, re.DOTALL)):
        assert f"http://127.0.0.1:{running_service.port}/" in command
        words = ["-s", "-o", tmp_path / "answer", "-w", "%{http_code}"]
        command_line = ["curl", *words, *shlex.split(command)[1:]]
        done = subprocess.run(command_line, capture_output=True, text=True, cwd=tmp_path, check=True, env=own)
        refused = {"/suggest": "403", "{name}": "404", "{id}": "404", "{pair}": "200"}
        expected = next((status for part, status in refused.items() if part in command), "200")
        assert done.stdout in (expected, "201"), (command, (tmp_path / "answer").read_text())


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
                if "hyperbaton_batches_total 0.0\n" not in waiting:
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
