// Line charts with direct labels, bands, linear and logarithmic axes, drawn as SVG.

import { h, svg } from "./dom.js";
import { linear, logarithmic, scale } from "./ticks.js";

const TOP = 10;
const BOTTOM = 24;
const LABEL_HEIGHT = 15;
const MOST_DOTS = 40;

/**
 * A chart that can be drawn again and again with `draw(what)`:
 *
 * - `series`: [{ name, colour: "c1".."c5", points: [{ x, y, low, high, href, title }], raw, band, dots, show }];
 *   `raw` draws the points faintly beneath a smoothed line; a click leads to the `href` of the point nearest to it
 * - `x`, `y`: { format, log, low, high, least, ticks }, `least` being the range shown when all values are one; `y.marks`: [{ at, label }], lines across that are always in sight
 * - `empty`: what to say when there is nothing to draw
 */
export function chart({ id, title, unit, height = 210, wide = false }) {
  const caption = h("figcaption", h("h3", title), unit && h("span.unit", unit));
  const canvas = svg("svg", { height, role: "img", "aria-label": title });
  const hint = h("div.hint", { hidden: true });
  const figure = h("figure.chart", { id, class: wide ? "wide" : null }, caption, canvas, hint);
  // A finger does not leave a chart; it touches something else.
  document.addEventListener("pointerdown", (event) => { if (!figure.contains(event.target)) hint.hidden = true; });
  let what = null;
  let drawnWidth = 0;

  function draw(next) {
    what = next;
    render();
  }

  function render() {
    const width = figure.clientWidth;
    if (!what || width < 40) return;
    drawnWidth = width;
    paint(canvas, figure, hint, what, width, height);
    // What is drawn, for those who want to know exactly.
    figure.plotted = what.series.map(({ name, points }) => ({ name, points }));
  }

  new ResizeObserver(() => {
    if (figure.clientWidth !== drawnWidth) render();
  }).observe(figure);
  figure.draw = draw;
  return figure;
}

function paint(canvas, figure, hint, { series, x, y, empty }, width, height) {
  canvas.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const shown = series.map((one) => ({ ...one, points: one.points.filter((point) => Number.isFinite(point.x) && Number.isFinite(point.y)) }));
  const all = shown.flatMap((one) => one.points);
  if (all.length === 0) {
    canvas.replaceChildren(svg("text.none", { x: width / 2, y: height / 2, "text-anchor": "middle" }, empty ?? "Nothing yet"));
    return;
  }
  const xRange = range(all.map((point) => point.x), x, 0);
  const yRange = range(all.flatMap((point) => [point.y, point.low, point.high]), y, 0.06);
  const yTicks = (y.log ? logarithmic : linear)(yRange.low, yRange.high, Math.max(3, Math.round(height / 48)));
  const yTexts = yTicks.map((tick) => (y.format ?? String)(tick));
  const left = 8 + 6.6 * Math.max(...yTexts.map((text) => text.length));
  const drawn = shown.filter((one) => one.points.length);
  const names = drawn.filter((one) => one.name);
  const right = names.length ? Math.min(width * 0.3, 10 + 6.9 * Math.max(...names.map((one) => one.name.length))) : 10;
  const xOf = scale({ ...xRange, log: x.log }, left, width - right);
  const yOf = scale({ ...yRange, log: y.log }, height - BOTTOM, TOP);

  const grid = svg("g.grid");
  yTicks.forEach((tick, i) => {
    const place = Math.round(yOf(tick)) + 0.5;
    grid.append(svg("line", { x1: left, x2: width - right, y1: place, y2: place }));
    grid.append(svg("text", { x: left - 7, y: place + 4, "text-anchor": "end" }, yTexts[i]));
  });
  const xCount = Math.max(2, Math.floor((width - left - right) / 90));
  const xTicks = x.ticks ? x.ticks(xRange.low, xRange.high, xCount) : linear(xRange.low, xRange.high, xCount);
  for (const tick of xTicks) {
    grid.append(svg("text", { x: xOf(tick), y: height - 6, "text-anchor": "middle" }, (x.format ?? String)(tick)));
  }
  const marks = svg("g.mark", (y.marks ?? []).map(({ at, label }) => {
    const place = Math.round(yOf(at)) + 0.5;
    return [
      svg("line", { x1: left, x2: width - right, y1: place, y2: place }),
      label && svg("text", { x: left + 6, y: place - 5 }, label),
    ];
  }));
  const lines = shown.map((one) => seriesOf(one, xOf, yOf));
  const labels = place(names.map((one) => ({ one, y: yOf(one.raw ? smooth(one.points).at(-1).y : one.points.at(-1).y) })), TOP, height - BOTTOM);
  const texts = labels.map(({ one, y: at }) => svg(`text.name.${one.colour}`, { x: width - right + 7, y: at + 4 }, one.name));
  const guide = svg("line.guide", { y1: TOP, y2: height - BOTTOM, hidden: true, visibility: "hidden" });
  canvas.replaceChildren(grid, marks, guide, ...lines, ...texts);
  canvas.setAttribute("aria-label", `${figure.querySelector("h3").textContent}: ${drawn.map((one) => `${one.name} ${(y.format ?? String)(one.points.at(-1).y)}`.trim()).join(", ")}`);
  const look = (event) => {
    const at = point(event, { canvas, figure, hint, guide, drawn, xOf, x, y, left, end: width - right, width });
    canvas.classList.toggle("leads", Boolean(at?.href));
    return at;
  };
  canvas.onpointermove = look;
  canvas.onpointerdown = look;
  canvas.onpointerleave = (event) => {
    if (event.pointerType === "touch") return;
    hint.hidden = true;
    guide.setAttribute("visibility", "hidden");
  };
  canvas.onclick = (event) => {
    // A dot is a link itself, and where there is no pointer to hover with the link is in the hint.
    if (event.target.closest("a") || event.pointerType === "touch") return;
    const at = look(event);
    if (at?.href) location.assign(at.href);
  };
}

