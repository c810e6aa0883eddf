"""Public parallel text by name: mtdata knows where OPUS, WMT, KFTT and others keep theirs, and reads their formats.

A dataset is named as mtdata names it, `OPUS-tatoeba-v20230412-deu-eng`: collection, corpus, version and languages, in
either order, as codes of two or three letters. Downloads stay in mtdata's cache (`~/.mtdata`, or `$MTDATA`).
"""

from __future__ import annotations

import contextlib
import difflib
import logging
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hyperbaton.base.errors import Cancelled, HyperbatonError, InputError, OptionError, import_failure
from hyperbaton.base.progress import Progress
from hyperbaton.base.writing import writing_file

N_NEAR = 3  # names suggested for an unknown one
# Languages that mtdata has under two codes; tokenizers know the second.
OTHER_CODES = {"cmn": "zh"}


Languages = tuple[Any, Any]  # as mtdata names them


@dataclass(frozen=True)
class Dataset:
    """One of mtdata's datasets, read from the source to the target language."""

    name: str
    entry: Any  # in mtdata's index
    languages: Languages
    swapped: bool


class Catalogue:
    """The datasets that mtdata knows. Creating one reads mtdata's index, which takes seconds, or a minute the first time.

    With `names_only` it reads only the names of the datasets, from a file that the first call leaves beside the index.
    """

    def __init__(self, names_only: bool = False) -> None:
        try:
            with _without_its_manners():
                import mtdata
                import mtdata.iso.bcp47

                self.cache_folder, index = Path(mtdata.cache_dir), Path(mtdata.cached_index_file)
                self._names_file = index.with_suffix(".names")
                both_exist = self._names_file.exists() and index.exists()
                is_newer = both_exist and self._names_file.stat().st_mtime_ns >= index.stat().st_mtime_ns
                self._has_names = names_only and is_newer
                with _whole_index(index) if not self._has_names else contextlib.nullcontext():
                    if not self._has_names:
                        import mtdata.cache
                        import mtdata.index
                        import mtdata.parser
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != "mtdata":
                raise
            raise import_failure(error, "mtdata", "data", "mtdata") from error
        self._mtdata = mtdata
        self.version: str = mtdata.__version__

    def find(self, name: str, languages: Languages | None = None) -> Dataset:
        """The dataset of a name, from the first of `languages` to the second; without them, as its name says."""
        parts = name.split("-")
        pair = self._languages(parts[3:])
        entries = self._mtdata.index.INDEX.entries
        if pair is None or len(parts) != 5:
            raise self._unknown(name, pair)
        for order in (pair, (pair[1], pair[0])):
            try:
                key = self._mtdata.entry.DatasetId(*parts[:3], order)
            except AssertionError:  # a character that no name has
                break
            if key in entries:
                return self._directed(name, entries[key], languages or pair)
        raise self._unknown(name, pair)

    def parse_languages(self, text: str) -> Languages:
        """The two languages of a text like de-en."""
        pair = self._languages(text.split("-"))
        if pair is None:
            raise OptionError(f"languages are two codes like de-en, not {text!r}")
        return pair

    def code(self, language: Any) -> str:
        """The code of a language that files and tokenizers use: of two letters where there is one."""
        code2 = self._mtdata.iso.bcp47.bcp47.languages[language.lang][0]
        return OTHER_CODES.get(language.lang) or code2 or str(language.lang)

    def names(self, languages: Languages, containing: str = "") -> list[str]:
        """The names of all datasets of two languages, in either direction."""
        tags = self._mtdata.iso.bcp47
        wanted = sorted(languages, key=str)

        @cache
        def fits(codes: str) -> bool:
            if sorted(code.partition("_")[0] for code in codes.split("-")) != sorted(tag.lang for tag in wanted):
                return False  # parsing takes longer
            return all(map(tags.BCP47Tag.is_compatible, wanted, sorted(map(tags.bcp47, codes.split("-")), key=str)))

        with _without_its_manners():
            return sorted(
                name for name in self._all_names() if containing.lower() in name.lower() and fits(name.split("-", 3)[3])
            )

    def _all_names(self) -> list[str]:
        """The names of all datasets, from the file of names or from the index, which is then written to the file."""
        if self._has_names:
            return self._names_file.read_text(encoding="utf-8").splitlines()
        names = [str(name) for name in self._mtdata.index.INDEX.entries]
        with contextlib.suppress(OSError), writing_file(self._names_file) as aside:  # the folder may be read-only
            aside.write_text("\n".join(names), encoding="utf-8")
        return names

    def fetch(self, dataset: Dataset, source: Path, target: Path, progress: Progress) -> int:
        """Download a dataset if it is not in the cache, add its sentence pairs to two files, and return their number."""
        cache = self._mtdata.cache
        shown, cache.pbar_man = cache.pbar_man, _Counter(progress)
        try:
            with _without_its_manners():
                paths = cache.Cache(self.cache_folder).get_entry(dataset.entry)
        except (HyperbatonError, MemoryError):
            raise
        except Exception as error:
            raise self._not_fetched(dataset, error) from error
        finally:
            cache.pbar_man = shown
        try:
            with _without_its_manners():
                return self._copy(dataset, paths, source, target)
        except Exception as error:
            if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno is not None):
                raise  # of the machine, not of the text
            where = paths if not isinstance(paths, list) else paths[0]
            hint = "if the file is damaged, remove it and try again"
            raise InputError(f"{dataset.name}: cannot be read: {_reason(error)}; {hint}", str(where)) from error

    def _copy(self, dataset: Dataset, paths: Path | list[Path], source: Path, target: Path) -> int:
        """Add the pairs to two files, one line for each; those without one of the sides are left out."""
        n_pairs = 0
        rows = self._mtdata.parser.Parser(paths, ext=dataset.entry.in_ext or None, ent=dataset.entry).read_segs(
            show_pbar=False
        )
        first, second = (target, source) if dataset.swapped else (source, target)
        with first.open("a", encoding="utf-8") as first_file, second.open("a", encoding="utf-8") as second_file:
            for row in rows:
                if isinstance(row, str) or len(row) < 2:
                    raise ValueError("its lines are not pairs of sentences")
                one, other = (" ".join(str(side or "").split()) for side in row[:2])
                if one and other:
                    first_file.write(f"{one}\n")
                    second_file.write(f"{other}\n")
                    n_pairs += 1
        if not n_pairs:
            raise ValueError("it has no sentence pairs")
        return n_pairs

    def _directed(self, name: str, entry: Any, languages: Languages) -> Dataset:
        tags = self._mtdata.iso.bcp47.BCP47Tag
        with contextlib.suppress(AssertionError):  # two languages that could be either of the others
            fits, swapped = tags.check_compat_swap(languages, entry.did.langs)
            if fits:
                return Dataset(str(entry.did), entry, languages, swapped)
        wanted, actual = ("-".join(map(str, pair)) for pair in (languages, entry.did.langs))
        raise OptionError(f"{name}: its languages are {actual}, not {wanted}; datasets of one corpus need the same two")

    def _languages(self, codes: list[str]) -> Languages | None:
        """Two languages, or None where the codes are not two known ones."""
        try:
            first, second = (self._mtdata.iso.bcp47.bcp47(code) for code in codes)
        except (ValueError, AssertionError):
            return None
        return first, second

    def _unknown(self, name: str, pair: Languages | None) -> OptionError:
        """Names that are near: of the same languages if they are known, otherwise of any."""
        if pair is not None:
            names = self.names(pair)
        else:
            names = sorted({str(did) for did in self._mtdata.index.INDEX.entries if str(did).partition("-")[0] in name})
        lower = {each.lower(): each for each in names}
        near = [lower[each] for each in difflib.get_close_matches(name.lower(), lower, n=N_NEAR, cutoff=0.5)]
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        form = "names are like OPUS-tatoeba-v20230412-deu-eng; "
        return OptionError(
            f"unknown dataset {name!r}; {hint or form}'hyperbaton corpus list de-en' prints those of two languages"
        )

    def _not_fetched(self, dataset: Dataset, error: Exception) -> InputError:
        """One line about a download that failed; those that were complete are kept."""
        url = dataset.entry.url if isinstance(dataset.entry.url, str) else dataset.entry.url[0]
        import requests
        import urllib3

        causes: dict[type[Exception], str] = {
            urllib3.exceptions.InsecureRequestWarning: "the server's certificate is not valid",
            requests.exceptions.Timeout: "the server does not answer",
            requests.exceptions.ConnectionError: "no connection",
            AssertionError: f"the server answered {error}",
        }
        what = next((cause for kind, cause in causes.items() if isinstance(error, kind)), _reason(error))
        return InputError(
            f"{dataset.name}: cannot be downloaded from {url}: {what}; check the network and try again: "
            f"complete downloads stay in {self.cache_folder}"
        )


