// The README's picture: speed and peak memory of each command, as bars with their extremes, one SVG for light pages and one
// for dark ones.

const width = 880
const rowHeight = 26
const barHeight = 14
const top = 64
const panels = [
  { left: 190, right: 500, title: 'Speed', unit: 'million lines per second, longer is better' },
  { left: 590, right: 810, title: 'Peak memory', unit: 'MB, shorter is better' },
]
const themes = {
  light: {
    text: '#1f2328',
    quiet: '#59636e',
    ours: '#0969da',
    theirs: '#a5b0bb',
    bound: '#d5dbe1',
    axis: '#d1d9e0',
  },
  dark: {
    text: '#f0f6fc',
    quiet: '#9198a1',
    ours: '#4493f8',
    theirs: '#565f69',
    bound: '#343b43',
    axis: '#3d444d',
  },
}

export const themeNames = Object.keys(themes)

/**
 * `rows`: { label, kind: 'ours' | 'theirs' | 'bound', speed: { median, min, max }, memory } with speeds in million lines per
 * second and memory in MB. `caption`: what was measured, and where.
 */
export function drawChart(rows, caption, themeName) {
  const theme = themes[themeName]
  const height = top + rows.length * rowHeight + 44
  const scales = [
    Math.max(...rows.map(({ speed }) => speed.max)),
    Math.max(...rows.map(({ memory }) => memory)),
  ]
  const place = (panel, value) => {
    const { left, right } = panels[panel]
    return left + (value / scales[panel]) * (right - left)
  }
  const parts = panels.flatMap(({ left, title, unit }) => [
    text(left, 24, title, theme.text, 'font-weight="600" font-size="15"'),
    text(left, 44, unit, theme.quiet, 'font-size="12"'),
    line(left, top - 6, left, height - 40, theme.axis),
  ])
  rows.forEach(({ label, kind, speed, memory }, i) => {
    const y = top + i * rowHeight
    const middle = y + barHeight / 2
    const weight = kind === 'ours' ? 'font-weight="600"' : ''
    const textFill = kind === 'bound' ? theme.quiet : theme.text
    parts.push(
      text(panels[0].left - 10, middle + 4, label, textFill, `text-anchor="end" ${weight}`),
      bar(panels[0].left, y, place(0, speed.median), theme[kind]),
      line(place(0, speed.min), middle, place(0, speed.max), middle, theme.quiet),
      text(place(0, speed.max) + 8, middle + 4, speed.median.toFixed(1), textFill, weight),
      bar(panels[1].left, y, place(1, memory), theme[kind]),
      text(place(1, memory) + 8, middle + 4, Math.round(memory).toLocaleString('en-US'), textFill, weight),
    )
  })
  parts.push(text(10, height - 14, caption, theme.quiet, 'font-size="12"'))
  return frame(height, parts, describe(rows, caption))
}

function frame(height, parts, description) {
  const family = 'system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif'
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" ` +
      `role="img" font-family="${family}" font-size="13">`,
    `<title>${escapeXml(description)}</title>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

/** The chart in words, for those who do not see it. */
export function describe(rows, caption) {
  const facts = rows.map(
    ({ label, speed, memory }) =>
      `${label}: ${speed.median.toFixed(1)} million lines per second, ${Math.round(memory)} MB`,
  )
  return `${caption}. ${facts.join('; ')}.`
}

const round = (value) => Math.round(value * 10) / 10

function text(x, y, content, fill, more = '') {
  return `<text x="${round(x)}" y="${round(y)}" fill="${fill}" ${more}>${escapeXml(content)}</text>`
}

function bar(x, y, end, fill) {
  return `<rect x="${x}" y="${y}" width="${round(Math.max(1, end - x))}" height="${barHeight}" rx="2" fill="${fill}"/>`
}

function line(x1, y1, x2, y2, stroke) {
  return `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" stroke="${stroke}"/>`
}

function escapeXml(content) {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
