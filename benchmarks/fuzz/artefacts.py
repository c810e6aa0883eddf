"""Damage small artefacts of every kind in seeded ways, use them, and count the outcomes.

    python -m benchmarks.fuzz.artefacts --cases 10000 --seed 1

Each case damages one artefact in one way: bytes of an array, of its header or of the manifest; a high bit of a number,
which makes it huge or negative ("high", and "forge_high" with correct checksums); a file truncated, extended, exchanged
with another, removed, or replaced by a pipe, a folder or a link to itself. Or a value of the manifest is replaced by one of
another type, with the manifest's checksum left wrong or corrected ("forge"); or the type or shape of an array is changed in
its header and in the manifest ("retype", "reshape"). A command that uses the artefact then runs in its own process, with
limits on time and memory, once without and once with --verify. Possible outcomes:

    same       output identical to that with the undamaged artefact
    error      one line on stderr, exit status 1
    silent     different output and exit status 0: allowed without --verify, and for a forged manifest
    crash, hang, memory, traceback: never allowed

With the core of `make sanitize`, every access outside an array ends the process, mapped arrays included:

    PYTHONPATH=tests/sanitize HYPERBATON_CORE=build/sanitize LD_PRELOAD="$(c++ -print-file-name=libasan.so) \
      $(c++ -print-file-name=libstdc++.so)" ASAN_OPTIONS=detect_leaks=0 python -m benchmarks.fuzz.artefacts
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):  # a process with threads cannot be forked safely
    os.environ.setdefault(_variable, "1")

from benchmarks.fuzz.networks import untrained_encoder, untrained_neural, untrained_orientations  # noqa: E402

from hyperbaton import _core  # noqa: E402
from hyperbaton.base.signals import Signals  # noqa: E402
from hyperbaton.base.store import MANIFEST, manifest_checksum  # noqa: E402
from hyperbaton.cli import Program, run_program  # noqa: E402
from hyperbaton.corpus import Bitext  # noqa: E402

SECONDS = 20  # of processor time of one command; one that waits may take longer, since others may use the processor
WAITING = 5 * SECONDS
MEMORY = 2 << 30  # bytes of address space that a command may take beyond what it starts with
NEVER = ("crash", "hang", "memory", "traceback")


class Use(NamedTuple):
    """An artefact, and a command that uses it: `@` stands for the artefact, `%` for an empty folder."""

    artefact: Path
    command: list[str]


def make_uses(folder: Path) -> list[Use]:
    """Build small artefacts of every kind."""
    at = str(folder)
    run(["generate", "-o", f"{at}/corpus", "-n", "80", "--dev", "8", "--test", "8", "-q"])
    train = [f"{at}/corpus/train.{side}" for side in ("source", "target", "links")]
    test = [f"{at}/corpus/test.{side}" for side in ("source", "target", "links")]
    run(["extract", *train, "-o", f"{at}/phrases", "--max-length", "4", "-q"])
    run(["lm", train[1], "-o", f"{at}/lm", "--order", "3", "--discount-fallback", "-q"])
    run(["lm", f"{at}/lm", "-o", f"{at}/bins", "--quantize", "4", "-q"])
    run(["align", *train[:2], "--save-model", f"{at}/aligner", "-o", f"{at}/links", "-q"])
    run(["train", "lexicalized", *train, "-o", f"{at}/lexicalized", "-q"])
    run(["train", "linear_jump", *train, "-o", f"{at}/jump", "-q"])
    models = ("block_me", "dpr", "linear", "maxent", "nine_class", "osm", "pair", "sequence")
    for model in models:
        run(["train", model, *train, "-o", f"{at}/{model}", "-q"])
    bitext = Bitext.read(*train)
    untrained_neural(bitext).save(folder / "neural")
    untrained_encoder(bitext).save(folder / "encoder")
    untrained_orientations(bitext).save(folder / "encoder_orientation")
    models += ("encoder", "encoder_orientation")
    sentence = Path(test[0]).read_text(encoding="utf-8").splitlines()[0]
    system = ["system", "-q", "--lm", f"{at}/lm", "--reordering", "LR=hier-mslr-bidirectional-fe", "--phrases"]
    parts = [f"{at}/phrases", "--reordering", f"LEX={at}/lexicalized", "--reordering", f"JUMP={at}/jump"]
    run([*system, *parts, "-o", f"{at}/system", "--copy"])
    run([*system, f"{at}/phrases", "-o", f"{at}/plain", "--copy"])
    run(["extract", *train, "-o", f"{at}/rules", "--hierarchical", "--max-span", "4", "-q"])
    with_rules = ["system", "-q", "--lm", f"{at}/lm", "--reordering", f"JUMP={at}/jump", "--rules"]
    run([*with_rules, f"{at}/rules", "-o", f"{at}/hiero", "--copy"])
    run(["system", "-q", "--lm", f"{at}/lm", "--rules", f"{at}/rules", "-o", f"{at}/plain-hiero", "--copy"])
    alone = ["-q", "-t", "1"]
    return [
        Use(folder / "phrases", [*system, "@", "-o", "%/system"]),
        Use(folder / "lm", ["perplexity", "@", test[1], "--sentences", "-t", "1"]),
        Use(folder / "lm", ["lm", "@", "--arpa", "%/arpa", *alone]),
        Use(folder / "bins", ["perplexity", "@", test[1], "--sentences", "-t", "1"]),
        Use(folder / "aligner", ["align", *test[:2], "--model", "@", *alone]),
        Use(folder / "neural", ["align", *test[:2], "--model", "@", *alone]),
        Use(folder / "lexicalized", ["explain", "@", "--sentence", sentence]),
        Use(folder / "rules", ["explain", "@", "--sentence", sentence]),
        Use(folder / "rules", ["prune", "@", *train[:2], "-o", "%/pruned", "--top", "2", *alone]),
        Use(folder / "jump", ["evaluate", "@", *test, "--json", *alone]),
        Use(folder / "system", ["translate", "@", test[0], "--nbest", "3", "--stack", "20", *alone]),
        Use(folder / "system", ["translate", "@", test[0], "--trace", "%/trace", "--stack", "20", *alone]),
        Use(folder / "plain", ["export", "moses", "@", "%/moses", "-q"]),
        Use(folder / "rules", [*with_rules, "@", "-o", "%/system"]),
        Use(folder / "plain-hiero", ["translate", "@", test[0], "--pop-limit", "20", *alone]),
        Use(folder / "hiero", ["translate", "@", test[0], "--nbest", "3", "--pop-limit", "20", *alone]),
        Use(folder / "hiero", ["translate", "@", test[0], "--trace", "%/trace", "--pop-limit", "20", *alone]),
        Use(folder / "hiero", ["inspect", test[0], "--system", "@", "--json", *alone]),
        Use(folder / "plain-hiero", ["export", "moses", "@", "%/moses", "-q"]),
        Use(folder / "system", ["show", "@"]),
        Use(folder / "phrases", ["lexicon", "@"]),
        Use(folder / "aligner", ["lexicon", "@"]),
        Use(folder / "phrases", ["prune", "@", *train[:2], "-o", "%/pruned", *alone]),
        *(Use(folder / model, ["evaluate", "@", *test, "--json", *alone]) for model in models),
    ]


# Commands without --verify.
UNVERIFIED = ("show", "prune")


@cache
def program(verb: str) -> Program:
    """The program with one command; created before the process is forked."""
    made = Program()
    made.load(verb)
    return made


def run(arguments: list[str]) -> None:
    """Run the program with these arguments."""
    sys.argv = ["hyperbaton", *arguments]
    with contextlib.suppress(SystemExit):
        program(arguments[0])(standalone_mode=False)


# Ways to damage a copy of an artefact. Each returns what it has done, or nothing where it cannot.

Damage = Callable[[Path, random.Random], str | None]


def _arrays(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.npy"))


def _data_start(content: bytes) -> int:
    return 10 + int.from_bytes(content[8:10], "little")


def flip(folder: Path, choice: random.Random) -> str | None:
    """Change one bit of an array's data."""
    file = choice.choice(_arrays(folder))
    content = bytearray(file.read_bytes())
    start = _data_start(content)
    if start >= len(content):
        return None
    content[choice.randrange(start, len(content))] ^= 1 << choice.randrange(8)
    file.write_bytes(content)
    return file.name


