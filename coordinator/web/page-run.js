// A run: figures, learning curves, gate, versions, workers, games; all of it live.

import { get, part, post } from "./api.js";
import { fill, h, sheet } from "./dom.js";
import { ago, date } from "./format.js";
import { listen } from "./live.js";
import { tokenField } from "./page-runs.js";
import { figures } from "./run-figures.js";
import { curves } from "./run-curves.js";
import { gates } from "./run-gate.js";
import { versions } from "./run-versions.js";
import { leases, workers } from "./run-workers.js";
import { games } from "./run-games.js";

export async function show(main, { parts: [name], trail }) {
  trail(name);
  const run = await get(`runs/${part(name)}`);
  const title = h("div.head");
  const trouble = h("p.notice.error", { role: "alert", hidden: true });
  // Each part knows which news concern it.
  const views = [figures(), curves(name), gates(name), versions(name), workers(), leases(name), games(name)];
  main.replaceChildren(title, trouble, ...views.map((view) => view.element),
    sheet("Configuration", {}, h("details", h("summary", "Every key"), h("pre", run.config))));

  let drawn = null;
  listen(name, (state, changed) => {
    if (!state.run) return;
    const wanted = `${state.run.state} ${state.server?.guarded}`;
    if (drawn !== wanted) {
      drawn = wanted;
      fill(title, heading(state, run));
    }
    trouble.hidden = !state.server?.trouble;
    trouble.textContent = `Not ready: ${state.server?.trouble}`;
    for (const view of views) if (view.news.some((topic) => changed.has(topic))) view.draw(state);
    main.dataset.live = "true";
  });
}

function heading({ run, server }, { created_at: created }) {
  return [
    h("h1", run.run), h(`span.state.${run.state}`, run.state),
    h("span.soft", { title: date(created) }, `${run.game.replaceAll("_", " ")} · begun ${ago(created)}`),
    run.state === "active" && h("div.act", stopping(run.run, server?.guarded)),
  ];
}

/** Stopping is for good, so it is asked twice. */
function stopping(run, guarded) {
  const problem = h("span.error", { role: "alert" });
  const submit = async (event) => {
    event.preventDefault();
    try {
      await post(`runs/${part(run)}/stop`, {}, new FormData(event.target).get("token"));
    } catch (error) {
      problem.textContent = error.message;
    }
  };
  const sure = h("form.row", { submit, hidden: true }, h("span.soft", "It cannot be started again."), tokenField(guarded),
    h("button.danger", { type: "submit" }, "Stop for good"), problem);
  const ask = h("button", { type: "button", click: () => { sure.hidden = !sure.hidden; } }, "Stop…");
  return h("div.row", sure, ask);
}
