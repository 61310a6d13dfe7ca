// @ts-check
/** The ledger by what it is asked for. */

/**
 * @typedef {import('./ledger.js').Ledger} Ledger
 * @typedef {import('./ledger.js').Sight} Sight
 * @typedef {ReturnType<typeof makeBook>} Book
 */

/** @param {Ledger} ledger */
export function makeBook(ledger) {
  const { tries, acks, sights } = ledger
  /** Requests of each delivery, in order of arrival. @type {Map<string, Sight[]>} */
  const deliveries = new Map()
  /** Events of each place in a call: there should be one. @type {Map<string, Set<string>>} */
  const events = new Map()
  /** @type {Map<string, import('./load.js').Place>} */
  const placeOf = new Map()
  /** `webhook event`: answered with a success, whichever delivery it was. @type {Set<string>} */
  const arrived = new Set()

  /** When each place was first published. @type {Map<string, number>} */
  const tried = new Map()
  for (const { call, index, at } of tries) listed(tried, `${call}#${index}`, () => at)

  for (const { call, index, event } of [...acks, ...sights]) {
    listed(events, `${call}#${index}`, () => new Set()).add(event)
    placeOf.set(event, { call, index })
  }
  for (const sight of sights) {
    listed(deliveries, sight.delivery, () => /** @type {Sight[]} */ ([])).push(sight)
    if (sight.status >= 200 && sight.status < 300) arrived.add(`${sight.webhook} ${sight.event}`)
  }
  return {
    ledger,
    deliveries,
    events,
    placeOf,
    arrived,
    tried,
    acked: new Set(acks.map(({ event }) => event)),
    givenUp: new Map(ledger.givenUp.map((one) => [`${one.webhook} ${one.event}`, one])),
    replays: new Set(ledger.givenUp.map(({ replay }) => replay)),
  }
}

/**
 * @template Key, Value
 * @param {Map<Key, Value>} map
 * @param {Key} key
 * @param {() => Value} make
 * @returns {Value} what is there, or is now
 */
export function listed(map, key, make) {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
