// Which page belongs to this address.

import { h } from "./dom.js";
import { to } from "./api.js";

const ROUTES = [
  [/^\/$/, () => import("./page-runs.js")],
  [/^\/api$/, () => import("./page-api.js")],
  [/^\/runs\/([^/]+)$/, () => import("./page-run.js")],
  [/^\/runs\/([^/]+)\/position$/, () => import("./page-position.js")],
  [/^\/runs\/([^/]+)\/versions\/([^/]+)$/, () => import("./page-version.js")],
  [/^\/runs\/([^/]+)\/games\/(\d+)\/(\d+)$/, () => import("./page-game.js")],
];

/** Where one is: what stands after the name in the head of the page. */
function trail(run, ...more) {
  const links = run ? [h("a", { href: to.run(run) }, run), ...more.map((text) => h("span", text))] : more.map((text) => h("span", text));
  document.getElementById("trail").replaceChildren(...links);
  document.title = [...more.toReversed(), run, "Ludus"].filter(Boolean).join(" · ");
}

async function start() {
  const main = document.getElementById("main");
  for (const [pattern, load] of ROUTES) {
    const match = pattern.exec(location.pathname);
    if (!match) continue;
    const page = await load();
    try {
      await page.show(main, { parts: match.slice(1).map(decodeURIComponent), trail });
    } catch (error) {
      main.replaceChildren(h("p.notice.error", { role: "alert" }, error.message));
    }
    document.body.dataset.ready = "true";
    return;
  }
}

start();
