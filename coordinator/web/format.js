// Numbers and times as people read them.

const THIN = "\u202f";
const MINUS = "\u2212";

/** 1 234 567. */
export const grouped = (n) => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, THIN);

/** A sentence of the server's, its whole numbers grouped like all others. */
export const legible = (text) => text.replace(/(?<![\d.,])\d{4,}/g, (digits) => grouped(Number(digits)));

/** 13.6 M: three digits and a unit. */
export function short(n) {
  const size = Math.abs(n);
  for (const [unit, step] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
    if (size >= step) return `${digits(n / step)}${THIN}${unit}`;
  }
  return size >= 100 || Number.isInteger(n) ? String(Math.round(n)) : digits(n);
}

function digits(n) {
  const size = Math.abs(n);
  const text = size >= 100 ? n.toFixed(0) : size >= 10 ? n.toFixed(1) : n.toFixed(2);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** +0.123, with a true minus. */
export function signed(n, places = 3) {
  const text = Math.abs(n).toFixed(places);
  const zero = Number(text) === 0;
  return (zero ? "" : n < 0 ? MINUS : "+") + text;
}

/** 0.123 with a true minus and no plus. */
export const plain = (n, places = 3) => (n < 0 && Number(n.toFixed(places)) !== 0 ? MINUS : "") + Math.abs(n).toFixed(places);

/** An e-value: 0.012, 3.4, 1 200, 10^-6. */
export function evidence(e) {
  if (e === 0 || (e < 1e-4 && e > 0)) return e === 0 ? "0" : `10${superscript(Math.floor(Math.log10(e)))}`;
  if (e >= 1e5) return `10${superscript(Math.floor(Math.log10(e)))}`;
  return e >= 100 ? grouped(e) : e >= 10 ? e.toFixed(1).replace(/\.0$/, "") : e >= 0.1 ? digits(e) : e.toPrecision(2);
}

function superscript(n) {
  return String(n).replace(/./g, (sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(sign)]));
}

/** Bytes. */
export function bytes(n) {
  for (const [unit, step] of [["TB", 1e12], ["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) {
    if (n >= step) return `${digits(n / step)}${THIN}${unit}`;
  }
  return `${n}${THIN}B`;
}

/** A length of time in seconds: 42 s, 12 min, 3.5 h, 9 days. */
export function span(seconds) {
  if (seconds < 60) return `${Math.round(seconds)}${THIN}s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)}${THIN}min`;
  if (seconds < 172800) return `${(seconds / 3600).toFixed(1).replace(/\.0$/, "")}${THIN}h`;
  return `${Math.round(seconds / 86400)}${THIN}days`;
}

/** How long ago a moment (seconds since 1970) was. */
export const ago = (moment) => `${span(Math.max(0, Date.now() / 1000 - moment))} ago`;

/** A moment as a date. */
export const date = (moment) => new Date(moment * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });

/** +0.012 [−0.010, +0.034]. */
export const interval = (mean, low, high, places = 3) => `${signed(mean, places)} [${signed(low, places)}, ${signed(high, places)}]`;

/** A share as per cent. */
export const percent = (share) => `${(100 * share).toFixed(1)}%`;
