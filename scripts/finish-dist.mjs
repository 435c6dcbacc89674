// After tsc: makes the command executable and puts it where `npx urlsieve` looks in this checkout.
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const main = `${root}dist/cli/main.js`
if (existsSync(main)) {
  chmodSync(main, 0o755)
  const bin = `${root}node_modules/.bin`
  mkdirSync(bin, { recursive: true })
  rmSync(`${bin}/urlsieve`, { force: true })
  symlinkSync('../../dist/cli/main.js', `${bin}/urlsieve`)
}
