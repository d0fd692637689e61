// A game, ply by ply.

import { get, part, to } from "./api.js";
import { board, colourOf, sides } from "./board.js";
import { pipCounts } from "./board-backgammon.js";
import { chart } from "./chart.js";
import { copyButton, fill, h, sheet } from "./dom.js";
import { ago, grouped, signed } from "./format.js";
import { plays } from "./plays.js";

export async function show(main, { parts: [run, series, number], trail }) {
  trail(run, `game ${series} / ${grouped(Number(number))}`);
  const judge = new URLSearchParams(location.search).get("judge");
  const game = await get(`runs/${part(run)}/games/${series}/${number}${judge ? `?judge=${part(judge)}` : ""}`);
  const last = game.plies.length;
  const colour = (seat) => colourOf(game.rules, seat, game.plies[0]?.seat ?? 0);
  // Of the seats.
  const names = [0, 1].map((seat) => sides(game.rules)[colour(seat)]);
  const dice = game.plies.some((ply) => ply.roll);
  let at = Math.min(last, Math.max(0, Number(location.hash.slice(1)) || 0));

  const picture = h("div", { id: "board" });
  const slider = h("input", { type: "range", min: 0, max: last, "aria-label": "Ply", input: () => go(Number(slider.value)) });
  const button = (label, sign, move) => h("button", { type: "button", title: label, "aria-label": label, click: () => go(move()) }, sign);
  const controls = h("div.controls", button("Start", "⇤", () => 0), button("Back (left arrow)", "←", () => at - 1),
    button("On (right arrow)", "→", () => at + 1), button("End", "⇥", () => last), slider);
  const step = h("section.sheet.stack", { id: "ply", "aria-live": "polite" });
  const rows = game.plies.map((ply, i) => moveRow(ply, i, { names, dice }, () => go(i)));
  const titles = ["", "", ...(dice ? ["Roll"] : []), "Play", ...(dice ? ["Luck"] : []), "Loss"];
  const moves = h("div.table.moves", h("table", h("thead", h("tr", titles.map((title) => h("th", { class: ["Luck", "Loss"].includes(title) ? "number" : null }, title)))), h("tbody", rows)));
  const course = chart({ id: "course", title: `Equity of ${names[0]}`, unit: game.judge ? `as ${game.judge} judges` : "", height: 150 });

  function go(next) {
    at = Math.min(last, Math.max(0, next));
    slider.value = at;
    history.replaceState(null, "", `${location.pathname}${location.search}#${at}`);
    const ply = game.plies[at];
    paint(ply ?? null, ply?.play ?? null);
    rows.forEach((row, i) => row.setAttribute("aria-current", String(i === at)));
    // Only the list moves, not the page.
    if (rows[at]) moves.scrollTop = rows[at].offsetTop - moves.clientHeight / 2;
    fill(step, ...(ply ? plyView(run, game, { ply, at, names, dice }, (play) => paint(ply, play ?? ply.play)) : endView(game, names)));
  }

  const paint = (ply, play) => fill(picture, board(game.rules, ply ? { ...ply, seat: colour(ply.seat), play } : { position: game.end, seat: colour(game.end_seat) }));

  document.addEventListener("keydown", (event) => {
    if (event.target.matches?.("input, textarea, select") || event.altKey || event.ctrlKey || event.metaKey) return;
    const move = { ArrowLeft: () => at - 1, ArrowRight: () => at + 1, Home: () => 0, End: () => last }[event.key];
    if (!move) return;
    event.preventDefault();
    go(move());
  });

  main.replaceChildren(
    h("div.head", h("h1", `Game ${series} / ${grouped(Number(number))}`), h("span.soft", describe(game, names))),
    h("div.viewer",
      h("section.sheet", { id: "table" }, h("div.players", [1, 0].map((seat) => player(game, seat, { names, dice }))), picture, controls),
      h("div.stack", step, file(game))),
    game.judge ? h("section.sheet", course) : "",
    sheet("Plays", { note: game.judge ? `${dice ? "luck and loss" : "loss"} in points, as ${game.judge} judges` : "" }, moves));
  if (game.judge) course.draw(courseOf(game, names));
  go(at);
}

