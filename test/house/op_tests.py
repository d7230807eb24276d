"""Every op has its tests: it is printed and parsed somewhere, and every rule id of its description is provoked by a negative test.

Looks at dialects/<Dialect>/*.td and at test/dialects/<Dialect>/*.mlir; negative tests are the files named *-invalid.mlir.
"""

import os
import re
import tempfile

import source_tree

MNEMONIC = re.compile(r'^def\s+\w+Op\s*:\s*\w+<\s*"(\w+)"', re.MULTILINE)
RULE = re.compile(r"\b([a-z][a-z0-9_]*_c\d+)\b")
PREFIX = {"Graph": "weft", "Mesh": "mesh", "Exec": "exec"}


def check(root):
    violations, count = [], 0
    for dialect, prefix in PREFIX.items():
        positive, negative = "", ""
        for path in source_tree.files(root, (".mlir",)):
            if path.startswith(f"test/dialects/{dialect}/"):
                text = source_tree.text(root, path)
                if "-invalid" in os.path.basename(path):
                    negative += text
                else:
                    positive += text
        used = set(re.findall(rf"\b{prefix}\.(\w+)", positive))
        provoked = set(RULE.findall(negative))
        for path in source_tree.files(root, (".td",)):
            if not path.startswith(f"dialects/{dialect}/"):
                continue
            text = source_tree.text(root, path)
            for mnemonic in MNEMONIC.findall(text) if "Dialect.td" not in path else []:
                count += 1
                if mnemonic not in used:
                    violations.append(f"{path}: {prefix}.{mnemonic} is in no test of test/dialects/{dialect}")
            for rule in sorted(set(RULE.findall(text))):
                count += 1
                if rule not in provoked:
                    violations.append(f"{path}: rule {rule} is provoked by no test/dialects/{dialect}/*-invalid.mlir")
    return violations, count


def self_test():
    with tempfile.TemporaryDirectory() as root:
        source_tree.plant(root, "dialects/Graph/A.td", '// A.\ndef Graph_DotOp : Graph_Op<"dot"> { let description = "Rules: dot_c1."; }\n')
        source_tree.plant(root, "test/dialects/Graph/a.mlir", "weft.dot %a, %b\n")
        source_tree.plant(root, "test/dialects/Graph/a-invalid.mlir", "// expected-error {{dot_c1: x}}\n")
        assert check(root) == ([], 2), check(root)
        source_tree.plant(root, "dialects/Graph/B.td", '// B.\ndef Graph_SumOp : Graph_Op<"sum"> { let description = "sum_c1: y"; }\n')
        violations, _ = check(root)
        assert len(violations) == 2 and "weft.sum" in violations[0] and "sum_c1" in violations[1], violations


if __name__ == "__main__":
    source_tree.run(check, self_test, __doc__)
