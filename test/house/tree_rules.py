"""Rules of every file: its length, its banner, no path of somebody's machine, no registry host, nothing generated or fetched."""

import os
import re
import tempfile

import source_tree

MAXIMUM_LINES = 1000
MAXIMUM_BYTES = 1 << 20
CODE = (".cpp", ".h", ".hpp", ".c", ".td", ".py", ".fbs")
# Fetched or generated things, and models: none is kept in the tree. Test inputs are text, or are made when a test runs.
FORBIDDEN_SUFFIXES = (".onnx", ".pb", ".weft", ".npy", ".npz", ".o", ".so", ".a", ".ptx.gen", ".whl", ".tar", ".gz", ".zip", ".pyc")
# Spelt in pieces, so that this file keeps its own rule.
MACHINE_PATHS = re.compile(r"(?<![\w.$}>*/-])/(?:" + "|".join(("ro" + "ot", "ho" + "me", "wo" + "rk", "t" + "mp", "Us" + "ers")) + r")(?:/[\w.]|\b(?=[\s\"']))")
REGISTRY_HOSTS = re.compile("|".join(re.escape(a + b) for a, b in (
    ("pypi.", "org"), ("pythonhosted.", "org"), ("deb.", "debian.org"), ("security.", "debian.org"), ("hugging", "face.co"))))
BANNER = {
    ".py": re.compile(r'\A(#!.*\n)?("""|# )'),
    ".td": re.compile(r"\A//"),
    ".fbs": re.compile(r"\A//"),
    None: re.compile(r"\A(//|/\*)"),
}


def check(root):
    violations = []
    count = 0
    for path in source_tree.files(root):
        count += 1
        suffix = os.path.splitext(path)[1]
        if path.endswith(FORBIDDEN_SUFFIXES):
            violations.append(f"{path}: a fetched, generated or binary file; make it when it is needed")
            continue
        if os.path.getsize(os.path.join(root, path)) > MAXIMUM_BYTES:
            violations.append(f"{path}: larger than {MAXIMUM_BYTES} bytes")
            continue
        contents = source_tree.text(root, path)
        if contents is None:
            violations.append(f"{path}: not UTF-8 text")
            continue
        lines = contents.count("\n")
        if suffix in CODE:
            if lines > MAXIMUM_LINES:
                violations.append(f"{path}: {lines} lines; split it, the limit is {MAXIMUM_LINES}")
            if contents and not BANNER.get(suffix, BANNER[None]).search(contents):
                violations.append(f"{path}:1: no banner; the first line says in one sentence what the file is")
        for expression, what in ((MACHINE_PATHS, "a path of one machine"), (REGISTRY_HOSTS, "a registry's host")):
            match = expression.search(contents)
            if match:
                line = contents.count("\n", 0, match.start()) + 1
                violations.append(f"{path}:{line}: {what}: '{match.group(0)}'")
    return violations, count


def self_test():
    good = {
        "lib/Good.cpp": "// Does good.\nint x;\n",
        "lib/good.py": '#!/usr/bin/env python3\n"""Does good."""\nurl = "https://example.org/work/item"\nscratch = "$HOME/tmp/x"\n',
        "README.md": "See `../work/notes` and build/tmp/output.\n",
    }
    planted = {
        "lib/Long.cpp": "// Long.\n" + "int x;\n" * MAXIMUM_LINES,
        "lib/Bannerless.cpp": "#include <vector>\n",
        "lib/bannerless.py": "import os\n",
        "docs/Path.md": "cd /" + "root/project\n",
        "docs/Path2.md": "writes to '/" + "tmp/x'\n",
        "docs/Host.md": "from https://pypi." + "org/simple\n",
        "test/Inputs/model.onnx": "x",
        "test/Inputs/binary.txt": b"a\0b",
        "test/Inputs/large.txt": "x" * (MAXIMUM_BYTES + 1),
    }
    with tempfile.TemporaryDirectory() as root:
        for path, contents in good.items():
            source_tree.plant(root, path, contents)
        violations, count = check(root)
        assert not violations and count == len(good), violations
        for path, contents in planted.items():
            source_tree.plant(root, path, contents)
        violations, _ = check(root)
        found = sorted(violation.split(":")[0] for violation in violations)
        assert found == sorted(planted), (found, sorted(planted))


if __name__ == "__main__":
    source_tree.run(check, self_test, __doc__)
