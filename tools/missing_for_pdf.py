"""Prints what this machine lacks for a PDF, one word a line: pango, harfbuzz-subset, cjk-font.

Only the standard library: it runs before anything is installed.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import sys

# WeasyPrint opens these by name. The Linux names come first: find_library needs a compiler there.
PANGO = {
    "gobject-2.0": "libgobject-2.0.so.0",
    "pango-1.0": "libpango-1.0.so.0",
    "pangoft2-1.0": "libpangoft2-1.0.so.0",
    "harfbuzz": "libharfbuzz.so.0",
    "fontconfig": "libfontconfig.so.1",
}
SUBSET = {"harfbuzz-subset": "libharfbuzz-subset.so.0"}


def load(name: str, linux_name: str) -> ctypes.CDLL | None:
    """The shared library, or None where it cannot be loaded."""
    candidates = [linux_name, ctypes.util.find_library(name)]
    if sys.platform == "darwin":  # Homebrew on Apple silicon is not on the loader's path
        candidates += [f"/opt/homebrew/lib/lib{name}.dylib", f"/usr/local/lib/lib{name}.dylib"]
    for candidate in filter(None, candidates):
        try:
            return ctypes.CDLL(candidate)
        except OSError:
            continue
    return None


class FontSet(ctypes.Structure):
    """The head of fontconfig's FcFontSet."""

    _fields_ = (("count", ctypes.c_int), ("size", ctypes.c_int), ("fonts", ctypes.c_void_p))


def has_chinese_font(fontconfig: ctypes.CDLL) -> bool:
    """Asks fontconfig for any font that is meant for Chinese."""
    fontconfig.FcNameParse.restype = ctypes.c_void_p
    fontconfig.FcObjectSetCreate.restype = ctypes.c_void_p
    fontconfig.FcFontList.restype = ctypes.POINTER(FontSet)
    pattern = ctypes.c_void_p(fontconfig.FcNameParse(b":lang=zh"))
    wanted = ctypes.c_void_p(fontconfig.FcObjectSetCreate())
    fontconfig.FcObjectSetAdd(wanted, b"family")
    found = fontconfig.FcFontList(None, pattern, wanted)
    return bool(found) and found.contents.count > 0


def missing() -> list[str]:
    """What is missing, in the words that tools/bootstrap.sh maps to packages."""
    lacks = []
    if any(load(name, file) is None for name, file in PANGO.items()):
        lacks.append("pango")
    if any(load(name, file) is None for name, file in SUBSET.items()):
        lacks.append("harfbuzz-subset")
    if sys.platform.startswith("linux"):  # other systems ship such a font
        fontconfig = load("fontconfig", PANGO["fontconfig"])
        if fontconfig is None or not has_chinese_font(fontconfig):
            lacks.append("cjk-font")
    return lacks


if __name__ == "__main__":
    print("\n".join(missing()))
