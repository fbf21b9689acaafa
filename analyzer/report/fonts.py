"""IBM Plex from its Python packages: cut to the letters a page uses, for embedding."""

from __future__ import annotations

import base64
import string
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

SANS, MONO = "fontpkg_ibm_plex_sans", "fontpkg_ibm_plex_mono"
# Kerning and substitutions take over a second to cut, and Plex reads well without.
LEFT_OUT = ("GPOS", "GSUB", "GDEF", "STAT", "meta")
# Always embedded, so that most pages share one cut of the fonts, which is kept.
USUAL = string.printable + "\u202f\u00a0•·–—−×→≥≤±…“”‘’ρσ"


@dataclass(frozen=True, slots=True)
class FontFile:
    """A font file of a package; `weights` are points of its axis, or its only weight."""

    family: str
    package: str
    file: str
    weights: tuple[int, ...]
    variable: bool


FILES = (
    FontFile("IBM Plex Sans", SANS, "IBMPlexSans[wdth,wght].ttf", (400, 600), variable=True),
    FontFile("IBM Plex Mono", MONO, "IBMPlexMono-Regular.ttf", (400,), variable=False),
)


@dataclass(frozen=True, slots=True)
class EmbeddedFont:
    """A face for a stylesheet: woff2 as a data URI."""

    family: str
    weight: int
    uri: str


def font_folders() -> list[Path]:
    """The folders with the font files; those of packages that are installed."""
    return [folder for name in (SANS, MONO) if (folder := _folder(name)) is not None]


def sans_file() -> Path | None:
    """The file of the text's face; None where it is not installed."""
    folder = _folder(SANS)
    path = folder / FILES[0].file if folder is not None else None
    return path if path is not None and path.is_file() else None


def embedded_fonts(letters: str) -> tuple[EmbeddedFont, ...]:
    """The faces that are installed, each cut to those letters and the usual ones."""
    wanted = "".join(sorted(set(letters) | set(USUAL)))
    return tuple(font for file in FILES for font in _cut(file, wanted))


def _folder(package: str) -> Path | None:
    spec = find_spec(package)
    return Path(spec.origin).parent / "files" if spec is not None and spec.origin else None


@cache
def _cut(file: FontFile, letters: str) -> tuple[EmbeddedFont, ...]:
    folder = _folder(file.package)
    if folder is None or not (folder / file.file).is_file():
        return ()
    font = _subset(folder / file.file, letters)
    if not file.variable:
        return (EmbeddedFont(file.family, file.weights[0], _data_uri(font)),)
    fonts = []
    for weight in file.weights:
        face = instancer.instantiateVariableFont(font, {"wght": weight, "wdth": 100})
        fonts.append(EmbeddedFont(file.family, weight, _data_uri(face)))
    return tuple(fonts)


def _subset(path: Path, letters: str) -> TTFont:
    font = TTFont(path, recalcTimestamp=False)
    for table in LEFT_OUT:
        if table in font:
            del font[table]
    subsetter = Subsetter(Options(notdef_outline=True, hinting=False))
    subsetter.populate(text=letters)
    subsetter.subset(font)
    return font


def _data_uri(font: TTFont) -> str:
    font.flavor = "woff2"
    buffer = BytesIO()
    font.save(buffer, reorderTables=False)
    return "data:font/woff2;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
