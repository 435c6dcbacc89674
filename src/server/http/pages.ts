// The page and the lab's report, with headers that restrict what a browser does with them.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'

/** Headers of every answer. */
export const SAFE_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
}

/** Scripts, styles and connections of its own server only; WebAssembly for the playground. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  ...['style', 'font', 'connect', 'worker', 'manifest', 'frame'].map((what) => `${what}-src 'self'`),
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The report has inline styles and no scripts; it is sandboxed, so that it cannot act as a page of this server. */
const REPORT_POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
  'sandbox allow-downloads',
].join('; ')

const REPORT = 'report.html'

/** Whether there is a report. */
export function hasReport(folder: string | undefined): boolean {
  return folder !== undefined && existsSync(join(folder, REPORT))
}

/** Serves files under a prefix, with their own headers. */
function serve(
  app: FastifyInstance,
  options: {
    root: string
    prefix?: string
    index?: string
    allowedPath?: (path: string) => boolean
  },
  headersFor: (path: string) => Readonly<Record<string, string>>,
): void {
  app.register(async (files) => {
    files.addHook('onRequest', (request, reply, done) => {
      reply.headers(headersFor(request.url))
      done()
    })
    await files.register(fastifyStatic, {
      ...options,
      root: resolve(options.root),
      decorateReply: false,
      cacheControl: false,
      dotfiles: 'ignore',
    })
  })
}

/** Serves the page and its files at /; files with a hash in their name may be cached without limit. */
export function servePage(app: FastifyInstance, folder: string): void {
  serve(app, { root: folder }, (path) => ({
    'content-security-policy': PAGE_POLICY,
    'cache-control': path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
  }))
}

/** Serves the lab's report at /report/ as soon as it exists: its page and tables, no other file of the folder. */
export function serveReport(app: FastifyInstance, folder: string): void {
  const allowedPath = (path: string) => /^\/?([\w-]+\.(html|csv|json))?$/.test(path)
  serve(app, { root: folder, prefix: '/report/', index: REPORT, allowedPath }, () => ({
    'content-security-policy': REPORT_POLICY,
    'cache-control': 'no-cache',
  }))
  app.get('/report', { schema: { hide: true } }, (_, reply) => reply.redirect('/report/'))
}
