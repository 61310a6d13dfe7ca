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
  {
    what: 'buffered events follow the newer ones of their leg',
    file: 'adapters/telephony/source/account-buffer.ts',
    find: 'const all = leg ? [...leg.events, ...events] : events',
    replace: 'const all = leg ? [...events, ...leg.events] : events',
    tests: [
      'test/adapters/telephony/source/account-buffer.test.ts',
      'test/adapters/telephony/kamailio-source.test.ts',
    ],
  },
  {
    what: 'a session that breaks at once resets the backoff',
    file: 'adapters/telephony/source/connection.ts',
    find: 'failures = clock.monotonic() - connectedMs >= STABLE_AFTER_MS ? 1 : failures + 1',
    replace: 'failures = connectedMs < Number.POSITIVE_INFINITY ? 1 : failures + 1',
    tests: ['test/adapters/telephony/source/connection.test.ts'],
  },
  {
    what: 'a switch is disconnected while the service is full',
    file: 'adapters/telephony/source/tcp-session.ts',
    find: 'if (socket.isPaused()) lastDataMs = clock.monotonic()\n      else if',
    replace: 'if',
    tests: ['test/adapters/telephony/source/tcp-session.test.ts'],
  },
  {
    what: 'reading continues while the service is full',
    file: 'adapters/telephony/source/tcp-session.ts',
    find: 'if (isFull()) socket.pause()\n',
    replace: '',
    tests: ['test/adapters/telephony/source/tcp-session.test.ts'],
  },
  {
    what: 'a secret that a peer repeats is logged',
    file: 'adapters/telephony/source/sanitize.ts',
    find: "clean.replaceAll(secret, '…')",
    replace: "clean.replace(secret, '…')",
    tests: ['test/adapters/telephony/source/truncate.test.ts'],
  },
  {
    what: 'the password of a SIP URI is published',
    file: 'adapters/telephony/source/sip-address.ts',
    find: '.split(/[:;]/, 1)[0]',
    replace: '',
    tests: ['test/adapters/telephony/source/sip-address.test.ts'],
  },
  {
    what: 'the failure of an earlier branch is the cause of the end',
    file: 'adapters/telephony/kamailio/call.ts',
    find: '      // The proxy tries another target: the earlier failure does not end the call.\n      call.failure = undefined\n',
    replace: '',
    tests: ['test/adapters/telephony/kamailio-robustness.test.ts'],
  },
  {
    what: 'a late refusal of an earlier INVITE ends the call',
    file: 'adapters/telephony/kamailio/call.ts',
    find: '|| line.cseq < call.cseq) return',
    replace: '|| line.cseq > call.cseq) return',
    tests: ['test/adapters/telephony/kamailio-robustness.test.ts'],
  },
  {
    what: 'a repeated challenge keeps an abandoned call open',
    file: 'adapters/telephony/kamailio/call.ts',
    find: 'call.pendingRetry ??= ',
    replace: 'call.pendingRetry = ',
    tests: ['test/adapters/telephony/kamailio-robustness.test.ts'],
  },
  {
    what: 'the address of a caller who hides the number is published',
    file: 'adapters/telephony/freeswitch/leg.ts',
    find: "from: hidesNumber && !from?.startsWith('anonymous@') ? undefined : from",
    replace: 'from',
    tests: ['test/adapters/telephony/freeswitch-mapping.test.ts'],
  },
  {
    what: 'a late event opens an ended leg again',
    file: 'adapters/telephony/asterisk/channel-registry.ts',
    find: "if (ended.has(channel.id) && kind !== 'created') return undefined\n",
    replace: '',
    tests: ['test/adapters/telephony/asterisk-compare.test.ts'],
  },
]
