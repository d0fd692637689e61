// An Othello board from 64 signs, X for the side that acts.

import { svg } from "./dom.js";

export const SIDES = ["black", "white"];

const CELL = 50;
const EDGE = 26;

/** The board. */
export function draw({ position, seat, play }) {
  const size = 8 * CELL + 2 * EDGE;
  const canvas = svg("svg.board.othello", { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": `Othello: ${SIDES[seat]} to play` });
  canvas.append(svg("rect.frame", { width: size, height: size, rx: 10 }), svg("rect.green", { x: EDGE, y: EDGE, width: 8 * CELL, height: 8 * CELL }));
  for (let i = 0; i < 8; i += 1) {
    const middle = EDGE + i * CELL + CELL / 2;
    canvas.append(
      svg("text.pointname", { x: middle, y: 17, "text-anchor": "middle" }, "abcdefgh"[i]), svg("text.pointname", { x: 13, y: middle + 4, "text-anchor": "middle" }, i + 1),
      svg("path.rule", { d: `M${EDGE + i * CELL} ${EDGE}v${8 * CELL}M${EDGE} ${EDGE + i * CELL}h${8 * CELL}` }));
  }
  const signs = position.replace(/\s.*$/, "");
  for (let square = 0; square < 64; square += 1) {
    if (signs[square] === "-") continue;
    const owner = signs[square] === "X" ? seat : 1 - seat;
    canvas.append(svg(`circle.disc.${SIDES[owner]}`, { cx: EDGE + (square % 8) * CELL + CELL / 2, cy: EDGE + Math.floor(square / 8) * CELL + CELL / 2, r: CELL * 0.41 }));
  }
  const [, file, rank] = /^([a-h])([1-8])$/.exec(play ?? "") ?? [];
  if (file) {
    canvas.append(svg("circle.chosen", { cx: EDGE + "abcdefgh".indexOf(file) * CELL + CELL / 2, cy: EDGE + (rank - 1) * CELL + CELL / 2, r: CELL * 0.2 }));
  }
  return canvas;
}
