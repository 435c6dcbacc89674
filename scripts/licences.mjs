// The licences of the packages that a bundle was made of, each text once, with the packages it belongs to.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** `moduleIds`: the files of the bundle. Throws for a package without a licence: it must not be shipped. */
export function licencesOf(moduleIds) {
  const folders = new Set()
  for (const id of moduleIds) {
    const folder = /^(?:\0[^/]*)?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1]
    if (folder) folders.add(folder)
  }
  const texts = new Map()
  for (const folder of [...folders].sort()) {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find((entry) => /^licen[cs]e(\.(md|txt))?$/i.test(entry))
    if (!file && !license) throw new Error(`${name} ${version} has no licence: it cannot be bundled`)
    const text = file ? readFileSync(join(folder, file), 'utf8').trim() : `Licence: ${license}`
    texts.set(text, [...(texts.get(text) ?? []), `${name} ${version} (${license})`])
  }
  const parts = [...texts].map(([text, packages]) => `${packages.join('\n')}\n\n${text}\n`)
  return `The files of this folder contain code of these packages.\n\n${parts.join(`\n${'-'.repeat(80)}\n\n`)}`
}
