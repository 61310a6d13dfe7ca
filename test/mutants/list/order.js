/** Seeded faults: in order within a call. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'every delivery is the head of its lane',
    file: 'src/delivery/queue/pending-queue.ts',
    find: 'const isHead = (entry: number) => entries.word(entry, PREVIOUS) === NONE',
    replace: 'const isHead = (_: number) => true',
    tests: ['test/delivery/queue/pending-queue.test.ts', 'test/delivery/dispatcher.test.ts'],
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
    tests: ['test/delivery/accept.test.ts', 'test/service/guarantees-under-faults.test.ts'],
  },
  {
    what: 'an exhausted delivery does not release its lane',
    file: 'src/delivery/dispatcher.ts',
    find: '    if (isTerminal(next.state) || isLeaving(delivery)) queue.end(delivery, now)\n',
    replace:
      "    if ((isTerminal(next.state) && next.state !== 'exhausted') || isLeaving(delivery)) queue.end(delivery, now)\n",
    tests: ['test/delivery/worker/delivery-notifications.test.ts', 'test/delivery/dispatcher.test.ts'],
  },
  {
    what: 'a late event of another node is sent last in its lane',
    file: 'src/delivery/queue/lanes.ts',
    find: 'return sequenceA < sequenceB',
    replace: 'return false',
    tests: ['test/delivery/queue/pending-queue.test.ts'],
  },
  {
    what: 'a delivery of an older epoch is started',
    file: 'src/store/engine/settlement.ts',
    find: '    row.epoch >= webhookEpoch &&\n    start.epoch >= webhookEpoch\n',
    replace: '    webhookEpoch >= 0\n',
    tests: ['test/store/engine/settlement.test.ts'],
  },
  {
    what: 'a delivery of an older epoch is taken',
    file: 'src/delivery/commit-loop.ts',
    find: '      else if (!handlers.mayStart(delivery)) handlers.putBack(delivery)\n',
    replace: '',
    tests: ['test/delivery/dispatcher-groups.test.ts', 'test/delivery/cancel-unsent.test.ts'],
  },
  {
    what: 'the gap that another node left in a call is not noticed',
    file: 'src/delivery/dispatcher.ts',
    find: '    if (result.mayHaveGap) sync.poll()\n',
    replace: '',
    tests: ['test/delivery/dispatcher-shards.test.ts'],
  },
]
