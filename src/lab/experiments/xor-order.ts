// An order-safe XOR layer: the address of each layer is rotated, or comes from a hash of its own, before the XOR. The
// same memory as cen-2010's; the question is whether the certain false positives of swapped and doubled segments go.
import { bareUrls } from '../bare-urls.ts'
import { RATE_COLUMNS, rateCells } from '../counted.ts'
import type { Claim, Experiment, Lab, Plot, Result, Table } from '../experiment.ts'
import { orderBlindLines, Pieces, recombinedLines } from '../negatives.ts'
import { address, PlainBits, plainHash } from '../plain-bits.ts'
import { measuredRate, ratePoint } from '../trial.ts'
import { count, listed, percent } from '../wording.ts'

const LAYERS = 4
const HASHES = 3
const BITS_PER_LAYER = 5
const URLS = 400_000
const QUICK_URLS = 40_000
const MOST_NEGATIVES = 50_000
const SLASH = 0x2f
const NEWLINE = 0x0a

type Variant = 'plain XOR' | 'rotated by layer' | 'a hash for each layer'
const VARIANTS: readonly Variant[] = ['plain XOR', 'rotated by layer', 'a hash for each layer']

/** The part of one layer in the address of the XOR layer: of at most 32 bits. */
function part(variant: Variant, hash: number, j: number, layer: number, bits: number): number {
  const own = address(hash, j, bits)
  if (variant === 'plain XOR') return own
  if (variant === 'a hash for each layer') return address(hash, j + HASHES * (layer + 1), 2 ** 32)
  const turn = (7 * layer) % 32
  return turn === 0 ? own : ((own << turn) | (own >>> (32 - turn))) >>> 0
}

class Layered {
  readonly #variant: Variant
  readonly #layers: PlainBits[]
  readonly #xor: PlainBits

  constructor(variant: Variant, bits: number) {
    this.#variant = variant
    this.#layers = Array.from({ length: LAYERS }, () => new PlainBits(bits))
    this.#xor = new PlainBits(bits)
  }

