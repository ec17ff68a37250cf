# SPDX-License-Identifier: BSD-3-Clause
"""`nagaya bench scale`: a model of a node (bench/scale) runs the code of our collectives, mailboxes and
lanes with as many members as machines have cores that nobody here has, beside shapes of others. Of this
machine's two processors it also holds the model against what the benchmark of collectives measures.

Its times come from the model and do not depend on the load; only the comparison is measured. There each
round begins with calibrate, because a hypervisor may move the processors from one round to the next."""

import json
import subprocess
import tempfile
import time
from typing import NamedTuple

import budget
import jobs
import machine
from jobs import Comparison, Job, Jobs

MACHINES = machine.FOLDER / "scale-machines"
OWN, MODEL = "Nagaya", "model"
KINDS = ["barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall"]
LONG_KINDS = ["bcast", "allreduce"]
LONG_BYTES = 65536
# The machine of the plots, and its numbers of members; of the others all cores.
PLOTTED, MEMBERS = "milan", [2, 4, 8, 16, 32, 64, 128]
OTHERS = {"genoa": 128, "sapphire": 112, "icelake": 64, "graviton3": 64, "a64fx": 48}
DELEGATEES, POSTERS = [1, 2, 4, 8], [1, 2, 8, 32, 127]
COMMAND_NS = 190  # requests_hosts_rate_16_8B of docs/results
RANKS, MEASURED_BYTES, ROUNDS = [2, 16], [8, 1024, 65536], 3


class Case(NamedTuple):
    machine: str
    kind: str
    bytes: int
    members: list


def cases(quick: bool) -> list[Case]:
    if quick:
        return [Case(PLOTTED, kind, short_bytes(kind), [2, 16]) for kind in KINDS]
    short = [Case(PLOTTED, kind, short_bytes(kind), MEMBERS) for kind in KINDS]
    long = [Case(PLOTTED, kind, LONG_BYTES, [2, 16, 128]) for kind in LONG_KINDS]
    return short + long + [Case(name, kind, short_bytes(kind), [cores])
                           for name, cores in OTHERS.items() for kind in KINDS]


def short_bytes(kind: str) -> int:
    return 0 if kind == "barrier" else 8


def printed_by(program: str, *words: object) -> dict:
    """Runs a program of this folder. Returns the figures that it prints."""
    command = [machine.FOLDER / program, *words, "--json"]
    ended = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                           check=False, text=True)
    if ended.returncode != 0:
        raise jobs.Failed(f"{' '.join([program, *map(str, words)])} ended with {ended.returncode}")
    return json.loads(ended.stdout)["figures"]


def figures_of(name: str, kind: str, *words: object) -> dict:
    """Runs the model of one machine. Returns its figures."""
    return printed_by("scale", kind, "--machine", MACHINES / f"{name}.json", *words)


def listed(numbers: list[int]) -> str:
    return ",".join(map(str, numbers))


def of_case(case: Case) -> dict:
    """Returns a figure for each shape, and one for each number of members that holds ours against the
    best of the others."""
    modelled = figures_of(case.machine, case.kind, "--members", listed(case.members), "--sizes",
                          case.bytes or 1)
    figures = {}
    for members in case.members:
        times = {figure["subject"]["name"]: figure for name, figure in modelled.items()
                 if name.split("_")[2] == str(members)}
        prefix = f"scale_{case.machine}_{case.kind}_{members}_{case.bytes}B"
        if case.machine == PLOTTED:
            figures.update({jobs.key_of(prefix, shape): figure for shape, figure in times.items()})
        values = {shape: [figure["subject"]["p50"]] for shape, figure in times.items()}
        others = Comparison(OWN, [shape for shape in values if shape != OWN])
        figures[f"{prefix}_best"] = {
            "title": f"{case.kind} of {case.bytes} B, {members} members on {case.machine}, modelled",
            "unit": "us", **jobs.sides(others, values)}
    return figures


def of_queues(quick: bool) -> dict:
    figures = {}
    for kind, numbers in (("mailbox", POSTERS), ("delegatees", DELEGATEES)):
        numbers = numbers[:2] if quick else numbers
        modelled = figures_of(PLOTTED, kind, "--members", listed(numbers), "--command-ns", COMMAND_NS)
        figures.update({f"scale_{PLOTTED}_{name}": figure for name, figure in modelled.items()})
    return figures


