import { defineConfig, type Options } from 'tsup'

const SHARED: Options = {
  format: ['esm', 'cjs'],
  target: 'node20',
  platform: 'node',
}

/** One entry per subpath of package.json "exports"; the test `test/house/exports.test.ts` holds the two together. */
const PACKAGE: Options = {
  ...SHARED,
  entry: {
    index: 'src/index.ts',
    store: 'src/store/index.ts',
    testkit: 'src/testkit/index.ts',
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
    cli: 'adapters/cli/serve.ts',
    bin: 'adapters/cli/bin.ts',
  },
  dts: true,
  splitting: true,
  treeshake: false,
  // nanoid 5 is ESM-only: bundled, or the CommonJS twin would not load on Node 20.18.
  noExternal: ['nanoid'],
  external: [/^hookswitch(\/|$)/],
}

/**
 * The thread of a SQLite store: one file with no more of the package in it than it calls, since it is loaded with each
 * store that is opened.
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

export default defineConfig([PACKAGE, THREAD])
