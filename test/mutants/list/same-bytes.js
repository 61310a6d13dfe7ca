/** Seeded faults: same id, same bytes. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'webhook-id contains the attempt number',
    file: 'src/delivery/request.ts',
    find: "    'webhook-id',\n    delivery.id,",
    replace: "    'webhook-id',\n    attempt > 1 ? `${delivery.id}-${attempt}` : delivery.id,",
    tests: ['test/delivery/dispatcher.test.ts'],
  },
  {
    what: 'the verb is read from the current webhook',
    file: 'src/delivery/request.ts',
    find: 'method: METHODS[delivery.httpVerb]',
    replace: 'method: METHODS[webhook.settings.httpVerb]',
    tests: ['test/service/guarantees.test.ts'],
  },
  {
    what: 'the content type is read from the current webhook',
    file: 'src/delivery/request.ts',
    find: 'CONTENT_TYPE[delivery.encoding]',
    replace: "CONTENT_TYPE[webhook.settings.format === 'json' ? 'json' : 'form']",
    tests: ['test/delivery/request.test.ts'],
  },
  {
    what: 'every webhook gets the first body of the event',
    file: 'src/delivery/dispatcher.ts',
    find: 'fillIn(bodies[variant]!, sequence)',
    replace: 'fillIn(bodies[0]!, sequence)',
    tests: ['test/service/guarantees.test.ts'],
  },
  {
    what: 'a replay gets the first body of the event',
    file: 'src/delivery/replay.ts',
    find: '    variant,\n    encoding,',
    replace: '    variant: variant * 0,\n    encoding,',
    tests: ['test/service/guarantees.test.ts'],
  },
  {
    what: 'the timestamp decreases',
    file: 'src/delivery/request.ts',
    find: 'const seconds = Math.floor(nowMs / 1000)',
    replace: 'const seconds = Math.floor(nowMs / 1000) - attempt * 5',
    tests: ['test/delivery/dispatcher.test.ts', 'test/delivery/request.test.ts'],
  },
  {
    what: 'a body that is read again is the first one of the event',
    file: 'src/store/memory/readers.ts',
    find: 'event.bodies[source.variant]!',
    replace: 'event.bodies[0]!',
    tests: ['test/store/memory-conformance.test.ts'],
  },
]
