/** Seeded faults: no tenant's backlog takes the share of another. */

const DISPATCHER = ['test/delivery/dispatcher-shares.test.ts']
const MODEL = ['test/delivery/queue/queue-model.test.ts']
const SHARES = ['test/delivery/queue/shares.test.ts']
const ACCEPT_QUEUE = ['test/delivery/accept-queue.test.ts']

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'the newest calls are displaced instead of the oldest',
    file: 'src/delivery/queue/displacement.ts',
    find: 'const sorted = Float64Array.from(found).sort()',
    replace: 'const sorted = Float64Array.from(found).sort().reverse()',
    tests: [...DISPATCHER, ...MODEL],
  },
  {
    what: 'the rest of a displaced call is sent',
    file: 'src/delivery/queue/displacement.ts',
    find: '? wanted : wanted + MAX_REST_OF_CALL',
    replace: '? wanted : wanted',
    tests: [...DISPATCHER, ...MODEL],
  },
  {
    what: 'a lane of any length is displaced whole',
    file: 'src/delivery/queue/displacement.ts',
    find: '? wanted : wanted + MAX_REST_OF_CALL',
    replace: '? wanted : Number.POSITIVE_INFINITY',
    tests: ['test/delivery/queue/pending-queue.test.ts', 'test/delivery/queue/queue-model.test.ts'],
  },
  {
    what: 'a displaced delivery is sent',
    file: 'src/delivery/queue/heads.ts',
    find: ' || entries.hasFlag(entry, IS_DISPLACED)',
    replace: '',
    tests: [...DISPATCHER, ...MODEL],
  },
  {
    what: 'the deliveries of a replay are displaced together',
    file: 'src/delivery/queue/displacement.ts',
    find: 'entries.word(from, SEQUENCE) === 0 ? wanted',
    replace: 'entries.word(from, SEQUENCE) < 0 ? wanted',
    tests: ['test/delivery/queue/pending-queue.test.ts', 'test/delivery/queue/queue-model.test.ts'],
  },
  {
    what: 'a returned delivery is not among the oldest that were found',
    file: 'src/delivery/queue/pending-queue.ts',
    find: 'countWaiting(endpoint, entry, 1)\n    heads.attach(endpoint, entry)\n    addToOldest(entries, endpoint, entry)\n',
    replace: 'countWaiting(endpoint, entry, 1)\n    heads.attach(endpoint, entry)\n',
    tests: ['test/delivery/queue/pending-queue.test.ts', 'test/delivery/queue/queue-model.test.ts'],
  },
  {
    what: 'deliveries in flight are displaced',
    file: 'src/delivery/queue/displacement.ts',
    find: '!entries.hasFlag(entry, IS_TAKEN | IS_DISPLACED)',
    replace: '!entries.hasFlag(entry, IS_DISPLACED)',
    tests: MODEL,
  },
  {
    what: 'one delivery more than its share may wait for a webhook',
    file: 'src/delivery/queue/shares.ts',
    find: 'if (endpoint.backlog > this.limits.maxPendingPerWebhook)',
    replace: 'if (endpoint.backlog > this.limits.maxPendingPerWebhook + 1)',
    tests: [...DISPATCHER, ...SHARES],
  },
  {
    what: 'the share of an account is not checked',
    file: 'src/delivery/queue/shares.ts',
    find: 'this.fullAccounts.add(endpoint.account)',
    replace: 'void 0',
    tests: [...DISPATCHER, ...SHARES],
  },
  {
    what: 'the first webhook gives up deliveries, not the one with the largest backlog',
    file: 'src/delivery/queue/shares.ts',
    find: 'const chosen = waiting.filter(({ backlog }) => backlog > level)',
    replace: 'const chosen = waiting.slice(0, 1)',
    tests: SHARES,
  },
  {
    what: 'a retry that returns to a full queue displaces another delivery',
    file: 'src/delivery/queue/pending-queue.ts',
    find: 'if (isInBacklog(entries, entry, endpoint.epoch)) shares.add(endpoint, by)',
    replace:
      'if (isInBacklog(entries, entry, endpoint.epoch)) by > 0 ? shares.enter(endpoint) : shares.add(endpoint, by)',
    tests: DISPATCHER,
  },
  {
    what: 'a displaced delivery ends as cancelled',
    file: 'src/delivery/dispatcher.ts',
    find: "isOfCurrentEpoch(delivery) ? 'displaced' : 'cancelled'",
    replace: "'cancelled'",
    tests: DISPATCHER,
  },
  {
    what: 'a full backlog is reported once per delivery',
    file: 'src/delivery/worker/backlog-notices.ts',
    find: 'await clock.sleep(INTERVAL_MS, closing)',
    replace: 'await clock.yield()',
    tests: DISPATCHER,
  },
  {
    what: 'everybody waits while one account has displaced deliveries',
    file: 'src/delivery/dispatcher.ts',
    find: 'if (queue.displaced > MAX_DISPLACED_IN_ALL) return () => true',
    replace: 'return () => true',
    tests: DISPATCHER,
  },
  {
    what: 'a publisher outruns the end of what it displaces',
    file: 'src/delivery/dispatcher.ts',
    find: 'const isLate = queue.displaced > MAX_DISPLACED',
    replace: 'const isLate = false',
    tests: DISPATCHER,
  },
  {
    what: 'an account displaces its deliveries as fast as it publishes',
    file: 'src/delivery/dispatcher.ts',
    find: '(isPaced && isTooFast(acceptance)) ||',
    replace: '',
    tests: DISPATCHER,
  },
  {
    what: 'an account is paced for what others publish',
    file: 'src/delivery/dispatcher.ts',
    find: "if (limit !== 'maxPending') displacement",
    replace: 'displacement',
    tests: DISPATCHER,
  },
  {
    what: 'an account that displaces too fast waits for ever',
    file: 'src/delivery/dispatcher.ts',
    find: '(loop.accepting.size > 0 ? displacement.nextMs(lease.now()) : undefined)',
    replace: 'undefined',
    tests: DISPATCHER,
  },
  {
    what: 'everything may wait of an account that displaces too fast',
    file: 'src/delivery/dispatcher.ts',
    find: 'if (isTooFast(acceptance)) return QUEUE_IS_FULL',
    replace: '',
    tests: DISPATCHER,
  },
  {
    what: 'one account fills the groups in which others publish',
    file: 'src/delivery/commit-loop.ts',
    find: 'isShared ? MAX_OF_ACCOUNT : MAX_GROUP_SIZE',
    replace: 'MAX_GROUP_SIZE',
    tests: ['test/delivery/commit-loop.test.ts'],
  },
  {
    what: 'a long list over HTTP is accepted at once',
    file: 'src/delivery/accept.ts',
    find: 'const to = inParts ? endOfPart(matched, from) : count',
    replace: 'const to = count',
    tests: ['test/delivery/accept.test.ts'],
  },
  {
    what: 'a backlog takes the memory of the contents of all',
    file: 'src/delivery/queue/pending-queue.ts',
    find: 'account.backlog < Math.floor(maxContents * FEW) && waitingContents < maxContents * 1.5',
    replace: 'account.backlog < 0',
    tests: ['test/delivery/queue/pending-queue.test.ts'],
  },
  {
    what: 'a call is halved where something of an older epoch stands in it',
    file: 'src/delivery/queue/displacement.ts',
    find: 'while (before !== NONE && !isInBacklog(entries, before, epoch)) before = entries.word(before, PREVIOUS)',
    replace: 'if (before !== NONE && !isInBacklog(entries, before, epoch)) before = NONE',
    tests: ['test/delivery/queue/pending-queue.test.ts'],
  },
  {
    what: 'an account with a backlog fills the groups of all',
    file: 'src/delivery/accept-queue.ts',
    find: 'const quantum = Math.ceil(maxSize / turns.length)',
    replace: 'const quantum = maxSize',
    tests: ACCEPT_QUEUE,
  },
  {
    what: 'what an account publishes behind a held event overtakes it',
    file: 'src/delivery/accept-queue.ts',
    find: 'turn.isHeld = isHeld?.(item) ?? false\n',
    replace:
      'if (isHeld?.(item)) {\n            line.items.push(...line.items.splice(line.from, 1))\n            turn.given++\n            continue\n          }\n',
    tests: ACCEPT_QUEUE,
  },
  {
    what: 'hundreds of connections begin in one turn',
    file: 'src/send/connect.ts',
    find: 'createPacedStarts(CONNECTIONS_PER_TURN)',
    replace: 'createPacedStarts(Number.POSITIVE_INFINITY)',
    tests: ['test/send/paced-starts.test.ts'],
  },
]
