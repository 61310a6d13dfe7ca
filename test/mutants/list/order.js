/** Seeded faults: in order within a call. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'every delivery is the head of its lane',
    file: 'src/store/memory/lanes.ts',
    find: '  row.lane = lane\n  row.lanePrevious = lane.tail\n  lane.tail.laneNext = row\n  lane.tail = row\n  return false',
    replace:
      '  row.lane = lane\n  row.lanePrevious = lane.tail\n  lane.tail.laneNext = row\n  lane.tail = row\n  return true',
    tests: ['test/delivery/dispatcher-caps.test.ts', 'test/delivery/dispatcher-faults.test.ts'],
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
    file: 'src/store/memory/settle.ts',
    find: '  const nextHead = leaveLane(row)',
    replace: "  const nextHead = next.state === 'exhausted' ? undefined : leaveLane(row)",
    tests: ['test/delivery/worker/delivery-notifications.test.ts', 'test/delivery/dispatcher.test.ts'],
  },
  {
    what: 'a failed attempt releases the next delivery of the call',
    file: 'src/store/memory/settle.ts',
    find: '    startWaiting(row)\n    return',
    replace:
      '    startWaiting(row)\n    if (row.laneNext) becomeDue(row.laneNext, promote(row.laneNext.delivery, now))\n    return',
    tests: ['test/delivery/dispatcher-faults.test.ts', 'test/delivery/dispatcher.test.ts'],
  },
  {
    what: 'a delivery of an older epoch is sent',
    file: 'src/store/memory/lanes.ts',
    find: 'return last?.epoch === endpoint.webhook.epoch ? last : undefined',
    replace: 'return last',
    tests: ['test/store/memory.test.ts', 'test/service/cancel-unsent.test.ts'],
  },
]
