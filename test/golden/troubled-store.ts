import { HookswitchError } from 'hookswitch'
import type { AnyStore } from './store-maker.js'

export interface Troubled {
  readonly store: AnyStore
  /** `out`: it cannot be reached. `broken`: it throws what no client may ever see. Undefined: it works. */
  say(trouble: string | undefined): void
}

/** A store that fails when it is told to. */
export function trouble(store: AnyStore): Troubled {
  let kind: string | undefined
  const fail = () => {
    if (kind === 'out')
      throw new HookswitchError('StoreUnavailable', 'no connection to db7.internal', { retryAfterSeconds: 3 })
    if (kind === 'broken')
      throw new TypeError('SELECT * FROM pvt_tokens failed at /srv/hookswitch/store.js:12')
  }
  const door = <Door extends object>(methods: Door): Door =>
    Object.fromEntries(
      Object.entries(methods).map(([name, method]) => [
        name,
        name === 'subscribe'
          ? method
          : async (...args: unknown[]) => {
              fail()
              return (method as (...args: unknown[]) => unknown)(...args)
            },
      ]),
    ) as Door
  const { accounts, tokens, webhooks, deliveries } = store
  return {
    store: {
      ...store,
      accounts: door(accounts),
      tokens: door(tokens),
      webhooks: door(webhooks),
      deliveries: door(deliveries),
    },
    say(trouble) {
      kind = trouble
    },
  }
}
