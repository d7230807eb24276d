"""Whether weft-conformance sees what is wrong: wrong values, shapes and types, crashes, hangs, and a list that is not right.

Tests of Debian's libonnx-testdata are copied and spoiled. usage: self_test.py WEFT_CONFORMANCE FOLDER
"""

import json
import os
import shutil
import subprocess
import sys

DATA = "/usr/share/libonnx-testdata/data/node"


def copy_test(folder, name, source="test_abs"):
    target = os.path.join(folder, name)
    shutil.copytree(os.path.join(DATA, source), target)
    return target


def spoil(path, change):
    with open(path, "rb") as file:
        content = bytearray(file.read())
    with open(path, "wb") as file:
        file.write(change(content))


def output_of(test):
    return os.path.join(test, "test_data_set_0", "output_0.pb")


def other_last_bits(content):
    # The last element of a float tensor, in memory order: its exponent's lowest bit.
    content[-2] ^= 0x80
    return content


class Checks:
    def __init__(self, tool, folder):
        self.tool, self.folder, self.wrong = tool, folder, []

    def run(self, suite, expected, *options):
        listed = os.path.join(self.folder, "expected.txt")
        with open(listed, "w") as file:
            file.write(expected)
        result = subprocess.run(
            [self.tool, f"--suite=planted={suite}", f"--expected={listed}", f"--json={os.path.join(self.folder, 'results.json')}", *options],
            capture_output=True, text=True, check=False,
        )
        with open(listed) as file:
            return result.returncode, result.stdout + result.stderr, file.read()

    def expect(self, what, condition, output):
        if not condition:
            self.wrong.append(f"{what}:\n{output}")


def main():
    tool, folder = sys.argv[1:]
    if not os.path.isdir(DATA):
        print(f"NOT CHECKED: there is no {DATA}; install libonnx-testdata")
        sys.exit(77)
    shutil.rmtree(folder, ignore_errors=True)
    suite = os.path.join(folder, "suite")
    os.makedirs(suite)
    checks = Checks(tool, folder)

    copy_test(suite, "test_abs")
    status, output, _ = checks.run(suite, "")
    checks.expect("a right test passes on both", status == 0 and "planted: interpreter 1/1, cpu 1/1" in output.splitlines()[-1], output)

    status, output, _ = checks.run(suite, "planted test_abs cpu no reason\n")
    checks.expect("a listed test that passes", status == 1 and "PASSES, THOUGH LISTED: planted/test_abs (cpu): no reason" in output, output)
    status, output, _ = checks.run(suite, "planted test_gone all was removed\n")
    checks.expect("a listed test that is gone", status == 1 and "LISTED, BUT NOT THERE: planted/test_gone" in output, output)
    for line, words in (("planted test_abs cpu\n", "expected 'SUITE TEST DEVICES REASON'"), ("planted test_abs gpu x\n", "expected the devices"),
                        ("planted test_abs cpu x\nplanted test_abs interpreter x\n", "listed twice")):
        status, output, _ = checks.run(suite, line)
        checks.expect(f"the list {line!r}", status == 2 and words in output, output)

    spoil(output_of(copy_test(suite, "test_wrong_value")), other_last_bits)
    wrong_type = copy_test(suite, "test_wrong_type")
    shutil.copy(output_of(os.path.join(DATA, "test_not_2d")), output_of(wrong_type))
    shutil.copy(output_of(os.path.join(DATA, "test_relu")), output_of(copy_test(suite, "test_other_values")))
    spoil(os.path.join(copy_test(suite, "test_broken_model"), "model.onnx"), lambda content: content[: len(content) // 2])
    shutil.rmtree(os.path.join(copy_test(suite, "test_no_data"), "test_data_set_0"))
    status, output, listed = checks.run(suite, "")
    last = output.splitlines()[-1]
    checks.expect("spoiled tests fail", status == 1 and last == "planted: interpreter 1/6, cpu 1/6", output)
    for name in ("test_wrong_value", "test_wrong_type", "test_other_values", "test_broken_model", "test_no_data"):
        for device in ("interpreter", "cpu"):
            checks.expect(f"{name} is reported", f"FAILED: planted/{name} ({device}): " in output, output)
    with open(os.path.join(folder, "results.json")) as file:
        results = json.load(file)
    checks.expect("the JSON file", len(results) == 12 and sum(result["passed"] for result in results) == 2, str(results))

    # The list is brought up to date; reasons stay.
    status, output, listed = checks.run(suite, "planted test_no_data cpu the data are missing\nplanted test_abs interpreter,cpu x\n", "--update-expected")
    lines = listed.splitlines()
    checks.expect("--update-expected", status == 0 and len(lines) == 5 and "planted test_no_data interpreter,cpu the data are missing" in lines, listed)
    status, output, _ = checks.run(suite, listed)
    checks.expect("the list that was written", status == 0 and "0 results are not as listed" in output, output)

    status, output, _ = checks.run(suite, listed, "--filter=test_abs", "--device=cpu", "--by-operator")
    checks.expect("the table", status == 0 and any(line.split() == ["Abs", "cpu", "1/1"] for line in output.splitlines()), output)
    status, output, _ = checks.run(suite, listed, "--filter=nothing")
    checks.expect("a filter that leaves nothing", status == 2 and "no test is called 'nothing'" in output, output)
    samples = [checks.run(suite, listed, "--sample=3", f"--seed={seed}", "--json=" + os.path.join(folder, f"{seed}.json"))[1] for seed in (5, 5)]
    checks.expect("a sample", samples[0] == samples[1] and "a sample of 3 tests, --seed=5" in samples[0], "\n".join(samples))

    print("\n".join(checks.wrong) or "weft-conformance sees every planted fault")
    sys.exit(1 if checks.wrong else 0)


if __name__ == "__main__":
    main()
