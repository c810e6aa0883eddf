"""The search feature of docs/design/search-features.md compiles with the core as printed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPILER = shutil.which("c++") or shutil.which("g++")
BLOCK = re.compile(r"^```cpp\n(// (core/\S+)\n.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.slow
@pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")
def test_the_feature_of_the_page_compiles_for_both_decoders(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "design" / "search-features.md").read_text(encoding="utf-8")
    *files, (lists, _) = BLOCK.findall(page)
    assert len(files) == 2
    for text, path in files:
        own = tmp_path / path
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(text)
    # Headers of the overlay come first: the lists name the classes of the new files.
    for path, declaration in re.findall(r"^// (core/\S+)\n(using .*;)$", lists, re.MULTILINE):
        text = (ROOT / path).read_text(encoding="utf-8")
        header = next(name for name, file in (("length", "decode"), ("chart_length", "hierarchical")) if file in path)
        include = next(file.removeprefix("core/") for _, file in files if Path(file).stem == header)
        kind = declaration.split(" = ")[0]
        changed = re.sub(rf"^{re.escape(kind)} = [^;]*;$", declaration, text, flags=re.MULTILINE)
        assert changed != text
        own = tmp_path / path
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(changed.replace("#pragma once\n", f'#pragma once\n\n#include "{include}"\n', 1))
    for source in ("decode/space.cc", "hierarchical/search.cc"):
        command = [str(COMPILER), "-std=c++20", "-fsyntax-only", f"-I{tmp_path / 'core'}", f"-I{ROOT / 'core'}"]
        done = subprocess.run([*command, str(ROOT / "core" / source)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
