// Exact binomial bounds: the rates that a count of errors allows, and the counts that a rate allows.
// Clopper & Pearson (1934) by the incomplete beta function, whose leading factor follows Loader (2000): accurate
// to about 1e-12 relative, up to a billion trials.

export interface Interval {
  lower: number
  upper: number
}

export interface Counted {
  hits: number
  trials: number
  /** Default 0.99. An interval leaves half of the remainder on each side, a bound leaves all of it on one side. */
  confidence?: number
}

/** The rates that `hits` in `trials` do not refute. Covers at least `confidence`, never less. */
export function clopperPearson({ hits, trials, confidence = 0.99 }: Counted): Interval {
  const side = (1 + confidence) / 2
  return {
    lower: lowerBound({ hits, trials, confidence: side }),
    upper: upperBound({ hits, trials, confidence: side }),
  }
}

/** One-sided: with `confidence`, the true rate is at most this. */
export function upperBound({ hits, trials, confidence = 0.99 }: Counted): number {
  if (hits >= trials) return 1
  return bisect((rate) => binomialCdf({ hits, trials, rate }) <= 1 - confidence)
}

/** One-sided: with `confidence`, the true rate is at least this. */
export function lowerBound({ hits, trials, confidence = 0.99 }: Counted): number {
  if (hits <= 0) return 0
  return bisect((rate) => upperTail({ hits, trials, rate }) >= 1 - confidence)
}

/** P(at most `hits` in `trials`). */
export function binomialCdf({ hits, trials, rate }: { hits: number; trials: number; rate: number }): number {
  if (hits < 0) return 0
  if (hits >= trials) return 1
  return regularisedBeta(trials - hits, hits + 1, 1 - rate, rate)
}

/** The smallest count that at least `probability` of all runs stay at or below. */
export function binomialQuantile({
  trials,
  rate,
  probability,
}: {
  trials: number
  rate: number
  probability: number
}): number {
  let below = -1
  let above = trials
  while (above - below > 1) {
    const hits = Math.floor((below + above) / 2)
    if (binomialCdf({ hits, trials, rate }) >= probability) above = hits
    else below = hits
  }
  return above
}

/** P(at least `hits` in `trials`), hits ≥ 1; on its own, so that a small tail keeps its digits. */
function upperTail({ hits, trials, rate }: { hits: number; trials: number; rate: number }): number {
  return regularisedBeta(hits, trials - hits + 1, rate, 1 - rate)
}

/** The point in 0 … 1 from which on `passed` holds. Splits by ratio, so tiny rates keep their digits. */
function bisect(passed: (rate: number) => boolean): number {
  let below = 0
  let above = 1
  for (let step = 0; step < 200; step++) {
    const middle = below > 0 && above / below > 2 ? Math.sqrt(below * above) : below + (above - below) / 2
    if (middle === below || middle === above) break
    if (passed(middle)) above = middle
    else below = middle
  }
  return above
}

/** I_x(a, b) for whole a, b ≥ 1 and y = 1 − x, on the side of the mean where its fraction converges fast. */
function regularisedBeta(a: number, b: number, x: number, y: number): number {
  if (x <= 0) return 0
  if (y <= 0) return 1
  // a − (a + b)x, from the smaller of x and y, which has more digits.
  const distance = x < y ? a - (a + b) * x : (a + b) * y - b
  return distance < 0 ? 1 - betaBelowMean(b, a, y, x, -distance) : betaBelowMean(a, b, x, y, distance)
}

/** x^a y^b / B(a, b) over the contracted continued fraction (DLMF 8.17.22): every term of it is positive. */
function betaBelowMean(a: number, b: number, x: number, y: number, distance: number): number {
  let fraction = (a * (distance + 1)) / (a + 1)
  let upper = fraction
  let lower = 0
  for (let i = 1; i <= b; i++) {
    const odd = a + 2 * i - 1
    const numerator = ((a + i - 1) / odd) * ((a + b + i - 1) / odd) * i * (b - i) * x * x
    const term = i + (i * (b - i) * x) / odd + ((a + i) * (distance + 1 + i * (1 + y))) / (odd + 2)
    lower = 1 / (term + numerator * lower)
    upper = term + numerator / upper
    fraction *= upper * lower
    if (Math.abs(upper * lower - 1) < 4e-16) break
  }
  return ((a * b) / (a + b)) * (density(a, b, x, y) / fraction)
}

/** Γ(a+b+1) / (Γ(a+1) Γ(b+1)) · x^a y^b: logarithms of factorials this large would cancel to noise. */
function density(a: number, b: number, x: number, y: number): number {
  const n = a + b
  const log = stirlingError(n) - stirlingError(a) - stirlingError(b) - deviance(a, n * x) - deviance(b, n * y)
  return Math.sqrt(n / (2 * Math.PI * a * b)) * Math.exp(log)
}

/** ln n! less Stirling's formula √(2πn) (n/e)^n. */
function stirlingError(n: number): number {
  if (n > 15) {
    const s = 1 / (n * n)
    return (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s * (1 / 1188))))) / n
  }
  let factorial = 1
  for (let i = 2; i <= n; i++) factorial *= i
  return Math.log(factorial) - 0.5 * Math.log(2 * Math.PI * n) - n * Math.log(n) + n
}

/** count · ln(count/mean) + mean − count, by its series where the two are near and would cancel. */
function deviance(count: number, mean: number): number {
  const gap = count - mean
  const v = gap / (count + mean)
  if (Math.abs(v) > 0.1) return count * Math.log(count / mean) - gap
  let sum = gap * v
  let term = 2 * count * v
  for (let odd = 3; odd < 200; odd += 2) {
    term *= v * v
    const next = sum + term / odd
    if (next === sum) break
    sum = next
  }
  return sum
}
