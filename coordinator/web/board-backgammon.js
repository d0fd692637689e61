// A backgammon board from a position ID.

import { svg } from "./dom.js";

export const SIDES = ["light", "dark"];

const POINT = 44;
const BAR = 40;
const TRAY = 46;
const EDGE = 14;
const FIELD = 12 * POINT + BAR;
const WIDTH = EDGE + FIELD + TRAY + EDGE;
const HEIGHT = 440;
const RADIUS = 19.5;
const LENGTH = 178;
const STACK = 5;

/** The checkers of a position ID: [own, other], each seen by itself, slots 0..23 and the bar. */
export function decode(id) {
  const bytes = Array.from(atob(`${id.slice(0, 14)}==`), (c) => c.charCodeAt(0));
  const sides = [[], []];
  let at = 0;
  // First the side that is not on roll; ones are checkers, a zero ends a slot.
  for (const side of [1, 0]) {
    for (let slot = 0; slot < 25; slot += 1) {
      let checkers = 0;
      while (at < 80 && (bytes[at >> 3] >> (at & 7)) & 1) {
        checkers += 1;
        at += 1;
      }
      at += 1;
      sides[side].push(checkers);
    }
  }
  return sides;
}

/** Where the middle of point 1..24 of the light side is, and whether it is above. */
function place(point) {
  const above = point > 12;
  const column = above ? point - 13 : 12 - point;
  const x = EDGE + column * POINT + POINT / 2 + (column >= 6 ? BAR : 0);
  return { x, above };
}

const barX = EDGE + 6 * POINT + BAR / 2;
const trayX = EDGE + FIELD + TRAY / 2;

/** The middle of the n-th checker (from 0) of a stack on a light point; bar and tray by name. */
function seat(side, slot, n) {
  const row = Math.min(n, STACK - 1);
  if (slot === 24) return { x: barX, y: side === 0 ? HEIGHT / 2 + 36 + row * 2 * RADIUS : HEIGHT / 2 - 36 - row * 2 * RADIUS };
  const { x, above } = place(side === 0 ? slot + 1 : 24 - slot);
  return { x, y: above ? EDGE + RADIUS + row * 2 * RADIUS : HEIGHT - EDGE - RADIUS - row * 2 * RADIUS };
}

