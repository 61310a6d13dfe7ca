/** The default way out. Loaded when it is first needed: undici alone takes 80 ms. */
import type { Sender } from '../ports.js'
import { createResolver, type ResolverOptions } from './resolve.js'
import { createSender, type SenderOptions } from './undici.js'

export { createResolver, type ResolverOptions } from './resolve.js'
export { createSender, type SenderOptions } from './undici.js'

/** As `SenderOptions`, with our own resolver where none is given. */
export type DefaultSenderOptions = Omit<SenderOptions, 'resolver'> & {
  readonly resolver?: SenderOptions['resolver']
  /** For our own resolver only. */
  readonly dns?: ResolverOptions
}

/** The sender over undici with the resolver over c-ares; closing it closes that resolver too, yet never one that was given. */
export function createDefaultSender(options: DefaultSenderOptions): Required<Sender> {
  const own = options.resolver ? undefined : createResolver(options.dns)
  const sender = createSender({ ...options, resolver: options.resolver ?? own! })
  return {
    send: sender.send,
    withdraw: sender.withdraw,
    rest: sender.rest,
    async close() {
      const closed = sender.close()
      own?.close()
      await closed
    },
  }
}
