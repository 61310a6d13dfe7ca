import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { QuietReporter } from './test/support/quiet-reporter.js'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const existing = (file: string) => {
  const path = `test/${file}.test.ts`
  // A renamed file would silently share a process with others.
  if (!existsSync(here(`./${path}`))) throw new Error(`vitest.config.ts: ${path} does not exist`)
  return path
}
/** Tests that need a process each: they replace modules, or count what the process holds. */
const ISOLATED = [
  'runtime/clock',
  'runtime/random',
  'send/happy-eyeballs',
  'send/connection-pool',
  'service/closing',
  'adapters/cli/serve-stores',
  'adapters/cli/web-sockets',
  'adapters/http/fetch',
  'adapters/storage/postgres-driver',
  'adapters/storage/sqlite-export',
  'adapters/storage/sqlite-host-database',
].map(existing)
/** Tests that wait for other processes or threads and import little that other tests import. */
const SUBPROCESS = [
  'crash/*',
  'deploy/*',
  'examples/*',
  'fsync/*',
  'golden/*',
  'mutants/*',
  'soak/*',
  'adapters/storage/*conformance',
  'adapters/storage/sqlite-built-*',
].map((files) => `test/${files}.test.ts`)

/**
 * Tests that only `npm run test:all` and CI run, so that `npm test` takes minutes: self-tests (they break the code on
 * purpose and expect the suite to notice), the simulator and the models, generated histories, days of the delivery policy,
 * the stepper, the fuzzers, runs that kill processes or servers, suites that repeat others on another store, and what else
 * takes more than four seconds and seldom finds what the others do not.
 */
const THOROUGH = [
  '**/*-self-test',
  'crash/crash-runs',
  'deploy/compose-topology',
  'deploy/docker-build',
  'fuzz/*',
  'golden/golden-{host,postgres}',
  'simulator/**/*',
  'stepper/*',
  'guard/*',
  'policy/{backlogs,late-answers,outages,own-outage,rate-limits,rejections,replays}',
  'delivery/dispatcher-{after-outage,slot-time}',
  'delivery/queue/queue-memory',
  'delivery/scheduler/slot-time-isolation',
  'stream/{durable,nodes-postgres}',
  'adapters/cli/commands/completion',
  'adapters/storage/postgres-*conformance',
  'adapters/storage/postgres-{crashed-nodes,faults,living-nodes,load,open,plans,races}',
  'adapters/storage/postgres-{retention,session,silence,simpler-statements,store-time}',
  'adapters/storage/sqlite-built-{process,thread,*conformance}',
  'adapters/storage/sqlite-{engine,engine-retention,log-damage}',
  'adapters/storage/store-error-log',
].map((files) => `test/${files}.test.ts`)

/**
 * The same, with a process each: measurements of time and memory, a weak hash, runs of the page in a browser, of the
 * program and of the examples, and what documents say.
 */
const THOROUGH_ISOLATED = [
  'adapters/cli/bin*',
  'adapters/portal/browser/*',
  'adapters/storage/sqlite-{built-exit,engine-collisions,vacuum}',
  'crash/process-life',
  'examples/{demo,docs,docs-receivers,examples,install-from-git,switches,testing}',
  'house/{patterns,types}',
  'linear/parsers',
  'live/live-program',
  'send/{deadline-accuracy,fuzz,memory}',
].map((files) => `test/${files}.test.ts`)

/** Tests of the shared processes that take more than five seconds. */
const LONG =
  /\/test\/(simulator|stepper|guard|fuzz|policy)\/|\/postgres-(queue-)?(plans|retention|faults|session|open)\./

/** Starts long files first, so that no long file runs alone at the end. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rank = ({ project, moduleId }: TestSpecification) =>
      project.name.endsWith('isolated') ? 0 : LONG.test(moduleId) ? 1 : 2
    return sorted.sort((one, other) => rank(one) - rank(other))
  }
}

export default defineConfig(({ mode }) => ({
  resolve: {
    alias: [
      { find: /^hookswitch$/, replacement: here('./src/index.ts') },
      { find: /^hookswitch\/adapter$/, replacement: here('./src/adapter.ts') },
      { find: /^hookswitch\/store$/, replacement: here('./src/store/index.ts') },
      { find: /^hookswitch\/testkit$/, replacement: here('./src/testkit/index.ts') },
      { find: /^hookswitch\/simulator$/, replacement: here('./src/simulator/index.ts') },
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
      { find: /^hookswitch\/portal$/, replacement: here('./adapters/portal/index.ts') },
      { find: /^hookswitch\/blackhole$/, replacement: here('./adapters/blackhole/index.ts') },
      { find: /^hookswitch\/cli$/, replacement: here('./adapters/cli/serve.ts') },
      { find: /^hookswitch\/client$/, replacement: here('./adapters/client/index.ts') },
    ],
  },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...ISOLATED, ...SUBPROCESS, ...THOROUGH, ...THOROUGH_ISOLATED],
          isolate: false,
          setupFiles: ['test/support/seed.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'isolated',
          include: [...ISOLATED, ...SUBPROCESS],
          exclude: [...THOROUGH, ...THOROUGH_ISOLATED],
          setupFiles: ['test/support/seed.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'thorough',
          include: THOROUGH,
          isolate: false,
          setupFiles: ['test/support/seed.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'thorough-isolated',
          include: THOROUGH_ISOLATED,
          setupFiles: ['test/support/seed.ts'],
        },
      },
    ],
    // Test code runs each function few times, so V8 spent most of its compile time on inlining. Test objects die young:
    // with a small initial young generation the garbage collector took a tenth of all time.
    execArgv: [
      '--max-inlined-bytecode-size-cumulative=200',
      '--min-semi-space-size=16',
      '--max-semi-space-size=32',
    ],
    // One more than there are cores, because some tests wait for a process, a retry or a deadline.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongFirst },
    globalSetup: [
      'test/support/temporary-folder.ts',
      'test/support/build-once.ts',
      'test/support/postgres-server.ts',
    ],
    reporters: [new QuietReporter()],
    silent: 'passed-only',
    // `npm run test:all` runs property tests in full (test/support/property-runs.ts).
    env: { THOROUGH: mode === 'thorough' ? '1' : '' },
    // Generous: some tests start processes, and a busy machine only makes them slower.
    testTimeout: 90_000,
    hookTimeout: 60_000,
    // Polls wait for an event, so a slow machine only makes them longer.
    expect: { poll: { timeout: 20_000 } },
  },
}))
