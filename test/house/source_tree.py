"""Walks the source tree for the checks of test/house, and reports what they find in one form."""

import argparse
import os
import sys

NOT_SOURCE = {".git", "__pycache__", ".venv", "install", ".cache"}


def files(root, suffixes=None):
    """Paths, relative to `root` and with forward slashes, of the files below it that are not build output."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(
            name
            for name in folders
            if name not in NOT_SOURCE and not (folder == root and (name == "build" or name.startswith("build-")))
        )
        for name in sorted(names):
            if name in NOT_SOURCE:
                continue  # in a linked worktree .git is a file
            if suffixes is None or name.endswith(tuple(suffixes)):
                yield os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")


def text(root, path):
    """The file's text, or None where it is not UTF-8 text."""
    with open(os.path.join(root, path), "rb") as stream:
        data = stream.read()
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def run(check, self_test, description):
    """The main program of a check: `check(root)` returns a list of violations and the number of things looked at."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("root", nargs="?", help="root of the source tree")
    parser.add_argument("--self-test", action="store_true", help="plant violations in a scratch tree; each must be found")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        print("self-test: every planted violation was found, and nothing else")
        return
    if not arguments.root:
        parser.error("name the root of the source tree")
    violations, looked_at = check(arguments.root)
    for violation in violations:
        print(violation)
    print(f"{looked_at} looked at, {len(violations)} violation(s)")
    # A check that looked at nothing has checked nothing.
    sys.exit(1 if violations or looked_at == 0 else 0)


def plant(root, path, contents):
    """Writes a file of a scratch tree, making its folders."""
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "wb") as stream:
        stream.write(contents if isinstance(contents, bytes) else contents.encode("utf-8"))
