"""What the scripts here have in common: programs, tables, processes. Nothing but Python's own library."""

import argparse
import json
import os
import pathlib
import resource
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Everything that is made on the way; ignored by git.
MADE = ROOT / "target" / "bench"
TICKS = os.sysconf("SC_CLK_TCK")
# The files and connections of two thousand workers.
FILES = 16384


def arguments(text, **defaults):
    """A parser with the options that every script has."""
    parser = argparse.ArgumentParser(
        description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="JSON instead of a table")
    parser.add_argument("--ludus", default=str(ROOT / "target/release/ludus"), help="the program")
    parser.add_argument("--bench", default=str(ROOT / "target/release/ludus-bench"), help="the bench program")
    for name, (value, what) in defaults.items():
        parser.add_argument("--" + name, type=type(value), default=value, help=f"{what} [default: {value}]")
    return parser


def parsed(parser):
    """The arguments, when the programs are there."""
    args = parser.parse_args()
    for program in (args.ludus, args.bench):
        if not os.access(program, os.X_OK):
            fail(f"{program} is missing: cargo build --release -p ludus -p ludus-bench")
    MADE.mkdir(parents=True, exist_ok=True)
    return args


def fail(text):
    sys.exit(f"error: {text}")


def output(command, **more):
    """What a command writes; ends the script when it fails."""
    done = subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE, **more)
    if done.returncode != 0:
        fail(f"{' '.join(map(str, command))} ended with {done.returncode}")
    return done.stdout


def json_lines(command):
    return [json.loads(line) for line in output(command).splitlines()]


def speed(args, player, seconds, threads=1, shortlist=0):
    """`ludus speed` of a player: evaluations and games a second, plays chosen among so many of each roll (0: all)."""
    command = [args.ludus, "speed", "--player", player, "--threads", threads, "--time", f"{int(seconds * 1000)}ms"]
    command += ["--shortlist", shortlist]
    return json.loads(output([*command, "--json"]))


def fresh(args, inputs, hidden):
    """A weight file of this size with random weights."""
    path = MADE / f"{inputs}-{hidden}.safetensors"
    output([args.bench, "fresh", inputs, hidden, path])
    return str(path)


def taught(args, inputs, hidden):
    """A weight file of this size that has learnt from the shipped player."""
    path = MADE / f"{inputs}-{hidden}-taught.safetensors"
    output([args.bench, "taught", inputs, hidden, path])
    return str(path)


def pruned(args):
    """A weight file of the shipped player with small networks for shortlists beside its own."""
    path = MADE / "shipped-pruned.safetensors"
    output([args.bench, "pruned", path])
    return str(path)


def alternating(rounds, measurements):
    """Calls every function in turn, for so many rounds, and gives the median of each. On a machine that slows down for a
    while all suffer alike."""
    seen = {name: [] for name in measurements}
    for _ in range(rounds):
        for name, measure in measurements.items():
            seen[name].append(measure())
    return {name: statistics.median(values) for name, values in seen.items()}


def venv(name, *packages):
    """The Python of a virtual environment with these packages, made when it is not there."""
    folder = MADE / f"venv-{name}"
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        print(f"installing {' '.join(packages)} into {folder} ...", file=sys.stderr)
        output([sys.executable, "-m", "venv", folder])
        output([python, "-m", "pip", "install", "--quiet", *packages])
        (folder / "complete").touch()
    return str(python)


def print_table(heading, rows):
    """Aligned columns, the first to the left and the others to the right."""
    rows = [heading, *[[str(cell) for cell in row] for row in rows]]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heading))]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *[cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]]
        print("  ".join(cells).rstrip())


def number(value):
    """A rate, a share or a ratio with three or four digits."""
    # From 999.5 on three digits would be written as 1e+03.
    return f"{value:,.0f}" if value >= 999.5 else f"{value:.3g}"


class Processes:
    """Processes of a measurement, in a folder that goes with them."""

    def __init__(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        # Beside the build and not in memory: what is synced must reach a disk.
        self.folder = tempfile.TemporaryDirectory(dir=MADE, prefix="run-")
        self.path = pathlib.Path(self.folder.name)
        self.running = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.running):
            process.send_signal(signal.SIGTERM)
        for process in self.running:
            try:
                process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.folder.cleanup()

    def start(self, name, command):
        """Starts a process; its news go to NAME.log in the folder."""
        log = open(self.path / f"{name}.log", "w")
        process = subprocess.Popen([str(part) for part in command], stdout=log, stderr=log)
        self.running.append(process)
        return process

    def redis(self):
        """A Redis of our own with the settings of deploy/local-cluster: its process and its port."""
        port = free_port()
        command = ["redis-server", "--port", port, "--dir", self.path, "--appendonly", "yes", "--save", ""]
        try:
            process = self.start("redis", [*command, "--maxmemory-policy", "noeviction"])
        except FileNotFoundError:
            fail("redis-server is missing: apt-get install redis-server")
        until("redis answers", lambda: connects(port))
        return process, port

    def coordinator(self, args, redis_port):
        """A coordinator: its process and its address."""
        port = free_port()
        command = [args.ludus, "coordinator", "--dir", self.path / "coordinator"]
        command += ["--listen", f"127.0.0.1:{port}", "--redis", f"redis://127.0.0.1:{redis_port}"]
        process = self.start("coordinator", command)
        until("the coordinator answers", lambda: connects(port))
        return process, f"http://127.0.0.1:{port}"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def connects(port):
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


def until(what, holds, patience=30):
    deadline = time.monotonic() + patience
    while not holds():
        if time.monotonic() > deadline:
            fail(f"never happened: {what}")
        time.sleep(0.05)


def cpu_of_threads(pid):
    """Seconds of processor time of a process by the names of its threads."""
    seconds = {}
    for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            # The name, in brackets, may have blanks in it.
            name, rest = (thread / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
        except FileNotFoundError:
            continue
        ticks = rest.split()[11:13]
        seconds[name] = seconds.get(name, 0.0) + sum(map(int, ticks)) / TICKS
    return seconds


def cpu(pid):
    """Seconds of processor time of a process, threads that ended included."""
    ticks = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
    return sum(map(int, ticks)) / TICKS
