"""The source files that a kernel of another package depends on, as one hash.

numba compiles what a kernel calls, and the constants that it uses, into the kernel, and notices only a change of the
kernel's own file. Here the imports of that file are followed as they are written, those inside functions too: modules
of its own package, and modules that are single files, count with their content. Of another package every file counts,
with its size and time. A module that is imported by a name made at run time is not seen, nor is a file of data.
"""

import ast
import hashlib
import sys
from collections.abc import Iterator
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

KNOWN = frozenset({"asyncplay", "numba", "numpy", "llvmlite"}) | sys.stdlib_module_names
"""What is not followed: our own sources and numba's version are in the name of the cache's folder."""


@cache
def hash_of(module: str, file: str) -> str:
    """The hash for the kernels of a module that lies in that file; it is being imported, and may be ``__main__``."""
    own = module.partition(".")[0]
    content, stamps = dict[Path, bytes](), set[str]()
    waiting = [(module, Path(file)), *_locate(module)]
    while waiting:
        name, path = waiting.pop()
        if path in content:
            continue
        content[path] = path.read_bytes()
        for imported in _imports(content[path], name, is_package=path.name == "__init__.py"):
            top = imported.partition(".")[0]
            if top == own or (top not in KNOWN and not _folders(top)):
                waiting += _locate(imported)
            elif top not in KNOWN:
                stamps |= _stamps(top)
    digest = hashlib.sha256()
    for path in sorted(content):
        digest.update(f"{path}\0{len(content[path])}\0".encode() + content[path])
    digest.update("\0".join(sorted(stamps)).encode())
    return digest.hexdigest()


def _imports(code: bytes, module: str, *, is_package: bool) -> Iterator[str]:
    """Dotted names of all that may be modules: of ``from a import b`` both a and a.b."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):  # importing it will fail
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")[: -node.level + is_package or None] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (base, *(f"{base}.{alias.name}" for alias in node.names))


def _locate(module: str) -> list[tuple[str, Path]]:
    """The files that importing a module reads, those of the packages around it first; none if it is no module."""
    top, *parts = module.split(".")
    folders, spec = _folders(top), _find(top)
    if not folders:
        origin = "" if spec is None or spec.origin is None else spec.origin
        return [(top, Path(origin))] if origin.endswith(".py") and Path(origin).is_file() else []
    name, found = top, [(top, folder / "__init__.py") for folder in folders]
    for part in parts:
        name = f"{name}.{part}"
        found += [(name, path) for folder in folders for path in (folder / f"{part}.py", folder / part / "__init__.py")]
        folders = [folder / part for folder in folders]
    return [(name, path) for name, path in found if path.is_file()]


def _folders(top: str) -> list[Path]:
    """Where the modules of a package lie; none for a module that is a single file, or not there."""
    spec = _find(top)
    return [] if spec is None else [Path(folder) for folder in spec.submodule_search_locations or ()]


@cache
def _find(top: str) -> ModuleSpec | None:
    try:
        return find_spec(top)
    except (ImportError, ValueError):  # ValueError: a module without a spec, such as __main__
        return None


@cache
def _stamps(top: str) -> frozenset[str]:
    files = (path for folder in _folders(top) for path in folder.rglob("*.py") if path.is_file())  # no dangling links
    return frozenset(f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in files)
