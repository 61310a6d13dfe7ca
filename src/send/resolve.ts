/**
 * The default DNS door: c-ares with a time limit and a way to cancel, never `dns.lookup`.
 *
 * `dns.lookup` waits in libuv's pool of four threads, two look-ups at a time: six dead names held up a look-up of
 * localhost, and the host's own file access, for more than 25 s. c-ares uses sockets of its own.
 */
import { Resolver as Cares } from 'node:dns'
import type { Resolution, Resolver } from '../ports.js'
import { parseAddress } from '../values/address.js'
import { bareHost, isLocalhost } from '../values/address-policy.js'
import { defaultHostsFile, hostsFile } from './hosts.js'

/** More addresses than any real answer has; the rest of a longer one is neither judged nor dialled. */
const MAX_ADDRESSES = 1_000
/** How long one family waits for the other once it has addresses (RFC 8305, section 3, asks for at least 50 ms). */
const OTHER_FAMILY_MS = 250

export interface ResolverOptions {
  /** Name servers as `address` or `address:port`; the system's by default, read anew for each look-up. */
  readonly servers?: readonly string[]
  /** Longest look-up in ms, default 5,000: below an attempt's deadline, so that a dead name tells why. */
  readonly lookupMs?: number
  /** Look-ups under way at once, default 256; more wait their turn. */
  readonly concurrency?: number
  /** Path of the hosts file, the system's by default. */
  readonly hostsPath?: string
}

const missing = (detail: string): Resolution => ({ kind: 'missing', detail })
const unreachable = (detail: string): Resolution => ({ kind: 'unreachable', detail })

/**
 * Makes the resolver. Whose fault a failure is:
 * - no such name, no address, SERVFAIL, REFUSED, a malformed answer: the name's (`missing`); its owner runs its zone.
 * - the name server's port is closed, or none is configured: ours (`unreachable`).
 * - silence is ambiguous, a dead zone or a dead name server: the root is asked beside it. Any answer to that, an error
 *   included, shows a living name server, so the silence is the name's; without one it is ours.
 */
export function createResolver(options: ResolverOptions = {}): Resolver {
  const { lookupMs = 5_000, concurrency = 256, servers } = options
  const inHosts = hostsFile(options.hostsPath ?? defaultHostsFile())
  const active = new Set<() => void>()
  const waiting = new Set<(granted: boolean) => void>()
  let busy = 0
  let closed = false

  /** Takes a slot, or waits for one; `false` when the time ran out before. */
  async function take(ms: number): Promise<boolean> {
    if (busy < concurrency) {
      busy += 1
      return true
    }
    let timer: NodeJS.Timeout | undefined
    const granted = await new Promise<boolean>((resolve) => {
      waiting.add(resolve)
      timer = setTimeout(() => waiting.delete(resolve) && resolve(false), ms)
    })
    clearTimeout(timer)
    return granted
  }

  /** Hands the slot to the one that waits longest. */
  function release(): void {
    for (const next of waiting) {
      waiting.delete(next)
      next(true)
      return
    }
    busy -= 1
  }

  function lookUp(name: string, ms: number): Promise<Resolution> {
    return new Promise((resolve) => {
      // One for each look-up (20 µs): `cancel` ends all of an instance, and changes of resolv.conf are seen.
      const cares = new Cares({ timeout: 2_000, tries: 4 })
      if (servers) cares.setServers(servers)
      const families: Families = [undefined, undefined]
      let isAlive = false
      let timer = setTimeout(end, ms)
      const probe = setTimeout(() => cares.resolveNs('.', heard), ms / 3)
      active.add(end)
      cares.resolve4(name, (error, addresses) => seen(0, error, addresses))
      cares.resolve6(name, (error, addresses) => seen(1, error, addresses))

      function end(): void {
        if (!active.delete(end)) return
        clearTimeout(timer)
        clearTimeout(probe)
        cares.cancel()
        resolve(conclude(families, isAlive))
      }

      function heard(error: NodeJS.ErrnoException | null): void {
        isAlive ||= hasSpoken(error?.code)
      }

      function seen(family: 0 | 1, error: NodeJS.ErrnoException | null, addresses: readonly string[]): void {
        if (!active.has(end)) return
        heard(error)
        families[family] = error ? (error.code ?? 'EUNKNOWN') : addresses
        const bothIn = families[1 - family] !== undefined
        // In silence the answer to the probe is worth its wait.
        if (bothIn && (isAlive || !families.includes('ETIMEOUT'))) end()
        if (bothIn || error) return
        clearTimeout(timer)
        timer = setTimeout(end, Math.min(OTHER_FAMILY_MS, ms))
      }
    })
  }

  return {
    async resolve(hostname, timeoutMs) {
      if (parseAddress(hostname)) return { kind: 'addresses', addresses: [hostname] }
      if (isLocalhost(hostname)) return { kind: 'addresses', addresses: ['127.0.0.1', '::1'] }
      const known = inHosts(hostname)
      if (known.length > 0) return { kind: 'addresses', addresses: known.slice(0, MAX_ADDRESSES) }
      const started = performance.now()
      const limitMs = Math.min(timeoutMs, lookupMs)
      if (!(await take(limitMs))) return unreachable('too many look-ups at once')
      try {
        if (closed) return unreachable('the resolver is closed')
        return await lookUp(bareHost(hostname), Math.max(1, limitMs - (performance.now() - started)))
      } catch (error) {
        return unreachable(`no resolver: ${(error as Error).message}`)
      } finally {
        release()
      }
    },
    close() {
      closed = true
      for (const next of waiting) next(false)
      waiting.clear()
      for (const end of [...active]) end()
    },
  }
}

/** What came of A and AAAA: addresses, an error's code, or nothing yet. */
type Families = (readonly string[] | string | undefined)[]

/** Whether a name server has spoken at all, be it to refuse. */
function hasSpoken(code: string | undefined): boolean {
  return (
    code === undefined ||
    !/^(ETIMEOUT|ECONNREFUSED|ECANCELLED|ENOMEM|EFILE|EDESTRUCTION|ENOTINITIALIZED)$/.test(code)
  )
}

function conclude(
  families: readonly (readonly string[] | string | undefined)[],
  isAlive: boolean,
): Resolution {
  const addresses = families.flatMap((family) => (typeof family === 'object' ? family : []))
  if (addresses.length > 0) return { kind: 'addresses', addresses: addresses.slice(0, MAX_ADDRESSES) }
  const codes = families.map((family) => (typeof family === 'string' ? family : 'ENODATA'))
  const silent = families.some((family) => family === undefined || family === 'ETIMEOUT')
  if (codes.includes('ENOTFOUND')) return missing('no such host name')
  if (codes.some((code) => code !== 'ETIMEOUT' && !hasSpoken(code)))
    return unreachable('the name server is unreachable')
  if (silent)
    return isAlive ? missing('no answer for this host name') : unreachable('the name server is silent')
  if (codes.every((code) => code === 'ENODATA')) return missing('the host name has no address')
  return missing(`the name server answered ${codes.find((code) => code !== 'ENODATA')}`)
}
