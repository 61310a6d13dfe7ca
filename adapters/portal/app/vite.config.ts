/** How the page is built: into files with hashes in their names, without inline script. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
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

const localeOf = (language: string) => join(ROOT, 'locales', `${language}.json`)
const ENGLISH = localeOf('en')
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

const readTexts = (path: string) =>
  Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>)

/** The key as the sources write it: without its plural form. */
const baseOf = (key: string) => key.replace(/_(one|other)$/, '')

/** Whether a source makes this key of a prefix and a name: `state.${name}`, `word('state', name)`. */
function isMadeIn(source: string, key: string): boolean {
  const parts = key.split('.')
  return parts.some((_, index) => {
    const prefix = parts.slice(0, index).join('.')
    return prefix !== '' && (source.includes(`\`${prefix}.$`) || source.includes(`word('${prefix}'`))
  })
}

/** Short names of the keys that the sources write whole: with them all files of the page are a tenth smaller. */
function shortKeys(): ReadonlyMap<string, string> {
  const source = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && name !== 'vite.config.ts')
    .map((name) => readFileSync(join(ROOT, name), 'utf8'))
    .join('\n')
  const keys = new Set(readTexts(ENGLISH).map(([key]) => baseOf(key)))
  const whole = [...keys].filter((key) => !isMadeIn(source, key))
  return new Map(whole.map((key, index) => [key, index.toString(36)]))
}

/** Splits the English texts: those of the sources that are loaded first, and the others, which come with a further screen. */
function texts(): Plugin {
  let isFirst: (key: string) => boolean
  let short: ReadonlyMap<string, string>
  const shortOf = (key: string) => {
    const base = baseOf(key)
    return `${short.get(base) ?? base}${key.slice(base.length)}`
  }
  return {
    name: 'texts',
    enforce: 'pre',
    buildStart() {
      short = shortKeys()
      const source = [...firstSources(join(ROOT, 'main.tsx')).values()].join('\n')
      isFirst = (key) => isMadeIn(source, key) || source.includes(`'${baseOf(key)}'`)
    },
    resolveId: (id) => (id.endsWith('/locales/en.json?other') ? OTHER_TEXTS : undefined),
    load(id) {
      const path = id === OTHER_TEXTS ? ENGLISH : id
      if (!path.startsWith(join(ROOT, 'locales'))) return undefined
      const wanted = readTexts(path).filter(([key]) => path !== ENGLISH || isFirst(key) === (id === ENGLISH))
      const json = JSON.stringify(Object.fromEntries(wanted.map(([key, text]) => [shortOf(key), text])))
      return id === OTHER_TEXTS ? `export default ${json}` : json
    },
    transform: (code, id) =>
      id.startsWith(ROOT) && /\.tsx?$/.test(id)
        ? code.replace(/'([a-z]\w*(?:\.\w+)+)'/g, (text, key: string) => {
            const name = short.get(key)
            return name === undefined ? text : `'${name}'`
          })
        : undefined,
  }
}

/** What takes the place of modules of the client; the files say why. */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  './credentials.js': fileURLToPath(new URL('api/credentials.ts', import.meta.url)),
  './operations.generated.js': fileURLToPath(new URL('api/operations.ts', import.meta.url)),
}

/** Vite's own loader of screens, which would load their styles too; the page has one file of them (components/lazy.tsx). */
const PRELOAD = '\0vite/preload-helper.js'

function replacements(): Plugin {
  return {
    name: 'replacements',
    enforce: 'pre',
    load: (id) => (id === PRELOAD ? 'export const __vitePreload = (load) => load()' : undefined),
    resolveId: (id, importer) =>
      importer?.endsWith('/adapters/client/client.ts') ? REPLACEMENTS[id] : undefined,
  }
}

/** What every further screen shares is one file: each would otherwise load a dozen small ones. */
function chunks(): Plugin {
  let first: ReadonlyMap<string, string>
  const isFirst = (id: string) => first.has(id) || id === ENGLISH || !id.startsWith(ROOT)
  const isPart = (id: string) => /^(api|components|state|text)\/[^?]*$/.test(id.slice(ROOT.length))
  return {
    name: 'chunks',
    buildStart() {
      first = firstSources(join(ROOT, 'main.tsx'))
    },
    outputOptions: (options) => ({
      ...options,
      manualChunks(id, { getModuleInfo }) {
        if (id.startsWith('\0') && id !== PRELOAD) return undefined
        if (isFirst(id) || Object.values(REPLACEMENTS).includes(id)) return 'index'
        return isPart(id) && getModuleInfo(id)!.importers.length > 1 ? 'shared' : undefined
      },
    }),
  }
}

/** Settings of Vite; `outDir` is where the page is written. */
const pageConfig = (outDir: string): InlineConfig => ({
  root: ROOT,
  configFile: false,
  base: './',
  logLevel: 'warn',
  plugins: [snippets(), texts(), replacements(), chunks()],
  // Texts are used as a whole.
  json: { namedExports: false },
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
