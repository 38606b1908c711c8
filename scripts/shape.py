"""The shape of the package in figures: run it before and after a change of structure.

    scripts/dev python scripts/shape.py [FOLDER] [--no-walk]
    scripts/dev python scripts/shape.py [FOLDER] --once [ROOM]

Statements are those of the syntax tree, docstrings apart. A helper called once is a function or method whose name
occurs once in the whole package besides its definition, as a call in its own module. A private helper named once
is one whose name stands in the text of its module once besides its definition, whatever other modules have. --once
lists both kinds, of the whole package or of one room. The walk is that of walk.py; it is left out where FOLDER is
not what ``import asyncplay`` finds.
"""

import argparse
import ast
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
HERE = Path(__file__).parent


class Body(NamedTuple):
    place: str
    name: str
    lines: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=HERE.parent / "asyncplay")
    parser.add_argument("--once", nargs="?", const="", metavar="ROOM", help="list the helpers that are called once")
    parser.add_argument("--no-walk", action="store_true", help="leave out the walk, which plays a short run")
    wanted = parser.parse_args()
    modules = {str(path.relative_to(wanted.folder)): path.read_text() for path in sorted(wanted.folder.rglob("*.py"))}
    if not modules:
        parser.error(f"{wanted.folder} has no modules")
    trees = {place: ast.parse(text) for place, text in modules.items()}
    if wanted.once is not None:
        _list_once(modules, trees, wanted.once)
        return 0
    _print_figures(modules, trees)
    if wanted.no_walk:
        return 0
    if not _is_importable(wanted.folder):
        print("walk left out: import asyncplay finds another folder")
        return 0
    sys.stdout.flush()
    return subprocess.run([sys.executable, str(HERE / "walk.py")], check=False).returncode


def _is_importable(folder: Path) -> bool:
    """Whether ``import asyncplay`` means this folder."""
    spec = find_spec("asyncplay")
    return spec is not None and spec.origin is not None and Path(spec.origin).parent.samefile(folder)


def _list_once(modules: dict[str, str], trees: dict[str, ast.Module], room: str) -> None:
    """``room``: a folder or a module of the package, such as search or app.py; empty for all."""
    for name in sorted({*_called_once(trees), *_named_once(modules, trees)}):
        if not room or name.startswith((f"{room}/", f"{room}:", f"{room}.py:")):
            print(name)


def _print_figures(modules: dict[str, str], trees: dict[str, ast.Module]) -> None:
    bodies = [body for place, tree in trees.items() for body in _bodies(place, tree)]
    once, private = len(list(_called_once(trees))), len(list(_named_once(modules, trees)))
    lengths = sorted((text.count("\n"), place) for place, text in modules.items())
    print(f"modules {len(modules)}, at the top {sum('/' not in place for place in modules)}")
    print(f"statements {sum(map(_statements, trees.values())):,}")
    print(
        f"functions {len(bodies):,}, called once {once:,}: {once / len(bodies):.1%}, "
        f"private and named once in their module {private:,}: {private / len(bodies):.1%}"
    )
    _print_bodies(bodies)
    print("longest modules " + ", ".join(f"{place} {lines}" for lines, place in reversed(lengths[-5:])))
    doubled = _doubled_classes(trees)
    print(f"class names in several modules {len(doubled)}: {', '.join(sorted(doubled))}")
    imports = {place: _imports(tree) for place, tree in trees.items()}
    widest = sorted(imports.items(), key=lambda pair: -len(pair[1]))[:3]
    print("widest imports " + ", ".join(f"{place} {len(names)}" for place, names in widest))


def _statements(tree: ast.Module) -> int:
    docstrings = sum(
        ast.get_docstring(node, clean=False) is not None
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS))
    )
    return sum(isinstance(node, ast.stmt) for node in ast.walk(tree)) - docstrings


def _bodies(place: str, tree: ast.Module) -> Iterator[Body]:
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS):
            first = 1 if ast.get_docstring(node) is not None and len(node.body) > 1 else 0
            yield Body(place, node.name, (node.body[-1].end_lineno or 0) - node.body[first].lineno + 1)


def _print_bodies(bodies: list[Body]) -> None:
    under = sum(body.lines < 30 for body in bodies) / len(bodies)
    longest = sorted(bodies, key=lambda body: -body.lines)[:5]
    print(f"bodies under 30 lines {under:.1%}, over 60 {sum(body.lines > 60 for body in bodies)}")
    print("longest bodies " + ", ".join(f"{body.place}:{body.name} {body.lines}" for body in longest))


def _called_once(trees: dict[str, ast.Module]) -> Iterator[str]:
    mentions, calls = Counter[str](), defaultdict[str, list[str]](list)
    for place, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, (ast.Name, ast.Attribute)):
                mentions[_name(node)] += 1
            if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
                calls[_name(node.func)].append(place)
    for place, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, FUNCTIONS) and mentions[node.name] == 1 and calls[node.name] == [place]:
                yield f"{place}:{node.name}"


def _named_once(modules: dict[str, str], trees: dict[str, ast.Module]) -> Iterator[str]:
    for place, tree in trees.items():
        for node in ast.walk(tree):
            is_private = isinstance(node, FUNCTIONS) and node.name.startswith("_") and not node.name.startswith("__")
            if is_private and len(re.findall(rf"\b{node.name}\b", modules[place])) == 2:
                yield f"{place}:{node.name}"


def _name(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def _doubled_classes(trees: dict[str, ast.Module]) -> set[str]:
    """Public ones; the sibling files of methods/* may share theirs."""
    places = defaultdict[str, set[str]](set)
    for place, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                parts = Path(place).parts
                places[node.name].add(f"methods/{parts[-1]}" if parts[0] == "methods" else place)
    return {name for name, found in places.items() if len(found) > 1}


def _imports(tree: ast.Module) -> set[str]:
    names = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("asyncplay"):
            names.add(node.module or "")
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names if alias.name.startswith("asyncplay")}
    return names


if __name__ == "__main__":
    sys.exit(main())
