/** Broken on purpose: in order within a call. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'every delivery is a head',
    file: 'src/store/memory/lanes.ts',
    find: '  row.lane = lane\n  row.laneBefore = lane.tail\n  lane.tail.laneBehind = row\n  lane.tail = row\n  return false',
    replace:
      '  row.lane = lane\n  row.laneBefore = lane.tail\n  lane.tail.laneBehind = row\n  lane.tail = row\n  return true',
    tests: ['test/delivery/caps.test.ts', 'test/delivery/dispatcher-faults.test.ts'],
  },
  {
    what: 'a lane for each hook',
    file: 'src/delivery/accept.ts',
    find: '`${event.accountId}/${event.callId}`',
    replace: '`${event.accountId}/${event.callId}/${event.hook}`',
    tests: ['test/delivery/accept.test.ts', 'test/service/promise.test.ts'],
  },
  {
    what: 'one lane for all calls',
    file: 'src/delivery/accept.ts',
    find: '`${event.accountId}/${event.callId}`',
    replace: '`${event.accountId}`',
    tests: ['test/delivery/accept.test.ts', 'test/service/promise-in-trouble.test.ts'],
  },
  {
    what: 'a given up event does not free its call',
    file: 'src/store/memory/settle.ts',
    find: '  const following = leaveLane(row)',
    replace: "  const following = next.state === 'exhausted' ? undefined : leaveLane(row)",
    tests: ['test/delivery/announce.test.ts', 'test/delivery/dispatcher.test.ts'],
  },
  {
    what: 'a failed attempt lets the next of its call go',
    file: 'src/store/memory/settle.ts',
    find: '    startWaiting(row)\n    return',
    replace:
      '    startWaiting(row)\n    if (row.laneBehind) becomeDue(row.laneBehind, promoted(row.laneBehind.delivery, now))\n    return',
    tests: ['test/delivery/dispatcher-faults.test.ts', 'test/delivery/dispatcher.test.ts'],
  },
  {
    what: 'an epoch that is over is sent',
    file: 'src/store/memory/lanes.ts',
    find: 'return last?.epoch === endpoint.webhook.epoch ? last : undefined',
    replace: 'return last',
    tests: ['test/store/memory.test.ts', 'test/service/withdraw.test.ts'],
  },
]
