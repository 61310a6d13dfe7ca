/** Seeded faults in the sources of events: FreeSWITCH, Asterisk and Kamailio. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'an event is dropped while the store is unavailable',
    file: 'adapters/telephony/source/ordered-publisher.ts',
    find: "new Set(['QueueFull', 'StoreUnavailable', 'Closing'])",
    replace: "new Set(['QueueFull', 'Closing'])",
    tests: ['test/adapters/telephony/source/ordered-publisher.test.ts'],
  },
  {
    what: 'SIP 480 is no answer',
    file: 'adapters/telephony/source/hangup-cause.ts',
    find: "480: 'NO_USER_RESPONSE'",
    replace: "480: 'NO_ANSWER'",
    tests: ['test/adapters/telephony/source/hangup-cause.test.ts'],
  },
]
