/** How the page is built: into files with hashes in their names, without inline script. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type InlineConfig, type Plugin } from 'vite'

const ROOT = fileURLToPath(new URL('.', import.meta.url))
const SNIPPETS = 'virtual:snippets'
const RECEIVERS_PAGE = fileURLToPath(new URL('../../../docs/receivers/verify.md', import.meta.url))

const SEND_SCRIPT = fileURLToPath(new URL('snippets/curl-and-openssl.sh', import.meta.url))

/** The code of the receivers' documentation, which its tests run, as a module of the page. */
function snippets(): Plugin {
  return {
    name: 'snippets',
    resolveId: (id) => (id === SNIPPETS ? `\0${SNIPPETS}` : undefined),
    load: (id) => {
      if (id !== `\0${SNIPPETS}`) return undefined
      const page = readFileSync(RECEIVERS_PAGE, 'utf8')
      const found = [...page.matchAll(/^## (.+)\n[\s\S]*?^```\w+\n([\s\S]*?)^```$/gm)]
      const list = found.map(([, name, code]) => ({ name, code }))
      list.push({ name: 'curl + openssl', code: readFileSync(SEND_SCRIPT, 'utf8') })
      return `export default ${JSON.stringify(list)}`
    },
  }
}

const ENGLISH = join(ROOT, 'locales', 'en.json')
const OTHER_TEXTS = '\0texts'

/** The sources that are loaded first: those that the entry imports, and what they import in turn. */
function firstSources(path: string, sources = new Map<string, string>()): Map<string, string> {
  const source = readFileSync(path, 'utf8')
  sources.set(path, source)
  for (const [, name] of source.matchAll(/^(?:import|export|\}) [^'\n]*'(\.[^']+)\.js'$/gm)) {
    const imported = ['ts', 'tsx'].map((ending) => join(dirname(path), `${name}.${ending}`)).find(existsSync)
    if (imported !== undefined && !sources.has(imported)) firstSources(imported, sources)
  }
  return sources
}

/** Splits the English texts: those of the sources that are loaded first, and the others, which come with a further screen. */
function texts(): Plugin {
  let isFirst: (key: string) => boolean
  return {
    name: 'texts',
    enforce: 'pre',
    buildStart() {
      const source = [...firstSources(join(ROOT, 'main.tsx')).values()].join('\n')
      // Some keys are made of a prefix and a name: `state.${name}`, `word('state', name)`.
      isFirst = (key) => {
        const prefix = key.slice(0, key.indexOf('.'))
        const isMade = source.includes(`\`${prefix}.$`) || source.includes(`word('${prefix}'`)
        return isMade || source.includes(`'${key.replace(/_(one|other)$/, '')}'`)
      }
    },
    resolveId: (id) => (id.endsWith('/locales/en.json?other') ? OTHER_TEXTS : undefined),
    load(id) {
      if (id !== ENGLISH && id !== OTHER_TEXTS) return undefined
      const all = Object.entries(JSON.parse(readFileSync(ENGLISH, 'utf8')) as Record<string, string>)
      const wanted = all.filter(([key]) => isFirst(key) === (id === ENGLISH))
      const json = JSON.stringify(Object.fromEntries(wanted))
      return id === ENGLISH ? json : `export default ${json}`
    },
  }
}

/** What takes the place of modules of the client; the files say why. */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  './credentials.js': fileURLToPath(new URL('api/credentials.ts', import.meta.url)),
  './operations.generated.js': fileURLToPath(new URL('api/operations.ts', import.meta.url)),
}

function replacements(): Plugin {
  return {
    name: 'replacements',
    enforce: 'pre',
    resolveId: (id, importer) =>
      importer?.endsWith('/adapters/client/client.ts') ? REPLACEMENTS[id] : undefined,
  }
}

/** Settings of Vite; `outDir` is where the page is written. */
const pageConfig = (outDir: string): InlineConfig => ({
  root: ROOT,
  configFile: false,
  base: './',
  logLevel: 'warn',
  plugins: [snippets(), texts(), replacements()],
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

/** Builds the page into a folder. */
export async function buildPage(outDir: string): Promise<void> {
  await build(pageConfig(outDir))
}