def measured(ranks: int, quick: bool) -> dict:
    """Runs the benchmark of collectives once. Returns its figures."""
    plan = Jobs(hosts=1, tasks_each=ranks, jobs=[Job("measured", environment={"NAGAYA_MPI": "on"})])
    return jobs.run(plan, "collectives", [
        "--kinds", listed(KINDS[1:]), "--sizes", listed(MEASURED_BYTES), "--limit-ms", "300"],
        quick, 1)["figures"]


def size_name(kind: str, size: int) -> str:
    return kind if kind == "barrier" else f"{kind}_{size}B" if size < 1024 else f"{kind}_{size // 1024}KiB"


def calibrated(quick: bool) -> dict:
    """Returns the description of this machine: here.json, with the figures that calibrate shows now."""
    here = json.loads((MACHINES / "here.json").read_text())
    ns = {name: figure["subject"]["p50"]
          for name, figure in printed_by("calibrate", *["--quick"] * quick).items()}
    now = {"transfer_ns": [ns["transfer_ns"]] * 3, "look_ns": max(0.0, ns["flag_ns"] - 2 * ns["transfer_ns"])}
    now |= {name: ns[name] for name in ("own_stream_ns", "reduce_ns", "yield_ns")}
    for name, line in (("outstanding", "polls_ns"), ("short_outstanding", "short_ns"),
                       ("stream_outstanding", "stream_ns"), ("short_store_outstanding", "share_ns"),
                       ("store_outstanding", "push_ns")):
        now[name] = max(1.0, ns["transfer_ns"] / ns[line])
    if not quick:  # with --quick, calibrate measures neither the shared cache nor memory
        now |= {"shared_ns": ns["chain_4MiB"], "memory_ns": ns["chain_16MiB"]}
    here["figures"] |= {name: {"value": value, "source": "calibrate"} for name, value in now.items()}
    return here


def modelled_here(description: dict, ranks: int, quick: bool) -> dict:
    """Returns the model's time [us] of each collective that `measured` measures."""
    times = {}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(description, file)
        file.flush()
        for kind in KINDS:
            sizes = MEASURED_BYTES[:1] if quick or kind == "barrier" else MEASURED_BYTES
            figures = printed_by("scale", kind, "--machine", file.name, "--members", ranks,
                                 "--sizes", listed(sizes), "--as-measured")
            times |= {size_name(kind, size): figure["subject"]["p50"]
                      for size, figure in zip(sizes, figures.values())}
    return times


def beside_measured(quick: bool, rounds: int | None) -> dict:
    """Returns the model's times of this machine beside those that are measured, each round by a
    calibration of its own."""
    figures = {}
    for ranks in RANKS[:1] if quick else RANKS:
        both, seconds = {}, 0.0
        for _ in range(1 if quick else rounds or ROUNDS):
            if both and not budget.has(seconds):
                break
            begin = time.monotonic()
            modelled, times = modelled_here(calibrated(quick), ranks, quick), measured(ranks, quick)
            for name in modelled:
                if name not in times:  # --quick measures other sizes
                    continue
                values = both.setdefault(name, {MODEL: [], "measured": []})
                values[MODEL].append(modelled[name])
                values["measured"].append(times[name]["subject"]["p50"])
            seconds = time.monotonic() - begin
        for name, values in both.items():
            figures[f"scale_here_{ranks}_{name}"] = {
                "title": f"{name.replace('_', ' of ')}, {ranks} ranks, the model beside this machine",
                "unit": "us", **jobs.sides(Comparison(MODEL, ["measured"]), values)}
    return figures


def run(_program: str, _arguments: list[str], quick: bool, rounds: int | None) -> dict:
    figures = {}
    for case in cases(quick):
        figures.update(of_case(case))
    figures.update(of_queues(quick))
    try:
        figures.update(beside_measured(quick, rounds))
    except jobs.Skipped:  # it needs root; the rest does not
        pass
    return {**machine.of_own_program(), "figures": figures}
