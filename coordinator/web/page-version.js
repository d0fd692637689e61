// A version: its card, how strong it is, and how to get it.

import { get, part, to } from "./api.js";
import { h, sheet, table } from "./dom.js";
import { bytes, date, evidence, grouped, interval, legible, plain } from "./format.js";
import { known } from "./run-versions.js";

export async function show(main, { parts: [run, name], trail }) {
  const card = await get(`runs/${part(run)}/versions/${part(name)}`);
  trail(run, `v${card.version}`);
  const strength = known({ strength: await get(`runs/${part(run)}/strength`) }, card.version);
  const address = `${location.origin}${card.weights}`;
  const file = `${run}-v${card.version}.safetensors`;
  main.replaceChildren(
    h("div.head", h("h1", `v${card.version}`), h(`span.state.${card.state}`, card.state), h("span.soft", `published ${date(card.published_at)}`),
      h("span.act", h("a.button", { href: card.weights, "data-sha256": card.sha256 }, `Download ${bytes(card.size)}`))),
    h("div.columns.two", sheet("Card", {}, cardOf(card)), sheet("Strength", {}, strengthOf(run, card, strength))),
    sheet("Networks", { note: `inputs ${card.inputs}` }, table(
      [{ title: "Class" }, { title: "Inputs", number: true }, { title: "Hidden units", number: true }, { title: "Outputs", number: true }],
      card.networks.map((network) => [network.class, grouped(network.inputs), hidden(network.hidden), grouped(network.outputs)]))),
    sheet("Use it", {}, h("div.stack",
      h("pre", `curl -o ${file} ${address}\nsha256sum ${file}    # ${card.sha256}`),
      h("pre", `ludus weights pull ${run} v${card.version} -o ${file} --coordinator ${location.origin}\nludus play --player ./${file}\nludus weights export ./${file} --onnx ${run}-v${card.version}`))));
}

const hidden = (units) => (Array.isArray(units) ? units.map(grouped).join(", ") : grouped(units));

function cardOf(card) {
  const fact = (name, value) => [h("dt", name), h("dd", value)];
  return h("dl.facts", fact("Game", `${card.game.replaceAll("_", " ")}, revision ${card.revision}`), fact("sha256", h("code", card.sha256)), fact("Parent", card.parent ? h("code", card.parent) : "none"),
    fact("Games learnt from", grouped(card.games)), fact("Positions learnt from", grouped(card.positions)), fact("Optimiser's steps", grouped(card.steps)),
    Object.entries(card.losses).map(([name, loss]) => fact(`Loss, ${name}`, plain(loss, 4))), fact("Size", `${grouped(card.size)} bytes`));
}

/** A value and what it rests on: between them a line may break, within them not. */
const measured = (value, note) => [h("span.nowrap", value), " ", h("span.soft.nowrap", note)];

function strengthOf(run, { gate }, { scores, meetings }) {
  const rows = [
    ...Object.values(scores).map(({ class: name, er, se, decisions }) => [`Error rate, ${name}`, measured(`${plain(er, 2)}${se ? ` ± ${plain(se, 2)}` : ""} mp`, `${grouped(decisions)} decisions`)]),
    ...Object.values(meetings).map(({ opponent, ppg, low, high, pairs }) => [`Points per game against ${opponent}`, measured(interval(ppg, low, high), `${grouped(pairs)} pairs`)]),
  ];
  if (gate) {
    rows.push([`Gate against ${gate.opponent}`, measured(gate.pairs ? interval(gate.ppg, gate.ppg_low, gate.ppg_high) : "no match", `${grouped(gate.pairs)} pairs`)]);
    rows.push(["Evidence: better, not better", measured(`${evidence(gate.e_better)}, ${evidence(gate.e_worse)}`, gate.verdict)]);
  }
  if (rows.length === 0) return h("p.soft", "Nothing was measured yet.");
  return h("div.stack", table([{ wrap: true }, { wrap: true }], rows), gate && h("p.soft", legible(gate.reason)), h("p", h("a", { href: to.run(run) }, "Back to the run")));
}
