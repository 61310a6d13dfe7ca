/** Seeded faults: in order within a call. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'a task of the delivery loop that begins another runs beside it',
    file: 'src/delivery/commit-loop.ts',
    find: 'if (isRunning || isAbandoned) return',
    replace: 'if (running || isAbandoned) return',
    tests: ['test/delivery/commit-loop.test.ts'],
  },
  {
    what: 'every delivery is the head of its lane',
    file: 'src/delivery/queue/pending-queue.ts',
    find: 'const isHead = (entry: number) => entries.word(entry, PREVIOUS) === NONE',
    replace: 'const isHead = (_: number) => true',
    tests: [
      'test/delivery/queue/pending-queue.test.ts',
      'test/delivery/queue/queue-model.test.ts',
      'test/delivery/dispatcher.test.ts',
    ],
  },
  {
    what: 'each hook has its own lane',
    file: 'src/delivery/accept.ts',
    find: '`${event.accountId}/${event.callId}`',
    replace: '`${event.accountId}/${event.callId}/${event.hook}`',
    tests: ['test/delivery/accept.test.ts', 'test/service/guarantees.test.ts'],
  },
  {
    what: 'all calls share one lane',
    file: 'src/delivery/accept.ts',
    find: '`${event.accountId}/${event.callId}`',
    replace: '`${event.accountId}`',
    tests: ['test/delivery/accept.test.ts', 'test/service/guarantees.test.ts'],
  },
  {
    what: 'an ended delivery does not release its lane',
    file: 'src/delivery/queue/pending-queue.ts',
    find: '    heads.attach(endpoint, entry)\n    addToOldest(entries, endpoint, entry)\n    setPatience(',
    replace: '    addToOldest(entries, endpoint, entry)\n    setPatience(',
    tests: [
      'test/delivery/queue/pending-queue.test.ts',
      'test/delivery/queue/queue-model.test.ts',
      'test/delivery/dispatcher.test.ts',
    ],
  },
  {
    what: 'a late event of another node is sent last in its lane',
    file: 'src/delivery/queue/lanes.ts',
    find: 'return sequenceA < sequenceB',
    replace: 'return false',
    tests: ['test/delivery/queue/pending-queue.test.ts', 'test/delivery/queue/queue-model.test.ts'],
  },
  {
    what: 'a delivery of an older epoch is started',
    file: 'src/store/engine/settlement.ts',
    find: '    row.epoch >= webhookEpoch &&\n    start.epoch >= webhookEpoch\n',
    replace: '    webhookEpoch >= 0\n',
    tests: ['test/store/engine/settlement.test.ts'],
  },
  {
    what: 'a delivery of an older epoch is started in the memory store',
    file: 'src/store/memory/commit.ts',
    find: 'canStart(row, delivery, row.endpoint.webhook.epoch)',
    replace: 'canStart(row, delivery, 0)',
    tests: ['test/store/memory-conformance.test.ts', 'test/delivery/cancel-unsent.test.ts'],
  },
  {
    what: 'the gap that another node left in a call is not noticed',
    file: 'src/store/memory/accept.ts',
    find: "rememberBare(state, event)\n  return { kind: 'accepted', events: plan.events, mayHaveGap: plan.mayHaveGap }",
    replace:
      "rememberBare(state, event)\n  return { kind: 'accepted', events: plan.events, mayHaveGap: false }",
    tests: ['test/store/memory-conformance.test.ts'],
  },
  {
    what: 'the gap that another node left in a call is forgotten when its acceptance is repeated',
    file: 'src/store/memory/accept.ts',
    find: "return { kind: 'accepted', events: plan.events, mayHaveGap: plan.mayHaveGap }\n  const { events }",
    replace: "return { kind: 'accepted', events: plan.events, mayHaveGap: false }\n  const { events }",
    tests: ['test/store/memory-conformance.test.ts'],
  },
  {
    what: "erasing an account's call restarts the numbers of another account's events",
    file: 'src/store/memory/erase.ts',
    find: 'else forgetForeignCall(state, accountId, callId)',
    replace: 'else forgetCall(state, accountId, callId)',
    tests: ['test/store/memory-conformance.test.ts'],
  },
]