function describe(game, names) {
  const result = game.payoff === 0 ? "a draw" : `${game.players[0] === game.players[1] ? names[game.payoff > 0 ? 0 : 1] : game.players[game.payoff > 0 ? 0 : 1]} wins ${Math.abs(game.payoff)}`;
  const kind = game.kind === "gate" ? "a game of a gate" : game.kind === "rollout" ? "self-play with rollouts" : "self-play";
  return [kind, game.at ? ago(game.at) : null, `${game.plies.length} plies`, result].filter(Boolean).join(" · ");
}

function player(game, seat, { names, dice }) {
  const luck = game.plies.filter((ply) => ply.seat === seat && ply.luck !== null).reduce((sum, ply) => sum + ply.luck, 0);
  return h("span.player", h(`span.sign.${names[seat]}`), `${names[seat]}: `, h("strong", game.players[seat]), game.judge && dice && h("span.soft", `luck ${signed(luck, 2)}`));
}

function plyView(run, game, { ply, at, names, dice }, over) {
  const texts = [[dice ? "Position ID" : "position", ply.position], ...ply.notations.map(({ name, text }) => [name, text])];
  const pips = game.rules === "backgammon" ? pipCounts(ply) : null;
  return [
    h("div.row", h("h2", `${at + 1}. ${names[ply.seat]} ${ply.roll ? `rolls ${ply.roll}` : "to play"}`), ply.explored && h("span.wait", "explored")),
    h("dl.facts",
      ply.equity !== null && [h("dt", dice ? "Equity before the roll" : "Equity"), h("dd", signed(ply.equity))],
      ply.luck !== null && ply.roll && [h("dt", "Luck of the roll"), h("dd", h(`span.${tone(ply.luck)}`, signed(ply.luck)))],
      ply.loss !== null && [h("dt", "Lost by the play"), h("dd", ply.loss > 0.0005 ? h("span.bad", signed(-ply.loss)) : h("span.soft", "nothing"))],
      pips && [h("dt", "Pips"), h("dd", `${names[0]} ${pips[0]}, ${names[1]} ${pips[1]}`)]),
    plays(run, ply.best, { made: ply.play, rank: ply.rank, loss: ply.loss, legal: ply.legal, over }),
    h("div.row", texts.map(([name, text]) => copyButton(`Copy ${name}`, text)), h("a", { href: to.position(run, ply.position, ply.roll) }, dice ? "All rolls" : "All plays")),
  ];
}

const tone = (luck) => (luck > 0.05 ? "good" : luck < -0.05 ? "bad" : "soft");

function endView(game, names) {
  const winner = game.payoff === 0 ? "A draw" : `${names[game.payoff > 0 ? 0 : 1]} wins ${Math.abs(game.payoff)} ${Math.abs(game.payoff) === 1 ? "point" : "points"}`;
  return [h("h2", winner), h("div.row", copyButton("Copy position", game.end))];
}

function file({ file: found, run, series, number }) {
  if (!found) return "";
  const name = `${run}-${series}-${number}.${found.ending}`;
  const save = () => {
    const address = URL.createObjectURL(new Blob([found.text], { type: "text/plain" }));
    h("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };
  return h("section.sheet.row", copyButton(`Copy .${found.ending}`, found.text), h("button", { type: "button", click: save }, `Save ${name}`));
}

function moveRow(ply, i, { names, dice }, click) {
  return h("tr", { click }, h("td.number.faint", i + 1), h("td", h(`span.soft`, names[ply.seat])), dice && h("td", ply.roll), h("td.wrap", ply.play, ply.explored && h("span.wait", " explored")),
    dice && h("td.number", ply.luck === null ? "" : h(`span.${tone(ply.luck)}`, signed(ply.luck, 2))), h("td.number", ply.loss > 0.0005 ? h("span.bad", signed(-ply.loss)) : ""));
}

function courseOf(game, names) {
  const points = game.plies.filter((ply) => ply.equity !== null).map((ply, i) => ({ x: i, y: ply.seat === 0 ? ply.equity : -ply.equity, title: `${names[ply.seat]} ${ply.roll} ${ply.play}` }));
  points.push({ x: game.plies.length, y: game.payoff, title: "end" });
  return {
    series: [{ name: "", colour: "c1", points, show: (p) => signed(p.y) }],
    x: { low: 0, high: game.plies.length, hint: (i) => `ply ${i + 1}` }, y: { format: (v) => signed(v, 1) || "0", hint: (v) => signed(v), marks: [{ at: 0 }] },
  };
}
