// The report of shapes for a terminal: a tree per host, counts and shares to the left, what is suspicious below.
import { formatCount, formatCounted } from '../quantities.ts'
import { joinOnlyChildren, type PartNode, treeOfParts } from './part-tree.ts'
import type { HostShapes, ShapesReport } from './shape-report.ts'
import { type Place, percent } from './traps.ts'

const COUNT_WIDTH = 13
const SHARE_WIDTH = 8

export function formatShapes(report: ShapesReport): string {
  const lines = [`${summaryOf(report)}\n`]
  for (const host of report.list) lines.push(...formatHost(host), '')
  if (report.others > 0) lines.push(`${columns(report.others, report.others / report.urls)}  other hosts`, '')
  return lines.join('\n')
}

/** One line: how much was read, and how exact the counts are. */
export function summaryOf({ urls, invalid, hosts, countError, distinctError }: ShapesReport): string {
  const parts = [
    `${formatCounted(urls, 'URL')} on ${hosts === null ? 'many hosts' : formatCounted(hosts, 'host')}`,
  ]
  if (invalid > 0) parts.push(formatCounted(invalid, 'line is not a URL', 'lines are not URLs'))
  parts.push(countError === 0 ? 'counts are exact' : `counts are low by at most ${formatCount(countError)}`)
  parts.push(`distinct values over 8 are estimates (standard error ${percent(distinctError)})`)
  return parts.join('; ')
}

const columns = (count: number, share: number) =>
  `${formatCount(count).padStart(COUNT_WIDTH)} ${percent(share).padStart(SHARE_WIDTH)}`

const indented = (depth: number) => `${' '.repeat(COUNT_WIDTH + SHARE_WIDTH + 3)}${'  '.repeat(depth)}`

function formatHost(host: HostShapes): string[] {
  const lines = [`${columns(host.count, host.share)}  ${printable(host.host)}`]
  const print = (node: PartNode, depth: number) => {
    lines.push(
      `${columns(node.count, node.count / host.count)}  ${'  '.repeat(depth)}${printable(node.text)}`,
    )
    for (const { kind, reason } of node.shape?.traps ?? [])
      lines.push(`${indented(depth)}  ! ${kind}: ${printable(reason)}`)
    const places = node.shape?.traps.length ? [] : (node.shape?.places ?? [])
    if (places.length > 0) lines.push(`${indented(depth)}  ${printable(places.map(formatPlace).join('; '))}`)
    for (const child of node.children) print(child, depth + 1)
  }
  for (const child of treeOfParts(host).children) print(joinOnlyChildren(child), 1)
  if (host.others > 0) lines.push(`${columns(host.others, host.others / host.count)}    other shapes`)
  return lines
}

export function formatPlace({ at, distinct, least, most, form }: Place): string {
  const values = distinct === null ? 'many values' : formatCounted(distinct, 'value')
  const isRanged = least !== undefined && most !== undefined && (form === 'number' || form === 'year')
  const range = isRanged
    ? ` from ${form === 'year' ? least : formatCount(least)} to ${form === 'year' ? most : formatCount(most)}`
    : ''
  return `${at}: ${values}${range}`
}

/** Pages choose the URLs: no control characters to a terminal. */
const printable = (text: string) => text.replace(/[\x00-\x1f\x7f-\x9f]/g, '\ufffd')