  /** Adds the line; true when it was new. */
  add(bytes: Uint8Array, from: number, to: number): void {
    const folded = this.#walk(bytes, from, to, (layer, hash) => {
      layer.add(hash, HASHES)
      return true
    })!
    for (const at of folded) this.#xor.set(at)
  }

  has(bytes: Uint8Array, from: number, to: number): boolean {
    const folded = this.#walk(bytes, from, to, (layer, hash) => layer.knows(hash, HASHES))
    return folded?.every((at) => this.#xor.has(at)) ?? false
  }

  // The addresses in the XOR layer, or null where a layer says no.
  #walk(
    bytes: Uint8Array,
    from: number,
    to: number,
    visit: (layer: PlainBits, hash: number) => boolean,
  ): number[] | null {
    const folded = Array.from({ length: HASHES }, () => 0)
    let p = from
    for (let layer = 0; layer < LAYERS && p <= to; layer++) {
      let end = layer === LAYERS - 1 ? to : p
      while (end < to && bytes[end] !== SLASH) end++
      const hash = plainHash(bytes, p, end, 0)
      if (!visit(this.#layers[layer]!, hash)) return null
      for (let j = 0; j < HASHES; j++) folded[j]! ^= part(this.#variant, hash, j, layer, this.#xor.bits)
      p = end + 1
    }
    return folded.map((at) => (at >>> 0) % this.#xor.bits)
  }
}

interface Outcome {
  readonly variant: Variant
  readonly kind: string
  readonly queries: number
  readonly falsePositives: number
}

function eachLine(lines: Uint8Array, visit: (from: number, to: number) => void): void {
  let from = 0
  for (let p = 0; p < lines.length; p++) {
    if (lines[p] !== NEWLINE) continue
    visit(from, p)
    from = p + 1
  }
}

const KINDS = ['new URLs as they come', 'recombined', 'swapped', 'repeated']

async function measure(lab: Lab): Promise<Outcome[]> {
  const urls = await bareUrls(lab, lab.quick ? QUICK_URLS : URLS)
  const [even, odd] = [urls.filter((i) => i % 2 === 0), urls.filter((i) => i % 2 === 1)]
  const pieces = new Pieces(even, LAYERS)
  const most = Math.min(MOST_NEGATIVES, even.count)
  const { swapped, repeated } = await orderBlindLines(lab, pieces, most)
  const all = [
    odd.lines(0, odd.count),
    recombinedLines(pieces, most, lab.random('xor-order')),
    swapped,
    repeated,
  ]
  const members = even.lines(0, even.count)
  const text = new TextDecoder('latin1')
  const known = new Set<string>()
  eachLine(members, (from, to) => known.add(text.decode(members.subarray(from, to))))
  return VARIANTS.flatMap((variant, v) => {
    lab.progress((v + 0.5) / VARIANTS.length, variant)
    const filter = new Layered(variant, BITS_PER_LAYER * even.count)
    eachLine(members, (from, to) => filter.add(members, from, to))
    return all.map((lines, i) => {
      let [queries, falsePositives] = [0, 0]
      eachLine(lines, (from, to) => {
        const found = filter.has(lines, from, to)
        if (known.has(text.decode(lines.subarray(from, to)))) return
        queries++
        if (found) falsePositives++
      })
      return { variant, kind: KINDS[i]!, queries, falsePositives }
    })
  })
}

function outcomeTable(outcomes: readonly Outcome[]): Table {
  return {
    title: 'The XOR layer with and without order',
    note: `L = ${LAYERS}, k = ${HASHES}, ${BITS_PER_LAYER} bits per URL and layer: the same memory for all. Rotated: the address of layer i by 7·i bits, before the XOR. A hash for each layer: of 32 bits, of its own.`,
    columns: [{ name: 'negatives', as: 'text' }, { name: 'XOR layer', as: 'text' }, ...RATE_COLUMNS],
    rows: outcomes.map(({ kind, variant, queries, falsePositives }) => [
      kind,
      variant,
      ...rateCells(falsePositives, queries),
    ]),
  }
}

const rateOf = ({ falsePositives, queries }: Outcome) => falsePositives / Math.max(1, queries)

async function run(lab: Lab): Promise<Result> {
  const outcomes = await measure(lab)
  lab.progress(1, 'done')
  const of = (variant: Variant, kind: string) =>
    outcomes.find((one) => one.variant === variant && one.kind === kind)!
  const safe = VARIANTS.slice(1)
  const swapped = safe.map((variant) => of(variant, 'swapped'))
  const plain = of('plain XOR', 'swapped')
  const [natural, before] = [of(safe[1]!, KINDS[0]!), of('plain XOR', KINDS[0]!)]
  const isRemoved = (outcome: Outcome) => rateOf(outcome) < 2 * rateOf(of(outcome.variant, 'recombined'))
  const better = swapped.filter(isRemoved)
  const claims: Claim[] = [
    {
      source: 'ours',
      claim: 'an order-safe XOR layer removes the certain false positives at no memory',
      verdict: better.length > 0 ? 'confirmed' : 'wrong',
      number: `swapped segments ${percent(rateOf(plain))} → ${percent(Math.min(...swapped.map(rateOf)))}`,
    },
    {
      source: 'ours',
      claim: 'it does not change the rate on other new URLs',
      verdict: Math.abs(rateOf(natural) / rateOf(before) - 1) < 0.25 ? 'confirmed' : 'wrong',
      number: `${percent(rateOf(before))} → ${percent(rateOf(natural))}`,
    },
  ]
  const finding = `Of ${count(plain.queries)} URLs with two segments swapped, a plain XOR layer reports ${percent(rateOf(plain))} as seen, ${listed(swapped.map((one) => `${one.variant} ${percent(rateOf(one))}`))}; recombined segments pass at ${percent(rateOf(of(safe[1]!, 'recombined')))}, since every layer knows its own: order can be repaired, recombination cannot.`
  const plot: Plot = {
    title: 'False positives by kind of new URL',
    alt: 'False-positive rate for each kind of negatives, one series for each way to make the XOR layer.',
    x: { label: '1 as they come, 2 recombined, 3 swapped, 4 repeated' },
    y: { label: 'false-positive rate', log: true },
    kind: 'bar',
    series: VARIANTS.map((variant) => ({
      name: variant,
      points: KINDS.map((kind, i) => {
        const { falsePositives, queries } = of(variant, kind)
        return ratePoint(i + 1, measuredRate(falsePositives, queries))
      }),
    })),
  }
  return { claims, finding, tables: [outcomeTable(outcomes)], plots: [plot] }
}

export const xorOrder: Experiment = {
  name: 'xor-order',
  title: 'An XOR layer that knows order',
  source: 'ours, of cen-2010',
  question:
    'Does an XOR of addresses that differ by layer remove the certain false positives, at the same memory?',
  run,
}
