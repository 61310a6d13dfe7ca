/** Seeded faults: an accepted event is never lost. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'only the first matching webhook gets a delivery',
    file: 'src/delivery/accept.ts',
    find: 'for (const webhook of candidates) {',
    replace: 'for (const webhook of candidates.slice(0, 1)) {',
    tests: ['test/delivery/accept.test.ts'],
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
    find: '{ durable: false,',
    replace: '{ durable: true,',
    tests: ['test/store/memory-conformance.test.ts'],
  },
  {
    what: 'what the store cannot take is dropped instead of refused',
    file: 'src/delivery/dispatcher.ts',
    find: 'Promise.reject(queueFull(reason))',
    replace: 'Promise.resolve(acceptance.events.map(({ id }) => ({ id, sequence: 1, duplicate: false })))',
    tests: ['test/delivery/dispatcher-shares.test.ts'],
  },
  {
    what: 'publish resolves before the event is stored',
    file: 'src/delivery/commit-loop.ts',
    find: '        accepting.add(pending)\n',
    replace:
      '        accepting.add(pending)\n        resolve(acceptance.events.map(({ id }, n) => ({ id, sequence: n + 1, duplicate: false })))\n',
    tests: ['test/delivery/dispatcher-groups.test.ts', 'test/delivery/accept.test.ts'],
  },
  {
    what: 'an idempotency key is held an hour too short',
    file: 'src/delivery/accept.ts',
    find: 'IDEMPOTENCY_WINDOW_MS = 86_400_000',
    replace: 'IDEMPOTENCY_WINDOW_MS = 82_800_000',
    tests: ['test/runtime/publish.test.ts'],
  },
  {
    what: 'a repeated group is sent as a new one',
    file: 'src/delivery/commit-loop.ts',
    find: 'group.isRepeat = isUnknown = true',
    replace: 'isUnknown = true',
    tests: ['test/delivery/dispatcher-groups.test.ts'],
  },
  {
    what: 'a publisher waits for ever',
    file: 'src/delivery/commit-loop.ts',
    find: '        if (!watching) void watch()\n',
    replace: '',
    tests: ['test/delivery/dispatcher-groups.test.ts'],
  },
  {
    what: 'a publisher waits for seconds after the store is reachable again',
    file: 'src/delivery/commit-loop.ts',
    find: 'unanswered.first || drainDeadline.aborted) return',
    replace: 'accepting.size > 0 || drainDeadline.aborted) return',
    tests: ['test/delivery/dispatcher-groups.test.ts'],
  },
  {
    what: 'requests are sent before the ends of attempts are reported, while the store has nothing to do',
    file: 'src/delivery/commit-loop.ts',
    find: '        if (!reportEnds()) await flushInParts()\n',
    replace: '        await flushInParts()\n',
    tests: ['test/delivery/commit-loop.test.ts'],
  },
  {
    what: 'requests stay unsent after an end that cannot be reported',
    file: 'src/delivery/commit-loop.ts',
    find: '    isTriggered = true\n    const ms = now()\n    for (const group of unreported) report(group, ms)\n',
    replace:
      '    const ms = now()\n    for (const group of unreported) report(group, ms)\n    isTriggered = true\n',
    tests: ['test/delivery/commit-loop.test.ts'],
  },
  {
    what: 'a store that writes at once keeps the host waiting: no turn of the event loop between two groups',
    file: 'src/delivery/commit-loop.ts',
    find: '      turn = clock.yield()',
    replace: '      turn = Promise.resolve()',
    tests: ['test/delivery/commit-loop.test.ts'],
  },
  {
    what: 'the next group waits for a further turn of the event loop',
    file: 'src/delivery/commit-loop.ts',
    find: '      turn = clock.yield()',
    replace: '      turn = undefined',
    tests: ['test/delivery/commit-loop.test.ts'],
  },
]
