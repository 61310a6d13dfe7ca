/** Seeded faults: health and observation. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'disabling a webhook does not cancel its requests',
    file: 'src/delivery/queue-sync.ts',
    find: '    if (row.epoch > epochBefore) deps.cancelUnsent(row.id)\n',
    replace: '',
    tests: ['test/delivery/cancel-unsent.test.ts'],
  },
  {
    what: 'an unsent request takes an attempt number',
    file: 'src/delivery/dispatcher.ts',
    find: "const isCancelled = result?.observation.kind === 'cancelled'",
    replace: 'const isCancelled = false',
    tests: ['test/delivery/cancel-unsent.test.ts'],
  },
  {
    what: 'a cancelled request is due again at once',
    file: 'src/delivery/dispatcher.ts',
    find: '    if (!decided) {\n      putBack(delivery, now + OWN_FAULT_PAUSE_MS)',
    replace: '    if (!decided) {\n      putBack(delivery, now)',
    tests: ['test/delivery/cancel-unsent.test.ts'],
  },
  {
    what: 'delivery latency is measured from the last attempt',
    file: 'src/delivery/worker/delivery-notifications.ts',
    find: 'now - delivery.acceptedMs',
    replace: '(record?.durationMs ?? 0)',
    tests: ['test/delivery/worker/delivery-notifications.test.ts'],
  },
  {
    what: 'redirects are counted as http failures',
    file: 'src/delivery/worker/delivery-notifications.ts',
    find: "return found ?? 'http'",
    replace: "return found && found !== 'redirect' ? found : 'http'",
    tests: ['test/delivery/worker/delivery-notifications.test.ts'],
  },
  {
    what: 'unrecorded successes emit no event',
    file: 'src/delivery/worker/delivery-notifications.ts',
    find: 'const { next, record = unstoredRecord } = settlement',
    replace: 'const { next, record } = settlement',
    tests: ['test/delivery/record-successes.test.ts'],
  },
  {
    what: 'the span context is not sent',
    file: 'src/delivery/attempt.ts',
    find: 'span?.traceparent ?? delivery.traceparent',
    replace: 'delivery.traceparent',
    tests: ['test/delivery/traceparent.test.ts'],
  },
  {
    what: 'a custom traceparent is sent twice',
    file: 'src/delivery/request.ts',
    find: 'if (traceparent !== undefined && !secrets.hasTraceparent)',
    replace: 'if (traceparent !== undefined)',
    tests: ['test/delivery/traceparent.test.ts'],
  },
  {
    what: 'tests have no rate limit',
    file: 'src/http/operations/commands.ts',
    find: '  limitReplays(context, ids)\n  const deliveryId',
    replace: '  const deliveryId',
    tests: ['test/service/replay-limits.test.ts'],
  },
  {
    what: 'slots are not released when nothing can be decided',
    file: 'src/delivery/dispatcher.ts',
    find: '    release(delivery)\n    if (delivery.isAbandoned) return\n',
    replace: '    if (delivery.isAbandoned) return\n',
    tests: ['test/delivery/host-errors.test.ts', 'test/regressions/throwing-port-leaked-slots.test.ts'],
  },
]
