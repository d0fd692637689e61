// Games to look at.

import { get, part, to } from "./api.js";
import { fill, h, table } from "./dom.js";
import { ago, grouped, signed } from "./format.js";

const SHOWN = 10;
const PERIOD = 5000;

export function games(run) {
  const list = h("div.stack");
  const title = h("h2", "Games");
  let gate = null;
  let all = false;
  let last = 0;

  async function load() {
    last = Date.now();
    try {
      const found = await get(`runs/${part(run)}/games${gate ? `?gate=${gate}` : ""}`);
      title.textContent = gate ? `Games of the gate of v${gate}` : "Games";
      fill(list, tableOf(run, all ? found : found.slice(0, SHOWN)),
        !all && found.length > SHOWN && h("p", h("button.quiet", { type: "button", click: () => { all = true; load(); } }, `All ${found.length}`)),
        gate && h("p", h("button.quiet", { type: "button", click: () => { gate = null; load(); } }, "Back to self-play")));
    } catch (error) {
      fill(list, h("p.error", error.message));
    }
  }
  document.addEventListener("show-gate", (event) => { gate = event.detail; load(); });

  const element = h("section.sheet", { id: "games" },
    h("div.title", title, h("span.soft", "now and then one is kept"), h("span.act", h("a", { href: `${to.run(run)}/position` }, "Look at a position"))), list);
  return { element, news: ["run"], draw: () => { if (Date.now() - last > PERIOD) load(); } };
}

function tableOf(run, found) {
  if (found.length === 0) return h("p.soft", "None was kept yet.");
  const columns = [{ title: "Game" }, { title: "For" }, { title: "Players" }, { title: "Result", number: true }, { title: "Played" }];
  return table(columns, found.map((game) => [
    h("a", { href: to.game(run, game) }, `${game.series} / ${grouped(game.number)}`), game.kind,
    game.players[0] === game.players[1] ? `${game.players[0]} with itself` : game.players.join(" v "),
    signed(game.payoff, 0) || "0", game.at ? ago(game.at) : h("span.faint", "again, when asked for"),
  ]));
}