/** The board; light sits below. */
export function draw({ position, seat: actor, roll, play }) {
  const [own, other] = decode(position);
  const checkers = actor === 0 ? [own, other] : [other, own];
  const canvas = svg("svg.board.backgammon", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": spoken(checkers, actor, roll) });
  canvas.append(svg("rect.frame", { x: 0, y: 0, width: WIDTH, height: HEIGHT, rx: 10 }), svg("rect.field", { x: EDGE, y: EDGE, width: 6 * POINT, height: HEIGHT - 2 * EDGE }),
    svg("rect.field", { x: EDGE + 6 * POINT + BAR, y: EDGE, width: 6 * POINT, height: HEIGHT - 2 * EDGE }),
    svg("rect.tray", { x: EDGE + FIELD + 6, y: EDGE, width: TRAY - 6, height: HEIGHT / 2 - EDGE - 8, rx: 3 }),
    svg("rect.tray", { x: EDGE + FIELD + 6, y: HEIGHT / 2 + 8, width: TRAY - 6, height: HEIGHT / 2 - EDGE - 8, rx: 3 }));
  for (let point = 1; point <= 24; point += 1) canvas.append(...pointOf(point, actor));
  checkers.forEach((side, which) => {
    side.forEach((count, slot) => canvas.append(...stack(which, slot, count)));
    canvas.append(...off(which, 15 - side.reduce((a, b) => a + b, 0)));
  });
  if (play) canvas.append(...arrows(play, checkers, actor));
  if (roll) canvas.append(...dice(roll, actor));
  return canvas;
}

function pointOf(point, actor) {
  const { x, above } = place(point);
  const [base, tip] = above ? [EDGE, EDGE + LENGTH] : [HEIGHT - EDGE, HEIGHT - EDGE - LENGTH];
  const half = POINT / 2;
  return [
    svg(point % 2 ? "path.point.odd" : "path.point.even", { d: `M${x - half} ${base}L${x + half} ${base}L${x} ${tip}Z` }),
    svg("text.pointname", { x, y: above ? 10.5 : HEIGHT - 3.5, "text-anchor": "middle" }, actor === 0 ? point : 25 - point),
  ];
}

function stack(side, slot, count) {
  const drawn = [];
  for (let n = 0; n < Math.min(count, STACK); n += 1) {
    const { x, y } = seat(side, slot, n);
    drawn.push(svg(`circle.checker.${SIDES[side]}`, { cx: x, cy: y, r: RADIUS - 0.75 }));
  }
  if (count > STACK) {
    const { x, y } = seat(side, slot, STACK - 1);
    drawn.push(svg(`text.count.on-${SIDES[side]}`, { x, y: y + 5.5, "text-anchor": "middle" }, count));
  }
  return drawn;
}

function off(side, count) {
  const drawn = [];
  for (let n = 0; n < count; n += 1) {
    const step = 11.2;
    const y = side === 0 ? HEIGHT - EDGE - 4 - step * (n + 1) : EDGE + 4 + step * n;
    drawn.push(svg(`rect.checker.${SIDES[side]}`, { x: trayX - 14, y, width: 34, height: step - 1.4, rx: 2 }));
  }
  return drawn;
}

function dice(roll, actor) {
  const size = 34;
  const middle = actor === 0 ? EDGE + 6 * POINT + BAR + 3 * POINT : EDGE + 3 * POINT;
  return [...roll].slice(0, 2).flatMap((digit, i) => {
    const x = middle + (i ? 5 : -5 - size);
    const y = HEIGHT / 2 - size / 2;
    return [svg(`rect.die.${SIDES[actor]}`, { x, y, width: size, height: size, rx: 6 }), ...pips(Number(digit), x, y, size, SIDES[actor])];
  });
}

function pips(n, x, y, size, side) {
  const [a, b, c] = [0.25, 0.5, 0.75];
  const places = {
    1: [[b, b]], 2: [[a, a], [c, c]], 3: [[a, a], [b, b], [c, c]], 4: [[a, a], [a, c], [c, a], [c, c]],
    5: [[a, a], [a, c], [b, b], [c, a], [c, c]], 6: [[a, a], [a, b], [a, c], [c, a], [c, b], [c, c]],
  }[n] ?? [];
  return places.map(([px, py]) => svg(`circle.pip.on-${side}`, { cx: x + px * size, cy: y + py * size, r: 3.3 }));
}

/** The steps of a play such as `bar/22* 13/7(2)` or `24/18/15`: pairs of slots of the side that acts, -1 for off. */
export function steps(play) {
  const slot = (text) => (text === "bar" ? 24 : text === "off" ? -1 : Number(text) - 1);
  const list = [];
  for (const word of play.toLowerCase().split(/\s+/)) {
    const [, way, times] = /^([a-z0-9/*]+?)(?:\((\d)\))?\*?$/.exec(word) ?? [];
    if (!way || !way.includes("/")) continue;
    const stops = way.replaceAll("*", "").split("/").map(slot);
    if (stops.some(Number.isNaN)) continue;
    for (let n = 0; n < Number(times ?? 1); n += 1) list.push([stops[0], stops.at(-1)]);
  }
  return list;
}

function arrows(play, checkers, actor) {
  const counts = checkers[actor].slice();
  const id = `arrow-${SIDES[actor]}`;
  const head = svg("marker", { id, viewBox: "0 0 10 10", refX: 7, refY: 5, markerWidth: 4.2, markerHeight: 4.2, orient: "auto-start-reverse" }, svg("path.arrowhead", { d: "M0 0L10 5L0 10Z" }));
  const lines = steps(play).map(([from, to]) => {
    const start = seat(actor, from, Math.max(0, counts[from] - 1));
    counts[from] -= 1;
    // An opponent's blot on the point is hit and makes room.
    const end = to < 0 ? { x: trayX + 3, y: actor === 0 ? HEIGHT - 60 : 60 } : seat(actor, to, counts[to]);
    if (to >= 0) counts[to] += 1;
    return svg("path.arrow", { d: `M${start.x} ${start.y}L${end.x} ${end.y}`, "marker-end": `url(#${id})` });
  });
  return lines.length ? [svg("defs", head), ...lines] : [];
}

function spoken(checkers, actor, roll) {
  const pips = checkers.map((side) => side.reduce((sum, count, slot) => sum + count * (slot + 1), 0));
  return `Backgammon: ${SIDES[actor]} to ${roll ? `play ${roll}` : "roll"}; light has ${pips[0]} pips, dark ${pips[1]}`;
}

/** The pips each seat has left: light, dark. */
export function pipCounts({ position, seat: actor }) {
  const count = (side) => side.reduce((sum, checkers, slot) => sum + checkers * (slot + 1), 0);
  const [own, other] = decode(position).map(count);
  return actor === 0 ? [own, other] : [other, own];
}
