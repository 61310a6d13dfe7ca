/** The default sender and resolver. Loaded on first use, since loading undici takes 80 ms. */
import type { DefaultSender } from '../ports.js'
import { createDnsResolver, type DnsResolverOptions } from './dns-resolver.js'
import { createSender, type SenderOptions } from './sender.js'

export { createDnsResolver, type DnsResolverOptions } from './dns-resolver.js'
export { createSender, type SenderOptions } from './sender.js'

/** As `SenderOptions`; without a `resolver`, a c-ares resolver is created. */
export type DefaultSenderOptions = Omit<SenderOptions, 'resolver'> & {
  readonly resolver?: SenderOptions['resolver']
  /** Options of the created resolver. */
  readonly dns?: DnsResolverOptions
}

/** Creates the undici sender with the c-ares resolver. Closing it also closes a created resolver, but not a given one. */
export function createDefaultSender(options: DefaultSenderOptions): DefaultSender {
  const created = options.resolver ? undefined : createDnsResolver(options.dns)
  const sender = createSender({ ...options, resolver: options.resolver ?? created! })
  return {
    send: sender.send,
    sendWithCallback: sender.sendWithCallback,
    connect: sender.connect,
    cancel: sender.cancel,
    releaseIdle: sender.releaseIdle,
    async close() {
      const closed = sender.close()
      created?.close()
      await closed
    },
  }
}
