// The bits of one array as a picture: a cell for each, in rows. What was set since the last look flashes, unless the
// reader asked for less movement; the cells of one URL can be ringed.
import { h, isStill, setText } from '../dom.ts'
import { count, share } from '../format.ts'
import { countSet, isSet, type Panel } from './panels.ts'

const PITCHES = [14, 12, 10, 8, 7, 6, 5, 4, 3, 2]
const FLASH_MS = 900
/** Rings are drawn at least so large, or nobody would see them among small cells. */
const RING = 9
/** Room around the cells for rings; the style sheet takes it back from the margin. */
const EDGE = 6
/** A block is drawn as a tile so many cells wide, with a gap around it. */
const TILE_COLUMNS = 32
const TILE_GAP = 1

interface Layout {
  readonly pitch: number
  readonly columns: number
  readonly rows: number
  /** Bits in one cell of the picture, where there are more than fit. */
  readonly group: number
  /** Rows of a tile; 0 where there are no tiles. */
  readonly tileRows: number
}

// In cells: how wide and high it all is with so many columns; tiles have a free column and row after them.
function layoutOf({ cells, block, bucket = 1 }: Panel, width: number, tallest: number): Layout {
  for (const pitch of PITCHES) {
    const fits = Math.floor(width / pitch)
    if (block !== undefined) {
      const tileRows = block / TILE_COLUMNS
      const across = Math.max(1, Math.floor((fits + TILE_GAP) / (TILE_COLUMNS + TILE_GAP)))
      const rows = Math.ceil(cells / block / across) * (tileRows + TILE_GAP) - TILE_GAP
      const columns = across * (TILE_COLUMNS + TILE_GAP) - TILE_GAP
      if (rows * pitch <= tallest && columns <= fits) return { pitch, columns, rows, group: 1, tileRows }
      continue
    }
    const columns = fits - (fits % bucket)
    const rows = Math.ceil(cells / columns)
    if (rows * pitch <= tallest) return { pitch, columns, rows, group: 1, tileRows: 0 }
  }
  const pitch = PITCHES.at(-1)!
  const columns = Math.floor(width / pitch)
  const group = Math.ceil(cells / (columns * Math.floor(tallest / pitch)))
  return { pitch, columns, rows: Math.ceil(cells / group / columns), group, tileRows: 0 }
}

interface Colours {
  readonly off: string
  readonly on: string
  readonly soft: string
  readonly flash: string
  readonly ring: string
  readonly missing: string
}

function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element)
  const colour = (name: string) => style.getPropertyValue(name)
  return {
    off: colour('--cell'),
    on: colour('--accent'),
    soft: colour('--cell-soft'),
    flash: colour('--flash'),
    ring: colour('--ink'),
    missing: colour('--alarm'),
  }
}

export class Grid {
  readonly element: HTMLElement
  readonly #canvas = h('canvas', { role: 'img' })
  readonly #fill = h('span', { class: 'fill' })
  #panel: Panel
  #before: Uint8Array | null = null
  #ringed: ReadonlySet<number> = new Set()
  #fresh: number[] = []
  #flashedAt = 0
  #frame = 0
  #tallest = 0

