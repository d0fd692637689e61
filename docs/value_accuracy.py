#!/usr/bin/env python3
"""How well players judge positions that `ludus benchmark build` has rolled out, as a Markdown table.

    docs/value_accuracy.py FILE.bm PLAYER [PLAYER ...] [--class contact] [--positions 500] [--ludus target/release/ludus]

Takes one rolled-out play of every decision (`#R` and `# se` lines), drawn by a hash of its position. RMSE is that of
the cubeless equity against the rollout, in points; what the rollouts' own noise adds to it is taken out in the next
column, and the last says how much larger it is than the first player's, with the standard error of that difference on the
same positions. Every player is asked through `ludus evaluate`, so gnubg:HOST:PORT@0ply works, too.
"""

import argparse
import hashlib
import json
import math
import pathlib
import subprocess


def equity(chances):
    win, win_gammon, win_backgammon, lose_gammon, lose_backgammon = chances
    return 2 * win - 1 + win_gammon + win_backgammon - lose_gammon - lose_backgammon


def rolled_out(lines):
    """The position, equity and standard error of one play of each decision."""
    plays, errors = [], []
    for line in lines:
        words = line.split()
        if words[:1] == ["#R"]:
            plays.append((words[1], equity(map(float, words[2:7]))))
        elif words[:2] == ["#", "se"]:
            errors = [float(word) for word in words[2:]]
        elif words[:1] == ["m"]:
            # Not the play that rolled out best: its rollout is likely to have been lucky.
            (position, truth), error = min(zip(plays, errors, strict=True), key=lambda row: digest(row[0][0]))
            yield position, truth, error
            plays = []


def digest(position):
    return hashlib.sha256(position.encode()).digest()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("players", nargs="+")
    parser.add_argument("--class", dest="position_class", default="contact")
    parser.add_argument("--positions", type=int, default=500)
    parser.add_argument("--ludus", default="target/release/ludus")
    args = parser.parse_args()

    wanted = [row for row in rolled_out(args.file.read_text().splitlines()) if is_of(row[0], args.position_class)]
    wanted = wanted[: args.positions]
    noise = sum(error**2 for _, _, error in wanted) / len(wanted)
    print(f"{len(wanted)} {args.position_class} positions, standard error of a rollout {math.sqrt(noise):.4f}\n")
    print("| player | RMSE | without the rollouts' noise | above the first |\n|---|---|---|---|")
    first = None
    for player in args.players:
        command = [args.ludus, "evaluate", "--player", player, "--json"]
        asked = "\n".join(position for position, _, _ in wanted)
        answers = subprocess.run(command, input=asked, stdout=subprocess.PIPE, text=True, check=True).stdout
        judged = [json.loads(line)["equity"] for line in answers.splitlines()]
        squares = [(mine - truth) ** 2 for mine, (_, truth, _) in zip(judged, wanted, strict=True)]
        first = first or squares
        mean, error = mean_and_error(squares)
        further, further_error = mean_and_error([mine - theirs for mine, theirs in zip(squares, first, strict=True)])
        # The error of a root by the first term of its series: sqrt(a) - sqrt(b) = (a - b) / (sqrt(a) + sqrt(b)).
        rmse, roots = math.sqrt(mean), math.sqrt(mean) + math.sqrt(mean_and_error(first)[0])
        print(
            f"| {player} | {rmse:.4f} ±{error / (2 * rmse):.4f} | {math.sqrt(max(mean - noise, 0)):.4f} "
            f"| {further / roots:+.4f} ±{further_error / roots:.4f} |"
        )


def mean_and_error(numbers):
    mean = sum(numbers) / len(numbers)
    return mean, math.sqrt(sum((x - mean) ** 2 for x in numbers) / (len(numbers) - 1) / len(numbers))


def is_of(key, position_class):
    """The class of a 20-letter KEY by the rules of GNU Backgammon."""
    letters = [ord(letter) - ord("A") for letter in key]
    code = bytes(high << 4 | low for high, low in zip(letters[::2], letters[1::2], strict=True))
    bits = [byte >> bit & 1 for byte in code for bit in range(8)]
    sides, slot = [[0] * 25, [0] * 25], 0
    for bit in bits:
        if slot < 50:
            sides[slot // 25][slot % 25] += bit
        slot += 1 - bit
    back = [max((slot for slot, n in enumerate(side) if n), default=-1) for side in sides]
    if sum(back) <= 22:
        return position_class == "race"
    crashed = any(is_crashed(sum(side), side[0], side[1]) for side in sides)
    return position_class == ("crashed" if crashed else "contact")


def is_crashed(total, ace, deuce):
    if total <= 6:
        return True
    if ace > 1:
        return total <= 6 + ace or (deuce > 1 and 1 + total - ace - deuce <= 6)
    return total <= 5 + deuce


if __name__ == "__main__":
    main()
