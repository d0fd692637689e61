// The versions of a run: what they are, and how two of them compare.

import { part, to } from "./api.js";
import { fill, h, table } from "./dom.js";
import { ago, bytes, date, grouped, interval, plain, short } from "./format.js";

const SHOWN = 20;

export function versions(run) {
  const list = h("div");
  const comparison = h("div");
  const chosen = new Set();
  let all = false;

  function draw(state) {
    const newest = [...state.versions.values()].sort((a, b) => b.version - a.version);
    const shown = all ? newest : newest.slice(0, SHOWN);
    const choose = (version, yes) => {
      if (yes) chosen.add(version); else chosen.delete(version);
      // Two are compared: the oldest choice makes room.
      if (chosen.size > 2) chosen.delete([...chosen][0]);
      draw(state);
    };
    fill(list, newest.length === 0 ? h("p.soft", "None was published yet.") : tableOf(run, shown, state, { chosen, choose }),
      shown.length < newest.length && h("p", h("button.quiet", { type: "button", click: () => { all = true; draw(state); } }, `All ${grouped(newest.length)} versions`)));
    fill(comparison, chosen.size === 2 ? compare([...chosen].sort((a, b) => a - b).map((number) => state.versions.get(number)), state)
      : newest.length > 1 && h("p.soft", chosen.size ? "Choose another one to compare it with." : "Choose two to compare them."));
  }

  const weights = (which) => h("a", { href: `/api/v1/runs/${part(run)}/versions/${which}/weights` }, which);
  const element = h("section.sheet", { id: "versions" },
    h("div.title", h("h2", "Versions"), h("span.act.soft", "Download the ", weights("champion"), " or the ", weights("latest"))),
    h("div.stack", list, comparison));
  return { element, news: ["versions", "strength"], draw };
}

/** What is known of a version's strength. */
export function known({ strength: { scores, meetings } }, version) {
  return {
    scores: Object.fromEntries(scores.filter((score) => score.version === version).map((score) => [score.class, score])),
    meetings: Object.fromEntries(meetings.filter((met) => met.version === version).map((met) => [met.opponent, met])),
  };
}

/** Whose child a version is: the number of the version with its parent's sum. */
export function parentOf(versions, { parent }) {
  if (!parent) return null;
  return [...versions.values()].find(({ sha256 }) => sha256 === parent)?.version ?? null;
}

function tableOf(run, shown, state, { chosen, choose }) {
  const columns = [
    { title: "" }, { title: "Version" }, { title: "State" }, { title: "Parent" }, { title: "Games", number: true }, { title: "Error rate", number: true },
    { title: "Points per game" }, { title: "Published" }, { title: "sha256" }, { title: "Weights", number: true },
  ];
  return table(columns, shown.map((version) => {
    const { scores, meetings } = known(state, version.version);
    const parent = parentOf(state.versions, version);
    const met = Object.values(meetings).find(({ opponent }) => !/^v\d+$/.test(opponent));
    const gate = version.gate?.pairs ? version.gate : null;
    return {
      marked: chosen.has(version.version),
      cells: [
        h("input", { type: "checkbox", "aria-label": `Compare v${version.version}`, checked: chosen.has(version.version), change: (event) => choose(version.version, event.target.checked) }),
        h("a", { href: to.version(run, version.version) }, `v${version.version}`),
        h(`span.state.${version.state}`, version.state),
        parent ? h("a", { href: to.version(run, parent) }, `v${parent}`) : h("span.faint", "none"),
        short(version.games),
        scores.overall ? plain(scores.overall.er, 1) : h("span.faint", "–"),
        met ? [interval(met.ppg, met.low, met.high, 2), " ", h("span.soft", `against ${met.opponent}`)]
          : gate ? [interval(gate.ppg, gate.ppg_low, gate.ppg_high, 2), " ", h("span.soft", `against ${gate.opponent}`)] : h("span.faint", "–"),
        h("span", { title: date(version.published_at) }, ago(version.published_at)),
        h("code", { title: version.sha256 }, version.sha256.slice(0, 10)),
        h("a", { href: version.weights, "data-sha256": version.sha256 }, bytes(version.size)),
      ],
    };
  }));
}

function compare([first, second], state) {
  const [a, b] = [known(state, first.version), known(state, second.version)];
  const row = (name, one, other, text, less) => {
    if (one === undefined && other === undefined) return null;
    const both = one !== undefined && other !== undefined;
    const difference = both ? other - one : 0;
    const tone = !both || less === null || difference === 0 ? "soft" : (difference < 0) === less ? "good" : "bad";
    const show = (value) => (value === undefined ? "–" : text(value));
    return [name, show(one), show(other), h(`span.${tone}`, both && less !== null ? `${difference > 0 ? "+" : "−"}${text(Math.abs(difference))}` : "")];
  };
  const classes = [...new Set([...Object.keys(a.scores), ...Object.keys(b.scores)])].sort();
  const opponents = [...new Set([...Object.keys(a.meetings), ...Object.keys(b.meetings)])].sort();
  const losses = [...new Set([...Object.keys(first.losses), ...Object.keys(second.losses)])].sort();
  const rows = [
    row("Games learnt from", first.games, second.games, short, null),
    row("Positions learnt from", first.positions, second.positions, short, null),
    ...classes.map((name) => row(`Error rate, ${name}`, a.scores[name]?.er, b.scores[name]?.er, (v) => plain(v, 2), true)),
    ...opponents.map((name) => row(`Points per game against ${name}`, a.meetings[name]?.ppg, b.meetings[name]?.ppg, (v) => plain(v, 3), false)),
    ...losses.map((name) => row(`Loss, ${name}`, first.losses[name], second.losses[name], (v) => plain(v, 4), true)),
  ].filter(Boolean);
  const columns = [{ title: "" }, { title: `v${first.version}`, number: true }, { title: `v${second.version}`, number: true }, { title: "Difference", number: true }];
  return h("div.stack", { id: "comparison" }, h("h3", `v${first.version} and v${second.version}`), table(columns, rows));
}
