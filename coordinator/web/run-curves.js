// Learning curves, over games or over time.

import { to } from "./api.js";
import { chart } from "./chart.js";
import { h } from "./dom.js";
import { interval, plain, short, signed, span } from "./format.js";

const COLOURS = ["c1", "c2", "c3", "c4", "c5"];
/** Shortest stretch over which a rate is measured, in seconds. */
const STRETCH = 10;

export function curves(run) {
  const figures = {
    strength: chart({ id: "strength", title: "Points per game of champions against", unit: "95% intervals that hold whenever one looks", height: 240 }),
    errors: chart({ id: "errors", title: "Error rate on the benchmark", unit: "millipoints a decision", height: 240 }),
    loss: chart({ id: "loss", title: "Loss", unit: "by position class" }),
    speed: chart({ id: "speed", title: "Games a second", unit: "" }),
    backlog: chart({ id: "backlog", title: "Waiting to be learnt", unit: "games" }),
  };
  let over = "games";
  let known = null;
  const draw = (state) => {
    known = state;
    const axis = axes(over, state);
    figures.strength.draw(strength(run, state, axis));
    figures.errors.draw(errors(run, state, axis));
    const reports = linked(run, state);
    figures.loss.draw(loss(reports, axis));
    figures.speed.draw(speed(reports, axis));
    figures.backlog.draw(backlog(reports, axis));
  };
  const tab = (name, text) => h("button", {
    type: "button", "aria-pressed": String(name === over),
    click: (event) => {
      over = name;
      for (const button of event.target.parentElement.children) button.setAttribute("aria-pressed", String(button === event.target));
      if (known) draw(known);
    },
  }, text);
  const tabs = h("span.tabs", { role: "group", "aria-label": "Over" }, tab("games", "over games"), tab("time", "over time"));
  const element = h("section.sheet", { id: "curves" },
    h("div.title", h("h2", "Learning curves"), h("span.act", tabs)),
    h("div.stack", h("div.columns.two", figures.strength, figures.errors), h("div.columns", figures.loss, figures.speed, figures.backlog)));
  return { element, news: ["points", "versions", "strength"], draw };
}

/** Where things stand from left to right: at accepted games, or at seconds since the run began. */
function axes(over, { run }) {
  const time = over === "time";
  const start = run?.created_at ?? 0;
  return {
    ofPoint: (point) => (time ? point.at - start : point.games),
    ofVersion: (version) => (time ? version.published_at - start : version.games),
    x: time ? { format: span, low: 0, least: 60, ticks: hours } : { format: short, low: 0, least: 1000, hint: (games) => `${short(games)} games` },
  };
}

/** Round times. */
function hours(low, high, count) {
  const steps = [1, 5, 10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800];
  const step = steps.find((s) => (high - low) / s <= count) ?? steps.at(-1);
  return Array.from({ length: Math.floor((high - low) / step) + 1 }, (_, i) => low + i * step);
}

function versionPoint(run, axis, version, values) {
  return { x: axis.ofVersion(version), href: to.version(run, version.version), title: `v${version.version}`, ...values };
}

/** The trainer's reports, each with the version that was the newest by then. */
function linked(run, { points, versions }) {
  const inOrder = [...versions.values()].sort((a, b) => a.version - b.version);
  let [next, link] = [0, {}];
  return points.map((point) => {
    for (; next < inOrder.length && inOrder[next].games <= point.games; next += 1) {
      link = { href: to.version(run, inOrder[next].version), title: `v${inOrder[next].version}` };
    }
    return { ...point, ...link };
  });
}

const reportPoint = (axis, report, y) => ({ x: axis.ofPoint(report), y, href: report.href, title: report.title });

function strength(run, { versions, strength: { meetings } }, axis) {
  const opponents = [...new Set(meetings.map((one) => one.opponent))].sort((a, b) => Number(/^v\d+$/.test(a)) - Number(/^v\d+$/.test(b)));
  const series = opponents.map((opponent, i) => ({
    name: /^v\d+$/.test(opponent) ? `${opponent}, the first` : opponent, colour: COLOURS[i], band: true, dots: true,
    show: (p) => interval(p.y, p.low, p.high),
    points: meetings.filter((one) => one.opponent === opponent && versions.has(one.version))
      .map((one) => versionPoint(run, axis, versions.get(one.version), { y: one.ppg, low: one.low, high: one.high }))
      .sort((a, b) => a.x - b.x),
  }));
  return { series, x: axis.x, y: { format: (v) => signed(v, 2), hint: (v) => signed(v), marks: [{ at: 0 }] }, empty: "Measured when a version is promoted" };
}

function errors(run, { versions, strength: { scores } }, axis) {
  const classes = [...new Set(scores.map((score) => score.class))].filter((name) => name !== "overall").sort();
  const series = [...classes, "overall"].map((name, i) => ({
    name, colour: name === "overall" ? "c5" : COLOURS[i], dots: true, show: (p) => `${plain(p.y, 2)}${p.se ? ` ± ${plain(p.se, 2)}` : ""}`,
    points: scores.filter((score) => score.class === name && versions.has(score.version))
      .map((score) => versionPoint(run, axis, versions.get(score.version), { y: score.er, se: score.se }))
      .sort((a, b) => a.x - b.x),
  })).filter((one) => one.points.length);
  return { series, x: axis.x, y: { log: true, format: (v) => short(v), hint: (v) => plain(v, 2) }, empty: "Measured when a version is published" };
}

function loss(reports, axis) {
  const classes = [...new Set(reports.flatMap((report) => Object.keys(report.losses)))].sort();
  const series = classes.map((name, i) => ({
    name, colour: COLOURS[i % COLOURS.length], raw: true,
    points: reports.filter((report) => name in report.losses).map((report) => reportPoint(axis, report, report.losses[name])),
  }));
  return { series, x: axis.x, y: { format: (v) => plain(v, v < 0.1 ? 3 : 2), hint: (v) => plain(v, 4) }, empty: "The trainer has not reported yet" };
}

/** Games a second between reports that are far enough apart to tell. */
export function rates(points, count) {
  const list = [];
  let from = points[0];
  for (const point of points) {
    if (point.at - from.at < STRETCH) continue;
    list.push({ point, rate: Math.max(0, point[count] - from[count]) / (point.at - from.at) });
    from = point;
  }
  return list;
}

function speed(reports, axis) {
  const series = [["played", "accepted"], ["learnt", "games"]].map(([name, count], i) => ({
    name, colour: COLOURS[i], raw: true,
    points: reports.length ? rates(reports, count).map(({ point, rate }) => reportPoint(axis, point, rate)) : [],
  }));
  return { series, x: axis.x, y: { format: short, low: 0 }, empty: "Measured from the second report on" };
}

function backlog(reports, axis) {
  const series = [{ name: "", colour: "c1", points: reports.map((report) => reportPoint(axis, report, report.backlog)) }];
  return { series, x: axis.x, y: { format: short, low: 0 }, empty: "The trainer has not reported yet" };
}
