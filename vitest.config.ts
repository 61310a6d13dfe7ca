import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Tests that leave nothing behind in their process: they share it and its modules, for an import costs more than they do. */
const TOGETHER = [
  'values',
  'http',
  'wire',
  'auth',
  'webhooks',
  'accounts',
  'delivery',
  'regressions',
  'service',
  'store',
  'testkit',
  'adapters/http',
  'adapters/observability',
  'adapters/telephony',
].map((folder) => `test/${folder}/**/*.test.ts`)

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
        test: { name: 'together', include: TOGETHER, isolate: false, setupFiles: ['test/seed.ts'] },
      },
      {
        extends: true,
        test: {
          name: 'apart',
          include: ['test/**/*.test.ts'],
          exclude: TOGETHER,
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
