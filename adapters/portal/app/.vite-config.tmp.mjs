import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const ROOT = fileURLToPath(new URL('.', import.meta.url))
const SNIPPETS = 'virtual:snippets'
const RECEIVERS_PAGE = fileURLToPath(new URL('../../../docs/receivers/verify.md', import.meta.url))
const SEND_SCRIPT = fileURLToPath(new URL('snippets/curl-and-openssl.sh', import.meta.url))
function snippets() {
  return {
    name: 'snippets',
    resolveId: (id) => (id === SNIPPETS ? `\0${SNIPPETS}` : void 0),
    load: (id) => {
      if (id !== `\0${SNIPPETS}`) return void 0
      const page = readFileSync(RECEIVERS_PAGE, 'utf8')
      const found = [...page.matchAll(/^## (.+)\n[\s\S]*?^```\w+\n([\s\S]*?)^```$/gm)]
      const list = found.map(([, name, code]) => ({ name, code }))
      list.push({ name: 'curl + openssl', code: readFileSync(SEND_SCRIPT, 'utf8') })
      return `export default ${JSON.stringify(list)}`
    },
  }
}
const REPLACEMENTS = {
  './credentials.js': fileURLToPath(new URL('api/credentials.ts', import.meta.url)),
  './operations.generated.js': fileURLToPath(new URL('api/operations.ts', import.meta.url)),
}
function replacements() {
  return {
    name: 'replacements',
    enforce: 'pre',
    resolveId: (id, importer) =>
      importer?.endsWith('/adapters/client/client.ts') ? REPLACEMENTS[id] : void 0,
  }
}
const pageConfig = (outDir) => ({
  root: ROOT,
  configFile: false,
  base: './',
  logLevel: 'warn',
  plugins: [snippets(), replacements()],
  resolve: {
    alias: {
      'hookswitch/client': fileURLToPath(new URL('../../client/index.ts', import.meta.url)),
      // The part of it that the page uses; the rest is for Node.
      'hookswitch/adapter': fileURLToPath(new URL('../../../src/values/printable.ts', import.meta.url)),
    },
  },
  // As in production, whatever `NODE_ENV` is where it is built.
  mode: 'production',
  define: { 'process.env.NODE_ENV': '"production"' },
  esbuild: { jsx: 'automatic', jsxDev: false, jsxImportSource: 'preact', legalComments: 'none' },
  build: {
    outDir,
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
})
async function buildPage(outDir) {
  await build(pageConfig(outDir))
}

export { buildPage }
