/** Broken on purpose: the SQLite store. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'a claim does not raise the fence in the file',
    file: 'adapters/storage/sqlite/claim.ts',
    find: 'update(delivery.fence, memory.term, stored.position)',
    replace: 'update(delivery.fence - 1, memory.term, stored.position)',
    tests: [
      'test/adapters/storage/sqlite-engine.test.ts',
      'test/adapters/storage/sqlite-engine-history.test.ts',
    ],
  },
  {
    what: 'the next of a lane is never due',
    file: 'adapters/storage/sqlite/settle.ts',
    find: '    if (isHead) lanes.promote(row, endpoint, now)\n',
    replace: '',
    tests: ['test/adapters/storage/sqlite-engine-history.test.ts'],
  },
  {
    what: 'the fence of a settlement is not asked',
    file: 'adapters/storage/sqlite/settle.ts',
    find: 'if (row?.delivery.state !== expect.state || row.delivery.fence !== expect.fence) return undefined',
    replace: 'if (row?.delivery.state !== expect.state) return undefined',
    tests: [
      'test/adapters/storage/sqlite-engine-history.test.ts',
      'test/adapters/storage/sqlite-engine.test.ts',
    ],
  },
  {
    what: 'an owner of former times settles',
    file: 'adapters/storage/sqlite/settle.ts',
    find: '    if (memory.owner !== owner) return undefined\n',
    replace: '',
    tests: [
      'test/adapters/storage/sqlite-engine-history.test.ts',
      'test/adapters/storage/sqlite-engine.test.ts',
    ],
  },
  {
    what: 'a group that failed stays in the memory',
    file: 'adapters/storage/sqlite/group.ts',
    find: '    engine.rolledBack()\n',
    replace: '',
    tests: [
      'test/adapters/storage/sqlite-group.test.ts',
      'test/adapters/storage/sqlite-engine-history.test.ts',
    ],
  },
  {
    what: 'pending deliveries are not counted',
    file: 'adapters/storage/sqlite/accept.ts',
    find: '    memory.pending += 1\n',
    replace: '',
    tests: [
      'test/adapters/storage/sqlite-engine-history.test.ts',
      'test/adapters/storage/sqlite-engine.test.ts',
    ],
  },
  {
    what: 'a paused endpoint is claimed from',
    file: 'adapters/storage/sqlite/endpoints.ts',
    find: 'return Math.max(dueMs, webhook.health?.pausedUntilMs ?? dueMs)',
    replace: 'return dueMs',
    tests: [
      'test/adapters/storage/sqlite-engine-history.test.ts',
      'test/adapters/storage/sqlite-engine.test.ts',
    ],
  },
  {
    what: 'an entry of the inbox is admitted twice',
    file: 'adapters/storage/sqlite/accept.ts',
    find: '    inbox.remove(admits)\n',
    replace: '',
    tests: [
      'test/adapters/storage/sqlite-engine.test.ts',
      'test/adapters/storage/sqlite-engine-history.test.ts',
    ],
  },
  {
    what: 'a new life is the old one: nothing is an orphan',
    file: 'adapters/storage/sqlite/leases.ts',
    find: '      if (memory.owner !== owner) memory.nextTerm()\n',
    replace: '',
    tests: [
      'test/adapters/storage/sqlite-engine.test.ts',
      'test/adapters/storage/sqlite-engine-history.test.ts',
    ],
  },
  {
    what: 'whose an account is stays remembered when an account changes',
    file: 'adapters/storage/sqlite/known-answers.ts',
    find: 'remembering(backend.ask, () => accountCalls)',
    replace: 'remembering(backend.ask, () => 0)',
    tests: ['test/adapters/storage/sqlite-conformance.test.ts'],
  },
]
