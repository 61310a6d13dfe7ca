/** Seeded faults: an accepted event is never lost. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'only the first matching webhook gets a delivery',
    file: 'src/delivery/accept.ts',
    find: 'for (const webhook of candidates) {',
    replace: 'for (const webhook of candidates.slice(0, 1)) {',
    tests: ['test/delivery/accept.test.ts', 'test/service/guarantees-under-faults.test.ts'],
  },
  {
    what: 'an event of an unknown account is dropped silently',
    file: 'src/delivery/accept.ts',
    find: "if (lineage.length === 0) throw notFound(accountId, 'account')",
    replace: 'if (lineage.length === 0) return []',
    tests: ['test/delivery/accept.test.ts', 'test/service/guarantees.test.ts'],
  },
  {
    what: 'the memory store claims to be durable',
    file: 'src/store/memory.ts',
    find: 'durable: false',
    replace: 'durable: true',
    tests: ['test/service/blocked-addresses.test.ts', 'test/service/guarantees-under-faults.test.ts'],
  },
  {
    what: 'a full queue drops instead of refusing',
    file: 'src/store/memory/accept.ts',
    find: 'rejectAboveLimit(state, deliveries.length, acceptance.maxPending)',
    replace:
      'if (state.pendingCount + deliveries.length > acceptance.maxPending) return acceptance.events.map(({ id }) => ({ id, sequence: 1, duplicate: false }))',
    tests: ['test/delivery/accept.test.ts', 'test/service/guarantees.test.ts'],
  },
  {
    what: 'publish resolves before the event is stored',
    file: 'src/delivery/accept.ts',
    find: 'const accepted = await deps.deliveries.accept(acceptance, now)',
    replace:
      'const accepted = events.map(({ id }, n) => ({ id, sequence: n + 1, duplicate: false }))\n  setTimeout(() => void deps.deliveries.accept(acceptance, now).catch(() => {}), 5)',
    tests: ['test/delivery/accept.test.ts'],
  },
  {
    what: 'an idempotency key is held an hour too short',
    file: 'src/delivery/accept.ts',
    find: 'IDEMPOTENCY_WINDOW_MS = 86_400_000',
    replace: 'IDEMPOTENCY_WINDOW_MS = 82_800_000',
    tests: ['test/runtime/publish.test.ts'],
  },
]
