/** Broken on purpose: health and observation. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'disabling does not tell the sender',
    file: 'src/webhooks/manage.ts',
    find: 'if (changed.epoch > webhook.epoch) doors.withdrawn?.(webhookId)',
    replace: '',
    tests: ['test/service/withdraw.test.ts'],
  },
  {
    what: 'an unsent request takes a number',
    file: 'src/delivery/retry.ts',
    find: '    dueMs: now + OWN_FAULT_PAUSE_MS,\n    attempts,\n    tries,\n    interruptions,\n  }',
    replace:
      '    dueMs: now + OWN_FAULT_PAUSE_MS,\n    attempts: attempts + 1,\n    tries,\n    interruptions,\n  }',
    tests: ['test/delivery/withdraw.test.ts'],
  },
  {
    what: 'what is withdrawn is due at once',
    file: 'src/delivery/retry.ts',
    find: '    dueMs: now + OWN_FAULT_PAUSE_MS,\n    attempts,',
    replace: '    dueMs: now,\n    attempts,',
    tests: ['test/delivery/traceparent.test.ts', 'test/delivery/withdraw.test.ts'],
  },
  {
    what: 'latency from the last attempt',
    file: 'src/delivery/announce.ts',
    find: 'now - delivery.acceptedMs',
    replace: '(record?.durationMs ?? 0)',
    tests: ['test/delivery/announce.test.ts'],
  },
  {
    what: 'redirects counted as http',
    file: 'src/delivery/announce.ts',
    find: "return known ?? 'http'",
    replace: "return known && known !== 'redirect' ? known : 'http'",
    tests: ['test/delivery/announce.test.ts'],
  },
  {
    what: 'unkept successes are not told',
    file: 'src/delivery/settler.ts',
    find: 'settlement.record ?? unkept',
    replace: 'settlement.record',
    tests: ['test/delivery/record-successes.test.ts'],
  },
  {
    what: 'the span’s context does not go out',
    file: 'src/delivery/attempt.ts',
    find: 'span?.traceparent ?? claim.traceparent',
    replace: 'claim.traceparent',
    tests: ['test/delivery/traceparent.test.ts'],
  },
  {
    what: 'a custom traceparent is doubled',
    file: 'src/delivery/request.ts',
    find: 'if (traceparent !== undefined && !material.isTraced)',
    replace: 'if (traceparent !== undefined)',
    tests: ['test/delivery/traceparent.test.ts'],
  },
  {
    what: 'first attempts get no half',
    file: 'src/store/memory/claim.ts',
    find: 'Math.ceil(room / 2)',
    replace: '0',
    tests: ['test/delivery/after-outage.test.ts', 'test/delivery/fair-shares.test.ts'],
  },
  {
    what: 'no limit for tests',
    file: 'src/http-service.ts',
    find: '      async test(accountId, id) {\n        replays.admit(`${accountId}/${id}`)',
    replace: '      async test(accountId, id) {',
    tests: ['test/service/replay-limits.test.ts'],
  },
  {
    what: 'places are not given back when writing fails',
    file: 'src/delivery/conduct.ts',
    find: 'schedule.ended(flight)\n',
    replace: 'if (result) schedule.ended(flight)\n',
    tests: ['test/delivery/undecidable.test.ts'],
  },
]
