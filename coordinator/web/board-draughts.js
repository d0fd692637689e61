// A board of Italian draughts from a FEN.

import { svg } from "./dom.js";

export const SIDES = ["white", "black"];

const CELL = 52;
const EDGE = 14;

/** The middle of square 1..32; 1 is above on the left, where Italian boards begin. */
function place(number) {
  const row = Math.floor((number - 1) / 4);
  const column = 2 * ((number - 1) % 4) + (row % 2);
  return { x: EDGE + column * CELL + CELL / 2, y: EDGE + row * CELL + CELL / 2, row, column };
}

/** The board. */
export function draw({ position, play }) {
  const size = 8 * CELL + 2 * EDGE;
  const [turn, ...fields] = position.split(":");
  const canvas = svg("svg.board.draughts", { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": `Draughts: ${turn === "W" ? "white" : "black"} to play` });
  canvas.append(svg("rect.frame", { width: size, height: size, rx: 10 }), svg("rect.paleside", { x: EDGE, y: EDGE, width: 8 * CELL, height: 8 * CELL }));
  for (let number = 1; number <= 32; number += 1) {
    const { x, y } = place(number);
    canvas.append(svg("rect.darkside", { x: x - CELL / 2, y: y - CELL / 2, width: CELL, height: CELL }), svg("text.squarename", { x: x - CELL / 2 + 4, y: y - CELL / 2 + 12 }, number));
  }
  for (const field of fields) {
    const side = field.startsWith("W") ? "white" : "black";
    for (const piece of field.slice(1).split(",").filter(Boolean)) {
      const { x, y } = place(Number(piece.replace("K", "")));
      canvas.append(svg(`circle.disc.${side}`, { cx: x, cy: y, r: CELL * 0.38 }));
      if (piece.startsWith("K")) canvas.append(svg(`circle.king.${side}`, { cx: x, cy: y, r: CELL * 0.2 }));
    }
  }
  const stops = (play ?? "").split(/[-x]/).map(Number).filter((n) => n >= 1 && n <= 32).map(place);
  if (stops.length > 1) canvas.append(svg("polyline.arrow", { points: stops.map(({ x, y }) => `${x},${y}`).join(" ") }));
  return canvas;
}
