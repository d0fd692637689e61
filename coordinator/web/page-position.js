// Any position, and what the champion would play.

import { get, part } from "./api.js";
import { board } from "./board.js";
import { copyButton, fill, h, sheet, svg, table } from "./dom.js";
import { percent, signed } from "./format.js";
import { plays } from "./plays.js";

/** Where each game begins. */
const STARTS = { backgammon: "4HPwATDgc/ABMA" };
/** What the chances are called. */
const LABELS = { win: "win", win_gammon: "with a gammon", win_backgammon: "with a backgammon", lose_gammon: "lose a gammon", lose_backgammon: "lose a backgammon" };

export async function show(main, { parts: [run], trail }) {
  trail(run, "position");
  const { game, champion } = await get(`runs/${part(run)}`);
  const asked = new URLSearchParams(location.search);
  const position = h("input", { name: "position", class: "mono", autocomplete: "off", spellcheck: "false", value: asked.get("position") ?? STARTS[game] ?? "", required: true });
  const roll = h("input", { name: "roll", placeholder: "every roll", maxlength: 4, autocomplete: "off", value: asked.get("roll") ?? "" });
  const judge = h("input", { name: "judge", placeholder: champion ? "champion" : "latest", autocomplete: "off", value: asked.get("judge") ?? "" });
  const found = h("div.stack");

  const look = async (keep) => {
    const query = new URLSearchParams({ position: position.value.trim(), ...(roll.value.trim() && { roll: roll.value.trim() }), ...(judge.value.trim() && { judge: judge.value.trim() }) });
    if (keep) history.pushState(null, "", `${location.pathname}?${query}`);
    try {
      fill(found, ...study(run, await get(`runs/${part(run)}/position?${query}`)));
    } catch (error) {
      fill(found, h("p.notice.error", { role: "alert" }, error.message));
    }
  };
  const submit = (event) => {
    event.preventDefault();
    look(true);
  };
  const dice = game === "backgammon" && h("label", "Roll", roll);
  main.replaceChildren(h("h1", "Position"), sheet("Look at", {}, h("form.grid", { submit },
    h("label.whole", game === "backgammon" ? "Position ID, 20-letter key or XGID" : "Position", position), dice, h("label", "Judged by", judge),
    h("div", h("button.main", { type: "submit" }, "Look")))), found);
  window.addEventListener("popstate", () => location.reload());
  if (position.value) await look(false);
}

function study(run, found) {
  const picture = h("div", { id: "board" });
  const roll = found.rolls.length === 1 ? found.rolls[0].roll : "";
  const paint = (play, dice) => fill(picture, board(found.rules, { position: found.position, seat: 0, roll: dice ?? roll, play }));
  paint(found.rolls.length === 1 ? found.rolls[0].plays[0]?.move : null);
  const judged = found.judgement;
  const dice = found.rolls.some((one) => one.roll);
  const texts = [[dice ? "Position ID" : "position", found.position], ...found.notations.map(({ name, text }) => [name, text])];
  const side = h("section.sheet.stack",
    h("div.row", h("h2", judged ? `Equity ${signed(judged.equity)}` : "Not judged"), h("span.soft", judged ? `${dice ? "before the roll, " : ""}as ${found.judge} judges` : "the run has no version yet")),
    judged && chances(found.labels, judged.probabilities),
    found.over !== null && h("p", `The game is over: ${signed(found.over, 0)} for the side to act.`),
    found.rolls.length === 1 && [
      h("h3", `${roll ? `Playing ${roll}` : "Plays"}${found.rolls[0].luck !== null && roll ? `, luck ${signed(found.rolls[0].luck)}` : ""}`),
      plays(run, found.rolls[0].plays, { legal: found.rolls[0].legal, over: (play) => paint(play ?? found.rolls[0].plays[0]?.move) }),
    ],
    h("div.row", texts.map(([name, text]) => copyButton(`Copy ${name}`, text))));
  return [
    h("div.viewer", h("section.sheet", { id: "table" }, picture), side),
    found.rolls.length > 1 && sheet("Every roll", { note: "the best play of each" }, rolls(found, paint)),
  ];
}

function chances(labels, numbers) {
  return h("div.chances", labels.map((label, i) => [
    h("span", LABELS[label.replaceAll(/[\s-]/g, "_")] ?? label),
    h("i", svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none" }, svg("rect", { width: 100 * numbers[i], height: 10 }))),
    h("span.number", percent(numbers[i])),
  ]));
}

function rolls({ rolls: all }, paint) {
  const columns = [{ title: "Roll" }, { title: "Best play" }, { title: "Equity", number: true }, { title: "Luck", number: true }, { title: "Second best" }, { title: "Behind", number: true }];
  const sorted = all.toSorted((a, b) => (b.plays[0]?.equity ?? 0) - (a.plays[0]?.equity ?? 0));
  const list = table(columns, sorted.map(({ roll, luck, plays: [best, second] }) => [
    roll, best?.move ?? "", best?.equity === undefined ? "" : signed(best.equity),
    luck === null ? "" : h(`span.${luck > 0 ? "good" : "bad"}`, signed(luck)), h("span.soft", second?.move ?? ""),
    second?.equity === undefined ? "" : h("span.soft", signed(second.equity - best.equity)),
  ]));
  list.querySelectorAll("tbody tr").forEach((row, i) => {
    row.addEventListener("pointerenter", () => paint(sorted[i].plays[0]?.move, sorted[i].roll));
    row.addEventListener("pointerleave", () => paint(null));
  });
  return list;
}
