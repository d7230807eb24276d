"""A process that holds one peer and does what it is told, a JSON object a line: load, time, memory. See compare.py."""

import json
import os
import sys
import time

import numpy
import peers


def resident(field):
    with open("/proc/self/status", encoding="ascii") as stream:
        return next(int(line.split()[1]) * 1024 for line in stream if line.startswith(field))


def load(peer, request):
    with numpy.load(request["inputs"]) as archive:
        inputs = {name: archive[name] for name in archive.files}
    started = time.perf_counter()
    peer.load(request["model"], inputs, request["threads"], request["folder"])
    loaded = time.perf_counter()
    peer.run()
    first = time.perf_counter()
    numpy.savez(request["outputs"], *peer.outputs())
    return {"load": loaded - started, "first": first - loaded}


def measure(peer, request):
    """Runs for about `seconds`, at least once, after one that warms the caches where a run is short."""
    times = [peers.timed(peer)]
    if times[0] < request["seconds"]:
        times, end = [], time.perf_counter() + request["seconds"]
        while not times or time.perf_counter() < end:
            times.append(peers.timed(peer))
    return {"times": times}


def main():
    # Libraries print to the standard output too; the answers have a descriptor of their own.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    before, peer = resident("VmRSS"), None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["do"] == "open":
                peer = peers.PEERS[request["peer"]]()
                answer = {}
            elif request["do"] == "load":
                answer = load(peer, request)
            elif request["do"] == "time":
                answer = measure(peer, request)
            else:
                answer = {"peak": resident("VmHWM") - before}
        except Exception as error:  # whatever a peer does is its result
            answer = {"error": f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