class _Counter:
    """Replaces mtdata's progress bars, and reports to ours."""

    def __init__(self, progress: Progress, total: int = 0) -> None:
        self.progress, self.done, self.total = progress, 0, total

    @contextlib.contextmanager
    def counter(self, desc: str = "", total: int | None = None, unit: str = "") -> Iterator[_Counter]:
        yield _Counter(self.progress, total or 0)

    def update(self, incr: int = 1, **_: object) -> None:
        self.done += incr
        if self.progress(self.done, max(self.done, self.total)) is False:
            raise Cancelled("interrupted")


@contextlib.contextmanager
def _without_its_manners() -> Iterator[None]:
    """Keep mtdata from setting up the logging of the whole program, and from downloads without a valid certificate."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers[:] = [logging.NullHandler()]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with contextlib.suppress(ImportError):
                from urllib3.exceptions import InsecureRequestWarning

                warnings.simplefilter("error", InsecureRequestWarning)
            yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


@contextlib.contextmanager
def _whole_index(file: Path) -> Iterator[None]:
    """Remove mtdata's stored index if writing it is interrupted: mtdata would accept a partial one."""
    existed = file.exists()
    try:
        yield
    except BaseException as error:
        if not existed:
            file.unlink(missing_ok=True)
        if isinstance(error, EOFError | AssertionError) or type(error).__name__ == "UnpicklingError":
            raise InputError("mtdata's index of datasets is damaged; remove it and try again", file) from error
        if isinstance(error, OSError):
            raise InputError(f"mtdata's cache cannot be used: {error.strerror or error}", file.parent) from error
        raise


def _reason(error: Exception) -> str:
    """The first line of an error; its kind where it says nothing."""
    text = str(getattr(error, "msg", "") or error).strip()
    return text.partition("\n")[0] or type(error).__name__
