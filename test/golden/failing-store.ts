import { HookswitchError } from 'hookswitch'
import type { AnyStore } from './store-factory.js'

export interface FailingStore {
  readonly store: AnyStore
  /** `unavailable`: throws `StoreUnavailable`; `broken`: throws an error that no client may see; undefined: works. */
  setFailure(failure: string | undefined): void
}

/** Wraps a store so that it fails on demand. */
export function createFailingStore(store: AnyStore): FailingStore {
  let current: string | undefined
  const throwFailure = () => {
    if (current === 'unavailable')
      throw new HookswitchError('StoreUnavailable', 'no connection to db7.internal', { retryAfterSeconds: 3 })
    if (current === 'broken')
      throw new TypeError('SELECT * FROM pvt_tokens failed at /srv/hookswitch/store.js:12')
  }
  const wrapPort = <Port extends object>(methods: Port): Port =>
    Object.fromEntries(
      Object.entries(methods).map(([name, method]) => [
        name,
        name === 'subscribe'
          ? method
          : async (...args: unknown[]) => {
              throwFailure()
              return (method as (...args: unknown[]) => unknown)(...args)
            },
      ]),
    ) as Port
  const { accounts, tokens, webhooks, deliveries, openLegs, encryption, stats } = store
  return {
    store: {
      ...store,
      accounts: wrapPort(accounts),
      tokens: wrapPort(tokens),
      webhooks: wrapPort(webhooks),
      deliveries: wrapPort(deliveries),
      openLegs: wrapPort(openLegs),
      stats: wrapPort(stats),
      encryption: wrapPort(encryption),
    },
    setFailure(failure) {
      current = failure
    },
  }
}
