/** Seeded faults in limits and times whose values are documented. */

/** A constant of a file with another value. */
const changed = (
  /** @type {string} */ what,
  /** @type {string} */ file,
  /** @type {string} */ find,
  /** @type {string} */ replace,
  test = 'test/options/documented-values.test.ts',
) => ({ what, file, find, replace, tests: [test] })

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'the first retry may come after the maximum age',
    file: 'src/options/presets.ts',
    find: 'if (firstDelaySeconds >= defaultMaxAgeSeconds)',
    replace: 'if (firstDelaySeconds < 0)',
    tests: ['test/options/options.test.ts'],
  },
  changed(
    'a publisher waits for twenty seconds',
    'src/delivery/commit-loop.ts',
    'MAX_PUBLISH_WAIT_MS = 10_000',
    'MAX_PUBLISH_WAIT_MS = 20_000',
    'test/delivery/dispatcher-groups.test.ts',
  ),
  changed(
    'an acceptance whose position is taken is repeated after the node has stopped',
    'src/delivery/commit-loop.ts',
    'pending.collisions++ < MAX_COLLISIONS && !isStopped',
    'pending.collisions++ < MAX_COLLISIONS',
    'test/delivery/dispatcher-start-with-acceptance.test.ts',
  ),
  changed(
    'statistics are complete before the longest attempt has ended',
    'src/stats/series.ts',
    'nowMs - attemptTimeoutMs - 2 * FLUSH_INTERVAL_MS',
    'nowMs - 2 * FLUSH_INTERVAL_MS',
    'test/stats/series.test.ts',
  ),
  changed(
    'a webhook adds any number of causes to a minute',
    'src/stats/tally.ts',
    'MAX_CAUSES = 20',
    'MAX_CAUSES = 200',
    'test/stats/tally.test.ts',
  ),
  changed(
    'a series names all causes',
    'src/stats/series.ts',
    'MAX_CAUSES = 20',
    'MAX_CAUSES = 200',
    'test/stats/series.test.ts',
  ),
  changed(
    'a receiver chooses which statuses are counted by themselves',
    'src/stats/columns.ts',
    'isCounted ? String(status) : OTHER_CAUSE',
    'String(status)',
    'test/stats/columns.test.ts',
  ),
  changed(
    'what a replay has recovered counts as not delivered',
    'src/stats/endpoint-health.ts',
    ' && !replays?.hasRecovered',
    '',
    'test/service/webhook-health.test.ts',
  ),
  changed(
    'an account looks up the webhooks of others',
    'src/http/operations/lookup.ts',
    '  if (accountId !== undefined && webhook.accountId !== accountId) return undefined\n',
    '',
    'test/golden/golden.test.ts',
  ),
  changed(
    'a stream has 400 items in a second',
    'src/stream/subscriber.ts',
    'MAX_PER_SECOND = 200',
    'MAX_PER_SECOND = 400',
  ),
  changed('a lease lasts for a minute', 'src/delivery/lease.ts', 'LEASE_MS = 30_000', 'LEASE_MS = 60_000'),
  changed(
    'an idempotency key is valid for an hour',
    'src/delivery/accept.ts',
    'IDEMPOTENCY_WINDOW_MS = 86_400_000',
    'IDEMPOTENCY_WINDOW_MS = 3_600_000',
  ),
  changed(
    'a webhook is disabled after 24 failures of deliveries',
    'src/webhooks/health.ts',
    'exhausted: 20 }',
    'exhausted: 24 }',
  ),
]
