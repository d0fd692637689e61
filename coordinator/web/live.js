// A run as it happens: a picture of everything, then what changes.

import { part } from "./api.js";

/**
 * Listens to a run. `draw(state, changed)` is called once a frame at most, with everything that is known and the set of
 * what has changed since the last call.
 */
export function listen(run, draw) {
  const state = { run: null, versions: new Map(), points: [], strength: { scores: [], meetings: [] }, workers: [], server: null, rates: [] };
  const changed = new Set();
  const sign = document.getElementById("live");
  const source = new EventSource(`/api/v1/runs/${part(run)}/events`);
  let drawing = false;

  const note = (topic) => {
    changed.add(topic);
    if (drawing) return;
    drawing = true;
    requestAnimationFrame(() => {
      drawing = false;
      const news = new Set(changed);
      changed.clear();
      draw(state, news);
    });
  };
  const hear = (topic, take) => source.addEventListener(topic, (event) => {
    take(JSON.parse(event.data));
    note(topic);
  });

  hear("run", (value) => {
    state.run = value;
    sample(state.rates, value);
  });
  hear("points", (points) => {
    const last = state.points.at(-1)?.id ?? 0;
    state.points.push(...points.filter((point) => point.id > last));
    // Twice what a picture shows: then every second of the older ones goes.
    if (state.points.length > 2400) state.points = state.points.filter((_, i) => i % 2 === 0 || i > 2000);
  });
  hear("versions", (versions) => versions.forEach((version) => state.versions.set(version.version, version)));
  hear("strength", (value) => { state.strength = value; });
  hear("workers", (value) => { state.workers = value; });
  hear("server", (value) => { state.server = value; });

  const say = (text, kind) => { sign.textContent = text; sign.className = kind; };
  source.addEventListener("open", () => say("live", "state active"));
  source.addEventListener("error", () => say(source.readyState === EventSource.CLOSED ? "not live" : "reconnecting", "state gating"));
  return source;
}

/** Remembers how many games there were, for rates over the last seconds. */
function sample(rates, run) {
  const games = run.self_play.accepted + run.rollouts.accepted + (run.gates?.accepted ?? 0);
  rates.push({ at: performance.now() / 1000, games, positions: run.positions });
  while (rates.length > 2 && rates.at(-1).at - rates[0].at > 30) rates.shift();
}

/** Games a second over the last half minute; null before there is enough to tell. */
export function rate(rates) {
  if (rates.length < 2) return null;
  const [first, last] = [rates[0], rates.at(-1)];
  const passed = last.at - first.at;
  // After a while without news nothing was played.
  const silent = performance.now() / 1000 - last.at;
  if (silent > 20) return 0;
  return passed < 3 ? null : (last.games - first.games) / passed;
}
