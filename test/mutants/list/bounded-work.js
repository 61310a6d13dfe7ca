/** Seeded faults: work is bounded before it is done, and long work lets the event loop turn. */

const LIMITS = ['test/service/batch-limits.test.ts']
const WORK = ['test/delivery/long-work.test.ts']
const YIELDING = ['test/values/yielding.test.ts']

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'one event more than the limit is accepted',
    file: 'src/delivery/batch-limits.ts',
    find: 'if (count <= max) return',
    replace: 'if (count <= max + 1) return',
    tests: LIMITS,
  },
  {
    what: 'a list of events is parsed before its length is checked',
    file: 'src/http/operations/events.ts',
    find: 'refuseLongList(publishing, (context.data as readonly unknown[]).length)',
    replace: '',
    tests: LIMITS,
  },
  {
    what: 'one delivery more than the limit is accepted',
    file: 'src/delivery/accept.ts',
    find: 'count > limits.maxDeliveriesPerRequest)',
    replace: 'count > limits.maxDeliveriesPerRequest + 1)',
    tests: LIMITS,
  },
  {
    what: 'one event alone may be refused',
    file: 'src/delivery/accept.ts',
    find: 'if (isSeveral && count >',
    replace: 'if (count >',
    tests: LIMITS,
  },
  {
    what: 'the limit is checked when everything is matched',
    file: 'src/delivery/accept.ts',
    find: 'if (!mayBeFewer) throw tooManyDeliveries(limits)\n',
    replace: 'if (!mayBeFewer && prepared === events.at(-1)) throw tooManyDeliveries(limits)\n',
    tests: LIMITS,
  },
  {
    what: 'bodies of any length are built',
    file: 'src/delivery/accept.ts',
    find: 'if (characters > maxCharacters && !mayBeFewer) throw',
    replace: 'if (false) throw',
    tests: LIMITS,
  },
  {
    what: 'the relay deletes entries that it has left out',
    file: 'src/delivery/accept.ts',
    find: 'inboxIds?.slice(0, built.events.length)',
    replace: 'inboxIds',
    tests: LIMITS,
  },
  {
    what: 'a transaction with too many events is refused',
    file: 'src/delivery/accept.ts',
    find: 'const mayBeFewer = inboxIds !== undefined',
    replace: 'const mayBeFewer = false',
    tests: LIMITS,
  },
  {
    what: 'matching never yields',
    file: 'src/delivery/accept.ts',
    find: '        await yieldingOf(deps.clock).whenDue(event.accountId)\n      }\n      if (!matches',
    replace: '      }\n      if (!matches',
    tests: WORK,
  },
  {
    what: 'building deliveries never yields',
    file: 'src/delivery/accept.ts',
    find: '      steps = 0\n      await yieldingOf(deps.clock).whenDue(event.accountId)\n',
    replace: '      steps = 0\n',
    tests: WORK,
  },
  {
    what: 'a large body costs no more than a small one',
    file: 'src/delivery/accept.ts',
    find: 'steps += isPlain ? 1 : 1 + length / CHARACTERS_PER_STEP',
    replace: 'steps += 1',
    tests: WORK,
  },
  {
    what: 'a large acceptance enters the queue at once',
    file: 'src/delivery/dispatcher.ts',
    find: 'MAX_ENTERED_AT_ONCE = 2_000',
    replace: 'MAX_ENTERED_AT_ONCE = 2_000_000',
    tests: WORK,
  },
  {
    what: 'the parts of a large acceptance begin at its start',
    file: 'src/delivery/dispatcher.ts',
    find: '    progress.from = from\n',
    replace: '    progress.from = from - 1\n',
    tests: WORK,
  },
  {
    what: 'events that are accepted together reach streams all at once',
    file: 'src/stream/hub.ts',
    find: '        await yieldingOf(clock).briefly()\n',
    replace: '',
    tests: ['test/stream/stream.test.ts'],
  },
  {
    what: 'the headers of all webhooks are decrypted at once',
    file: 'src/webhooks/manage.ts',
    find: '      await yieldingOf(clock).whenDue(webhook.accountId)\n',
    replace: '      await undefined\n',
    tests: ['test/webhooks/manage.test.ts'],
  },
  {
    what: 'a long search ends too early',
    file: 'src/store/memory/queries.ts',
    find: 'hasMore ||= end < found.length',
    replace: 'hasMore = end < found.length',
    tests: ['test/store/memory/many-rows.test.ts'],
  },
  {
    what: 'a large body is parsed whatever else was done in this turn',
    file: 'src/http/request-guard.ts',
    find: "  if (isLargeBody(request)) await yieldWhenDue(facts.caller?.accountId ?? '')\n",
    replace: '',
    tests: ['test/http/bodies.test.ts'],
  },
  {
    what: 'a slice is ten times as long',
    file: 'src/values/yielding.ts',
    find: 'clock.monotonic() - startedMs >= SLICE_MS',
    replace: 'clock.monotonic() - startedMs >= 10 * SLICE_MS',
    tests: YIELDING,
  },
  {
    what: 'an account keeps its turn while it has work',
    file: 'src/values/yielding.ts',
    find: '      waiting.delete(owner)\n      if (queue.length > 0) waiting.set(owner, queue)\n',
    replace: '      if (queue.length === 0) waiting.delete(owner)\n',
    tests: YIELDING,
  },
]
