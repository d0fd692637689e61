// Who plays, what is out, and where all games have gone.

import { get, part } from "./api.js";
import { fill, h, table } from "./dom.js";
import { grouped, short, span } from "./format.js";

export function workers() {
  const list = h("div");
  const element = h("section.sheet", { id: "workers" }, h("div.title", h("h2", "Workers")), list);
  const draw = ({ workers: here }) => {
    if (here.length === 0) {
      fill(list, h("p.soft", "None here. Start one with ", h("code", `ludus worker --coordinator ${location.origin}`), "."));
      return;
    }
    const columns = [
      { title: "Name" }, { title: "Version" }, { title: "Games/s", number: true }, { title: "In hand", number: true },
      { title: "Taken", number: true }, { title: "Refused", number: true }, { title: "Heard of", number: true },
    ];
    fill(list, table(columns, here.map((worker) => [
      worker.name, worker.engine || h("span.faint", "unknown"), short(worker.games_per_second), grouped(worker.leased), short(worker.accepted),
      worker.refused ? h("span.bad", grouped(worker.refused)) : "0", `${span(worker.idle)} ago`,
    ])));
  };
  return { element, news: ["workers"], draw };
}

export function leases(run) {
  const accounts = h("div");
  const trouble = h("div.stack");
  const out = h("div");
  const open = h("details", { toggle: () => { if (open.open) load(); } }, h("summary", "Open leases"), out);

  async function load() {
    try {
      const all = await get(`runs/${part(run)}/leases`);
      const columns = [
        { title: "Lease" }, { title: "For" }, { title: "Worker" }, { title: "Games" }, { title: "Missing", number: true },
        { title: "Out for", number: true }, { title: "Left", number: true },
      ];
      fill(out, all.length === 0 ? h("p.soft", "Nothing is out.") : table(columns, all.map((lease) => [
        String(lease.lease), lease.kind, lease.worker, `${grouped(lease.first)} to ${grouped(lease.first + lease.games - 1)}`,
        grouped(lease.missing), span(lease.age), lease.left ? span(lease.left) : h("span.wait", "free"),
      ])));
    } catch (error) {
      fill(out, h("p.error", error.message));
    }
  }
  setInterval(() => { if (open.open && !document.hidden) load(); }, 3000);

  const draw = ({ run: now }) => {
    const kinds = [["self-play", now.self_play], ["rollouts", now.rollouts], ["gates", now.gates]].filter(([, games]) => games && games.issued);
    const columns = [{ title: "Games" }, { title: "Issued", number: true }, { title: "= accepted", number: true }, { title: "+ out", number: true }, { title: "+ void", number: true }];
    fill(accounts, kinds.length === 0 ? h("p.soft", "No game was handed out yet.") : table(columns, kinds.map(([name, games]) => {
      const missing = games.issued - games.accepted - games.leased - games.void;
      return [[name, missing !== 0 && h("span.bad", ` ${grouped(missing)} unaccounted for`)], grouped(games.issued), grouped(games.accepted), grouped(games.leased), grouped(games.void)];
    })));
    const reasons = (title, counts) => {
      const entries = Object.entries(counts ?? {});
      return entries.length ? h("p", h("span.soft", `${title}: `), entries.map(([reason, count]) => `${grouped(count)} × ${reason}`).join(" · ")) : "";
    };
    fill(trouble, reasons("Refused", now.refused), reasons("Played again", now.audits),
      now.expired ? h("p", h("span.soft", "Expired before they were learnt: "), grouped(now.expired)) : "",
      now.skipped_steps ? h("p", h("span.soft", "Steps skipped for a loss that was no number: "), grouped(now.skipped_steps)) : "");
  };
  const element = h("section.sheet", { id: "leases" }, h("div.title", h("h2", "Where games have gone")), h("div.stack", accounts, trouble, open));
  return { element, news: ["run"], draw };
}
