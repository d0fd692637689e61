#!/usr/bin/env python3
"""The learning curve of a local run as a table: games, positions, error rates and points per game of chosen versions.

    docs/learning_curve.py RUN_DIR [--benchmark FILE.bm] [--pairs 10000] [--points 8] [--ludus target/release/ludus]

Takes versions at about equal ratios of games, and always the first promoted, the champion and the latest one. Error
rates are millipoints a decision; points per game are against PubEval, on mirrored dice, with their standard error.
"""

import argparse
import json
import subprocess


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dir", help="folder of the run")
    parser.add_argument("--benchmark", help="a .bm file")
    parser.add_argument("--pairs", type=int, default=10_000, help="pairs of games against PubEval")
    parser.add_argument("--points", type=int, default=8, help="about how many versions to show")
    parser.add_argument("--ludus", default="target/release/ludus", help="the program")
    args = parser.parse_args()

    def ludus(*words):
        command = [args.ludus, *words, "--dir", args.dir, "--json"]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    versions = ludus("versions")
    print("| version | state | games | positions | ER contact | crashed | race | ppg v PubEval |")
    print("|---|---|---|---|---|---|---|---|")
    for version in chosen(versions, args.points):
        name = f"v{version['version']}"
        rates = ["", "", ""]
        if args.benchmark:
            classes = ludus("benchmark", "score", args.benchmark, "--player", name)["classes"]
            rates = [f"{classes[c]['er']:.2f}" for c in ("contact", "crashed", "race")]
        match = ludus("match", name, "pubeval", "--pairs", str(args.pairs))
        cells = [name, version["state"], f"{version['games']:,}", f"{version['positions']:,}", *rates]
        print("|", " | ".join([*cells, f"{match['ppg']:+.4f} ±{match['se']:.4f}"]), "|")


def chosen(versions, points):
    """Versions at about equal ratios of games, with the first promoted, the champion and the latest."""
    trained = [v for v in versions if v["games"] > 0]
    promoted = [v for v in versions if v["state"] == "promoted"]
    ratio = (trained[-1]["games"] / trained[0]["games"]) ** (1 / max(points - 1, 1))
    marks = [trained[0]["games"] * ratio**i for i in range(points)]
    picked = [min(trained, key=lambda v: abs(v["games"] - mark)) for mark in marks]
    picked += [trained[-1], *promoted[:1], *promoted[-1:]]
    return sorted({v["version"]: v for v in picked}.values(), key=lambda v: v["version"])


if __name__ == "__main__":
    main()
