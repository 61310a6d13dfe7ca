/** Broken on purpose: accepted means kept. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'only the first matching webhook gets a delivery',
    file: 'src/delivery/accept.ts',
    find: 'for (const webhook of candidates) {',
    replace: 'for (const webhook of candidates.slice(0, 1)) {',
    tests: ['test/delivery/accept.test.ts', 'test/service/promise-in-trouble.test.ts'],
  },
  {
    what: 'an event of an unknown account is dropped without a word',
    file: 'src/delivery/accept.ts',
    find: 'if (lineage.length === 0) throw notFound(accountId)',
    replace: 'if (lineage.length === 0) return []',
    tests: ['test/delivery/accept.test.ts', 'test/service/promise.test.ts'],
  },
  {
    what: 'the memory store says that it is durable',
    file: 'src/store/memory.ts',
    find: 'durable: false',
    replace: 'durable: true',
    tests: ['test/service/blocked.test.ts', 'test/service/promise-in-trouble.test.ts'],
  },
  {
    what: 'a full queue drops instead of refusing',
    file: 'src/store/memory/accept.ts',
    find: 'refuseAbove(state, deliveries.length, acceptance.maxPending)',
    replace:
      'if (state.pending + deliveries.length > acceptance.maxPending) return acceptance.events.map(({ id }) => ({ id, sequence: 1, duplicate: false }))',
    tests: ['test/delivery/accept.test.ts', 'test/service/promise.test.ts'],
  },
  {
    what: 'publish answers before the store has it',
    file: 'src/delivery/accept.ts',
    find: 'const accepted = await doors.deliveries.accept(acceptance, now)',
    replace:
      'const accepted = events.map(({ id }, n) => ({ id, sequence: n + 1, duplicate: false }))\n  setTimeout(() => void doors.deliveries.accept(acceptance, now).catch(() => {}), 5)',
    tests: ['test/delivery/accept.test.ts'],
  },
]
