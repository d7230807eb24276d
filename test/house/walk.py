"""Regenerates the program listings of docs/Architecture.md and compares them with the text.

A listing is the ``` block after a line   <!-- walk: ARGUMENTS -->   : what `weft compile walk.onnx ARGUMENTS` prints. With
`from=REGEX` or `first=N` before the arguments the listing starts at a line, and has no more than N lines. usage: walk.py [--update] ROOT WEFT ONNX_PROTO_DIR
"""

import difflib
import os
import re
import shlex
import subprocess
import sys
import tempfile

LISTING = re.compile(r"(<!-- walk: (?P<arguments>.*?) -->\n```\w*\n)(?P<text>.*?)(?P<end>^```$)", re.MULTILINE | re.DOTALL)


def listing(weft, folder, arguments):
    words = shlex.split(arguments)
    start, first = None, None
    while words and words[0].startswith(("from=", "first=")):
        kind, value = words.pop(0).split("=", 1)
        if kind == "from":
            start = re.compile(value)
        else:
            first = int(value)
    result = subprocess.run([weft, "compile", "walk.onnx", *words], cwd=folder, capture_output=True, text=True, timeout=120)
    if result.returncode != 0:
        raise SystemExit(f"weft compile walk.onnx {arguments}: exit status {result.returncode}\n{result.stderr}")
    lines = [line.rstrip() for line in result.stdout.strip("\n").splitlines()]
    if start:
        found = [index for index, line in enumerate(lines) if start.search(line)]
        if not found:
            raise SystemExit(f"weft compile walk.onnx {arguments}: no line matches {start.pattern}")
        lines = lines[found[0] :]
    if first is not None and len(lines) > first:
        lines = lines[:first] + ["..."]
    return "\n".join(lines) + "\n"


def main():
    arguments = sys.argv[1:]
    update = arguments[:1] == ["--update"]
    if len(arguments) - update != 3:
        raise SystemExit(__doc__)
    root, weft, onnx_proto = arguments[update:]
    document = os.path.join(root, "docs", "Architecture.md")
    with open(document, encoding="utf-8") as stream:
        text = stream.read()
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(root, "docs", "walk.textproto"), "rb") as model, open(os.path.join(folder, "walk.onnx"), "wb") as binary:
            subprocess.run(["protoc", "--encode=onnx.ModelProto", "-I", onnx_proto, "onnx/onnx.proto"], stdin=model, stdout=binary, check=True)
        count = len(LISTING.findall(text))
        made = LISTING.sub(lambda match: match.group(1) + listing(os.path.abspath(weft), folder, match["arguments"]) + match["end"], text)
    if update:
        with open(document, "w", encoding="utf-8") as stream:
            stream.write(made)
        print(f"{count} listings written")
        return
    sys.stdout.writelines(difflib.unified_diff(text.splitlines(True), made.splitlines(True), "docs/Architecture.md", "what weft prints now"))
    if made != text:
        print("docs/Architecture.md is out of date; bring it up to date with\n  test/house/walk.py --update ROOT WEFT ONNX_PROTO_DIR")
        sys.exit(1)
    print(f"{count} listings are what weft prints")
    # Without listings the walk has lost its meaning.
    sys.exit(0 if count >= 5 else 1)


if __name__ == "__main__":
    main()
