// The most important numbers of a run.

import { to } from "./api.js";
import { fill, h } from "./dom.js";
import { bytes, grouped, plain, short, signed, span } from "./format.js";
import { rate } from "./live.js";

export function figures() {
  const list = h("dl.figures");
  return { element: h("section.sheet", { id: "figures" }, list), news: ["run", "workers", "server", "strength"], draw: (state) => fill(list, numbers(state)) };
}

const figure = (name, value, small, title) => h("div", { title }, h("dt", name), h("dd", value, small && [" ", h("small", small)]));

function numbers({ run, workers, server, strength, rates }) {
  const link = (version) => (version ? h("a", { href: to.version(run.run, version) }, `v${version}`) : "none yet");
  const speed = rate(rates);
  const list = [
    figure("Champion", link(run.champion)),
    figure("Latest", link(run.latest_version), run.champion && run.latest_version > run.champion ? `${grouped(run.latest_version - run.champion)} later` : ""),
    ...champion(run, strength),
    figure("Games learnt", short(run.games), "", grouped(run.games)),
    figure("Positions learnt", short(run.positions), "", grouped(run.positions)),
    figure("Playing", speed === null ? "…" : short(speed), "games/s"),
    figure("Waiting to be learnt", short(run.backlog), "games", grouped(run.backlog)),
    figure("Workers", grouped(workers.length)),
  ];
  if (run.reported_at) list.push(figure("Last checkpoint", span(Math.max(0, Date.now() / 1000 - run.reported_at)), "ago"));
  if (run.phase > 0 || run.next_phase) {
    list.push(figure("Phase", String(run.phase), run.next_phase ? `next at ${short(run.next_phase)} games` : "the last"));
  }
  if (server?.disk.size) list.push(figure("Disk", bytes(server.disk.free), "free", `${bytes(server.disk.database)} database, ${bytes(server.disk.weights)} weights`));
  return list;
}

/** What is known of the champion's strength. */
function champion(run, { scores, meetings }) {
  const list = [];
  const met = meetings.find(({ version, opponent }) => version === run.champion && !/^v\d+$/.test(opponent));
  if (met) list.push(figure(`Against ${met.opponent}`, signed(met.ppg), "ppg", `${signed(met.low)} to ${signed(met.high)}`));
  const score = scores.find((one) => one.version === run.champion && one.class === "overall");
  if (score) list.push(figure("Champion's error rate", plain(score.er, 1), "mp"));
  return list;
}
