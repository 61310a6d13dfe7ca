/** Seeded faults: the SQLite store. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'a claim does not store the raised fence',
    file: 'adapters/storage/sqlite/claim.ts',
    find: 'update(delivery.fence, state.term, row.position)',
    replace: 'update(delivery.fence - 1, state.term, row.position)',
    tests: [
      'test/adapters/storage/sqlite-engine.test.ts',
      'test/adapters/storage/sqlite-engine-history.test.ts',
    ],
  },
  {
    what: 'the next delivery of a lane is never due',
    file: 'adapters/storage/sqlite/settle.ts',
    find: '    if (isHead) lanes.promote(row, endpoint, now)\n',
    replace: '',
    tests: ['test/adapters/storage/sqlite-engine-history.test.ts'],
  },
  {
    what: 'the fence of a settlement is not checked',
    file: 'adapters/storage/sqlite/settle.ts',
    find: 'if (row?.delivery.state !== expect.state || row.delivery.fence !== expect.fence) return undefined',
    replace: 'if (row?.delivery.state !== expect.state) return undefined',
    tests: [
      'test/adapters/storage/sqlite-engine-history.test.ts',
      'test/adapters/storage/sqlite-engine.test.ts',
    ],
  },
  {
    what: 'a former owner can settle',
    file: 'adapters/storage/sqlite/settle.ts',
    find: '    if (state.owner !== owner) return undefined\n',
    replace: '',
    tests: [
      'test/adapters/storage/sqlite-engine-history.test.ts',
      'test/adapters/storage/sqlite-engine.test.ts',
    ],
  },
  {
    what: 'a failed group stays in the in-memory state',
    file: 'adapters/storage/sqlite/group-commit.ts',
    find: '    engine.rolledBack()\n',
    replace: '',
    tests: [
      'test/adapters/storage/sqlite-group-commit.test.ts',
      'test/adapters/storage/sqlite-engine-history.test.ts',
    ],
  },
  {
    what: 'pending deliveries are not counted',
    file: 'adapters/storage/sqlite/accept.ts',
    find: '    state.pending += 1\n',
    replace: '',
    tests: [
      'test/adapters/storage/sqlite-engine-history.test.ts',
      'test/adapters/storage/sqlite-engine.test.ts',
    ],
  },
  {
    what: 'deliveries of a paused endpoint are claimed',
    file: 'adapters/storage/sqlite/endpoints.ts',
    find: 'return Math.max(dueMs, webhook.health?.pausedUntilMs ?? dueMs)',
    replace: 'return dueMs',
    tests: [
      'test/adapters/storage/sqlite-engine-history.test.ts',
      'test/adapters/storage/sqlite-engine.test.ts',
    ],
  },
  {
    what: 'an inbox entry is accepted twice',
    file: 'adapters/storage/sqlite/accept.ts',
    find: '    inbox.remove(inboxIds)\n',
    replace: '',
    tests: [
      'test/adapters/storage/sqlite-engine.test.ts',
      'test/adapters/storage/sqlite-engine-history.test.ts',
    ],
  },
  {
    what: 'a restart is not recognised: nothing is an orphan',
    file: 'adapters/storage/sqlite/leases.ts',
    find: '      if (state.owner !== owner) state.nextTerm()\n',
    replace: '',
    tests: [
      'test/adapters/storage/sqlite-engine.test.ts',
      'test/adapters/storage/sqlite-engine-history.test.ts',
    ],
  },
  {
    what: 'the lineage cache survives a change of an account',
    file: 'adapters/storage/sqlite/read-cache.ts',
    find: 'createRowCache(backend.request, () => accountVersion)',
    replace: 'createRowCache(backend.request, () => 0)',
    tests: ['test/adapters/storage/sqlite-conformance.test.ts'],
  },
  {
    what: 'idempotency keys are compared without case',
    file: 'adapters/storage/sqlite/schema.ts',
    find: 'account integer not null, key text not null, event_id',
    replace: 'account integer not null, key text not null collate nocase, event_id',
    tests: ['test/adapters/storage/sqlite-conformance.test.ts'],
  },
  {
    what: 'store time follows the clock of the machine back at a start',
    file: 'adapters/storage/sqlite/engine-state.ts',
    find: 'const storeMs = Math.max(machineMs + offsetMs, timeMs)',
    replace: 'const storeMs = machineMs',
    tests: [
      'test/adapters/storage/sqlite-store-time.test.ts',
      'test/adapters/storage/sqlite-conformance.test.ts',
    ],
  },
  {
    what: 'the difference of store time to the clock of the machine is forgotten',
    file: 'adapters/storage/sqlite/engine-state.ts',
    find: '      offsetMs = timeMs - machineMs\n',
    replace: '',
    tests: ['test/adapters/storage/sqlite-conformance.test.ts'],
  },
  {
    what: 'store time goes back while a delivery waits',
    file: 'adapters/storage/sqlite/engine-state.ts',
    find: ' && state.pending === 0',
    replace: '',
    tests: ['test/adapters/storage/sqlite-conformance.test.ts'],
  },
  {
    what: 'store time goes back while an endpoint is paused',
    file: 'adapters/storage/sqlite/engine-state.ts',
    find: ' && !anyPaused.get(machineMs)',
    replace: '',
    tests: ['test/adapters/storage/sqlite-engine-state.test.ts'],
  },
  {
    what: 'store time of a file of an earlier version begins at the clock of the machine',
    file: 'adapters/storage/sqlite/engine-state.ts',
    find: '?? newestTime(db)',
    replace: '?? 0',
    tests: ['test/adapters/storage/sqlite-store-time.test.ts'],
  },
  {
    what: 'due times are shown by store time',
    file: 'src/runtime/webhook-api.ts',
    find: 'return delayed(delivery, -storeAheadMs(core))',
    replace: 'return delivery',
    tests: ['test/adapters/storage/sqlite-store-time.test.ts'],
  },
  {
    what: 'the memory store uses the wall clock while it runs',
    file: 'src/store/memory.ts',
    find: 'storeClock = createStoreClock(options.clock ?? deps.clock)',
    replace: 'storeClock = { now: (options.clock ?? deps.clock).now, sync() {} }',
    tests: ['test/store/memory.test.ts'],
  },
]
