import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

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
  'service/closing',
  'adapters/cli/serve-stores',
  'adapters/storage/postgres-driver',
  'adapters/storage/sqlite-engine-collisions',
  'adapters/storage/sqlite-dump',
].map((file) => `test/${file}.test.ts`)
/** Tests that wait for other processes or for threads; they import next to nothing that another test imports. */
const OUTSIDE = [
  'crash/*',
  'examples/*',
  'fsync/*',
  'golden/*',
  'mutants/*',
  'soak/*',
  'adapters/cli/bin*',
  'adapters/storage/*conformance',
  'adapters/storage/sqlite-built-*',
].map((files) => `test/${files}.test.ts`)

/**
 * What `npm test` leaves to `npm run test:all`, and so to every change that lands: tests of the tests, which break what
 * is tested and want that found, crash runs, and suites that are played once more on a SQLite store that has a thread.
 */
const THOROUGH = [
  '**/*-bites',
  'crash/crash-runs',
  'golden/golden-host',
  'adapters/storage/sqlite-built-*conformance',
].map((files) => `test/${files}.test.ts`)

/** Of the others those that take more than five seconds. */
const LONG =
  /\/test\/(models|simulation|stepper|guard|fuzz)\/|\/postgres-(queue-)?(plans|wake|kept|faults|session|history|open)\./

/** Where Vitest has not measured files yet it begins with the largest; the last of a run is not to be a long one. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rank = ({ project, moduleId }: TestSpecification) =>
      project.name === 'apart' ? 0 : LONG.test(moduleId) ? 1 : 2
    return sorted.sort((one, other) => rank(one) - rank(other))
  }
}

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
          exclude: [...ALONE, ...OUTSIDE, ...THOROUGH],
          isolate: false,
          setupFiles: ['test/seed.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'apart',
          include: [...ALONE, ...OUTSIDE],
          exclude: THOROUGH,
          setupFiles: ['test/seed.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'thorough',
          include: THOROUGH,
          isolate: false,
          setupFiles: ['test/seed.ts'],
        },
      },
    ],
    // Tests call everything, and nothing very often: inlining was most of what V8 compiled for. And they forget at once
    // what they make: in a young generation that begins small the collector took a tenth of all.
    execArgv: [
      '--max-inlined-bytecode-size-cumulative=200',
      '--min-semi-space-size=16',
      '--max-semi-space-size=32',
    ],
    // One more than cores: some tests wait for a process, a retry or a deadline, and a core would wait with them.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongFirst },
    globalSetup: ['test/places.ts', 'test/build-once.ts'],
    reporters: process.env.CI ? ['default'] : ['dot'],
    testTimeout: 30_000,
    // Waits for what happens, however slow the machine.
    expect: { poll: { timeout: 20_000 } },
  },
})
