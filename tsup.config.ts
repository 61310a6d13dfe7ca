import { defineConfig } from 'tsup'

/** One entry per subpath of package.json "exports"; the test `test/house/exports.test.ts` holds the two together. */
export default defineConfig({
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
    'sqlite-worker': 'adapters/storage/sqlite/worker.ts',
    postgres: 'adapters/storage/postgres/index.ts',
    freeswitch: 'adapters/telephony/freeswitch/index.ts',
    asterisk: 'adapters/telephony/asterisk/index.ts',
    kamailio: 'adapters/telephony/kamailio/index.ts',
    cli: 'adapters/cli/serve.ts',
    bin: 'adapters/cli/bin.ts',
  },
  format: ['esm', 'cjs'],
  target: 'node20',
  platform: 'node',
  dts: true,
  splitting: true,
  clean: true,
  treeshake: false,
  // nanoid 5 is ESM-only: bundled, or the CommonJS twin would not load on Node 20.18.
  noExternal: ['nanoid'],
  external: [/^hookswitch(\/|$)/],
})
