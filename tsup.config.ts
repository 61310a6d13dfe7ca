import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { transform } from 'esbuild'
import { defineConfig, type Options } from 'tsup'
import { buildPage } from './adapters/portal/app/vite.config.js'

/** Without white space; most names stay in ES modules, so that stack traces can be read. */
const SHARED: Options = { target: 'node20', platform: 'node', minifyWhitespace: true, minifySyntax: true }

/**
 * What stack traces seldom lead to: the command line and its JSON parser, statistics, KAZOO's protocol over WebSockets, the
 * test harness, what turns values into documents of the API and back, SQL, and generated code.
 */
const WITHOUT_NAMES =
  /(src\/(simulator|stats|testkit|wire)|adapters\/(blackhole|cli|storage\/postgres\/sql))\/.*\.ts$|jsonc-parser\/lib\/esm\/.*\.js$|\.generated\.js$/

/** The JSON Schema of configuration files, published as `hookswitch/config.schema.json`. */
const CONFIG_SCHEMA = 'adapters/cli/config.schema.json'

type Plugin = NonNullable<Options['plugins']>[number]

/** Where the declarations of every module are written; the bundler of declarations reads them. */
const DECLARATIONS = '.dist-declarations'

/**
 * Writes the declarations of these modules and of all that they import, without a check of types: that is
 * `npm run typecheck`.
 */
async function writeDeclarations(modules: readonly string[]): Promise<void> {
  const { default: ts } = await import('typescript')
  rmSync(DECLARATIONS, { recursive: true, force: true })
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, '.')
  const compilerOptions = { ...options, allowJs: false, noEmit: false, declaration: true, noCheck: true }
  const output = { emitDeclarationOnly: true, rootDir: '.', outDir: DECLARATIONS }
  const { diagnostics } = ts.createProgram([...modules], { ...compilerOptions, ...output }).emit()
  if (diagnostics.length > 0)
    throw new Error(ts.formatDiagnostics(diagnostics, ts.createCompilerHost(options)))
}

/** Bundles declarations that are written already: to make them of the sources takes the bundler two minutes. */
function declarationsOf(modules: Readonly<Record<string, string>>): NonNullable<Options['dts']> {
  const entry = Object.entries(modules).map(([name, path]) => [
    name,
    join(DECLARATIONS, path.replace(/\.ts$/, '.d.ts')),
  ])
  return { entry: Object.fromEntries(entry) }
}

/**
 * Writes the types of the CommonJS build: those of the ESM build under the same names. A copy of them would be a tenth of the
 * package.
 */
function commonJsTypes(): Plugin {
  return {
    name: 'commonjs-types',
    renderChunk(_, { exports = [], path }) {
      if (!(basename(path, '.js') in SUBPATHS)) return
      const esm = `'./${path.replace(/.*\//, '')}'`
      const asImport = `${esm} with { 'resolution-mode': 'import' }`
      const lines = exports.flatMap((name) => [
        `export declare const ${name}: typeof m.${name}`,
        // A class is also a type.
        ...(/^[A-Z][a-z]/.test(name) ? [`export type ${name} = m.${name}`] : []),
      ])
      lines.unshift(`import type * as m from ${asImport}`, `export type * from ${asImport}`)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path.replace(/\.js$/, '.d.cts'), `${lines.join('\n')}\n`)
    },
  }
}

/** Turns a chunk into CommonJS. tsup's own way rewrites optional chaining too, which makes it slower and a third larger. */
function toCommonJs(): Plugin {
  return {
    name: 'to-commonjs',
    async renderChunk(esm) {
      // Omits tsup's own way.
      this.splitting = false
      const { code } = await transform(esm, {
        format: 'cjs',
        platform: 'node',
        target: 'node20',
        minify: true,
        // Jest with its defaults has no `import()`.
        supported: { 'dynamic-import': false },
      })
      return { code }
    },
  }
}

/** Shortens names that are seldom in a stack trace: a hundredth of the package. */
const shortNames: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'short-names',
  setup(build) {
    build.onLoad({ filter: WITHOUT_NAMES }, async ({ path }) => {
      const loader = path.endsWith('.ts') ? 'ts' : 'js'
      const source = await readFile(path, 'utf8')
      const { code } = await transform(source, { loader, target: 'node20', minifyIdentifiers: true })
      return { contents: code, loader: 'js' }
    })
  },
}

