import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Tests whose process is their own: they replace modules, count what the process holds, or measure it. */
const ALONE = [
  'clock',
  'random',
  'send/dial',
  'send/generated',
  'send/memory',
  'send/pools',
  'send/punctual',
  'adapters/cli/serve-stores',
  'adapters/storage/postgres-driver',
  'adapters/storage/sqlite-engine-collisions',
  'adapters/storage/sqlite-dump',
].map((file) => `test/${file}.test.ts`)
/** Those that take long begin before all others, or one would be the last of a run and leave a core idle. */
const LONG = [
  'crash/*',
  'examples/*',
  'fsync/*',
  'fuzz/*',
  'golden/*',
  'guard/*',
  'models/*',
  'mutants/*',
  'simulation/*',
  'soak/*',
  'stepper/*',
  'adapters/cli/bin*',
  'adapters/storage/*conformance',
  'adapters/storage/sqlite-built-*',
  'adapters/storage/postgres-queue-plans',
].map((files) => `test/${files}.test.ts`)

export default defineConfig({
  resolve: {
    alias: [
      { find: /^hookswitch$/, replacement: here('./src/index.ts') },
      { find: /^hookswitch\/store$/, replacement: here('./src/store/index.ts') },
      { find: /^hookswitch\/testkit$/, replacement: here('./src/testkit/index.ts') },
      { find: /^hookswitch\/(node|express|fastify|fetch)$/, replacement: here('./adapters/http/$1.ts') },
      {
        find: /^hookswitch\/(prometheus|opentelemetry)$/,
        replacement: here('./adapters/observability/$1.ts'),
      },
      { find: /^hookswitch\/(sqlite|postgres)$/, replacement: here('./adapters/storage/$1/index.ts') },
      {
        find: /^hookswitch\/(freeswitch|asterisk|kamailio)$/,
        replacement: here('./adapters/telephony/$1/index.ts'),
      },
      { find: /^hookswitch\/cli$/, replacement: here('./adapters/cli/serve.ts') },
    ],
  },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...ALONE, ...LONG],
          isolate: false,
          setupFiles: ['test/seed.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'apart',
          include: [...ALONE, ...LONG],
          setupFiles: ['test/seed.ts'],
        },
      },
    ],
    // All cores: vitest leaves one idle, which of two is half.
    maxWorkers: '100%',
    globalSetup: ['test/places.ts', 'test/build-once.ts'],
    reporters: process.env.CI ? ['default'] : ['dot'],
    testTimeout: 30_000,
    // Waits for what happens, however slow the machine.
    expect: { poll: { timeout: 20_000 } },
  },
})
