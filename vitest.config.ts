import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const PURE = ['values', 'http', 'wire', 'auth', 'webhooks', 'accounts', 'delivery'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
)

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
    // Pure decisions and what needs no process of its own share their modules: an import costs more than their tests.
    projects: [
      { extends: true, test: { name: 'pure', include: PURE, isolate: false, setupFiles: ['test/seed.ts'] } },
      {
        extends: true,
        test: {
          name: 'whole',
          include: ['test/**/*.test.ts'],
          exclude: PURE,
          setupFiles: ['test/seed.ts'],
        },
      },
    ],
    globalSetup: ['test/build-once.ts'],
    reporters: process.env.CI ? ['default'] : ['dot'],
    testTimeout: 30_000,
    // Waits for what happens, however slow the machine.
    expect: { poll: { timeout: 20_000 } },
  },
})