  constructor(panel: Panel) {
    this.#panel = panel
    const caption = h('figcaption', {}, h('span', { class: 'label' }, panel.name), this.#fill)
    this.element = h('figure', { class: 'bits' }, caption, this.#canvas)
  }

  /** Shows the array as it is now, at most `tallest` pixels high; what is new in it flashes. */
  show(panel: Panel, tallest: number): void {
    this.#tallest = tallest
    const before = this.#before
    this.#fresh = []
    if (before && !isStill()) {
      for (let cell = 0; cell < panel.cells; cell++) {
        if (isSet(panel.set, cell) && !isSet(before, cell)) this.#fresh.push(cell)
      }
    }
    this.#before = panel.set
    this.#panel = panel
    const ones = countSet(panel)
    const things = panel.bucket === undefined ? 'bits' : 'slots'
    setText(this.#fill, `${count(ones)} of ${count(panel.cells)} · ${share(ones / panel.cells)}`)
    this.#canvas.setAttribute(
      'aria-label',
      `${panel.name}: ${count(ones)} of ${count(panel.cells)} ${things} in use`,
    )
    this.#flashedAt = performance.now()
    this.draw()
  }

  /** Rings these cells; one that is not set stands out. */
  ring(cells: Iterable<number>): void {
    this.#ringed = new Set(cells)
    this.draw()
  }

  /** Draws it anew: after a change of the window's size or of its colours too. */
  draw(): void {
    cancelAnimationFrame(this.#frame)
    const width = this.element.clientWidth
    if (width === 0) return
    const layout = layoutOf(this.#panel, width, this.#tallest)
    const scale = window.devicePixelRatio || 1
    const [wide, high] = [layout.columns * layout.pitch + 2 * EDGE, layout.rows * layout.pitch + 2 * EDGE]
    this.#canvas.width = wide * scale
    this.#canvas.height = high * scale
    this.#canvas.style.width = `${wide}px`
    this.#canvas.style.height = `${high}px`
    const pen = this.#canvas.getContext('2d')!
    pen.scale(scale, scale)
    pen.translate(EDGE, EDGE)
    const colours = coloursOf(this.element)
    this.#cells(pen, layout, colours)
    this.#rings(pen, layout, colours)
    if (this.#fresh.length > 0) this.#flash(pen, layout, colours)
  }

  #cells(pen: CanvasRenderingContext2D, layout: Layout, { off, on, soft }: Colours): void {
    const { cells, set, soft: softly } = this.#panel
    if (layout.group > 1) {
      this.#crowd(pen, layout, off, on)
      return
    }
    for (let cell = 0; cell < cells; cell++) {
      const isOn = isSet(set, cell)
      pen.fillStyle = isOn ? (softly && isSet(softly, cell) ? soft : on) : off
      this.#cell(pen, layout, cell)
    }
  }

  // More bits than cells: each is as strong as the share of its bits that are set.
  #crowd(pen: CanvasRenderingContext2D, layout: Layout, off: string, on: string): void {
    const { cells, set } = this.#panel
    for (let at = 0; at * layout.group < cells; at++) {
      let ones = 0
      const last = Math.min(cells, (at + 1) * layout.group)
      for (let cell = at * layout.group; cell < last; cell++) if (isSet(set, cell)) ones++
      pen.globalAlpha = 1
      pen.fillStyle = off
      this.#cell(pen, layout, at * layout.group)
      pen.globalAlpha = ones / layout.group
      pen.fillStyle = on
      this.#cell(pen, layout, at * layout.group)
    }
    pen.globalAlpha = 1
  }

  #cell(pen: CanvasRenderingContext2D, layout: Layout, cell: number): void {
    const { x, y } = this.#place(layout, cell)
    const size = layout.pitch > 3 ? layout.pitch - 1 : layout.pitch > 2 ? layout.pitch - 0.5 : layout.pitch
    pen.fillRect(x, y, size, size)
  }

  #place({ pitch, columns, group, tileRows }: Layout, cell: number): { x: number; y: number } {
    if (tileRows > 0) {
      const tile = Math.floor(cell / (TILE_COLUMNS * tileRows))
      const inside = cell % (TILE_COLUMNS * tileRows)
      const across = (columns + TILE_GAP) / (TILE_COLUMNS + TILE_GAP)
      const x = (tile % across) * (TILE_COLUMNS + TILE_GAP) + (inside % TILE_COLUMNS)
      const y = Math.floor(tile / across) * (tileRows + TILE_GAP) + Math.floor(inside / TILE_COLUMNS)
      return { x: x * pitch, y: y * pitch }
    }
    const at = Math.floor(cell / group)
    return { x: (at % columns) * pitch, y: Math.floor(at / columns) * pitch }
  }

  #rings(pen: CanvasRenderingContext2D, layout: Layout, { ring, missing }: Colours): void {
    pen.lineWidth = 2
    for (const cell of this.#ringed) {
      const { x, y } = this.#place(layout, cell)
      const size = Math.max(RING, layout.pitch + 2)
      const middle = (layout.pitch > 3 ? layout.pitch - 1 : layout.pitch) / 2
      pen.strokeStyle = isSet(this.#panel.set, cell) ? ring : missing
      pen.strokeRect(x + middle - size / 2, y + middle - size / 2, size, size)
    }
  }

  #flash(pen: CanvasRenderingContext2D, layout: Layout, colours: Colours): void {
    const age = (performance.now() - this.#flashedAt) / FLASH_MS
    const { set, soft } = this.#panel
    for (const cell of this.#fresh) {
      if (!isSet(set, cell)) continue
      pen.fillStyle = soft && isSet(soft, cell) ? colours.soft : colours.on
      this.#cell(pen, layout, cell)
      pen.globalAlpha = Math.max(0, 1 - age)
      pen.fillStyle = colours.flash
      this.#cell(pen, layout, cell)
      pen.globalAlpha = 1
    }
    if (this.#ringed.size > 0) this.#rings(pen, layout, colours)
    if (age < 1) this.#frame = requestAnimationFrame(() => this.#flash(pen, layout, colours))
    else this.#fresh = []
  }
}