/** One module per subpath of package.json "exports"; `test/house/exports.test.ts` compares the two. */
const MODULES: Readonly<Record<string, string>> = {
  index: 'src/index.ts',
  adapter: 'src/adapter.ts',
  store: 'src/store/index.ts',
  testkit: 'src/testkit/index.ts',
  simulator: 'src/simulator/index.ts',
  node: 'adapters/http/node.ts',
  express: 'adapters/http/express.ts',
  fastify: 'adapters/http/fastify.ts',
  fetch: 'adapters/http/fetch.ts',
  prometheus: 'adapters/observability/prometheus.ts',
  opentelemetry: 'adapters/observability/opentelemetry.ts',
  sqlite: 'adapters/storage/sqlite/index.ts',
  postgres: 'adapters/storage/postgres/index.ts',
  freeswitch: 'adapters/telephony/freeswitch/index.ts',
  asterisk: 'adapters/telephony/asterisk/index.ts',
  kamailio: 'adapters/telephony/kamailio/index.ts',
  portal: 'adapters/portal/index.ts',
  blackhole: 'adapters/blackhole/index.ts',
  cli: 'adapters/cli/serve.ts',
}

const CLIENT_MODULES = { client: 'adapters/client/index.ts' }
const SUBPATHS = { ...MODULES, ...CLIENT_MODULES }

const PACKAGE: Options = {
  ...SHARED,
  format: ['esm'],
  entry: { ...MODULES, bin: 'adapters/cli/bin.ts' },
  dts: declarationsOf(MODULES),
  splitting: true,
  treeshake: false,
  external: [/^hookswitch(\/|$)/],
  esbuildOptions(options) {
    // jsonc-parser is bundled: bundlers of hosts do not follow its CommonJS.
    options.mainFields = ['module', 'main']
  },
  esbuildPlugins: [shortNames],
  plugins: [
    commonJsTypes(),
    {
      name: 'config-schema',
      buildEnd() {
        const schema = JSON.parse(readFileSync(CONFIG_SCHEMA, 'utf8'))
        writeFileSync(join(this.options.outDir, 'config.schema.json'), JSON.stringify(schema))
      },
    },
    {
      name: 'portal',
      // The page is the same for both formats.
      buildEnd() {
        return buildPage(resolve(this.options.outDir, 'portal'))
      },
    },
  ],
}

/**
 * Nobody loads these with Jest. Their CommonJS modules load the ES modules, which every supported version of Node can `require`: builds of
 * their own would be a thirtieth of the package.
 */
const LOADED_AS_ESM = ['simulator', 'cli']

const bundled = Object.fromEntries(Object.entries(MODULES).filter(([name]) => !LOADED_AS_ESM.includes(name)))

const loadEsm: Plugin = {
  name: 'load-esm',
  buildEnd() {
    for (const name of LOADED_AS_ESM)
      writeFileSync(join(this.options.outDir, `${name}.cjs`), `module.exports=require('./${name}.js')\n`)
  },
}

const COMMONJS: Options = {
  ...PACKAGE,
  format: ['cjs'],
  entry: bundled,
  dts: false,
  plugins: [toCommonJs(), loadEsm],
  // Only ESM: programs that cannot `require` ES modules, such as Jest with its defaults, load this build.
  noExternal: ['nanoid'],
  esbuildOptions(options) {
    // A syntax error in CommonJS, where `__dirname` is used in its place.
    options.define = { ...options.define, 'import.meta.url': '__filename' }
  },
}

/**
 * The thread of a SQLite store: a single file that contains only the code it calls, because every opened store loads it.
 */
const THREAD: Options = {
  ...SHARED,
  minifyIdentifiers: true,
  format: ['cjs'],
  entry: { 'sqlite-worker': 'adapters/storage/sqlite/worker.ts' },
  splitting: false,
  noExternal: ['hookswitch'],
  esbuildOptions(options) {
    options.define = { ...options.define, 'import.meta.url': '__filename' }
    options.alias = { 'hookswitch/store': './src/store/index.ts' }
  },
}

/** The client: one file without imports, which a browser can load as it is. */
const CLIENT: Options = {
  ...SHARED,
  minifyIdentifiers: true,
  entry: CLIENT_MODULES,
  format: ['esm'],
  target: 'es2022',
  platform: 'browser',
  dts: declarationsOf(CLIENT_MODULES),
  splitting: false,
  treeshake: true,
  noExternal: [/^@noble\/hashes/],
  plugins: [commonJsTypes()],
}

const CLIENT_COMMONJS: Options = { ...CLIENT, format: ['cjs'], dts: false, plugins: [] }

/** The programs of this repository load no CommonJS: `npm run build:run` passes `--env.FORMAT esm`. */
export default defineConfig(async ({ env, dts }) => {
  if (dts !== false) await writeDeclarations(Object.values(SUBPATHS))
  return env?.FORMAT === 'esm'
    ? [PACKAGE, THREAD, CLIENT]
    : [PACKAGE, COMMONJS, THREAD, CLIENT, CLIENT_COMMONJS]
})
