// Axes: which numbers to write beside them.

/** About `count` round numbers from `low` to `high`. */
export function linear(low, high, count) {
  const rough = (high - low) / Math.max(1, count);
  if (!(rough > 0) || !Number.isFinite(rough)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i += 1) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

/** Powers of ten from `low` to `high`, with 2 and 5 between them when there are few. */
export function logarithmic(low, high, count) {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const every = Math.max(1, Math.ceil((last - first) / count));
  const factors = last - first <= 3 ? [1, 2, 5] : [1];
  const ticks = [];
  for (let power = first; power <= last; power += 1) {
    if ((power - first) % every) continue;
    for (const factor of factors) {
      const tick = factor * 10 ** power;
      if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(Number(tick.toPrecision(6)));
    }
  }
  return ticks;
}

/** From numbers to pixels: a scale is a function with its range and its ticks. */
export function scale({ low, high, log }, from, to) {
  const place = log ? Math.log : (x) => x;
  const [a, b] = [place(low), place(high)];
  const span = b - a || 1;
  const map = (x) => from + ((place(log ? Math.max(x, low / 10) : x) - a) / span) * (to - from);
  map.inverse = (pixel) => {
    const value = a + ((pixel - from) / (to - from)) * span;
    return log ? Math.exp(value) : value;
  };
  return map;
}
