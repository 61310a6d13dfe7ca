/** Seeded faults in the call index, and in the search for what became of a call. */

const INDEX = ['test/delivery/call-index.test.ts']
const WHY = ['test/service/why.test.ts']

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'events that a webhook wanted are noted as unwanted',
    file: 'src/delivery/call-index.ts',
    find: 'const isNoted = !isWanted && ',
    replace: 'const isNoted = ',
    tests: WHY,
  },
  {
    what: 'unwanted events are noted whatever their retention is',
    file: 'src/delivery/call-index.ts',
    find: ' && limits.unwantedRetentionSeconds > 0',
    replace: '',
    tests: [...INDEX, ...WHY],
  },
  {
    what: 'a number is written with each event of its call',
    file: 'src/delivery/call-index.ts',
    find: ' && !call.numbers.includes(number)',
    replace: '',
    tests: INDEX,
  },
  {
    what: 'any number of rows waits to be written',
    file: 'src/delivery/call-index.ts',
    find: 'rows.length >= MAX_WAITING_ROWS || ',
    replace: '',
    tests: INDEX,
  },
  {
    what: 'numbers of an account are never removed for its share',
    file: 'src/delivery/call-index.ts',
    find: "      count('numbers', accountId)\n",
    replace: '',
    tests: INDEX,
  },
  {
    what: 'accounts of nodes that restart often are never trimmed',
    file: 'src/delivery/call-index.ts',
    find: ' ?? clock.now() % most)',
    replace: ' ?? 0)',
    tests: INDEX,
  },
  {
    what: 'a batch that the store did not take is lost',
    file: 'src/delivery/call-index.ts',
    find: '      if (!(await write(batch))) return\n',
    replace: '      await write(batch)\n',
    tests: INDEX,
  },
  {
    what: 'what this node has noted is erased before it is written',
    file: 'src/runtime/erase.ts',
    find: '  await callIndex.flush()\n',
    replace: '',
    tests: WHY,
  },
  {
    what: 'an erasure by number leaves events that no webhook wanted',
    file: 'src/runtime/erase.ts',
    find: '    for (const call of indexed) found.add(call.callId)\n',
    replace: '',
    tests: WHY,
  },
  {
    what: 'an account sees the webhooks of the accounts above it',
    file: 'src/runtime/why.ts',
    find: 'lineage.filter(({ id }) => accountId === undefined || id === accountId)',
    replace: 'lineage',
    tests: WHY,
  },
  {
    what: 'an account sees what no webhook of an account below wanted',
    file: 'src/runtime/why.ts',
    find: 'const isOwn = accountId === undefined || accountId === eventAccountId',
    replace: 'const isOwn = true',
    tests: WHY,
  },
  {
    what: 'a search reads large events without a bound',
    file: 'src/runtime/why.ts',
    find: 'charactersLeft.bodies -= body.length',
    replace: 'charactersLeft.bodies -= 0',
    tests: WHY,
  },
  {
    what: 'an event is sought in all legs of its call, a part of each',
    file: 'src/runtime/why.ts',
    find: 'eventId === undefined ? await',
    replace: 'true ? await',
    tests: WHY,
  },
  {
    what: 'a search does not say that it has left out legs',
    file: 'src/runtime/why.ts',
    find: '      legs.length > MAX_LEGS ||\n',
    replace: '',
    tests: WHY,
  },
  {
    what: 'a search reads large webhooks without a bound',
    file: 'src/runtime/why.ts',
    find: ' || charactersLeft.webhooks <= 0',
    replace: '',
    tests: WHY,
  },
  {
    what: 'an account searches any number of times at once',
    file: 'src/http/operations/why.ts',
    find: 'return context.readInTurn(async () => {',
    replace: 'return (async (work) => work())(async () => {',
    tests: WHY,
  },
  {
    what: 'filters are judged without the payload',
    file: 'src/delivery/why.ts',
    find: 'isUnknown ? { ...webhook, settings } : webhook',
    replace: '{ ...webhook, settings }',
    tests: WHY,
  },
]
