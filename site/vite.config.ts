// Builds the page into dist/site: one HTML file and hashed assets, for the server to give out at any path.
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  root: at('.'),
  base: './',
  resolve: { alias: { '#store': at('../src/store/browser.ts') } },
  server: { proxy: { '/v1': 'http://127.0.0.1:8390', '/report': 'http://127.0.0.1:8390' } },
  build: {
    outDir: at('../dist/site'),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
})
