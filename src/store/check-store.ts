/** Checks stores when an instance gets them: what is missing would fail at the first call that needs it. */
import type { Store } from 'hookswitch/store'
import { HookswitchError } from '../errors.js'
import { memoryStore } from './memory.js'

type Methods = Readonly<Record<string, unknown>>

const invalid = (sentence: string) =>
  new HookswitchError('InvalidOption', `store ${sentence}`, { field: 'store' })

/** The ports and methods that every store has. The memory store has these and no others. */
const PORTS = Object.entries(memoryStore()).filter(
  (entry): entry is [string, Methods] => typeof entry[1] === 'object' && entry[0] !== 'supports',
)

const isObject = (value: unknown): value is Methods => typeof value === 'object' && value !== null

/** @throws `InvalidOption` naming the first missing part: `store has no deliveries.commit` */
export function checkStore(store: unknown): void {
  if (!isObject(store)) throw invalid('is required')
  const given = store as Readonly<Record<string, Methods | undefined>>
  if (!isObject(given.supports)) throw invalid('has no supports')
  for (const name of ['open', 'close']) if (typeof given[name] !== 'function') throw invalid(`has no ${name}`)
  for (const [name, methods] of PORTS) {
    const port = given[name]
    if (!isObject(port)) throw invalid(`has no ${name}`)
    for (const method of Object.keys(methods))
      if (typeof port[method] !== 'function') throw invalid(`has no ${name}.${method}`)
  }
  const { transactions, liveItems } = given.supports
  if (transactions && !given.inbox) throw invalid('has no inbox, although it supports transactions')
  if (liveItems && !given.live) throw invalid('has no live, although it supports liveItems')
}

/** Stores of running instances. */
const taken = new WeakSet<Store>()

/**
 * Marks a store as used. Two instances that write to one store would send each delivery twice, and overwrite each other's
 * leases.
 *
 * @returns a function that ends the use
 * @throws `InvalidOption` if an instance uses it that cannot share it
 */
export function takeStore(store: Store): () => void {
  if (store.supports.sharedBetweenNodes) return () => {}
  if (taken.has(store))
    throw invalid('is used by another instance: give each its own, or close the other one first')
  taken.add(store)
  return () => taken.delete(store)
}
