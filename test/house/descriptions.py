"""Every pass and op of ours has a summary and a description in its .td; a pass also says what it needs and shows its effect.

Reads the records that llvm-tblgen prints as JSON, so that what is checked is what the generated reference will show.
usage: descriptions.py ROOT LLVM_TBLGEN MLIR_INCLUDE_DIR
       descriptions.py --self-test LLVM_TBLGEN MLIR_INCLUDE_DIR
"""

import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

import source_tree

# Only files that define something are read; what they include is reached from there.
DEFINES = re.compile(r"^\s*(def|defm)\s+\w+", re.MULTILINE)


def records(root, path, tblgen, include):
    """The records defined in the file itself: name -> (classes, record)."""
    result = subprocess.run(
        [tblgen, "--dump-json", "-I", include, "-I", root, "-I", os.path.dirname(os.path.join(root, path)), os.path.join(root, path)],
        capture_output=True,
        text=True,
    )
    if result.returncode != 0:
        raise SystemExit(f"{path}: llvm-tblgen failed\n{result.stderr}")
    dump = json.loads(result.stdout)
    instances = dump["!instanceof"]
    passes = set(instances.get("PassBase", []))
    ops = set(instances.get("Op", []))
    name = os.path.basename(path)
    for record_name in sorted(passes | ops):
        record = dump[record_name]
        locations = " ".join(record.get("!locs", []))
        if locations and name not in locations:
            continue
        yield record_name, record_name in passes, record


def violations_of(root, path, tblgen, include):
    violations = []
    count = 0
    for name, is_pass, record in records(root, path, tblgen, include):
        count += 1
        kind = "pass" if is_pass else "op"
        for field in ("summary", "description"):
            if not (record.get(field) or "").strip():
                violations.append(f"{path}: {kind} {name} has no {field}")
        # A verifier changes nothing, so there is nothing to show.
        if is_pass and not name.startswith("Verify") and "```" not in (record.get("description") or ""):
            violations.append(f"{path}: pass {name} shows no IR before and after (a ``` block in its description)")
    return violations, count


def check(root, tblgen, include):
    paths = []
    for path in source_tree.files(root, (".td",)):
        contents = source_tree.text(root, path)
        if contents and DEFINES.search(contents):
            paths.append(path)
    violations, count, seen = [], 0, set()
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for found, number in pool.map(lambda path: violations_of(root, path, tblgen, include), paths):
            count += number
            violations += [v for v in found if not (v in seen or seen.add(v))]
    return violations, count


def self_test(tblgen, include):
    good = """// Passes.
include "mlir/Pass/PassBase.td"
def Good : Pass<"good"> { let summary = "Does good"; let description = "Needs a.\\n```mlir\\n```"; }
"""
    planted = """// Passes.
include "mlir/Pass/PassBase.td"
def NoSummary : Pass<"a"> { let description = "Needs a.\\n```mlir\\n```"; }
def NoDescription : Pass<"b"> { let summary = "Does b"; }
"""
    with tempfile.TemporaryDirectory() as root:
        source_tree.plant(root, "lib/A/Passes.td", good)
        violations, count = check(root, tblgen, include)
        assert not violations and count == 1, (violations, count)
        source_tree.plant(root, "lib/B/OtherPasses.td", planted)
        violations, count = check(root, tblgen, include)
        assert count == 3 and len(violations) == 3, violations
        assert any("NoSummary has no summary" in v for v in violations), violations
        assert any("NoDescription has no description" in v for v in violations), violations
        assert any("NoDescription shows no IR" in v for v in violations), violations
    print("self-test: every planted violation was found, and nothing else")


def main():
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    first, tblgen, include = sys.argv[1:]
    if first == "--self-test":
        self_test(tblgen, include)
        return
    violations, count = check(first, tblgen, include)
    for violation in violations:
        print(violation)
    print(f"{count} passes and ops looked at, {len(violations)} violation(s)")
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main()
