/** Seeded faults in the open legs that are kept over a restart. */

const RECORDER = [
  'test/adapters/telephony/source/open-legs.test.ts',
  'test/adapters/telephony/source/open-legs-pipeline.test.ts',
]

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'a leg is stored in a state whose events are not published',
    file: 'adapters/telephony/source/open-legs.ts',
    find: '      if (isWaiting(callId)) continue\n',
    replace: '',
    tests: RECORDER,
  },
  {
    what: 'a leg whose write seemed to fail is never removed',
    file: 'adapters/telephony/source/open-legs.ts',
    find: '      for (const { callId } of put) stored.add(callId)\n',
    replace: '',
    tests: RECORDER,
  },
  {
    what: 'a leg that a later version stored is removed',
    file: 'adapters/telephony/source/open-legs.ts',
    find: '          if (isOfLaterVersion(row)) {\n',
    replace: '          if (isOfLaterVersion(row) && later < 0) {\n',
    tests: RECORDER,
  },
  {
    what: 'a leg whose end is left at the close is removed',
    file: 'adapters/telephony/source/event-pipeline.ts',
    find: 'openLegs?.keep(callId)',
    replace: 'openLegs?.touch(callId)',
    tests: RECORDER,
  },
  {
    what: 'a leg whose end is refused stays in the store',
    file: 'adapters/telephony/source/event-pipeline.ts',
    find: "hook === 'channel_destroy') openLegs",
    replace: 'false) openLegs',
    tests: RECORDER,
  },
  {
    what: 'a source connects although its open legs cannot be read',
    file: 'adapters/telephony/source/switch-source.ts',
    find: 'await recorder?.load(signal)',
    replace: 'await recorder?.load(signal).catch(() => {})',
    tests: ['test/adapters/telephony/source/switch-source.test.ts'],
  },
  {
    what: 'a restored leg of FreeSWITCH has another key than before',
    file: 'adapters/telephony/freeswitch/saved-leg.ts',
    find: '    coreUuid,\n    createdUs,\n    direction: direction',
    replace: '    coreUuid,\n    createdUs: createdUs + 1,\n    direction: direction',
    tests: ['test/adapters/telephony/restart.test.ts'],
  },
  {
    what: 'a restored leg of FreeSWITCH is answered again',
    file: 'adapters/telephony/freeswitch/saved-leg.ts',
    find: "answeredUs: number('answeredUs') ?? 0",
    replace: 'answeredUs: 0',
    tests: ['test/adapters/telephony/restart.test.ts'],
  },
  {
    what: 'a restored leg of Asterisk forgets when it was answered',
    file: 'adapters/telephony/asterisk/saved-leg.ts',
    find: "    isAnswerTimeKnown: flag('isAnswerTimeKnown'),\n",
    replace: '    isAnswerTimeKnown: false,\n',
    tests: ['test/adapters/telephony/restart.test.ts'],
  },
  {
    what: 'a restored leg of Asterisk that holds is resumed',
    file: 'adapters/telephony/asterisk/mapping.ts',
    find: ' && !isRestored) setHeld',
    replace: ') setHeld',
    tests: ['test/adapters/telephony/restart.test.ts'],
  },
  {
    what: 'erasing an account leaves its open legs',
    file: 'src/runtime/erase.ts',
    find: 'for (const port of [deliveries, openLegs, store.callIndex])',
    replace: 'for (const port of [deliveries, store.callIndex])',
    tests: ['test/runtime/open-legs.test.ts'],
  },
  {
    what: 'erased open legs can be read in the file',
    file: 'adapters/storage/sqlite/open-legs.ts',
    find: '      if (left < limit) noteErased()\n',
    replace: '',
    tests: ['test/adapters/storage/sqlite-engine-erase.test.ts'],
  },
  {
    what: 'a second write of an open leg postpones its removal',
    file: 'adapters/storage/sqlite/open-legs.ts',
    find: 'do update set account_id',
    replace: 'do update set added_ms = excluded.added_ms, account_id',
    tests: ['test/adapters/storage/sqlite-conformance.test.ts'],
  },
]
