// The best plays of a roll.

import { to } from "./api.js";
import { h } from "./dom.js";
import { signed } from "./format.js";

/**
 * A table of plays, best first. `made` is the play that was made, with its place and loss when it is not among the
 * best; `over(play)` is called when the pointer is over one, and with null when it leaves.
 */
export function plays(run, best, { made, rank, loss, legal, over } = {}) {
  const top = best[0]?.equity;
  const row = (place, play, equity, behind, position) => h("tr", {
    class: play === made ? "made" : null, pointerenter: () => over?.(play), pointerleave: () => over?.(null),
  }, h("td.number", place), h("td", position ? h("a", { href: to.position(run, position), title: "The position after it, before the other side rolls" }, play) : play),
  h("td.number", equity === undefined || equity === null ? "" : signed(equity)), h("td.number", h("span.soft", behind ? signed(-behind) : "")));
  const rows = best.map(({ move, equity, position }, i) => row(i + 1, move, equity, i ? top - equity : 0, position));
  if (made && !best.some(({ move }) => move === made)) rows.push(row(rank ?? "", made, top === undefined || loss === null ? null : top - loss, loss));
  return h("div.table", h("table.plays",
    h("thead", h("tr", h("th"), h("th", legal > best.length ? `Best of ${legal} plays` : "Plays"), h("th.number", "Equity"), h("th.number", "Behind"))),
    h("tbody", rows)));
}
