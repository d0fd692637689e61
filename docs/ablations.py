#!/usr/bin/env python3
"""Trains one run for each variant on equal processor time, and prints how the players compare as a Markdown table.

    docs/ablations.py FOLDER [--cpu-time 8m] [--seeds 1 2 3] [--pairs 10000] [--ludus target/release/ludus] [--only NAME ...]

A variant is what it changes in BASE, and is run once for each seed: the table has the mean of the runs, its standard error by
how they differ, and each run's own result. A run that is there already is only measured.
"""

import argparse
import json
import pathlib
import statistics
import subprocess

# One worker thread beside the trainer: the same share of both in every variant.
BASE = {
    "phases": [],
    "network.inputs": "ludus-1",
    "network.hidden": 120,
    "learn.lambda": 0.7,
    "self_play.variance": "none",
    "self_play.explore": 0.05,
    "learn.decay_games": 400_000,
    # Gates would take processor time from what is compared.
    "gate.share": 0.0,
}
VARIANTS = {
    "base": {},
    "TD(0)": {"learn.lambda": 0.0},
    "TD(0.9)": {"learn.lambda": 0.9},
    "outcomes, TD(1)": {"learn.lambda": 1.0},
    "mirrored games": {"self_play.variance": "mirrored"},
    "luck-adjusted, TD(0.7)": {"self_play.variance": "luck", "learn.decay_games": 20_000},
    "luck-adjusted, TD(1)": {"self_play.variance": "luck", "learn.lambda": 1.0, "learn.decay_games": 20_000},
    "no exploration": {"self_play.explore": 0.0},
    "inputs tesauro-198": {"network.inputs": "tesauro-198"},
    "inputs player-3.5": {"network.inputs": "player-3.5"},
    "hidden 40": {"network.hidden": 40},
    "hidden 80": {"network.hidden": 80},
    "hidden 200": {"network.hidden": 200},
}


def toml(settings):
    """The settings as TOML; a list is an array of tables, and an empty one says that there are none."""
    sections, tables, text = {}, [], []
    for key, value in settings.items():
        if value and isinstance(value, list):
            tables += [line for row in value for line in [f"[[{key}]]", *lines(row)]]
        elif "." not in key:
            text.append(f"{key} = {json.dumps(value)}")
        else:
            section, name = key.split(".")
            sections.setdefault(section, {})[name] = value
    for section, values in sections.items():
        text += [f"[{section}]", *lines(values)]
    return "\n".join(text + tables) + "\n"


def lines(values):
    return [f"{name} = {json.dumps(value)}" for name, value in values.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--cpu-time", default="8m", help="processor time of each run")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--pairs", type=int, default=10_000, help="pairs of games against PubEval")
    parser.add_argument("--ludus", default="target/release/ludus")
    parser.add_argument("--only", nargs="*", help="names of variants")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)

    def ludus(*words):
        return json.loads(subprocess.run([args.ludus, *words, "--json"], stdout=subprocess.PIPE, check=True).stdout)

    print("| variant | games | ppg v PubEval | by seed |\n|---|---|---|---|", flush=True)
    for number, (name, changes) in enumerate(VARIANTS.items()):
        if args.only and name not in args.only:
            continue
        games, scores = [], []
        for seed in args.seeds:
            run, config = args.folder / f"{number}-{seed}", args.folder / f"{number}-{seed}.toml"
            config.write_text(toml(BASE | {"seed": seed} | changes))
            if not run.exists():
                train = ["train", "backgammon", "--config", config, "--dir", run, "--workers", "1"]
                ludus(*map(str, train), "--cpu-time", args.cpu_time)
            games.append(ludus("versions", "--dir", str(run))[-1]["games"])
            match = ludus("match", "latest", "pubeval", "--dir", str(run), "--pairs", str(args.pairs))
            scores.append(match)
        mean, error = summary([match["ppg"] for match in scores], scores[0]["se"])
        each = ", ".join(f"{match['ppg']:+.3f}" for match in scores)
        print(f"| {name} | {statistics.mean(games):,.0f} | {mean:+.4f} ±{error:.4f} | {each} |", flush=True)


def summary(values, se):
    """Mean and its standard error: from how the runs differ, or of the one run's match where there is only one."""
    if len(values) == 1:
        return values[0], se
    return statistics.mean(values), statistics.stdev(values) / len(values) ** 0.5


if __name__ == "__main__":
    main()
