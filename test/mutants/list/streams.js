/** Seeded faults in streams: what a reader may see, what is counted, and what is sent once. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'a stream that resumes shows what its reader may not see any more',
    file: 'src/stream/catch-up.ts',
    find: 'stream.covers(accountId, ancestors) && mayRead(stream, accountId, ancestors)',
    replace: 'stream.covers(accountId, ancestors)',
    tests: ['test/stream/catch-up.test.ts', 'test/stream/access.test.ts'],
  },
  {
    what: 'a stream shows what happens in an account that its reader may not see any more',
    file: 'src/stream/hub.ts',
    find: 'stream.covers(accountId, lineage) && mayRead(stream, accountId, lineage)',
    replace: 'stream.covers(accountId, lineage)',
    tests: ['test/stream/access.test.ts'],
  },
  {
    what: 'changes of webhooks count among the 200 items of a second',
    file: 'src/stream/subscriber.ts',
    find: "if (content.type !== 'webhook') this.countInSecond += 1",
    replace: 'this.countInSecond += 1',
    tests: ['test/stream/subscriber.test.ts'],
  },
  {
    what: 'records that a stream held back are sent again: those whose position is not known',
    file: 'src/stream/open-stream.ts',
    find: 'this.wantsAttempt(record) && !this.sentIds?.has(record.id)',
    replace: 'this.wantsAttempt(record)',
    tests: ['test/stream/catch-up.test.ts'],
  },
  {
    what: 'records that a stream held back are sent again: those up to its position',
    file: 'src/stream/catch-up.ts',
    find: 'if (live.position === undefined || live.position > position) stream.record(live)',
    replace: 'stream.record(live)',
    tests: ['test/stream/catch-up.test.ts'],
  },
]
