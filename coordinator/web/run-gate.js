// The gate in progress, and what gates have decided.

import { get, part, to } from "./api.js";
import { chart, intervalPicture } from "./chart.js";
import { fill, h, table } from "./dom.js";
import { ago, evidence, grouped, interval, legible, signed, span } from "./format.js";

/** Shortest time between two looks at a gate that goes on, in milliseconds. */
const PERIOD = 4000;
const SHOWN = 12;

export function gates(run) {
  const proof = chart({ id: "evidence", title: "Evidence", unit: "e-values, logarithmic", height: 230 });
  const worth = chart({ id: "worth", title: "Points per game of the candidate", unit: "95% interval that holds whenever one looks", height: 230 });
  const title = h("h2", "Gate");
  const note = h("span.soft");
  const reason = h("p.soft");
  const links = h("p");
  const charts = h("div.columns.two", proof, worth);
  const past = h("div.stack");
  let chosen = null;
  let shownCandidate = null;
  let drawn = null;
  let lastLook = 0;
  let all = false;

  async function look(candidate, running) {
    if (running && candidate === shownCandidate && Date.now() - lastLook < PERIOD) return;
    lastLook = Date.now();
    shownCandidate = candidate;
    try {
      const trace = await get(`runs/${part(run)}/gates/${candidate}`);
      if (candidate !== shownCandidate) return;
      proof.draw(evidenceOf(trace));
      worth.draw(worthOf(trace));
      drawn = candidate;
      charts.hidden = false;
      fill(links, h("a", { href: "#games", click: () => document.dispatchEvent(new CustomEvent("show-gate", { detail: candidate })) }, "Its games"));
    } catch (error) {
      fill(links, h("span.error", error.message));
    }
  }

  function draw(state) {
    const running = state.run.gate;
    const decided = [...state.versions.values()].filter((version) => version.gate && version.gate.verdict !== "running").reverse();
    const candidate = chosen ?? running?.candidate ?? decided[0]?.version ?? null;
    const gate = candidate === running?.candidate ? running : state.versions.get(candidate)?.gate;
    const goesOn = gate && candidate === running?.candidate;
    title.textContent = !gate ? "Gate" : `Gate: v${candidate} against ${gate.opponent}`;
    note.textContent = !gate ? "none yet" : goesOn
      ? `in progress, ${grouped(gate.pairs)} of ${grouped(gate.limit)} pairs at most` : `${gate.verdict} after ${grouped(gate.pairs)} pairs`;
    reason.textContent = legible(gate?.reason ?? "The first version with games behind it is tested as soon as it is published.");
    // Not those of another one, while its own are on the way.
    charts.hidden = !gate || drawn !== candidate;
    if (gate) look(candidate, goesOn);
    fill(past, verdicts(run, decided, { candidate, all }, {
      choose: (version) => { chosen = version === running?.candidate ? null : version; draw(state); },
      more: () => { all = true; draw(state); },
    }), chosen !== null && running && h("p", h("button.quiet", { type: "button", click: () => { chosen = null; draw(state); } }, `Back to the gate in progress, of v${running.candidate}`)));
  }

  const element = h("section.sheet", { id: "gate" }, h("div.title", title, note), h("div.stack", reason, charts, links, past));
  return { element, news: ["run", "versions"], draw };
}

function evidenceOf({ points, e_promote: promote, e_reject: reject }) {
  const floor = 1e-3;
  const start = { x: 0, y: 1 };
  const line = (key) => [start, ...points.map((point) => ({ x: point.pairs, y: Math.max(point[key], floor), e: point[key] }))];
  const show = (p) => evidence(p.e ?? p.y);
  const marks = promote === reject ? [{ at: promote, label: `decides at ${evidence(promote)}` }]
    : [{ at: promote, label: `promotes at ${evidence(promote)}` }, { at: reject, label: `rejects at ${evidence(reject)}` }];
  return {
    series: [{ name: "better", colour: "c3", points: line("e_better"), show }, { name: "not better", colour: "c2", points: line("e_worse"), show }],
    // An axis of whole pairs, also when there is none yet.
    x: { format: grouped, low: 0, high: Math.max(10, points.at(-1)?.pairs ?? 0), hint: (pairs) => `${grouped(pairs)} pairs` },
    y: { log: true, format: evidence, marks, low: Math.min(0.1, ...points.flatMap((point) => [Math.max(point.e_better, floor), Math.max(point.e_worse, floor)])), high: Math.max(promote, reject) * 2.5 },
  };
}

function worthOf({ points }) {
  const line = points.filter((point) => point.pairs > 0).map((point) => ({ x: point.pairs, y: point.ppg, low: point.low, high: point.high }));
  // The first moments have intervals that would flatten everything else.
  const calm = line.slice(Math.floor(line.length / 8));
  const reach = calm.length ? Math.max(...calm.map((p) => Math.max(Math.abs(p.low), Math.abs(p.high)))) : 1;
  const within = line.map((p) => ({ ...p, low: Math.max(p.low, -reach), high: Math.min(p.high, reach), real: p, y: Math.min(reach, Math.max(-reach, p.y)) }));
  return {
    series: [{ name: "ppg", colour: "c1", band: true, points: within, show: (p) => interval(p.real.y, p.real.low, p.real.high) }],
    x: { format: grouped, low: 0, hint: (pairs) => `${grouped(pairs)} pairs` },
    y: { format: (v) => signed(v, 2), marks: [{ at: 0 }] },
  };
}

function verdicts(run, decided, { candidate, all }, { choose, more }) {
  if (decided.length === 0) return "";
  const shown = all ? decided : decided.slice(0, SHOWN);
  const reach = Math.max(...shown.map(({ gate }) => (gate.pairs > 50 ? Math.max(Math.abs(gate.ppg_low), Math.abs(gate.ppg_high)) : 0)), 0.05);
  const columns = [
    { title: "Version" }, { title: "Against" }, { title: "Verdict" }, { title: "Pairs", number: true }, { title: "Points per game" }, { title: "" },
    { title: "Better", number: true }, { title: "Not better", number: true }, { title: "Reason", wide: true },
  ];
  const rows = shown.map(({ version, gate, published_at: at }) => ({
    marked: version === candidate,
    cells: [
      h("button.quiet", { type: "button", title: `Show its gate; published ${ago(at)}`, click: () => choose(version) }, `v${version}`),
      gate.opponent, h(`span.state.${gate.verdict}`, gate.verdict), grouped(gate.pairs),
      gate.pairs ? interval(gate.ppg, gate.ppg_low, gate.ppg_high) : h("span.faint", "no match"),
      gate.pairs ? h("span.c1", intervalPicture({ mean: gate.ppg, from: gate.ppg_low, to: gate.ppg_high }, -reach, reach)) : "",
      evidence(gate.e_better), evidence(gate.e_worse), h("span.soft", legible(gate.reason)),
    ],
  }));
  return h("div.stack", h("h3", "Verdicts"), table(columns, rows),
    !all && decided.length > SHOWN && h("p", h("button.quiet", { type: "button", click: more }, `All ${grouped(decided.length)} verdicts`)));
}
