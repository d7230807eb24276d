"""Times Weft beside its peers in one run: the same programs, inputs and threads, all taking turns.

usage: compare.py BUILD [--program NAME]... [--peer NAME]... [--threads N]... [--turns N] [--seconds S] [--quick] [--folder WHERE]

A peer's results are compared with Weft's before it is timed. A cell is the median milliseconds of a run and, behind a peer, its time
over Weft's (above 1: Weft is faster). `BUILD/bench/report.json` has all that was measured: times, the time to the first result,
peak memory (of a process, above what it had before it loaded the library), the time of compilation. The exit status is 1 where Weft
gave no result or a peer's differ from it.
"""

import argparse
import json
import math
import os
import resource
import select
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import peers
import programs

HERE = os.path.dirname(os.path.abspath(__file__))
# Loading includes compiling, which some peers need long for.
PATIENCE = 150.0


class PeerError(Exception):
    """What a peer said, or that it said nothing."""


class Worker:
    """A process that holds one peer."""

    def __init__(self, peer, threads, settings):
        environment = dict(os.environ, **peers.environment(peer, threads), WEFT_RUNTIME=settings.runtime, WEFT_BENCH_COPY=settings.copy,
                           PYTHONDONTWRITEBYTECODE="1", PATH=os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", ""))
        self.errors = open(os.path.join(settings.folder, f"{peer}.log"), "ab")
        self.process = subprocess.Popen([sys.executable, os.path.join(HERE, "worker.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, env=environment)
        self.ask({"do": "open", "peer": peer}, PATIENCE)

    def ask(self, request, patience):
        try:
            self.process.stdin.write((json.dumps(request) + "\n").encode())
            self.process.stdin.flush()
            ready, _, _ = select.select([self.process.stdout], [], [], patience)
            line = self.process.stdout.readline() if ready else b""
        except BrokenPipeError:
            ready, line = True, b""
        if not line:
            self.close()
            raise PeerError("crashed" if ready else f"no answer in {patience:.0f} s")
        answer = json.loads(line)
        if "error" in answer:
            self.close()
            raise PeerError(answer["error"])
        return answer

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.errors.close()


def difference(ours, theirs):
    """"" where the results agree, else where they do not."""
    if len(ours) != len(theirs):
        return f"{len(theirs)} results, {len(ours)} expected"
    for index, (a, b) in enumerate(zip(ours, theirs)):
        if a.shape != b.shape:
            return f"result {index} has the shape {b.shape}, expected {a.shape}"
        a, b = a.astype(numpy.float64), b.astype(numpy.float64)
        if a.size == 0:
            continue
        worst = numpy.abs(a - b).max()
        # Contractions differ by their order; what a mistake leaves is far larger.
        if not worst <= 2e-3 * max(numpy.abs(b).max(), 1e-6):
            return f"result {index} differs by {worst:.3g}, values up to {numpy.abs(b).max():.3g}"
    return ""


def arrays(path):
    with numpy.load(path) as archive:
        return [archive[name] for name in archive.files]


def compile_program(settings, name, path):
    """The artifact, with the seconds that its compilation took: of the clock and of the processor."""
    artifact = os.path.join(settings.folder, name.replace(" ", "_") + ".weft")
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    made = subprocess.run([settings.weft, "compile", path, "-o", artifact], capture_output=True, text=True)
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if made.returncode != 0:
        raise PeerError("does not compile: " + " ".join(made.stderr.split())[:200])
    return artifact, {"seconds": seconds, "processor": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def start_to_result(settings, artifact, inputs, threads):
    """Seconds of a weft-run process: start, load, one run, end."""
    times = []
    for _ in range(3):
        started = time.perf_counter()
        subprocess.run([settings.weft_run, artifact, "--inputs", inputs, f"--threads={threads}"], check=True, capture_output=True)
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def measure(settings, name, path, inputs, artifact, threads):
    """What every peer gives on one program with a number of threads; a string where it gave nothing."""
    results, workers = {}, {}
    expected = None
    with tempfile.TemporaryDirectory(dir=settings.folder) as folder:
        for peer in ["weft", *settings.peers] + (["copy"] if name in programs.MEMORY_BOUND else []):
            given = {"weft": artifact, "copy": " ".join(map(str, programs.MEMORY_BOUND.get(name, ())))}.get(peer, path)
            outputs = os.path.join(folder, f"{peer}.npz")
            try:
                worker = Worker(peer, threads, settings)
                results[peer] = worker.ask({"do": "load", "model": given, "inputs": inputs, "outputs": outputs, "threads": threads,
                                            "folder": os.path.join(settings.folder, "compiled")}, PATIENCE)
            except PeerError as error:
                results[peer] = str(error)
                continue
            if peer == "weft":
                expected = arrays(outputs)
            problem = difference(expected, arrays(outputs)) if expected is not None and peer not in ("weft", "copy") else ""
            if problem:
                results[peer] = "wrong: " + problem
                worker.close()
                continue
            workers[peer] = worker
        times = {peer: [] for peer in workers}
        for turn in range(settings.turns):
            for peer, worker in list(workers.items()):
                # One run that takes seconds tells enough.
                if turn > 0 and min(times[peer]) > 3:
                    continue
                try:
                    times[peer] += worker.ask({"do": "time", "seconds": settings.seconds}, 120)["times"]
                except PeerError as error:
                    results[peer] = str(error)
                    del workers[peer]
        for peer, worker in workers.items():
            results[peer].update(milliseconds=1000 * statistics.median(times[peer]), best=1000 * min(times[peer]), runs=len(times[peer]),
                                 peak=worker.ask({"do": "memory"}, 60)["peak"])
            worker.close()
    return results


def cell(result, ours):
    if not isinstance(result, dict):
        return result.split(":")[0][:15]
    return f"{result['milliseconds']:.3f}" + (f" ({result['milliseconds'] / ours:.2f})" if ours else "")


def print_table(settings, report):
    for threads in settings.threads:
        print(f"\n{threads} thread{'s' * (threads > 1)}: median ms of a run; in brackets the time over Weft's")
        names = [*settings.peers, "copy"]
        print(f"{'program':14} {'weft':>10} " + " ".join(f"{peer:>17}" for peer in names) + f" {'best peer':>10}")
        ratios = []
        for name, entry in report["programs"].items():
            results = entry["threads"].get(str(threads), {})
            weft = results.get("weft", "-")
            ours = weft["milliseconds"] if isinstance(weft, dict) else None
            best = [results[peer]["milliseconds"] for peer in settings.peers if isinstance(results.get(peer), dict)]
            ratio = min(best) / ours if best and ours else None
            if ratio:
                ratios.append(ratio)
            print(f"{name:14} {cell(weft, None):>10} " + " ".join(f"{cell(results.get(peer, '-'), ours):>17}" for peer in names)
                  + f" {f'{ratio:.2f}' if ratio else '-':>10}")
        if ratios:
            print(f"geometric mean of the best peer's time over Weft's: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")
    print(f"\n{'program':14} {'compile s':>10} {'of CPU s':>9} {'start ms':>9} {'ort start':>9} {'peak MiB':>9} {'ort peak':>9}")
    for name, entry in report["programs"].items():
        results = entry["threads"].get(str(max(settings.threads)), {})
        ort = results.get("onnxruntime")
        ort = ort if isinstance(ort, dict) and "peak" in ort else None
        weft = results.get("weft")
        if not isinstance(weft, dict) or "peak" not in weft:
            continue
        start, peak = (f"{1000 * (ort['load'] + ort['first']):.0f}", f"{ort['peak'] / 2**20:.0f}") if ort else ("-", "-")
        print(f"{name:14} {entry['compile']['seconds']:10.2f} {entry['compile']['processor']:9.2f} {1000 * entry['start']:9.0f} {start:>9} "
              f"{weft['peak'] / 2**20:9.0f} {peak:>9}")
    for name, entry in report["programs"].items():
        for threads, results in entry["threads"].items():
            for peer, result in results.items():
                if not isinstance(result, dict):
                    print(f"{name}, {threads} thread(s), {peer}: {result}")


def has_failed(report):
    return any(isinstance(result, str) and (peer == "weft" or result.startswith("wrong"))
               for entry in report["programs"].values() for results in entry["threads"].values() for peer, result in results.items())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="the build folder")
    parser.add_argument("--program", action="append", choices=list(programs.PROGRAMS), help="default: all")
    parser.add_argument("--peer", action="append", choices=[peer for peer in peers.PEERS if peer not in ("weft", "copy")], help="default: all")
    parser.add_argument("--threads", action="append", type=int, help="default: 1 and 2")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.3, help="of each turn of each peer")
    parser.add_argument("--folder", help="of the report, the models and what peers compile; default: BUILD/bench")
    parser.add_argument("--quick", action="store_true", help="two short turns")
    settings = parser.parse_args()
    settings.threads = settings.threads or [1, 2]
    settings.peers = settings.peer or [peer for peer in peers.PEERS if peer not in ("weft", "copy")]
    if settings.quick:
        settings.turns, settings.seconds = 2, 0.15
    build = os.path.abspath(settings.build)
    settings.folder = os.path.abspath(settings.folder or os.path.join(build, "bench"))
    settings.weft, settings.weft_run, settings.copy = (os.path.join(build, "bin", tool) for tool in ("weft", "weft-run", "bench_copy"))
    settings.runtime = os.path.join(build, "lib", "libweft_runtime.so")
    os.makedirs(os.path.join(settings.folder, "compiled"), exist_ok=True)
    report = {"programs": {}}
    for name in settings.program or programs.PROGRAMS:
        started = time.perf_counter()
        entry = report["programs"][name] = {"threads": {}}
        try:
            path, inputs = programs.prepare(name, os.path.join(settings.folder, "models"))
            artifact, entry["compile"] = compile_program(settings, name, path)
            entry["start"] = start_to_result(settings, artifact, inputs, max(settings.threads))
        except (programs.models.NotHere, PeerError, subprocess.CalledProcessError) as error:
            entry["threads"] = {str(threads): {"weft": str(error)} for threads in settings.threads}
            print(f"{name}: {error}", file=sys.stderr)
            continue
        for threads in settings.threads:
            entry["threads"][str(threads)] = measure(settings, name, path, inputs, artifact, threads)
        print(f"{name}: measured in {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
        with open(os.path.join(settings.folder, "report.json"), "w", encoding="utf-8") as stream:
            json.dump(report, stream, indent=1)
    print_table(settings, report)
    print(f"all of it: {os.path.join(settings.folder, 'report.json')}")
    return 1 if has_failed(report) else 0


if __name__ == "__main__":
    sys.exit(main())