/** The range of an axis: what was asked for, or what the values need and some air. */
function range(values, axis, air) {
  const known = values.concat((axis.marks ?? []).map((mark) => mark.at)).filter((value) => Number.isFinite(value) && (!axis.log || value > 0));
  let low = Math.min(...known);
  let high = Math.max(...known);
  if (axis.log) {
    low = axis.low ?? low / 1.25;
    high = axis.high ?? high * 1.25;
    return { low, high: high > low ? high : low * 10 };
  }
  const more = (high - low || Math.abs(high) || 1) * air;
  low = axis.low ?? low - more;
  high = axis.high ?? high + more;
  return { low, high: high > low ? high : low + (axis.least ?? 1) };
}

function seriesOf(one, xOf, yOf) {
  const group = svg(`g.${one.colour}`, { "data-series": one.name });
  const path = (points) => points.map((p, i) => `${i ? "L" : "M"}${xOf(p.x).toFixed(1)} ${yOf(p.y).toFixed(1)}`).join("");
  if (one.band && one.points.length > 1) {
    const upper = one.points.map((p) => `${xOf(p.x).toFixed(1)} ${yOf(p.high ?? p.y).toFixed(1)}`);
    const lower = one.points.map((p) => `${xOf(p.x).toFixed(1)} ${yOf(p.low ?? p.y).toFixed(1)}`).reverse();
    group.append(svg("path.band", { d: `M${upper.join("L")}L${lower.join("L")}Z` }));
  }
  if (one.raw) group.append(svg("path.raw", { d: path(one.points) }));
  group.append(svg("path.line", { d: path(one.raw ? smooth(one.points) : one.points) }));
  if (one.dots || one.points.length === 1) {
    for (const p of one.points) {
      // Many dots would hide the line; they appear where one points.
      const dot = svg(one.points.length > MOST_DOTS ? "circle.dot.many" : "circle.dot", { cx: xOf(p.x).toFixed(1), cy: yOf(p.y).toFixed(1), r: 3 });
      group.append(p.href ? svg("a", { href: p.href, "aria-label": p.title }, dot) : dot);
    }
  }
  return group;
}

/** A mean that forgets, over a twentieth of the points. */
export function smooth(points) {
  const keep = 1 - 1 / Math.max(1, points.length / 20);
  let [sum, weight] = [0, 0];
  return points.map((p) => {
    sum = keep * sum + p.y;
    weight = keep * weight + 1;
    return { ...p, y: sum / weight };
  });
}

/** Moves labels apart that would stand on each other. */
function place(labels, top, bottom) {
  const sorted = labels.toSorted((a, b) => a.y - b.y);
  for (let i = 1; i < sorted.length; i += 1) sorted[i].y = Math.max(sorted[i].y, sorted[i - 1].y + LABEL_HEIGHT);
  let limit = bottom;
  for (const label of sorted.toReversed()) {
    label.y = Math.min(label.y, limit);
    limit = label.y - LABEL_HEIGHT;
  }
  if (sorted.length && sorted[0].y < top) sorted.forEach((label, i) => { label.y = Math.max(label.y, top + i * LABEL_HEIGHT); });
  return sorted;
}

/** Shows the values nearest to the pointer, and gives the nearest point. */
function point(event, { canvas, figure, hint, guide, drawn, xOf, x, y, left, end, width }) {
  const box = canvas.getBoundingClientRect();
  const pixel = ((event.clientX - box.left) / box.width) * width;
  if (pixel < left - 4 || pixel > end + 4) {
    hint.hidden = true;
    guide.setAttribute("visibility", "hidden");
    return null;
  }
  const wanted = xOf.inverse(pixel);
  const nearest = (points) => points.reduce((best, p) => (Math.abs(p.x - wanted) < Math.abs(best.x - wanted) ? p : best));
  const found = drawn.map((one) => ({ one, p: nearest(one.points) }));
  const at = nearest(found.map(({ p }) => p));
  guide.setAttribute("x1", xOf(at.x));
  guide.setAttribute("x2", xOf(at.x));
  guide.setAttribute("visibility", "visible");
  const rows = found.map(({ one, p }) => h("tr", h(`td.${one.colour}`, one.name),
    h("td", (one.show ?? ((q) => (y.hint ?? y.format ?? String)(q.y)))(p))));
  hint.replaceChildren(h("div.soft", [(x.hint ?? x.format ?? String)(at.x), at.title && [" · ", at.href ? h("a", { href: at.href }, at.title) : at.title]]), h("table", h("tbody", rows)));
  hint.hidden = false;
  const place = (xOf(at.x) / width) * box.width;
  const over = place + 16 + hint.offsetWidth > figure.clientWidth;
  hint.style.left = `${over ? Math.max(0, place - 12 - hint.offsetWidth) : place + 12}px`;
  hint.style.top = `${canvas.offsetTop + 8}px`;
  return at;
}

/** A small picture of an interval on a line from `low` to `high`, with a stroke at 0. */
export function intervalPicture({ mean, from, to }, low, high) {
  const place = scale({ low, high }, 0, 200);
  const within = (value) => Math.min(200, Math.max(0, place(value)));
  return svg("svg.interval", { viewBox: "0 0 200 14", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("line", { x1: 0, x2: 200, y1: 7, y2: 7 }), svg("line", { x1: within(0), x2: within(0), y1: 1, y2: 13 }),
    svg("line.reach", { x1: within(from), x2: within(to), y1: 7, y2: 7 }), svg("circle", { cx: within(mean), cy: 7, r: 3.5 }));
}
