"""The documents keep their word: every link leads somewhere, and every shell command runs.

usage: documents.py ROOT                                   links, and that each ./dev command exists
       documents.py --run ROOT TOOLS MODEL.textproto ONNX_PROTO_DIR   runs the weft commands of README.md on a small model
       documents.py --self-test
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile

import source_tree

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
# These run everything, this test included; `./dev demo` is a test of its own, e2e.demo.
CALLED_ELSEWHERE = ("./dev", "bash", "cmake")


def commands(text):
    """The lines of the `sh` blocks, without comments."""
    for language, block in FENCE.findall(text):
        if language == "sh":
            for line in block.splitlines():
                words = shlex.split(line, comments=True)
                if words:
                    yield words


def check(root):
    violations, count = [], 0
    with open(os.path.join(root, "dev"), encoding="utf-8") as stream:
        known = set(re.findall(r"^  ([a-z]+)(?= )", stream.read().split("HELP", 2)[1], re.MULTILINE))
    for path in source_tree.files(root, (".md",)):
        text = source_tree.text(root, path)
        outside = FENCE.sub("", text)
        for target in LINK.findall(outside):
            count += 1
            if re.match(r"[a-z]+:|#", target):
                continue
            full = os.path.join(root, os.path.dirname(path), target.split("#")[0])
            if not os.path.exists(full):
                violations.append(f"{path}: the link to {target} leads nowhere")
        for words in commands(text):
            if words[0] == "./dev":
                count += 1
                if len(words) > 1 and words[1] not in known:
                    violations.append(f"{path}: ./dev has no command {words[1]}")
    return violations, count


def run(root, tools, model, onnx_proto):
    tried, failed = 0, 0
    environment = dict(os.environ, PATH=tools + os.pathsep + os.environ["PATH"])
    with open(os.path.join(root, "README.md"), encoding="utf-8") as stream:
        lines = list(commands(stream.read()))
    with tempfile.TemporaryDirectory() as scratch:
        with open(model, "rb") as text, open(os.path.join(scratch, "model.onnx"), "wb") as binary:
            subprocess.run(["protoc", "--encode=onnx.ModelProto", "-I", onnx_proto, "onnx/onnx.proto"],
                           stdin=text, stdout=binary, check=True)
        for words in lines:
            if words[0] in CALLED_ELSEWHERE:
                continue
            tried += 1
            result = subprocess.run(words, cwd=scratch, env=environment, capture_output=True, text=True, timeout=120)
            wrong = result.returncode != 0
            if "-o" in words and not os.path.exists(os.path.join(scratch, words[words.index("-o") + 1])):
                wrong = True
            if not (result.stdout + result.stderr).strip() and "-o" not in words:
                wrong = True  # it was to show something
            print(f"{'FAILED' if wrong else 'ran'}: {shlex.join(words)}")
            if wrong:
                failed += 1
                print(f"  exit status {result.returncode}\n  {result.stdout[-500:]}\n  {result.stderr[-1500:]}")
    print(f"{tried} commands of README.md, {failed} failed")
    # An empty list means that this test lost sight of them.
    return failed == 0 and tried >= 5


def self_test():
    with tempfile.TemporaryDirectory() as root:
        source_tree.plant(root, "dev", "cat <<'HELP'\n  build   builds\nHELP\n")
        source_tree.plant(root, "A.md", "[a](docs/B.md) [b](https://example.org)\n```sh\n./dev build # yes\n```\n")
        source_tree.plant(root, "docs/B.md", "[back](../A.md#top)\n```c\n[x](y)\n```\n")
        violations, count = check(root)
        assert not violations and count == 4, (violations, count)
        source_tree.plant(root, "C.md", "[lost](nowhere.md)\n```sh\n./dev fly\n```\n")
        violations, _ = check(root)
        assert len(violations) == 2, violations
    print("self-test: every planted violation was found, and nothing else")


def main():
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        self_test()
    elif len(arguments) == 5 and arguments[0] == "--run":
        sys.exit(0 if run(*arguments[1:]) else 1)
    elif len(arguments) == 1:
        violations, count = check(arguments[0])
        print("\n".join(violations + [f"{count} links and commands looked at, {len(violations)} violation(s)"]))
        sys.exit(1 if violations or not count else 0)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
