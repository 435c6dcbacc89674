// What the kernel makes of URLs, against what the profile's rules make of them: for the tests of its fast path.
import { expect } from 'vitest'
import { keyOf, type Profile, profiles, resolveProfile } from '../../src/canonical/profiles.ts'
import { compileKernel, Kernel } from '../../src/kernel.ts'
import { applyFastRules, fastRulesOf } from '../../src/keyer/fast-rules.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The profiles that the kernel knows, and by how much fewer URLs are tried because their rules are slow. */
export const fast = [
  { name: 'whatwg', profile: profiles.whatwg, slowness: 1 },
  { name: 'web', profile: profiles.web, slowness: 1 },
  { name: 'web of 0.1', profile: resolveProfile(['whatwg', 'no-fragment', 'https']), slowness: 1 },
  { name: 'crawlee', profile: profiles.crawlee, slowness: 4 },
  { name: 'scrapy', profile: profiles.scrapy, slowness: 4 },
  { name: 'aggressive', profile: profiles.aggressive, slowness: 4 },
] as const

const modulePromise = compileKernel()

/** What the kernel makes of each URL: its key, or null where it hands the line over. Lines lie side by side. */
export async function keysByKernel(profile: Profile, urls: readonly string[]): Promise<(string | null)[]> {
  const kernel = Kernel.create(await modulePromise)
  const rules = applyFastRules(kernel, fastRulesOf(profile)!)
  const keys: (string | null)[] = []
  for (let from = 0; from < urls.length; from += kernel.batchLines) {
    const batch = urls.slice(from, from + kernel.batchLines)
    const lines = encoder.encode(batch.join(''))
    const input = kernel.call.reserveInput(lines.length) >>> 0
    kernel.refresh()
    kernel.bytes.set(lines, input)
    let at = input
    for (const [i, url] of batch.entries()) {
      kernel.lineStarts[i] = at
      at += Buffer.byteLength(url)
      kernel.lineEnds[i] = at
    }
    const unusual = kernel.call.canonicalise(batch.length, rules)
    kernel.refresh()
    const handed = new Set(kernel.unusual.subarray(0, unusual))
    const { bytes, keyStarts, keyEnds } = kernel
    for (let i = 0; i < batch.length; i++) {
      keys.push(handed.has(i) ? null : decoder.decode(bytes.subarray(keyStarts[i], keyEnds[i])))
    }
  }
  return keys
}

/** The same for one URL with another behind it. */
export const keyByKernel = async (profile: Profile, url: string) =>
  (await keysByKernel(profile, [url, 'http://x/']))[0]!

/** Cuts characters out of a URL for as long as the kernel and the platform disagree on what is left. */
async function shortest(profile: Profile, url: string): Promise<string> {
  const differs = async (text: string) => {
    const key = await keyByKernel(profile, text)
    return key !== null && key !== keyOf(profile, text)
  }
  let characters = Array.from(url)
  for (let at = 0; at < characters.length; ) {
    const fewer = characters.toSpliced(at, 1)
    if (await differs(fewer.join(''))) characters = fewer
    else at++
  }
  return characters.join('')
}

/** Fails with the smallest URL on which the two disagree. Returns how many keys the kernel made. */
export async function expectSameKeys(profile: Profile, urls: readonly string[]): Promise<number> {
  const keys = await keysByKernel(profile, urls)
  let handled = 0
  for (const [i, url] of urls.entries()) {
    const key = keys[i]!
    if (key === null) continue
    handled++
    if (key === keyOf(profile, url)) continue
    const small = await shortest(profile, url)
    const of = (text: string | null) => JSON.stringify(text)
    expect.fail(
      `profile ${profile.name}, URL ${of(small)} (found as ${of(url)})\n` +
        `  kernel:   ${of((await keyByKernel(profile, small)) ?? key)}\n  platform: ${of(keyOf(profile, small))}`,
    )
  }
  return handled
}
