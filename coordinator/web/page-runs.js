// The runs, and a form that starts one.

import { get, post, to } from "./api.js";
import { fill, h, sheet, table } from "./dom.js";
import { ago, bytes, short } from "./format.js";

const PERIOD = 5000;

export async function show(main, { trail }) {
  trail(null, "Runs");
  const list = h("div");
  const server = await get("server");
  main.replaceChildren(
    server.trouble ? h("p.notice.error", { role: "alert" }, `Not ready: ${server.trouble}`) : "",
    sheet("Runs", {}, list),
    sheet("Start a run", {}, form(server)),
    h("p.soft", `Ludus ${server.version} · ${bytes(server.disk.free)} free of ${bytes(server.disk.size)}`),
  );
  const refresh = async () => fill(list, runs(await get("runs")));
  await refresh();
  setInterval(() => { if (!document.hidden) refresh().catch(() => {}); }, PERIOD);
}

function runs(all) {
  if (all.length === 0) return h("p.soft", "There is no run yet. Start one below, or with ", h("code", "ludus run create"), ".");
  const columns = [
    { title: "Run" }, { title: "State" }, { title: "Game" }, { title: "Champion" }, { title: "Latest" },
    { title: "Games learnt", number: true }, { title: "Waiting", number: true }, { title: "Gate" }, { title: "Begun" },
  ];
  return table(columns, all.map((run) => [
    h("a", { href: to.run(run.run) }, run.run),
    h(`span.state.${run.state}`, run.state),
    run.game.replaceAll("_", " "),
    run.champion ? h("a", { href: to.version(run.run, run.champion) }, `v${run.champion}`) : h("span.faint", "none yet"),
    run.latest_version ? `v${run.latest_version}` : h("span.faint", "none yet"),
    short(run.games),
    short(run.backlog),
    run.gate ? `v${run.gate.candidate} against ${run.gate.opponent}` : h("span.faint", "none"),
    ago(run.created_at),
  ]));
}

/** The admin's token is needed once there are tokens; it stays on this page. */
export function tokenField(guarded) {
  return guarded && h("label", "Admin's token", h("input", { name: "token", type: "password", autocomplete: "off", required: true }));
}

function form(server) {
  const about = h("span.soft.whole");
  const problem = h("p.error.whole", { role: "alert", hidden: true });
  const preset = h("select", { name: "preset" }, server.presets.map(({ name }) => h("option", { value: name }, name)));
  const config = h("textarea", { name: "config", rows: 10, spellcheck: "false", placeholder: "# as `ludus config show` prints it" });
  const tell = () => { about.textContent = `${server.presets.find(({ name }) => name === preset.value)?.about ?? ""}.`; };
  preset.addEventListener("change", tell);
  tell();

  const submit = async (event) => {
    event.preventDefault();
    const fields = new FormData(event.target);
    const number = (name) => (fields.get(name) ? { [name]: Number(fields.get(name)) } : {});
    const text = fields.get("config").trim();
    problem.hidden = true;
    try {
      const { run } = await post("runs", {
        game: fields.get("game"), name: fields.get("name").trim(), ...(text ? { config: text } : { preset: fields.get("preset") }),
        ...number("limit_pairs"), ...number("backlog_games"),
      }, fields.get("token"));
      location.assign(to.run(run));
    } catch (error) {
      problem.textContent = error.message;
      problem.hidden = false;
    }
  };
  return h("form.grid", { submit },
    h("label", "Game", h("select", { name: "game" }, server.games.map((game) => h("option", { value: game }, game.replaceAll("_", " "))))),
    h("label", "Name", h("input", { name: "name", placeholder: "after its game", pattern: "[A-Za-z0-9_\\-][A-Za-z0-9_.\\-]*", maxlength: 64 })),
    h("label", "Preset", preset),
    h("label", "Most pairs of a gate", h("input", { name: "limit_pairs", type: "number", min: 1, placeholder: "as the preset has it" })),
    h("label", "Most games that wait", h("input", { name: "backlog_games", type: "number", min: 1, placeholder: "as the preset has it" })),
    tokenField(server.guarded), about,
    h("details.whole", h("summary", "A whole configuration instead of a preset"), config), problem,
    h("div.whole", h("button.main", { type: "submit" }, "Start")));
}
