#!/usr/bin/env python3
"""What the supervised phases are worth: after the same TD, the same processor time for more TD or for labels.

    docs/phases.py FOLDER [--stem 15m] [--cpu-time 12m] [--seeds 1 2] [--pairs 10000] [--ludus target/release/ludus]

For each seed a stem learns by TD; each branch goes on from its last weights. Steps fall to the same end in all of them; a
fall takes as many games as a branch plays in its time on a machine with 2 cores and AVX2, so another time or machine wants
other numbers of games. Prints each branch's matches against the stem, luck-adjusted, and against PubEval, as a Markdown
table, and last the branches against each other. A run that is there already is only measured.
"""

import argparse
import json
import pathlib
import subprocess

import ablations

STEM = ablations.BASE | {
    "learn.step_size": 0.002,
    "learn.final_step_size": 0.0003,
    "learn.decay_games": 500_000,
    # As in the default, where weights say nothing else.
    "rollout.positions": 12,
    "rollout.balanced": True,
    "rollout.margin": 0.12,
    "rollout.plays": 4,
    "rollout.trials": 1,
    "learn.label_memory": 1_000_000,
}
ONE_PLY = {"rollout_share": 1.0, "horizon": 1, "step_size": 0.001, "final_step_size": 0.0001}
DEEP = {
    "variance": "luck",
    "lambda": 0.95,
    "explore": 0.2,
    "rollout_share": 0.5,
    "horizon": 4,
    "step_size": 0.0005,
    "final_step_size": 0.00003,
}
TD = {"step_size": 0.0003, "final_step_size": 0.00003}


def phase(settings, from_games, games):
    return settings | {"from_games": from_games, "decay_games": games}


# What a run does by itself ends with its first game: a phase begins after it.
BRANCHES = {
    "TD on": [phase(TD, 1, 400_000)],
    "labels of one ply": [phase(ONE_PLY, 1, 25_000)],
    "deep labels": [phase(DEEP, 1, 10_000)],
    "one ply, then deep": [phase(ONE_PLY, 1, 12_500), phase(DEEP, 12_500, 5_000)],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--stem", default="15m", help="processor time of a stem")
    parser.add_argument("--cpu-time", default="12m", help="processor time of a branch")
    parser.add_argument("--seeds", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--pairs", type=int, default=10_000, help="pairs of games against PubEval")
    parser.add_argument("--luck-pairs", type=int, default=1_500, help="luck-adjusted pairs against the stem")
    parser.add_argument("--ludus", default="target/release/ludus")
    args = parser.parse_args()

    def ludus(*words):
        words = [args.ludus, *map(str, words), "--json"]
        return json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)

    def trained(run, settings, time, *start):
        """The last weights of a run, and how many games they have learnt."""
        weights, config = run.with_suffix(".safetensors"), run.with_suffix(".toml")
        run.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(ablations.toml(settings))
        if not run.exists():
            train = ["train", "backgammon", "--config", config, "--dir", run, "--workers", 1]
            ludus(*train, "--cpu-time", time, *start)
        ludus("weights", "pull", "backgammon", "latest", "--dir", run, "-o", weights)
        return weights, ludus("versions", "--dir", run)[-1]["games"]

    def match(one, other, *words):
        result = ludus("match", one, other, *words)
        return f"{result['ppg']:+.4f} ±{result['se']:.4f}"

    def luck(one, other):
        return match(one, other, "--pairs", args.luck_pairs, "--luck")

    print("| seed | branch | games | ppg v the stem | ppg v PubEval |\n|---|---|---|---|---|", flush=True)
    ends = {}
    for seed in args.seeds:
        at = args.folder / f"{seed}"
        settings = STEM | {"seed": seed}
        stem, games = trained(at / "stem", settings, args.stem)
        plain = match(stem, "pubeval", "--pairs", args.pairs)
        print(f"| {seed} | stem: TD | {games:,} | | {plain} |", flush=True)
        for number, (name, phases) in enumerate(BRANCHES.items()):
            run = trained(at / f"{number}", settings | {"phases": phases}, args.cpu_time, "--from", stem)
            ends[seed, name], games = run
            plain = match(ends[seed, name], "pubeval", "--pairs", args.pairs)
            print(f"| {seed} | {name} | {games:,} | {luck(ends[seed, name], stem)} | {plain} |", flush=True)
    print("\n| seed | branch | ppg v TD on |\n|---|---|---|", flush=True)
    for (seed, name), weights in ends.items():
        if name != "TD on":
            print(f"| {seed} | {name} | {luck(weights, ends[seed, 'TD on'])} |", flush=True)


if __name__ == "__main__":
    main()
