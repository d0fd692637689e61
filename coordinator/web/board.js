// A board for each game. Each module draws a position: { seat, position, roll, play } seen from seat 0, who sits below.

import * as backgammon from "./board-backgammon.js";
import * as draughts from "./board-draughts.js";
import * as othello from "./board-othello.js";
import { h } from "./dom.js";

const BOARDS = { backgammon, othello, "italian-draughts": draughts };

/**
 * The board of a position. `seat` acts and the position is seen by it; `roll` and `play` are shown when they are given.
 * A game without a board shows the position as text.
 */
export function board(rules, what) {
  const drawer = BOARDS[rules];
  if (!drawer) return h("pre", what.position);
  try {
    return drawer.draw(what);
  } catch {
    return h("pre", what.position);
  }
}

/** What the sides are called, by colour. */
export const sides = (rules) => BOARDS[rules]?.SIDES ?? ["first", "second"];

/** The colour of a seat, 0 or 1. In backgammon either may begin; elsewhere the first colour does, whichever seat has it. */
export const colourOf = (rules, seat, first) => (rules === "backgammon" ? seat : seat ^ first);
