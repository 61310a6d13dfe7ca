import { copyFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { defineConfig, type Options } from 'tsup'
import { buildPage } from './adapters/portal/app/vite.config.js'

const SHARED: Options = {
  format: ['esm', 'cjs'],
  target: 'node20',
  platform: 'node',
}

/** The JSON Schema of configuration files, published as `hookswitch/config.schema.json`. */
const CONFIG_SCHEMA = 'adapters/cli/config.schema.json'

/** One entry per subpath of package.json "exports"; `test/house/exports.test.ts` compares the two. */
const PACKAGE: Options = {
  ...SHARED,
  entry: {
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
    bin: 'adapters/cli/bin.ts',
  },
  dts: true,
  splitting: true,
  treeshake: false,
  external: [/^hookswitch(\/|$)/],
  esbuildOptions(options, { format }) {
    // A syntax error in CommonJS, where `__dirname` is used in its place.
    if (format === 'cjs') options.define = { ...options.define, 'import.meta.url': '__filename' }
  },
  plugins: [
    {
      name: 'config-schema',
      buildEnd() {
        copyFileSync(CONFIG_SCHEMA, join(this.options.outDir, 'config.schema.json'))
      },
    },
    {
      name: 'portal',
      async buildEnd() {
        // The page is the same for both formats.
        if (this.format === 'esm') await buildPage(resolve(this.options.outDir, 'portal'))
      },
    },
  ],
}

/**
 * The thread of a SQLite store: a single file that contains only the code it calls, because every opened store loads it.
 */
const THREAD: Options = {
  ...SHARED,
  entry: { 'sqlite-worker': 'adapters/storage/sqlite/worker.ts' },
  splitting: false,
  noExternal: ['hookswitch'],
  esbuildOptions(options) {
    options.alias = { 'hookswitch/store': './src/store/index.ts' }
  },
}

/** The client: one file without imports, which a browser can load as it is. */
const CLIENT: Options = {
  entry: { client: 'adapters/client/index.ts' },
  format: ['esm', 'cjs'],
  target: 'es2022',
  platform: 'browser',
  dts: true,
  splitting: false,
  treeshake: true,
  noExternal: [/^@noble\/hashes/],
}

export default defineConfig([PACKAGE, THREAD, CLIENT])