def high(folder: Path, choice: random.Random, forged: bool = False) -> str | None:
    """Change a high bit of a number: of an integer bit 20 or a higher one, of another number one of its exponent."""
    file = choice.choice(_arrays(folder))
    numbers = np.load(file)
    if not numbers.size:
        return None
    n_bits = 8 * numbers.itemsize
    lowest = n_bits - {2: 6, 4: 9, 8: 12}[numbers.itemsize] if numbers.dtype.kind == "f" else min(20, n_bits - 2)
    bit, place = choice.randrange(lowest, n_bits), choice.randrange(numbers.size)
    numbers.reshape(-1).view(f"u{numbers.itemsize}")[place] ^= np.array(1 << bit, f"u{numbers.itemsize}")
    np.save(file, numbers)
    if forged:
        _change_entry(folder, file, checksum=f"{_core.checksum(np.frombuffer(numbers.tobytes(), np.uint8)):016x}")
    return f"{file.name} {place} bit {bit}"


def forge_high(folder: Path, choice: random.Random) -> str | None:
    """Change a high bit of a number, with correct checksums."""
    return high(folder, choice, forged=True)


def overwrite(folder: Path, choice: random.Random) -> str | None:
    """Overwrite 1 to 64 aligned bytes with an extreme or random value."""
    file = choice.choice(_arrays(folder))
    content = bytearray(file.read_bytes())
    start = _data_start(content)
    if start >= len(content):
        return None
    size = choice.choice((1, 2, 4, 8, 16, 64))
    at = start + choice.randrange(0, len(content) - start) // size * size
    patterns = (b"\xff", b"\0", b"\x7f", b"\x80", b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\0\0\x80\x7f", choice.randbytes(8))
    value = (choice.choice(patterns) * size)[:size]
    content[at : at + size] = value[: len(content) - at]
    file.write_bytes(content)
    return file.name


def blank(folder: Path, choice: random.Random) -> str | None:
    """Fill a page or all of an array's data with one byte, like a lost disk block."""
    file = choice.choice(_arrays(folder))
    content = bytearray(file.read_bytes())
    start = _data_start(content)
    if start >= len(content):
        return None
    begin = choice.choice((start, max(start, choice.randrange(start, len(content)) // 4096 * 4096)))
    end = choice.choice((len(content), min(len(content), begin + 4096)))
    content[begin:end] = bytes([choice.choice((0, 0, 255, choice.randrange(256)))]) * (end - begin)
    file.write_bytes(content)
    return file.name


def header(folder: Path, choice: random.Random) -> str:
    """Change bytes of an array's header."""
    file = choice.choice(_arrays(folder))
    content = bytearray(file.read_bytes())
    start = _data_start(content)
    for _ in range(choice.choice((1, 1, 4))):
        content[choice.randrange(start)] = choice.randrange(256)
    file.write_bytes(content)
    return file.name


def cut(folder: Path, choice: random.Random) -> str:
    """Truncate a file."""
    file = choice.choice([*_arrays(folder), *folder.rglob(MANIFEST)])
    content = file.read_bytes()
    file.write_bytes(content[: choice.randrange(len(content))])
    return file.name


def lengthen(folder: Path, choice: random.Random) -> str:
    """Append bytes to a file."""
    file = choice.choice([*_arrays(folder), *folder.rglob(MANIFEST)])
    file.write_bytes(file.read_bytes() + choice.randbytes(choice.choice((1, 8, 4096))))
    return file.name


def swap(folder: Path, choice: random.Random) -> str:
    """Exchange two files, of equal size if possible."""
    one = choice.choice(_arrays(folder))
    others = [file for file in _arrays(folder) if file != one]
    alike = [file for file in others if file.stat().st_size == one.stat().st_size]
    other = choice.choice(alike or others)
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    return f"{one.name} {other.name}"


def remove(folder: Path, choice: random.Random) -> str:
    """Remove a file or a part."""
    path = choice.choice([path for path in sorted(folder.rglob("*")) if path.name != "old"])
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    return path.name


def garble(folder: Path, choice: random.Random) -> str:
    """Change bytes of a manifest."""
    file = choice.choice(sorted(folder.rglob(MANIFEST)))
    content = bytearray(file.read_bytes())
    for _ in range(choice.choice((1, 1, 1, 5))):
        content[choice.randrange(len(content))] = choice.choice((choice.randrange(256), *b'0123456789"{}[],:n'))
    file.write_bytes(content)
    return file.name


def _odd_values(choice: random.Random) -> list[Any]:
    deep: Any = 0
    for _ in range(choice.choice((3, 500))):
        deep = [deep]
    numbers = [0, -1, 1, 2**31, 2**63, 2**70, -(2**70), 10**400, 1e308, 1e-320, float("nan"), float("inf"), True]
    return [None, [], {}, "", "x", "../..", "é\0", [None], {"a": None}, deep, *numbers]


def edit(folder: Path, choice: random.Random, forged: bool = False) -> str:
    """Replace, remove or add a value somewhere in a manifest."""
    file = choice.choice(sorted(folder.rglob(MANIFEST)))
    manifest = json.loads(file.read_text(encoding="utf-8"))
    holder: Any = manifest
    while True:
        keys = list(range(len(holder)) if isinstance(holder, list) else holder)
        key = choice.choice(keys)
        if isinstance(holder[key], dict | list) and holder[key] and choice.random() < 0.8:
            holder = holder[key]
            continue
        break
    change = choice.random()
    if change < 0.15:
        del holder[key]
    elif change < 0.25 and isinstance(holder, dict):
        holder[choice.choice(("x", "..", "a/b"))] = holder[key]
    elif change < 0.4 and isinstance(holder[key], int | float):
        holder[key] = choice.choice((holder[key] + 1, -holder[key], holder[key] * 1000))
    else:
        holder[key] = choice.choice(_odd_values(choice))
    if forged:
        manifest["checksum"] = manifest_checksum(manifest)
        _forge_parents(folder, file.parent, manifest["checksum"])
    file.write_text(json.dumps(manifest), encoding="utf-8")
    return f"{file.name} {key}"


def _forge_parents(folder: Path, part: Path, checksum: str) -> None:
    while part != folder:
        parent = part.parent / MANIFEST
        manifest = json.loads(parent.read_text(encoding="utf-8"))
        manifest["parts"][part.name]["checksum"] = checksum
        checksum = manifest["checksum"] = manifest_checksum(manifest)
        parent.write_text(json.dumps(manifest), encoding="utf-8")
        part = part.parent


def forge(folder: Path, choice: random.Random) -> str:
    """Edit the manifest with correct checksums, so that only the values themselves are wrong."""
    return edit(folder, choice, forged=True)


def _change_entry(folder: Path, file: Path, **values: object) -> None:
    """Change what the manifest says about an array."""
    manifest_file = file.parent / MANIFEST
    manifest = json.loads(manifest_file.read_text(encoding="utf-8"))
    manifest["arrays"][file.name.removesuffix(".npy")] |= values
    manifest["checksum"] = manifest_checksum(manifest)
    manifest_file.write_text(json.dumps(manifest), encoding="utf-8")
    _forge_parents(folder, file.parent, manifest["checksum"])


def _forge_array(folder: Path, choice: random.Random, change: Callable[[str, list[int]], tuple[str, list[int]]]) -> str:
    """Change the type and shape of an array, in its header and in the manifest; its bytes do not change."""
    file = choice.choice(_arrays(folder))
    content, array = file.read_bytes(), np.load(file)
    dtype, shape = change(array.dtype.str, list(array.shape))
    with file.open("wb") as stream:
        np.lib.format.write_array_header_1_0(stream, {"descr": dtype, "fortran_order": False, "shape": tuple(shape)})
        stream.write(content[_data_start(content) :])
    _change_entry(folder, file, dtype=dtype, shape=shape)
    return f"{file.name} {dtype} {shape}"


def retype(folder: Path, choice: random.Random) -> str:
    """Change the type of an array, and its last dimension to match its bytes."""

    def change(dtype: str, shape: list[int]) -> tuple[str, list[int]]:
        types = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8")
        n_bytes = np.dtype(dtype).itemsize * shape[-1]
        fitting = [other for other in types if other != dtype and n_bytes % np.dtype(other).itemsize == 0]
        other = choice.choice(fitting)
        return other, [*shape[:-1], n_bytes // np.dtype(other).itemsize]

    return _forge_array(folder, choice, change)


def reshape(folder: Path, choice: random.Random) -> str:
    """Change the shape of an array without changing its size."""

    def change(dtype: str, shape: list[int]) -> tuple[str, list[int]]:
        n = math.prod(shape)
        k = choice.choice([k for k in range(1, max(n, 1) + 1) if n % k == 0][:6])
        return dtype, choice.choice(([n], [n // k, k], [k, n // k], [k, 1, n // k]))

    return _forge_array(folder, choice, change)


def special(folder: Path, choice: random.Random) -> str:
    """Replace a file by something that cannot be read: a pipe, a folder, a link to itself."""
    file = choice.choice([*_arrays(folder), *folder.rglob(MANIFEST)])
    file.unlink()
    choice.choice((os.mkfifo, Path.mkdir, lambda path: path.symlink_to(path.name)))(file)
    return file.name


DAMAGES: list[Damage] = [
    flip,
    high,
    high,
    forge_high,
    forge_high,
    overwrite,
    overwrite,
    blank,
    header,
    cut,
    lengthen,
    swap,
    remove,
    garble,
    edit,
    forge,
    forge,
]
DAMAGES += [retype, reshape, special]
FORGED = ("forge", "forge_high", "retype", "reshape")


class Outcome(NamedTuple):
    """The outcome of a command, in one word, and its output."""

    word: str
    output: bytes
    message: str


def use(command: list[str], artefact: Path, scratch: Path) -> Outcome:
    """Run a command on an artefact in a separate process."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    arguments = [word.replace("@", str(artefact)) if word == "@" else word.replace("%", str(scratch)) for word in command]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = os.fork()
        if process == 0:
            _become(arguments, out.fileno(), err.fileno())
        status = _wait(process)
        out.seek(0)
        err.seek(0)
        output, message = out.read(), err.read().decode("utf-8", "replace")
    files = sorted(path for path in scratch.rglob("*") if path.is_file() and path.name != MANIFEST)
    output += b"".join(path.read_bytes() for path in files)
    return Outcome(_word(status, message), output, message)


def _become(arguments: list[str], out: int, err: int) -> None:
    """Run the command in this process; does not return."""
    status = 70
    try:
        os.dup2(out, 1)
        os.dup2(err, 2)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        sys.argv = ["hyperbaton", *arguments]
        try:
            run_program(program(arguments[0]), Signals())
            status = 0
        except SystemExit as end:
            status = int(end.code or 0)
        sys.stdout.flush()
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def _wait(process: int) -> int | None:
    deadline = time.monotonic() + WAITING
    pause = 0.001
    while time.monotonic() < deadline:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(pause)
        pause = min(2 * pause, 0.02)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return None


def _word(status: int | None, message: str) -> str:
    if status in (None, -signal.SIGXCPU, -signal.SIGKILL):  # the limit on processor time ends in one of these
        return "hang"
    if status < 0:
        return "crash"
    if "not enough memory" in message or "MemoryError" in message or "bad_alloc" in message:
        return "memory"
    if status == 0:
        return "done"
    lines = message.splitlines()
    return "error" if status == 1 and len(lines) == 1 and lines[0].startswith("hyperbaton: error: ") else "traceback"


class Case(NamedTuple):
    """One damaged artefact, used in one way."""

    damage: str
    verified: bool
    word: str
    shown: str


def cases(n: int, seed: int, folder: Path) -> Iterator[Case]:
    """Damage and use artefacts `n` times, each without and with --verify."""
    uses = make_uses(folder)
    expected = []
    for each in uses:
        program(each.command[0])
        # Where the damaged copies will be: some commands print the path.
        outcome = use(each.command, _copied(each.artefact, folder), folder / "scratch")
        if outcome.word != "done":
            raise SystemExit(f"{each.command}: {outcome.word} with a sound artefact: {outcome.message}")
        expected.append(outcome)
    choice = random.Random(seed)
    n_done = 0
    while n_done < n:
        i = choice.randrange(len(uses))
        damage = choice.choice(DAMAGES)
        copy = _copied(uses[i].artefact, folder)
        where = damage(copy, choice)
        if where is None or _content(copy) == _content(uses[i].artefact):
            continue
        n_done += 1
        for verified in (False, True):
            if verified and uses[i].command[0] in UNVERIFIED:
                continue
            command = [*uses[i].command, "--verify"] if verified else uses[i].command
            outcome = use(command, copy, folder / "scratch")
            word = outcome.word
            if word == "done":
                word = "same" if outcome.output == expected[i].output else "silent"
            message = outcome.message.strip().rpartition("\n")[2]
            yield Case(damage.__name__, verified, word, f"{' '.join(command[:3])} ({damage.__name__} {where}): {message}")


def _copied(artefact: Path, folder: Path) -> Path:
    copy = folder / "damaged" / artefact.name
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(artefact, copy)
    return copy


def _content(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def is_wrong(case: Case) -> bool:
    """Whether the outcome is a fault."""
    return case.word in NEVER or (case.verified and case.word == "silent" and case.damage not in FORGED)


def main() -> int:
    """Print the number of cases by outcome, and every fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000, help="how many artefacts to damage")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    counts: Counter[tuple[str, bool, str]] = Counter()
    n_wrong = 0
    with tempfile.TemporaryDirectory(prefix="hyperbaton-fuzz-") as name:
        for case in cases(arguments.cases, arguments.seed, Path(name)):
            counts[case.damage, case.verified, case.word] += 1
            if is_wrong(case):
                n_wrong += 1
                print(f"{case.word}: {case.shown}", file=sys.stderr)
    words = ["same", "error", "silent", *NEVER]
    print("\t".join(["damage", "verified", *words]))
    for damage in [*sorted({key[0] for key in counts}), "all"]:
        for verified in (False, True):
            row = [
                sum(n for key, n in counts.items() if damage in (key[0], "all") and key[1:] == (verified, word))
                for word in words
            ]
            print("\t".join([damage, "yes" if verified else "no", *map(str, row)]))
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
